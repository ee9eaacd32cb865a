"""Questions: plans, which are free, and answers, which leave at the time that a plan names."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from discreet.errors import from_dict
from discreet.interfaces.http.bodies import Asked
from discreet.interfaces.http.callers import Serving, Who
from discreet.interfaces.http.problems import described, problem
from discreet.service import Ticket

_LOOK = 0.01
"""Every so many seconds a reply looks whether its answer is there."""

_PATIENCE = 3600.0
"""How many seconds a reply waits for its answer at the most; it can be fetched later by its own address."""

ROUTES = APIRouter()


@ROUTES.post("/v1/plans")
def plan(asked: Asked, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What a question would cost, how accurate it would be, and when its answer would leave. Free."""
    return service.plan(who, asked.question, asked.terms())


@ROUTES.post("/v1/answers")
async def answer(asked: Asked, service: Serving, who: Who, prefer: Annotated[str, Header()] = "") -> Response:
    """Ask; the reply leaves when the answer does, or at once with its address, for `Prefer: respond-async`."""
    ticket = await run_in_threadpool(service.ask, who, asked.question, asked.terms())
    end = monotonic() + (0 if "respond-async" in prefer else _PATIENCE)
    # No thread waits: there are few, and others need them. A thread finishes the ticket, so no event of asyncio's can.
    while not ticket.is_done and monotonic() < end:  # noqa: ASYNC110 — see above
        await asyncio.sleep(_LOOK)
    return _reply(ticket)


@ROUTES.get("/v1/answers/{name}")
def answered(name: str, service: Serving, who: Who) -> Response:
    """An answer that was asked for, if it is there."""
    ticket = service.ticket(who, name)
    return described(404, "not_found", "there is no such question of yours") if ticket is None else _reply(ticket)


def _reply(ticket: Ticket) -> Response:
    """What became of a question; while it waits or runs, where to ask again."""
    headers = {"Location": f"/v1/answers/{ticket.id}", "Cache-Control": "no-store"}
    if ticket.outcome is None:
        return JSONResponse({"id": ticket.id, "state": "pending"}, 202, headers)
    if "error" in ticket.outcome:
        return problem(from_dict(ticket.outcome["error"]))
    return JSONResponse({"id": ticket.id, "state": "done", **ticket.outcome["answer"]}, 200, headers)
