"""Carrying out: what becomes of a question in its slot, at its time; and of one that was carried out before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from discreet.errors import AskedAlready, EngineUnavailable, QuestionFailed
from discreet.service.planners import Planner
from discreet.service.tickets import Ticket
from discreet.service.workers import Job, Message, Worker

if TYPE_CHECKING:
    from discreet.ledger import Tried


def carried_out(slot: Worker, ticket: Ticket, storing: float) -> Mapping[str, Any]:
    """What becomes of a question: an answer at its time, or then that there is none.

    Args:
        slot: the process.
        ticket: the question.
        storing: how many seconds before the end of each step its outcome is stored, or given up.

    Raises:
        QuestionFailed: it wasn't measured in time, or its process is gone; said at the time of its answer.
    """
    slot.wait_until_ready()
    due = monotonic()
    slot.send(
        Job(kind="ask", question=ticket.question, terms=ticket.terms, digest=ticket.digest, attempt=ticket.attempt)
    )
    for _ in range(ticket.steps):
        due += ticket.step
        ticket.release = datetime.now(UTC) + timedelta(seconds=due - monotonic())
        message = _received(slot, due - storing)
        if message is not None and message[0] == "done":
            return message[1]  # stored meanwhile, or refused before it was paid for: both are public
        sleep(max(0.0, due - storing - monotonic()))
        if message is None:
            break
        slot.go()
    message = None if message is None else _received(slot, None)
    if message is None:
        slot.restart()
    sleep(max(0.0, due - monotonic()))
    if message is None:
        raise QuestionFailed
    return message[1]


def _received(slot: Worker, due: float | None) -> Message | None:
    """The next message; None if there is none in time, or none will come from a process that is gone."""
    try:
        return slot.receive(due)
    except QuestionFailed:
        return None


def again(planner: Planner, ticket: Ticket, tried: Tried) -> Mapping[str, Any]:
    """What became of a question that was paid for before, under the same key; it is never carried out again."""
    if not tried.failed:
        found = planner.do(
            Job(
                kind="retry", question=ticket.question, terms=ticket.terms, digest=ticket.digest, attempt=ticket.attempt
            )
        )
        if "answer" in found:
            return {"answer": found["answer"]}
    error = QuestionFailed() if tried.failed or tried.is_over else AskedAlready()
    return {"error": error.to_dict()}


def kind_of(outcome: Mapping[str, Any]) -> str:
    """What became of a question, as it is counted."""
    if "answer" in outcome:
        return "answered"
    return "failed" if outcome["error"]["code"] == QuestionFailed.code else "refused"


def stopping() -> EngineUnavailable:
    """What is said while the service stops."""
    return EngineUnavailable("the service is being stopped", hint="ask again later")
