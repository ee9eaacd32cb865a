"""Questions: planned, asked, and answered."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Header, Response
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from discreet.interfaces.http.problems import Problem, problems
from discreet.interfaces.http.replies import ARROW, CSV, JSON, Raw, Wanted, as_said, chosen, reply, reply_of
from discreet.interfaces.http.requests import (
    Asked,
    AskedTogether,
    Bound,
    Serving,
    Who,
)
from discreet.results import is_summary
from discreet.service import Ask, Caller, Service, Ticket

_PLANNED = problems(413, 422, 429)
_ASKED = problems(402, 406, 409, 413, 422, 429, 500)
_LATER: dict[int | str, dict[str, Any]] = {
    202: {"description": "The question is waiting or running; `Location` says where its answer will be."}
}
_FORMATS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer. CSV and Arrow hold the values, with the ends of intervals as columns; JSON also "
        "has its cost and certificate.",
        "content": {CSV: {}, ARROW: {}},
    }
}

_PLAN = (
    "`digest`, `cost`, `expected` (the ± of each column; for a workload, of each question), `words`, `warnings`, "
    "`noise` (the one that was chosen, if the offer left it open), `answered_by` (the entries that already answer it, "
    "so that asking it is free), `seconds` (the longest that the answer may take), `step`, `steps` and `rungs` (the "
    "seconds that each step has, the number of steps, and the number of times at which each may end), "
    "`remaining_like_this` (how many more questions at this cost the budget and the caller's share of it still pay "
    "for; null if it costs nothing), and `remaining_after` (what is left once it is paid; null if it costs nothing, or "
    "can't be paid)."
)

QUESTIONS = APIRouter(tags=["questions"])

Key: TypeAlias = Annotated[
    str | None,
    Header(description="1 to 200 printable ASCII characters: a question asked again under the same key is paid once."),
]
Prefer: TypeAlias = Annotated[
    str, Header(description="`respond-async`: reply at once, with the address where the answer will be.")
]


@QUESTIONS.post("/v1/plans", responses=_PLANNED, response_description=_PLAN)
def plan(asked: Asked, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What a question would cost, how accurate it would be, and when its answer would leave. Free."""
    return service.plan(who, asked.question, asked.terms()).to_json()


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
    """Ask a question. The reply is its answer or, at once, where the answer will be, with `Prefer: respond-async`."""
    if wanted != JSON and is_summary(asked.question):  # before anything is paid
        raise HTTPException(406, f"the answers that SUMMARIZE stands for are written as {JSON}")
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
    """The answer to a question that was asked before, once it is ready; for a workload, all its answers."""
    ticket = service.ticket(who, name)
    if ticket is None:
        return Problem("not_found", "there is no such question of yours", status=404).reply()
    media = chosen(accept, (JSON, CSV, ARROW) if isinstance(ticket.asked.question, str) else (JSON,))
    return reply(ticket, as_said(media, raw=raw))


@QUESTIONS.post("/v1/workloads/plans", responses=_PLANNED, response_description=_PLAN)
def plan_together(asked: AskedTogether, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What questions would cost together, how accurate each would be, and when their answers would leave. Free."""
    return service.plan(who, asked.questions, asked.terms()).to_json()


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
    said = Ask(question, asked.terms(), key=key, digest=asked.digest, approval=asked.approval, version=asked.version)
    return await run_in_threadpool(service.ask, who, said)
