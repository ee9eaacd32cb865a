"""Tickets: questions that were taken, each answered at a time that is known from the start; and idempotency keys.

A question that is asked again under its key is the same question, and is paid for once. Each server knows the keys of
the questions that it took; the ledger knows those of all that were paid for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event, Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import (
    AskedAlready,
    AskedInPart,
    DiscreetError,
    EngineUnavailable,
    InvalidArgument,
    KeyReused,
    LedgerError,
    QuestionFailed,
)
from discreet.ledger import key_digest
from discreet.privacy import Limits
from discreet.service.jobs import EncodedAnswer, Job
from discreet.service.release_times import longest
from discreet.service.workers import Message, Worker

if TYPE_CHECKING:
    from discreet.ledger import Attempt, Place, Tried
    from discreet.service.planners import Planner

_KEY = re.compile("[!-~](?:[ -~]{0,198}[!-~])?", re.ASCII)
_SELECTED = 200_000
"""How many numbers an answer is taken to have whose groups were selected, where it is read again."""

_SETTLED = {AskedAlready.code, QuestionFailed.code}


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
            rungs=plan["rungs"],
            values=plan["values"],
            stored=plan["ledger_bytes"],
            attempt=attempt,
        )

    @property
    def answer(self) -> EncodedAnswer | None:
        """Its answer; None if there is none, or not yet."""
        found: EncodedAnswer | None = (self.outcome or {}).get("answer")
        return found

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
        """Note what became of it, and let those who wait have it."""
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
        """Wait until it is done, for so long at the most; whether it is."""
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


def checked_key(subject: str, key: str | None) -> str:
    """What a subject's key is known by; empty if there is none.

    Raises:
        InvalidArgument: it isn't one.
    """
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise InvalidArgument(
            "an Idempotency-Key has 1 to 200 printable ASCII characters, with no space at its ends",
            hint="a random UUID, for each question another",
        )
    return key_digest(subject, key)


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


class Keys:
    """The keys of the questions that this server took."""

    def __init__(self) -> None:
        self._tickets: dict[str, Ticket] = {}
        self._lock = Lock()

    def claim(self, ticket: Ticket) -> Ticket:
        """The ticket that has this one's key: itself, if none had it before.

        Raises:
            KeyReused: it was used for another plan.
        """
        key = ticket.attempt.key
        if not key:
            return ticket
        with self._lock:
            first = self._tickets.setdefault(key, ticket)
        if first.digest != ticket.digest:
            raise KeyReused
        return first

    def release(self, ticket: Ticket) -> None:
        """Forget a ticket's key."""
        with self._lock:
            if self._tickets.get(ticket.attempt.key) is ticket:
                del self._tickets[ticket.attempt.key]

    def settle(self, ticket: Ticket, outcome: Mapping[str, Any], tried: Callable[[str], object]) -> None:
        """Forget the key of a ticket that was refused, so that it may be asked again; unless a part of it was paid for.

        Args:
            ticket: that is done.
            outcome: of it.
            tried: what the ledger knows of a key.
        """
        key = ticket.attempt.key
        if not key or "error" not in outcome or outcome["error"]["code"] in _SETTLED:
            return
        with suppress(LedgerError):  # then a retry finds out
            if tried(key) is not None:
                return
        self.release(ticket)

    @contextmanager
    def taking(self, ticket: Ticket) -> Iterator[None]:
        """While a ticket is being taken; where that fails, those who came with the same key hear why, and it is free.

        Raises:
            DiscreetError: whatever was raised.
        """
        try:
            yield
        except BaseException as error:
            self.release(ticket)
            said = error if isinstance(error, DiscreetError) else EngineUnavailable("this can't be asked now")
            ticket.finish({"error": said.to_dict()})
            raise


def is_elsewhere(ticket: Ticket) -> bool:
    """Whether a question is being asked under its key by another server, or was before this one was started."""
    outcome = ticket.outcome or {}
    return "error" in outcome and outcome["error"]["code"] == AskedAlready.code


