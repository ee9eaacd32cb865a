"""Tickets: questions that were taken, and are answered at a time that is known from the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from discreet.ledger import Attempt, Place


@dataclass(slots=True, eq=False)
class Ticket:
    """A question of one caller: waiting, running, or done.

    Args:
        id: what it is asked for by: 128 random bits, so nobody finds another's.
        subject: whose it is.
        question: SQL; a list of them is a workload.
        terms: what was offered for it.
        digest: of its plan: that is carried out, or nothing.
        step: how many seconds each of its steps has.
        steps: how many it has at the most.
        attempt: in which it is carried out, and by which its debits are found again.
        place: its own in the queue; None if it didn't have to wait.
        release: when its answer leaves, in UTC, as far as is known; None while it waits. Steps that turn out to be
            stored bring it forward.
    """

    id: str
    subject: str
    question: str | list[str]
    terms: Mapping[str, Any]
    digest: str
    step: float
    steps: int
    attempt: Attempt
    place: Place | None = None
    release: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    _done: Event = field(default_factory=Event)
    _told: list[Callable[[], object]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(
        cls,
        name: str,
        question: str | list[str],
        terms: Mapping[str, Any],
        plan: Mapping[str, Any],
        attempt: Attempt,
    ) -> Self:
        """A ticket of this name, for a question as it was planned for its analyst."""
        return cls(
            id=name,
            subject=terms["analyst"],
            question=question,
            terms=terms,
            digest=plan["digest"],
            step=plan["step"],
            steps=plan["steps"],
            attempt=attempt,
        )

    @property
    def size(self) -> int:
        """How many values its answers have, about: what it takes to remember them."""
        found = (self.outcome or {}).get("answer", {})
        rows = [each["rows"] for each in found.get("answers", [found]) if each.get("rows")]
        return sum(len(each) * len(each[0]) for each in rows)

    @property
    def is_done(self) -> bool:
        """Whether it was answered, refused or failed."""
        return self._done.is_set()

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Note what became of it, and let those who wait have it."""
        self.outcome = outcome
        with self._lock:
            self._done.set()
        for call in self._told:
            with suppress(Exception):  # the slot goes on, and the others are told
                call()

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
        """Wait until it is done, for so long at the most; whether it is."""
        return self._done.wait(seconds)


_MOST_VALUES = 200_000
"""How many values the answers may have that are remembered of one subject: some hundred megabytes."""


class Remembered:
    """What each subject asked, in order: of what is done the latest, so that nobody's questions push out another's.

    What is stored is had again for nothing, so whatever is remembered of it has to have an end.
    """

    def __init__(self) -> None:
        """Nothing was asked yet."""
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
            if left <= most and size <= _MOST_VALUES:
                break
            left, size = left - 1, size - each.size
            forgotten.append(own.pop(each.id))
        return forgotten
