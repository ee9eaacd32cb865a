"""The API: each path hands a call to the service, in the name of the token's holder, and writes what it says."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError, Unauthenticated, from_dict
from discreet.interfaces.http.bodies import Asked, Issuing, LimitedBodies
from discreet.interfaces.http.problems import described, problem
from discreet.interfaces.http.strictness import Strict
from discreet.service import Caller, Service, Ticket, role_of
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant

_BEARER = "Bearer "
_LOOK = 0.01
"""Every so many seconds a reply looks whether its answer is there."""

_PATIENCE = 3600.0
"""How many seconds a reply waits for its answer at the most; it can be fetched later by its own address."""


def make_app(service: Service) -> FastAPI:
    """The API of a service.

    Guarantee: what a reply says, and when it leaves, is decided by the service. Every path but `/healthz` and the
    description of the API needs a token. What went wrong inside is unavailable, and no more is said of it.

    Args:
        service: that answers; whoever made it closes it.
    """
    app = FastAPI(
        title="discreet",
        version=__version__,
        summary="Private answers from sensitive tables.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # a redirect would name the host that the request names
    )
    app.state.service = service
    app.add_middleware(LimitedBodies)
    app.add_middleware(Strict)
    app.include_router(_ROUTES)
    _add_errors(app)
    return app


def _service(request: Request) -> Service:
    """The service that answers."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(service: Serving, authorization: Annotated[str, Header()] = "") -> Caller:
    """Whoever sent the request."""
    if not authorization.startswith(_BEARER):
        raise Unauthenticated
    return service.caller(authorization.removeprefix(_BEARER))


Who = Annotated[Caller, Depends(_who)]

_ROUTES = APIRouter()


@_ROUTES.get("/healthz")
def healthz() -> dict[str, str]:
    """Whether the server is there."""
    return {"status": "ok"}


@_ROUTES.get("/v1/me")
def me(who: Who) -> dict[str, Any]:
    """Whose token this is, and what it allows."""
    return _caller(who)


@_ROUTES.get("/v1/dataset")
def dataset(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What may be asked about."""
    return service.dataset(who)


@_ROUTES.get("/v1/budget")
def budget(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What was spent, and what is left."""
    return service.budget(who)


@_ROUTES.get("/v1/history")
def history(service: Serving, who: Who) -> list[dict[str, Any]]:
    """What was asked: an analyst's own questions; for custodians and auditors, all entries."""
    return [_entry(entry) for entry in service.history(who)]


@_ROUTES.get("/v1/verification")
def verification(service: Serving, who: Who) -> dict[str, Any]:
    """Whether the ledger holds: its hash chain, and every loss in it."""
    found = service.verify(who)
    return {"entries": found.entries, "head": found.head, "problems": [str(each) for each in found.problems]}


@_ROUTES.post("/v1/plans")
def plan(asked: Asked, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What a question would cost, how accurate it would be, and when its answer would leave. Free."""
    return service.plan(who, asked.question, asked.terms())


@_ROUTES.post("/v1/answers")
async def answer(asked: Asked, service: Serving, who: Who, prefer: Annotated[str, Header()] = "") -> Response:
    """Ask; the reply leaves when the answer does, or at once with its address, for `Prefer: respond-async`."""
    ticket = await run_in_threadpool(service.ask, who, asked.question, asked.terms())
    end = monotonic() + (0 if "respond-async" in prefer else _PATIENCE)
    # No thread waits: there are few, and others need them. A thread finishes the ticket, so no event of asyncio's can.
    while not ticket.is_done and monotonic() < end:  # noqa: ASYNC110 — see above
        await asyncio.sleep(_LOOK)
    return _reply(ticket)


@_ROUTES.get("/v1/answers/{name}")
def answered(name: str, service: Serving, who: Who) -> Response:
    """An answer that was asked for, if it is there."""
    ticket = service.ticket(who, name)
    return described(404, "not_found", "there is no such question of yours") if ticket is None else _reply(ticket)


@_ROUTES.get("/v1/tokens")
def tokens(service: Serving, who: Who) -> list[dict[str, Any]]:
    """Who may come in; never the tokens themselves."""
    return [_grant(grant, allowed) for grant, allowed in service.tokens(who)]


@_ROUTES.post("/v1/tokens", status_code=201)
def issue(asked: Issuing, service: Serving, who: Who) -> dict[str, Any]:
    """Make a token. It is in this reply, and nowhere else."""
    issued = service.issue(who, asked.subject, role_of(asked.role), days=asked.days, most_epsilon=asked.most_epsilon)
    return {"text": issued.text, **_caller(issued.caller)}


@_ROUTES.delete("/v1/tokens/{name}", status_code=204)
def revoke(name: str, service: Serving, who: Who) -> Response:
    """Let a token in no more."""
    if service.revoke(who, name) is None:
        return described(404, "not_found", "there is no such token")
    return Response(status_code=204)


def _add_errors(app: FastAPI) -> None:
    """Say what went wrong in one form, whatever it is, and no more than is the caller's affair."""

    @app.exception_handler(DiscreetError)
    def ours(_: Request, error: DiscreetError) -> Response:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        places = sorted({".".join(map(str, each["loc"][1:])) or "the body" for each in error.errors()})
        return described(422, "invalid_argument", f"the request isn't of the form that is documented: {places[0][:70]}")

    @app.exception_handler(HTTPException)
    def of_http(_: Request, error: HTTPException) -> Response:
        return described(error.status_code, "http", str(error.detail))

    @app.exception_handler(Exception)
    def other(_: Request, __: Exception) -> Response:
        return described(500, "internal", "the service can't answer this", "tell the custodian")


def _reply(ticket: Ticket) -> Response:
    """What became of a question; while it waits or runs, where to ask again."""
    headers = {"Location": f"/v1/answers/{ticket.id}", "Cache-Control": "no-store"}
    if ticket.outcome is None:
        return JSONResponse({"id": ticket.id, "state": "pending"}, 202, headers)
    if "error" in ticket.outcome:
        return problem(from_dict(ticket.outcome["error"]))
    return JSONResponse({"id": ticket.id, "state": "done", **ticket.outcome["answer"]}, 200, headers)


def _caller(caller: Caller) -> dict[str, Any]:
    """Whoever holds a token, as data."""
    return {
        "token": caller.token,
        "subject": caller.subject,
        "role": str(caller.role),
        "most_epsilon": None if caller.most_epsilon is None else str(caller.most_epsilon),
        "expires": caller.expires.isoformat(),
    }


def _grant(grant: Grant, caller: Caller) -> dict[str, Any]:
    """A token, as the custodian sees it."""
    revoked = None if grant.revoked is None else grant.revoked.isoformat()
    return {**_caller(caller), "made": grant.at.isoformat(), "revoked": revoked}


def _entry(entry: Entry) -> dict[str, Any]:
    """An entry of the account, as data."""
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "analyst": entry.analyst,
        "text": entry.text,
        "cost": None if entry.cost is None else entry.cost.to_dict(),
        "state": None if entry.state is None else str(entry.state),
    }
