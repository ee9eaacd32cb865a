"""Tickets: questions that were taken, each answered at a time that is known from the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import AskedAlready, DiscreetError, EngineUnavailable, InvalidArgument, QuestionFailed, from_dict
from discreet.privacy import Limits
from discreet.service.jobs import EncodedAnswer

if TYPE_CHECKING:
    from discreet.ledger import Attempt, Place
    from discreet.service.api import Planned

_SELECTED = 200_000
"""How many numbers an answer is taken to have whose groups were selected, where it is read again."""


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
        rungs: at how many times each may end; see `ReleaseTimes`.
        values: how many numbers its answer releases; None where its groups are selected.
        stored: by how many bytes the ledger grows, about.
        attempt: in which it is carried out, which says how long that may take; its debits are found again by it.
        place: its own in the queue; None if it didn't have to wait.
        release: when its answer leaves, in UTC, as far as is known, and when it did once it has; None while it waits.
            Steps that aren't ready at a time put it off to the next, and steps that follow to theirs.
    """

    id: str
    subject: str
    question: str | list[str]
    terms: Mapping[str, Any]
    digest: str
    step: float
    steps: int
    attempt: Attempt
    rungs: int = 1
    values: int | None = 0
    stored: int = 0
    place: Place | None = None
    release: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    _done: Event = field(default_factory=Event)
    _told: list[Callable[[], object]] = field(default_factory=list)
    _woken: list[Callable[[], object]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(
        cls,
        name: str,
        question: str | list[str],
        terms: Mapping[str, Any],
        plan: Planned,
        attempt: Attempt,
    ) -> Self:
        """A ticket of this name, for a question as it was planned for its analyst."""
        return cls(
            id=name,
            subject=terms["analyst"],
            question=question,
            terms=terms,
            digest=plan.digest,
            step=plan.step,
            steps=plan.steps,
            rungs=plan.rungs,
            values=plan.values,
            stored=plan.ledger_bytes,
            attempt=attempt,
        )

    @property
    def answer(self) -> EncodedAnswer | None:
        """Its answer; None if there is none, or not yet."""
        found: EncodedAnswer | None = (self.outcome or {}).get("answer")
        return found

    @property
    def error(self) -> DiscreetError | None:
        """Why there is no answer; None if there is one, or nothing is known yet."""
        found = (self.outcome or {}).get("error")
        return None if found is None else from_dict(found)

    @property
    def values_to_read(self) -> int:
        """For how many numbers there is to be time where its answer is stored."""
        return _SELECTED if self.values is None else self.values

    @property
    def size(self) -> int:
        """How many bytes its answer has as JSON, certificates included: what it takes to remember it, about."""
        return 0 if self.answer is None else len(self.answer.content)

    @property
    def is_done(self) -> bool:
        """Whether it was answered, refused or failed."""
        return self._done.is_set()

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Note the outcome, and hand it to those who wait."""
        self.outcome = outcome
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
"""How many bytes the answers may have that are remembered of one subject."""


class Remembered:
    """What each subject asked, in order: of what is done the latest, so that nobody's questions push out another's.

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


def terms_of(subject: str, terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of a question, which is asked in this name; limits and bounds may be said as JSON has them.

    Raises:
        InvalidArgument: another analyst is named, or limits are of no shape that is known.
    """
    if terms.get("analyst", subject) != subject:
        raise InvalidArgument("a question is asked in the name of the token's holder", hint="leave the analyst out")
    found = {**terms, "analyst": subject}
    if isinstance(bounds := found.get("bounds"), Mapping):
        found["bounds"] = {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in bounds.items()}
    try:
        if isinstance(limits := found.get("limits"), Mapping):
            found["limits"] = Limits(**limits)
    except TypeError:
        raise InvalidArgument("limits aren't of a shape that is known", hint='{"limits": {"rows": 5}}') from None
    return found


def is_elsewhere(ticket: Ticket) -> bool:
    """Whether a question is being asked under its key by another server, or was before this one was started."""
    return isinstance(ticket.error, AskedAlready)


def kind_of(outcome: Mapping[str, Any]) -> str:
    """The outcome of a question, as it is counted."""
    if "answer" in outcome:
        return "answered"
    return "failed" if outcome["error"]["code"] == QuestionFailed.code else "refused"


def stopping() -> EngineUnavailable:
    """The refusal while the service stops."""
    return EngineUnavailable("the service is being stopped", hint="ask again later")
