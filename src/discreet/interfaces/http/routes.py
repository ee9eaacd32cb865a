"""Routes: each path hands a call to the service, in the name of the token's holder, and writes what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import APIRouter, Header, Path, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator

from discreet.interfaces.http.problems import described, problems
from discreet.interfaces.http.replies import ARROW, CSV, JSON, Raw, Wanted, as_said, chosen, reply, reply_of
from discreet.interfaces.http.requests import (
    Admitting,
    Approving,
    Asked,
    AskedTogether,
    Bound,
    Denying,
    Issuing,
    Requested,
    Serving,
    Who,
)
from discreet.service import Caller, Service, Ticket, entry_to_json, role_of

if TYPE_CHECKING:
    from discreet.ledger import Grant

# ── Questions ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_PLANNED = problems(413, 422, 429)
_ASKED = problems(402, 406, 409, 413, 422, 429, 500)
_LATER: dict[int | str, dict[str, Any]] = {
    202: {"description": "It waits or runs; `Location` says where its answer will be."}
}
_FORMATS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer. CSV and Arrow hold the values, with the ends of intervals as columns; JSON has its "
        "cost and certificate too.",
        "content": {CSV: {}, ARROW: {}},
    }
}

_PLAN = (
    "`digest`, `cost`, `expected` (the ± of each column; of a workload, for each question), `words`, `warnings`, "
    "`noise` (which was taken, where the offer left it open), `answered_by` (the entries by which it is answered "
    "already, so that asking it is free), `seconds` (how many the answer takes at the most), "
    "`step`, `steps` and `rungs` (how many seconds each step has, how many there are, and at how many times each may "
    "end), `remaining_like_this` (how many more questions at this cost the budget still pays for, and the caller's "
    "share of it; null if it costs nothing), and `remaining_after`: what is left once it is paid; null if it costs "
    "nothing, or can't be paid."
)

QUESTIONS = APIRouter(tags=["questions"])


Key: TypeAlias = Annotated[
    str | None,
    Header(description="1 to 200 printable ASCII characters: what is asked again under it is paid for once."),
]
Prefer: TypeAlias = Annotated[
    str, Header(description="`respond-async`: reply at once, with the address at which the answer will be.")
]


@QUESTIONS.post("/v1/plans", responses=_PLANNED, response_description=_PLAN)
def plan(asked: Asked, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What a question would cost, how accurate it would be, and when its answer would leave. Free."""
    return service.plan(who, asked.question, asked.terms())


@QUESTIONS.post("/v1/answers", responses={**_ASKED, **_LATER, **_FORMATS})
async def answer(  # noqa: PLR0913 — what a request may say, each by name
    *,
    asked: Asked,
    service: Serving,
    who: Who,
    wanted: Wanted,
    idempotency_key: Key = None,
    prefer: Prefer = "",
) -> Response:
    """Ask; the reply leaves when the answer does, or at once with its address, for `Prefer: respond-async`."""
    ticket = await _asked(service, who, asked.question, asked, idempotency_key)
    return await reply_of(ticket, wanted, prefer)


@QUESTIONS.get("/v1/answers/{name}", responses={**problems(402, 404, 406, 422, 500), **_LATER, **_FORMATS})
def answered(
    *,
    name: str,
    service: Serving,
    who: Who,
    accept: Annotated[str, Header(description="As for asking.")] = "",
    raw: Raw = False,
) -> Response:
    """An answer that was asked for, if it is there; so of the answers to a workload."""
    ticket = service.ticket(who, name)
    if ticket is None:
        return described(404, "not_found", "there is no such question of yours")
    media = chosen(accept, (JSON, CSV, ARROW) if isinstance(ticket.question, str) else (JSON,))
    return reply(ticket, as_said(media, raw=raw))


