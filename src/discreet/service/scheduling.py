"""Scheduling: whose turn it is, for a slot and for a process that plans.

Callers have equal shares of a slot's time, so nobody waits longer because somebody else asks a lot; for planning they
take turns, and each has a share of the processor's time.

Planning is free and looks at public facts alone, so there is nothing to hide in it; but it takes the processor, and
whoever can keep that busy keeps others from asking.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from math import ceil
from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.errors import (
    DiscreetError,
    EngineUnavailable,
    QuestionFailed,
    TooManyWaiting,
    TooMuchAsked,
    TooMuchPlanning,
    Unsupported,
    from_dict,
)
from discreet.ledger import Allowance
from discreet.service.settings import check_values, in_bytes
from discreet.service.workers import PATIENCE_TO_READ, SECONDS_TO_READ

if TYPE_CHECKING:
    from discreet.ledger import Servers
    from discreet.service.settings import AskingLimits, PlanningLimits
    from discreet.service.workers import Job, Worker

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """A queue in which subjects have equal shares of the time that what they want takes.

    What is put in has a tag: the time that its subject had taken before, and its own. The least tag is next. Who wasn't
    waiting begins where the queue is, so nobody saves up time by asking nothing. So a question waits for the one that
    runs, and of each other subject for no more time than its own takes, however much of it there is.

    Source: Golestani (1994), "A self-clocked fair queueing scheme for broadband applications", section 3.

    Examples:
        >>> queue = FairQueue()
        >>> for number in (1, 2, 3):
        ...     queue.put("ann", f"ann's {number}", seconds=60)
        >>> queue.take()
        "ann's 1"
        >>> for number in (1, 2):
        ...     queue.put("bob", f"bob's {number}", seconds=20)
        >>> [queue.take() for _ in range(4)]
        ["bob's 1", "bob's 2", "ann's 2", "ann's 3"]
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, _T]] = []
        self._taken: dict[str, float] = {}
        self._now, self._number = 0.0, 0
        self._changed = Condition()
        self._is_closed = False

    def put(self, subject: str, item: _T, *, seconds: float) -> None:
        """Add what a subject wants done.

        Args:
            subject: whose it is.
            item: what is to be done.
            seconds: for how long it takes its turn.
        """
        with self._changed:
            tag = max(self._now, self._taken.get(subject, 0.0)) + seconds
            self._taken[subject] = tag
            self._number += 1  # of equal tags, the first to come is next
            heappush(self._waiting, (tag, self._number, item))
            self._changed.notify()

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting)

    def wait(self) -> bool:
        """Wait until something is there, and leave it; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return bool(self._waiting)

    def take(self) -> _T | None:
        """The next one, if there is one."""
        with self._changed:
            if not self._waiting:
                return None
            self._now, _, item = heappop(self._waiting)
            self._taken = {subject: tag for subject, tag in self._taken.items() if tag > self._now}
            return item

    def close(self) -> None:
        """Take what is there, and no more: whoever waits for something is told that nothing comes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


class FairPool(Generic[_T]):
    """A few things that many want, each for a while; those who wait take turns by subject.

    Args:
        things: that are handed out.
        most: how many calls of one subject may wait at a time.
    """

    def __init__(self, things: Sequence[_T], most: int) -> None:
        self._all = len(things)
        self._free = list(things)
        self._most = most
        self._turns: OrderedDict[str, deque[object]] = OrderedDict()
        self._changed = Condition()

    @contextmanager
    def turn(self, subject: str) -> Iterator[_T]:
        """Have one to oneself, once it is the subject's turn.

        Raises:
            TooManyWaiting: as many of the subject's calls wait as may.
        """
        taken = self._taken(subject)
        try:
            yield taken
        finally:
            with self._changed:
                self._free.append(taken)
                self._changed.notify_all()

    def close(self) -> None:
        """Hand out no more, once nobody has one or waits for one."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._free) == self._all and not self._turns)
            self._free.clear()

    def _taken(self, subject: str) -> _T:
        """One that is free no more."""
        own = object()
        with self._changed:
            waiting = self._turns.setdefault(subject, deque())
            if len(waiting) >= self._most:
                raise TooManyWaiting(
                    f"{len(waiting)} of your questions wait to be planned already",
                    hint="send the next one once one of them was planned",
                )
            waiting.append(own)
            self._changed.wait_for(lambda: self._free and self._is_next(subject, own))
            waiting.popleft()
            del self._turns[subject]
            if waiting:
                self._turns[subject] = waiting  # behind the others
            self._changed.notify_all()  # another one may be free as well
            return self._free.pop()

    def _is_next(self, subject: str, own: object) -> bool:
        """Whether it is this call's turn."""
        first, waiting = next(iter(self._turns.items()))
        return first == subject and waiting[0] is own


