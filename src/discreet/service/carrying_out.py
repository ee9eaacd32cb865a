"""Carrying out: a question in its slot, from when its time begins to when its answer leaves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING, cast

from discreet.errors import EngineUnavailable, QuestionFailed
from discreet.service.release_times import longest
from discreet.service.tickets import Ticket
from discreet.service.workers import Message, Worker

if TYPE_CHECKING:
    from discreet.service.api import Reply


def begun(slot: Worker, ticket: Ticket, patience: float) -> Reply | None:
    """Have a question planned, and let it go: from then on its time runs. What became of it, if it is over by then.

    Planning takes no row, so how long it takes tells nothing, and isn't taken from the question's own time.

    Args:
        slot: the process.
        ticket: the question.
        patience: for how many seconds it may be planned.

    Raises:
        EngineUnavailable: it wasn't planned by then, or its process is gone; nothing was paid for.
    """
    slot.wait_until_ready()
    slot.send(ticket.job("ask"))
    message = _received(slot, monotonic() + patience)
    if message is None:
        slot.restart()
        raise EngineUnavailable("this question couldn't be planned again when its turn came", hint="ask again")
    if message.reached == "done":
        ticket.release = datetime.now(UTC)
        return _reply(message)
    slot.begin()
    return None


def carried_out(slot: Worker, ticket: Ticket, storing: float, give_up: Callable[[], object]) -> Reply:
    """Carry out a question that has begun, and return its answer at its time, or then that there is none.

    Args:
        slot: the process.
        ticket: the question.
        storing: how many seconds before the end of each step its outcome is stored, or given up.
        give_up: notes that what was paid for it got no answer.

    Raises:
        QuestionFailed: it wasn't measured in time, or its process is gone; said at the time of its answer.
    """
    due, message = monotonic(), None
    for number in range(ticket.plan.steps):
        if number:  # the step before may have been the last, as what it takes besides was stored: it leaves at its time
            message = _received(slot, due)
            if message is not None and message.reached == "done":
                break
        due, message = _measured(slot, ticket, due, storing, message)
        if message is not None and message.reached == "done":
            due = monotonic()  # stored meanwhile, or refused before it was paid for, or late: all are public
            ticket.release = datetime.now(UTC)
            break
        sleep(max(0.0, due - storing - monotonic()))
        if message is None:
            break
        slot.go()
    if message is not None and message.reached != "done":
        message = _received(slot, None)
    if message is None:
        slot.kill()  # so that it can't pay for more
        give_up()
        slot.restart()
    _wait_awake(ticket, due)
    if message is None:
        raise QuestionFailed
    return _reply(message)


def _reply(message: Message) -> Reply:
    return cast("Reply", message.done)  # as every job is that asks


def recovered(slot: Worker, step: float, wait: Callable[[float], bool]) -> None:
    """Let a process that took the place of another get warm, so that the next question misses its time no likelier.

    How long that takes depends on how many rows there are, so it takes whole steps of the question that failed.

    Args:
        slot: the process.
        step: how many seconds one of them has.
        wait: waits for a number of seconds; says whether to give it up.
    """
    due = monotonic() + step
    while not wait(max(0.0, due - monotonic())) and not slot.is_warm():
        due += step


_AWAKE, _NAP = 0.005, 0.0003
"""In this many seconds before an answer leaves, nothing sleeps for longer than a moment."""


def _wait_awake(ticket: Ticket, due: float) -> None:
    """Wait for the time of an answer, at last without deep sleep; those who wait for the ticket do the same.

    How fast a processor wakes up depends on how long it slept: the less, the longer rows were read before. Replies on
    more rows were seen to leave some millionths of a second earlier.
    """
    sleep(max(0.0, due - _AWAKE - monotonic()))
    while (left := due - monotonic()) > 0:
        ticket.wake()
        sleep(min(left, _NAP))


def _measured(
    slot: Worker, ticket: Ticket, begun: float, storing: float, message: Message | None
) -> tuple[float, Message | None]:
    """The first of a step's times that it is ready for, the last if it is for none; and what was heard of it."""
    due = begun
    for rung in range(ticket.plan.rungs):
        due = begun + longest(ticket.plan.step, 1, rung + 1)
        ticket.release = datetime.now(UTC) + timedelta(seconds=due - monotonic())
        message = message or _received(slot, due - storing)
        if message is not None:
            break
    return due, message


def _received(slot: Worker, due: float | None) -> Message | None:
    """The next message; None if there is none in time, or none will come from a process that is gone."""
    try:
        return slot.receive(due)
    except QuestionFailed:
        return None