def begun(slot: Worker, ticket: Ticket, patience: float) -> Mapping[str, Any] | None:
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
    slot.send(
        Job(kind="ask", question=ticket.question, terms=ticket.terms, digest=ticket.digest, attempt=ticket.attempt)
    )
    message = _received(slot, monotonic() + patience)
    if message is None:
        slot.restart()
        raise EngineUnavailable("this question couldn't be planned once more when it was its turn", hint="ask again")
    if message[0] == "done":
        ticket.release = datetime.now(UTC)
        return message[1]
    slot.begin()
    return None


def carried_out(slot: Worker, ticket: Ticket, storing: float, give_up: Callable[[], object]) -> Mapping[str, Any]:
    """What becomes of a question that has begun: an answer at its time, or then that there is none.

    Args:
        slot: the process.
        ticket: the question.
        storing: how many seconds before the end of each step its outcome is stored, or given up.
        give_up: notes that what was paid for it got no answer.

    Raises:
        QuestionFailed: it wasn't measured in time, or its process is gone; said at the time of its answer.
    """
    due, message = monotonic(), None
    for number in range(ticket.steps):
        if number:  # the step before may have been the last, as what it takes besides was stored: it leaves at its time
            message = _received(slot, due)
            if message is not None and message[0] == "done":
                break
        due, message = _measured(slot, ticket, due, storing, message)
        if message is not None and message[0] == "done":
            due = monotonic()  # stored meanwhile, or refused before it was paid for, or late: all are public
            ticket.release = datetime.now(UTC)
            break
        sleep(max(0.0, due - storing - monotonic()))
        if message is None:
            break
        slot.go()
    if message is not None and message[0] != "done":
        message = _received(slot, None)
    if message is None:
        slot.kill()  # so that it can't pay for more
        give_up()
        slot.restart()
    _wait_awake(ticket, due)
    if message is None:
        raise QuestionFailed
    return message[1]


def recovered(slot: Worker, step: float, wait: Callable[[float], bool]) -> None:
    """Let a process that took the place of another get warm, so that the next question misses its time no likelier.

    How long that takes depends on how many rows there are, so it takes whole steps of the question that failed.

    Args:
        slot: the process.
        step: how many seconds one of them has.
        wait: for so many seconds; whether to give it up.
    """
    due = monotonic() + step
    while not wait(max(0.0, due - monotonic())) and not slot.is_warm():
        due += step


_AWAKE, _NAP = 0.005, 0.0003
"""How many seconds before an answer leaves nothing sleeps any more for longer than so many."""


def _wait_awake(ticket: Ticket, due: float) -> None:
    """Wait for the time of an answer, and sleep lightly at last; so does whoever waits for the ticket.

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
    for rung in range(ticket.rungs):
        due = begun + longest(ticket.step, 1, rung + 1)
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


def again(planner: Planner, ticket: Ticket, tried: Tried) -> Mapping[str, Any]:
    """What became of a question that was paid for before, under the same key; it is never carried out again."""
    if not tried.failed:
        found = planner.do(
            Job(
                kind="retry",
                question=ticket.question,
                terms=ticket.terms,
                digest=ticket.digest,
                attempt=ticket.attempt,
                values=ticket.values_to_read,
            )
        )
        if "answer" in found:
            return {"answer": found["answer"]}
    return {"error": _unanswered(tried).to_dict()}


def _unanswered(tried: Tried) -> DiscreetError:
    """Why there is no answer under a key: as much as follows from debits and outcomes, which are public by then."""
    if not tried.failed and not tried.is_over:
        return AskedAlready()
    if tried.failed or tried.is_open:
        return QuestionFailed()
    return AskedInPart(
        "what this question measures first was paid for under this Idempotency-Key, and the question itself wasn't",
        hint="ask it under a new key, at the same offer: what was paid for is stored, and free",
    )


def kind_of(outcome: Mapping[str, Any]) -> str:
    """What became of a question, as it is counted."""
    if "answer" in outcome:
        return "answered"
    return "failed" if outcome["error"]["code"] == QuestionFailed.code else "refused"


def stopping() -> EngineUnavailable:
    """What is said while the service stops."""
    return EngineUnavailable("the service is being stopped", hint="ask again later")
