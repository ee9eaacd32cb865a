"""Questions: plans, which are free, and answers, which leave at the time that a plan names."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Header, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from discreet.errors import from_dict
from discreet.interfaces.http.bodies import Asked, AskedTogether, Bound
from discreet.interfaces.http.callers import Serving, Who
from discreet.interfaces.http.formats import ARROW, CSV, JSON, Wanted, chosen, written
from discreet.interfaces.http.problems import described, problem
from discreet.service import Caller, Service, Ticket, is_elsewhere

_PATIENCE = 3600.0
"""How many seconds a reply waits for its answer at the most; it can be fetched later by its own address."""

Key: TypeAlias = Annotated[
    str | None,
    Header(description="1 to 200 printable ASCII characters: what is asked again under it is paid for once."),
]

ROUTES = APIRouter()


@ROUTES.post("/v1/plans")
def plan(asked: Asked, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What a question would cost, how accurate it would be, and when its answer would leave. Free."""
    return service.plan(who, asked.question, asked.terms())


@ROUTES.post("/v1/answers")
async def answer(  # noqa: PLR0913 — what a request may say, each by name
    *,
    asked: Asked,
    service: Serving,
    who: Who,
    wanted: Wanted,
    idempotency_key: Key = None,
    prefer: Annotated[str, Header()] = "",
) -> Response:
    """Ask; the reply leaves when the answer does, or at once with its address, for `Prefer: respond-async`."""
    ticket = await _asked(service, who, asked.question, asked, idempotency_key)
    return await _reply_of(ticket, wanted, prefer)


@ROUTES.get("/v1/answers/{name}")
def answered(
    name: str,
    service: Serving,
    who: Who,
    accept: Annotated[str, Header(description="As for asking.")] = "",
) -> Response:
    """An answer that was asked for, if it is there; so of the answers to a workload."""
    ticket = service.ticket(who, name)
    if ticket is None:
        return described(404, "not_found", "there is no such question of yours")
    return _reply(ticket, chosen(accept, (JSON, CSV, ARROW) if isinstance(ticket.question, str) else (JSON,)))


@ROUTES.post("/v1/workloads/plans")
def plan_together(asked: AskedTogether, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What questions would cost together, how accurate each would be, and when their answers would leave. Free."""
    return service.plan(who, asked.questions, asked.terms())


@ROUTES.post("/v1/workloads")
async def answer_together(
    asked: AskedTogether,
    service: Serving,
    who: Who,
    idempotency_key: Key = None,
    prefer: Annotated[str, Header()] = "",
) -> Response:
    """Ask questions together: what they share is measured once, one debit pays, and all are answered or none."""
    ticket = await _asked(service, who, asked.questions, asked, idempotency_key)
    return await _reply_of(ticket, JSON, prefer)


async def _asked(service: Service, who: Caller, question: str | list[str], asked: Bound, key: str | None) -> Ticket:
    """A question that was taken."""
    said = {"key": key, "digest": asked.digest, "approval": asked.approval}
    return await run_in_threadpool(service.ask, who, question, asked.terms(), **said)


async def _reply_of(ticket: Ticket, media: str, prefer: str) -> Response:
    """The reply to a question, once it is done; or at once, for who doesn't wait."""
    if "respond-async" not in prefer:
        await _done(ticket)
    return _reply(ticket, media)


async def _done(ticket: Ticket) -> None:
    """Wait until a question is done, or patience is. No thread waits: there are few, and others need them."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # the server was stopped meanwhile
            loop.call_soon_threadsafe(done.set)

    ticket.when_done(tell)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await done.wait()


def _reply(ticket: Ticket, media: str) -> Response:
    """What became of a question; while it waits or runs, where to ask again."""
    headers = {"Location": f"/v1/answers/{ticket.id}", "Cache-Control": "no-store"}
    if ticket.release is not None:
        headers["Release-Time"] = ticket.release.isoformat()
    if ticket.outcome is None or is_elsewhere(ticket):
        return JSONResponse({"id": ticket.id, "state": "pending"}, 202, headers)
    if "error" in ticket.outcome:
        response = problem(from_dict(ticket.outcome["error"]))
        response.headers.update(headers)
        return response
    if entry := ticket.outcome["answer"].get("entry"):
        headers["Discreet-Entry"] = str(entry)
    return written({"id": ticket.id, "state": "done", **ticket.outcome["answer"]}, media, headers)