class Allowances:
    """What the questions of each subject may take in a day: of a slot's time, and of the ledger.

    Guarantee: what a question takes is told by its plan, and is taken before it is paid for; so the refusal tells
    nothing of any row. It is counted over all servers of the ledger.

    Args:
        limits: how much that is.
        servers: by which it is counted.
    """

    def __init__(self, limits: AskingLimits, servers: Servers) -> None:
        self._servers, self._limits = servers, limits
        self._slot = Allowance("slot_seconds", limits.slot_seconds)
        self._ledger = Allowance("ledger_bytes", limits.ledger_bytes)

    def check_values(self, values: int | None) -> None:
        """Refuse an answer that releases too many numbers; one whose groups are selected has as many as are.

        Raises:
            TooManyValues: it does.
        """
        check_values(values, self._limits.values)

    def take(self, subject: str, seconds: float, stored: float) -> None:
        """Take what a question needs.

        Args:
            subject: whose question it is.
            seconds: for which it may have a slot.
            stored: bytes by which the ledger grows.

        Raises:
            TooMuchAsked: so much isn't left of what the subject may take in a day.
            Unsupported: the question takes more than that by itself.
            LedgerUnavailable: it can't be counted.
        """
        self._take(subject, self._slot, seconds, "a slot’s time", f"{seconds:,.6g} seconds")
        try:
            self._take(subject, self._ledger, stored, "the ledger", in_bytes(stored))
        except DiscreetError:
            self._servers.take(subject, self._slot, -seconds)
            raise

    def note_stored(self, subject: str, stored: float) -> None:
        """Count what was stored of groups that were selected: as much of it as there is left."""
        self._servers.take(subject, self._ledger, min(stored, self._servers.left(subject, self._ledger)))

    def left(self, subject: str) -> dict[str, dict[str, float]]:
        """How much a subject's questions may take in a day, and how much of it is left."""
        return {
            each.name: {"a_day": each.a_day, "remaining": round(self._servers.left(subject, each), 3)}
            for each in (self._slot, self._ledger)
        }

    def _take(self, subject: str, allowance: Allowance, amount: float, what: str, said: str) -> None:
        """Take so much of one of them."""
        if amount > allowance.a_day:
            raise Unsupported(
                f"this question takes {said} of {what}, more than yours may take in a day",
                hint="ask for less at a time",
            )
        wait = self._servers.take(subject, allowance, amount)
        if wait > 0:
            raise TooMuchAsked(
                f"this question takes {said} of {what}, more than is left of what yours may take in a day",
                hint=f"wait {ceil(wait)} seconds, or ask for less; what was asked before is free",
                retry_after=ceil(wait),
            )


class Planners:
    """The processes that plan, each for one call at a time.

    Guarantee: of those who wait, the subjects take turns; and what planning took of the processor is counted over all
    servers of the ledger, so nobody has more than their share of it for long.

    Args:
        workers: the processes.
        limits: how much planning may take.
        servers: by which it is counted.
    """

    def __init__(self, workers: list[Worker], limits: PlanningLimits, servers: Servers) -> None:
        self.workers = tuple(workers)
        self.limits = limits
        self._servers = servers
        self._pool = FairPool(workers, limits.waiting)
        self._until: dict[str, float] = {}

    @contextmanager
    def turn(self, subject: str) -> Iterator[Planner]:
        """A process to oneself, once it is the subject's turn.

        Raises:
            TooManyWaiting: as many of the subject's calls wait as may.
            TooMuchPlanning: planning their questions has taken its share of the processor.
            LedgerUnavailable: what it took can't be counted.
        """
        self._check_share(subject)
        with self._pool.turn(subject) as worker:
            self._check_share(subject)  # those before it may have used it up while it waited
            planner = Planner(worker, self.limits)
            try:
                yield planner
            finally:
                self._charge(subject, planner.took)

    def close(self) -> None:
        """Stop the processes, once nobody plans any more."""
        self._pool.close()
        for worker in self.workers:
            worker.close()

    def _check_share(self, subject: str) -> None:
        """Refuse who has had their share.

        Raises:
            TooMuchPlanning: they have.
        """
        wait = self._until.get(subject, 0.0) - monotonic()
        if wait > 0:
            raise TooMuchPlanning(
                f"your questions take more than {self.limits.per_minute:g} seconds of processor time a minute to plan",
                hint=f"wait {ceil(wait)} seconds, and ask simpler ones, or fewer",
                retry_after=ceil(wait),
            )

    def _charge(self, subject: str, seconds: float) -> None:
        """Count what planning took."""
        if not seconds:
            return
        wait = self._servers.planned(subject, seconds, self.limits.per_minute)
        if wait > 0:
            self._until[subject] = monotonic() + wait
        else:
            self._until.pop(subject, None)


class Planner:
    """One process, for one call.

    Args:
        worker: the process.
        limits: how much one question may take.
    """

    def __init__(self, worker: Worker, limits: PlanningLimits) -> None:
        self.worker = worker
        self.took = 0.0
        """Seconds of processor time so far."""
        self._limits = limits

    def do(self, job: Job) -> Mapping[str, Any]:
        """A job that touches no private row, within its limits.

        Raises:
            Unsupported: it takes too long, or too much memory.
            EngineUnavailable: the process ended.
            DiscreetError: whatever the job raises.
        """
        found = self._done(job)
        if "error" in found:
            raise from_dict(found["error"])
        return found

    def _done(self, job: Job) -> Mapping[str, Any]:
        """What became of a job, whatever it is; a process that didn't bring it to an end is another one afterwards."""
        try:
            self.worker.send(job)
            message = self.worker.receive(monotonic() + self._limits.patience + job.values * PATIENCE_TO_READ)
        except QuestionFailed:  # no question was asked, so that isn't what failed
            error = self._ended()
        else:
            if message is not None:
                self.took += message[1].get("processor", 0.0)
                return message[1]
            error = _too_long()
        self.took += self._limits.seconds + job.values * SECONDS_TO_READ  # nobody knows how much it took
        self.worker.restart()
        raise error

    def _ended(self) -> DiscreetError:
        """Why the process ended."""
        if self.worker.ran_out():
            return _too_long()
        return EngineUnavailable("a process that plans ended", hint="ask again")


def _too_long() -> Unsupported:
    """The refusal of a question that takes too much to plan."""
    return Unsupported("this question takes too long to plan", hint="ask a simpler one")
