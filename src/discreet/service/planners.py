"""Planners: the processes that plan, for which callers take turns.

Planning is free and looks at public facts alone, so there is nothing to hide in it; but it takes the processor, and
a caller who keeps that busy keeps others from asking. So each caller has a share of the processor's time.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from discreet.errors import (
    DiscreetError,
    EngineUnavailable,
    QuestionFailed,
    TooManyWaiting,
    TooMuchPlanning,
    Unsupported,
)
from discreet.service.api import Planned, Reply
from discreet.service.jobs import PATIENCE_TO_READ, SECONDS_TO_READ

if TYPE_CHECKING:
    from discreet.ledger import Servers
    from discreet.service.jobs import Done, Job
    from discreet.service.settings import PlanningLimits
    from discreet.service.workers import Worker

_T = TypeVar("_T")


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
                    f"{len(waiting)} of your questions are already waiting to be planned",
                    hint="send the next one when one of them has been planned",
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
        """Refuse a subject that has had its share.

        Raises:
            TooMuchPlanning: it has.
        """
        wait = self._until.get(subject, 0.0) - monotonic()
        if wait > 0:
            raise TooMuchPlanning(
                f"planning your questions takes more than {self.limits.per_minute:g} seconds of processor time a "
                "minute",
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
        """The seconds of processor time it has used."""
        self._limits = limits

    def plan(self, job: Job) -> Planned:
        """The plan that a job makes, within its limits.

        Raises:
            Unsupported: it takes too long, or too much memory.
            EngineUnavailable: the process ended.
            DiscreetError: whatever the job raises.
        """
        return cast("Planned", self._succeeded(job))

    def look_up(self, job: Job) -> Reply | None:
        """The answer that a job finds, touching no private row; None if there is none. It raises as `plan` does."""
        return cast("Reply | None", self._succeeded(job))

    def _succeeded(self, job: Job) -> Done:
        done = self._done(job)
        if isinstance(done, Reply) and done.error is not None:
            raise done.error.as_error()
        return done

    def _done(self, job: Job) -> Done:
        """The outcome of a job, whatever it is. A process that doesn't finish it is replaced."""
        try:
            self.worker.send(job)
            message = self.worker.receive(monotonic() + self._limits.patience + job.values * PATIENCE_TO_READ)
        except QuestionFailed:  # no question was asked, so that isn't what failed
            error = self._ended()
        else:
            if message is not None:
                self.took += message.took
                return message.done
            error = _too_long()
        self.took += self._limits.seconds + job.values * SECONDS_TO_READ  # nobody knows how much it took
        self.worker.restart()
        raise error

    def _ended(self) -> DiscreetError:
        """Why the process ended."""
        if self.worker.ran_out():
            return _too_long()
        return EngineUnavailable("a planning process ended", hint="ask again")


def _too_long() -> Unsupported:
    """The refusal of a question that takes too much to plan."""
    return Unsupported("this question takes too long to plan", hint="ask a simpler question")
