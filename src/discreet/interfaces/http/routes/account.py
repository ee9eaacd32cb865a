"""The account: what may be asked about, what was spent and asked, who may come in, and whether all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse

from discreet.interfaces.http.bodies import Admitting, Issuing, Serving, Who
from discreet.interfaces.http.problems import described, problems
from discreet.service import Caller, entry_to_json, role_of

if TYPE_CHECKING:
    from discreet.ledger import Grant

_BUDGET = (
    "`budget`, `spent`, `remaining`; of an analyst also their `own`: `spent`, in all, and `this_month`, `remaining`, "
    "and when a share of theirs `renews`, or null. `damaged` is whether the ledger is known to be; then nobody's "
    "`own` is said."
)

ACCOUNT = APIRouter(tags=["account"], responses=problems())


@ACCOUNT.get("/v1/dataset", response_description="Tables, columns, kinds, units, bounds, keys and limits.")
def dataset(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What may be asked about."""
    return service.dataset(who)


@ACCOUNT.get("/v1/budget", response_description=_BUDGET)
def budget(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What was spent, and what is left."""
    return service.budget(who)


@ACCOUNT.get("/v1/history", response_description="A list of entries, oldest first.")
def history(service: Serving, who: Who) -> list[dict[str, Any]]:
    """What was asked: an analyst's own questions; for custodians and auditors, all entries."""
    return [entry_to_json(entry) for entry in service.history(who)]


@ACCOUNT.get(
    "/v1/history/{entry}/certificate",
    responses=problems(404, 422),
    response_description="The entry, its `certificate`, what doesn't hold of it as `problems`, and a `signature`.",
)
def certificate(entry: Annotated[int, Path(ge=1, le=2**53)], service: Serving, who: Who) -> Response:
    """What vouches for a question that was paid for, whoever asked it: signed, and without the answer."""
    found = service.certificate(who, entry)
    return described(404, "not_found", "there is no such entry") if found is None else JSONResponse(dict(found))


@ACCOUNT.get("/v1/verification", response_description="`entries`, `head` and `problems`, which should be empty.")
def verification(service: Serving, who: Who) -> dict[str, Any]:
    """Whether the ledger holds: its hash chain, and every loss in it."""
    found = service.verify(who)
    return {"entries": found.entries, "head": found.head, "problems": [str(each) for each in found.problems]}


@ACCOUNT.get("/v1/key", response_description="`algorithm`, `key` in base64, and `id`.")
def key(service: Serving) -> dict[str, str]:
    """What signatures of answers and heads are checked against. Everybody may have it."""
    return service.key.to_json()


@ACCOUNT.get("/v1/head", response_description="The head, with its `signature`.")
def head(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The ledger's head, signed: how many entries there are, the hash of the last, and what was spent."""
    return service.head(who)


TOKENS = APIRouter(tags=["tokens"])


@TOKENS.get(
    "/v1/me",
    response_description="`token` (its id), `subject`, `role`, `most_epsilon`, `expires`.",
    responses=problems(),
)
def me(who: Who) -> dict[str, Any]:
    """Whose token this is, and what it allows."""
    return _caller(who)


@TOKENS.get(
    "/v1/tokens", response_description="A list of tokens by their ids, with what each allows.", responses=problems()
)
def tokens(service: Serving, who: Who) -> list[dict[str, Any]]:
    """Who may come in; never the tokens themselves."""
    return [_grant(grant, allowed) for grant, allowed in service.tokens(who)]


@TOKENS.post(
    "/v1/tokens",
    status_code=201,
    response_description="`text`, the token, and what it allows.",
    responses=problems(413, 422),
)
def issue(asked: Issuing, service: Serving, who: Who) -> dict[str, Any]:
    """Make a token. It is in this reply, and nowhere else."""
    issued = service.issue(
        who,
        asked.subject,
        role_of(asked.role),
        days=asked.days,
        most_epsilon=asked.most_epsilon,
        most_rho=asked.most_rho,
        share=asked.shared(),
        datasets=asked.datasets,
    )
    return {"text": issued.text, **_caller(issued.caller)}


@TOKENS.delete(
    "/v1/tokens/{name}",
    status_code=204,
    response_description="It lets nobody in any more.",
    responses=problems(404, 422),
)
def revoke(name: str, service: Serving, who: Who) -> Response:
    """Let a token in no more."""
    if service.revoke(who, name) is None:
        return described(404, "not_found", "there is no such token")
    return Response(status_code=204)


def _caller(caller: Caller) -> dict[str, Any]:
    """Whoever holds a token, as data."""
    return {
        "token": caller.token,
        "subject": caller.subject,
        "role": str(caller.role),
        "most_epsilon": None if caller.most_epsilon is None else str(caller.most_epsilon),
        "most_rho": None if caller.most_rho is None else str(caller.most_rho),
        "share": caller.share or None,
        "datasets": list(caller.datasets),
        "expires": caller.expires.isoformat(),
    }


def _grant(grant: Grant, caller: Caller) -> dict[str, Any]:
    """A token, as the custodian sees it."""
    revoked = None if grant.revoked is None else grant.revoked.isoformat()
    return {**_caller(caller), "made": grant.at.isoformat(), "revoked": revoked}


ADMISSIONS = APIRouter(tags=["admissions"])


@ADMISSIONS.get(
    "/v1/admissions", responses=problems(), response_description="`versions`; `last` with its `state` and `report`."
)
def admissions(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The versions of the tables, and the last admission that this server made, with its report. For the custodian."""
    return service.admissions(who)


@ADMISSIONS.post(
    "/v1/admissions",
    status_code=202,
    response_description="It has begun; `Location` says where to look.",
    responses=problems(413, 422, 429),
)
def admit(asked: Admitting, service: Serving, who: Who, response: Response) -> Any:  # noqa: ANN401 — JSON
    """Begin to admit the tables as the next version. What is in force serves until that is done."""
    response.headers["Location"] = "/v1/admissions"
    return service.admit(who, group=asked.group, scheduled=asked.scheduled, at_most_unreadable=asked.at_most_unreadable)


HEALTH = APIRouter(tags=["health"])


@HEALTH.get("/healthz", response_description="It is there.")
def healthz(service: Serving) -> dict[str, str]:
    """Whether the server is there: ok, or degraded where the ledger's witness isn't."""
    return {"status": "degraded" if service.sender.is_behind else "ok"}


@HEALTH.get("/readyz", response_description="It takes questions.", responses={503: problems(503)[503]})
def readyz(service: Serving) -> Response:
    """Whether the server takes questions: its processes are there, the ledger can be read, and it isn't stopping."""
    if not service.is_ready:
        return described(503, "not_ready", "the server takes no questions now", "ask again later")
    return JSONResponse({"status": "ready"})


@HEALTH.get(
    "/v1/metrics",
    responses={**problems(), 200: {"content": {"text/plain": {}}, "description": "Text, in Prometheus's format."}},
    response_class=Response,
)
def metrics(service: Serving, who: Who) -> Response:
    """The same metrics as at the operator's port, for who can't reach that and has an operator's token."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(service.health(who).registry()), media_type=CONTENT_TYPE_LATEST)
