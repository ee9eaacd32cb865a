"""Tickets: questions that were taken, each answered at a time that is known from the start."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Lock
from typing import TYPE_CHECKING, Literal

from discreet.errors import EngineUnavailable
from discreet.service.api import Ask, EncodedAnswer, Planned, Reply
from discreet.service.jobs import Job

if TYPE_CHECKING:
    from discreet.ledger import Attempt, Place

_SELECTED = 200_000
"""How many numbers an answer whose groups were selected is assumed to have, when it is read again."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A question of one caller: waiting, running, or done.

    Args:
        id: what it is asked for by: 128 random bits, so nobody finds another's.
        subject: whose it is.
        asked: the question, as it came.
        plan: that is carried out, or nothing.
        attempt: in which it is carried out, which says how long that may take; its debits are found again by it.
        place: its own in the queue; None if it didn't have to wait.
        release: when its answer leaves, in UTC, as far as is known, and when it did once it has; None while it waits.
            Steps that aren't ready at a time put it off to the next, and steps that follow to theirs.
        reply: what became of it; None as long as nothing is known. Another may follow where a server elsewhere asks it,
            so who looks at several of its parts takes it once.
    """

    id: str
    subject: str
    asked: Ask
    plan: Planned
    attempt: Attempt
    place: Place | None = None
    release: datetime | None = None
    reply: Reply | None = None
    _done: Event = field(default_factory=Event)
    _told: list[Callable[[], object]] = field(default_factory=list)
    _woken: list[Callable[[], object]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def answer(self) -> EncodedAnswer | None:
        """Its answer; None if there is none, or not yet."""
        return None if self.reply is None else self.reply.answer

    @property
    def size(self) -> int:
        """How many bytes its answer has as JSON, certificates included: what it takes to remember it, about."""
        return 0 if (answer := self.answer) is None else len(answer.content)

    def job(self, kind: Literal["stored", "ask", "retry"]) -> Job:
        """The job for a worker; reading its answer has time for as many numbers as it may have."""
        return Job(
            kind=kind,
            question=self.asked.question,
            terms=self.asked.terms,
            subject=self.subject,
            digest=self.plan.digest,
            attempt=self.attempt,
            values=_SELECTED if self.plan.values is None else self.plan.values,
            version=self.asked.version,
        )

    @property
    def is_elsewhere(self) -> bool:
        """Whether another server asks it under its key, or did before this one was started."""
        return self.reply is not None and self.reply.is_elsewhere

    @property
    def is_done(self) -> bool:
        """Whether it was answered, refused or failed."""
        return self._done.is_set()

    def finish(self, reply: Reply) -> None:
        """Note what became of it, and hand it to those who wait."""
        self.reply = reply
        with self._lock:
            self._done.set()
        self._tell(self._told)

    def wake(self) -> None:
        """Wake those who wait, some times before it is done, so that they don't sleep deeply."""
        self._tell(self._woken)

    def _tell(self, calls: list[Callable[[], object]]) -> None:
        """Call those who wait."""
        for call in calls:
            with suppress(Exception):  # the slot goes on, and the others are told
                call()

    def when_woken(self, call: Callable[[], object]) -> None:
        """Have something called shortly before it is done, again and again, in the thread that finishes it."""
        self._woken.append(call)

    def when_done(self, call: Callable[[], object]) -> None:
        """Have something called once it is done, in the thread that finishes it; at once, if it is.

        Nobody has to look again and again, and no thread has to wait.
        """
        with self._lock:
            if not self._done.is_set():
                self._told.append(call)
                return
        call()

    def wait(self, seconds: float) -> bool:
        """Wait until it is done, but no longer than this; whether it is."""
        return self._done.wait(seconds)


_MOST_REMEMBERED = 10_000_000
"""How many bytes of answers are remembered for one subject."""


class Remembered:
    """Each subject's questions in order (of the finished ones, the latest), so that none push out another's.

    What is stored is had again for nothing, so whatever is remembered of it has to have an end.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Ticket]] = {}

    def add(self, ticket: Ticket, most: int) -> list[Ticket]:
        """Remember one, and forget the oldest of the same subject that are too many; those.

        Args:
            ticket: the latest, which stays.
            most: how many of one subject may be remembered once they are done.
        """
        own = self._of.setdefault(ticket.subject, {})
        done = [each for each in own.values() if each.is_done]
        own[ticket.id] = ticket
        left, size = len(done) + ticket.is_done, ticket.size + sum(each.size for each in done)
        forgotten = []
        for each in done:
            if left <= most and size <= _MOST_REMEMBERED:
                break
            left, size = left - 1, size - each.size
            forgotten.append(own.pop(each.id))
        return forgotten


def stopping() -> EngineUnavailable:
    """The refusal while the service stops."""
    return EngineUnavailable("the service is being stopped", hint="ask again later")
