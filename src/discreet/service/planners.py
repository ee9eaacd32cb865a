"""Planners: the processes that plan. Subjects take turns, and each has a share of the processor's time for it.

Planning is free and looks at public facts alone, so there is nothing to hide in it; but it takes the processor, and
whoever can keep that busy keeps others from asking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

from discreet.errors import (
    DiscreetError,
    EngineUnavailable,
    QuestionFailed,
    TooMuchPlanning,
    Unsupported,
    from_dict,
)
from discreet.service.scheduling import FairPool

if TYPE_CHECKING:
    from discreet.ledger import Servers
    from discreet.service.workers import Job, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningLimits:
    """How much planning may take.

    Args:
        seconds: of processor time for one question.
        patience: seconds for one question, however little of the processor it gets.
        per_minute: seconds of processor time a minute, for one subject; so much can be saved up.
        waiting: how many calls of one subject may wait at a time.
    """

    seconds: float = 10.0
    patience: float = 60.0
    per_minute: float = 20.0
    waiting: int = 8


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
        """All are free."""
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
        wait = self._until.get(subject, 0.0) - monotonic()
        if wait > 0:
            raise TooMuchPlanning(
                f"your questions take more than {self.limits.per_minute:g} seconds of processor time a minute to plan",
                hint=f"wait {ceil(wait)} seconds, and ask simpler ones, or fewer",
                retry_after=ceil(wait),
            )
        with self._pool.turn(subject) as worker:
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
        """Nothing was done yet."""
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
            message = self.worker.receive(monotonic() + self._limits.patience)
        except QuestionFailed:  # no question was asked, so that isn't what failed
            error = self._ended()
        else:
            if message is not None:
                self.took += message[1].get("processor", 0.0)
                return message[1]
            error = _too_long()
        self.took += self._limits.seconds  # nobody knows how much it took
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