@QUESTIONS.post("/v1/workloads/plans", responses=_PLANNED, response_description=_PLAN)
def plan_together(asked: AskedTogether, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What questions would cost together, how accurate each would be, and when their answers would leave. Free."""
    return service.plan(who, asked.questions, asked.terms())


@QUESTIONS.post(
    "/v1/workloads", responses={**_ASKED, **_LATER}, response_description="`answers`, one for each question, in order."
)
async def answer_together(
    asked: AskedTogether, service: Serving, who: Who, idempotency_key: Key = None, prefer: Prefer = ""
) -> Response:
    """Ask questions together: what they share is measured once, one debit pays, and all are answered or none."""
    ticket = await _asked(service, who, asked.questions, asked, idempotency_key)
    return await reply_of(ticket, JSON, prefer)


async def _asked(service: Service, who: Caller, question: str | list[str], asked: Bound, key: str | None) -> Ticket:
    """A question that was taken."""
    said: dict[str, Any] = {name: getattr(asked, name) for name in ("digest", "approval", "version")}
    return await run_in_threadpool(service.ask, who, question, asked.terms(), key=key, **said)


_WHAT = "The request: its question, purpose and cost, what became of it, and who else may read its answer."

REQUESTS = APIRouter(tags=["requests"])


@REQUESTS.post("/v1/requests", status_code=201, responses=problems(413, 422, 429), response_description=_WHAT)
def request(asked: Requested, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """Request approval for a question: for its plan as it is now, or nothing."""
    return service.request(who, asked.question, asked.terms(), asked.purpose)


@REQUESTS.get("/v1/requests", responses=problems(), response_description="A list of requests, oldest first.")
def requests(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What was requested: an analyst's own requests; for custodians and auditors, all of them."""
    return service.requests(who)


@REQUESTS.get("/v1/requests/{name}", responses=problems(404, 422), response_description=_WHAT)
def requested(name: str, service: Serving, who: Who) -> Response:
    """One request, and what became of it."""
    return _shown(next((each for each in service.requests(who) if each["id"] == name), None))


@REQUESTS.post("/v1/requests/{name}/approval", responses=problems(404, 413, 422), response_description=_WHAT)
def approve(name: str, asked: Approving, service: Serving, who: Who) -> Response:
    """Let it be asked: by who requested it, once, at this plan, under these declarations."""
    return _shown(service.approve(who, name, days=asked.days, any_version=asked.any_version))


@REQUESTS.post("/v1/requests/{name}/denial", responses=problems(404, 413, 422), response_description=_WHAT)
def deny(name: str, asked: Denying, service: Serving, who: Who) -> Response:
    """Deny it, or take back an approval that wasn't used."""
    return _shown(service.deny(who, name, asked.reason))


def _shown(found: Mapping[str, Any] | None) -> Response:
    """A request, or that there is none; for an analyst, none of theirs."""
    return described(404, "not_found", "there is no such request") if found is None else JSONResponse(dict(found))


# ── The account ───────────────────────────────────────────────────────────────────────────────────────────────────────

_BUDGET = (
    "`budget`, `spent`, `remaining`; of an analyst also their `own`: `spent`, in all, and `this_month`, `remaining`, "
    "and when a share of theirs `renews`, or null. `failures`: how many questions `failed` since the custodian last "
    "looked, of how many are `allowed`, and how many are `pending`. `damaged` is whether the ledger is known to be; "
    "then nobody's `own` is said."
)

ACCOUNT = APIRouter(tags=["account"], responses=problems())

_WHOLE = re.compile("[1-9][0-9]{0,15}", re.ASCII)


def _whole(said: object) -> int:
    """A number as it is written in the history, and not as `+1`, `1.0` or `1_0`.

    Raises:
        ValueError: it isn't.
    """
    if not isinstance(said, str) or not _WHOLE.fullmatch(said):
        raise ValueError("a whole number from 1")
    return int(said)


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
def certificate(
    entry: Annotated[int, BeforeValidator(_whole), Path(ge=1, le=2**53)], service: Serving, who: Who
) -> Response:
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


ROUTERS = (ACCOUNT, QUESTIONS, REQUESTS, TOKENS, ADMISSIONS)
"""All paths of the API but those that say how the server is."""
