"""Whose turn it is to have a question planned, and how much planning may take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

import pytest

from discreet.errors import EngineUnavailable, QuestionFailed, TooManyWaiting, TooMuchPlanning, Unsupported
from discreet.ledger import Servers, servers_of
from discreet.service import PlanningLimits
from discreet.service.jobs import Job
from discreet.service.planners import Planners
from discreet.service.workers import Message
from support.served import PLANNED

if TYPE_CHECKING:
    from discreet.service.workers import Worker


PATIENCE = 60.0
JOB = Job(kind="plan", question="", terms={}, subject="ann")


class Fake:
    """A worker that plans when it is let, and takes as long of the processor as it is told to.

    Args:
        took: what it says it took; None if it ends instead, and "stuck" if it never answers.
    """

    def __init__(self, took: float | str | None = 0.0) -> None:
        self.took = took
        self.may_go = Event()
        self.may_go.set()
        self.restarts = 0
        self.is_at_its_limit = False

    def send(self, _: Job) -> None:
        """Begin, when it may."""
        assert self.may_go.wait(PATIENCE)

    def receive(self, until: float) -> Message | None:
        """What came of it."""
        if self.took is None:
            raise QuestionFailed
        if self.took == "stuck":
            assert until > monotonic()
            return None
        return Message("done", PLANNED, cast("float", self.took))

    def ran_out(self) -> bool:
        """Whether the system ended it."""
        return self.is_at_its_limit

    def restart(self) -> None:
        """Another one."""
        self.restarts += 1

    def close(self) -> None:
        """No more."""
        self.took = None


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """That count."""
    found = servers_of(str(tmp_path / "l"), "census")
    yield found
    found.close()


def planners(servers: Servers, *workers: Fake, **limits: Any) -> Planners:
    """Processes that plan."""
    return Planners([cast("Worker", each) for each in workers], PlanningLimits(**limits), servers)


def test_who_asks_a_lot_lets_others_go_first(servers: Servers) -> None:
    """Ann sends four at once, then bob one: his is second. A fifth and sixth of hers are refused."""
    worker = Fake()
    worker.may_go.clear()
    pool, done = planners(servers, worker, waiting=4), []

    def plan(subject: str) -> None:
        with pool.turn(subject) as planner:
            planner.plan(JOB)
            done.append(subject)

    threads = []
    for subject, waiting in (("ann", 0), ("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1)):
        threads.append(Thread(target=plan, args=(subject,)))
        threads[-1].start()
        end = monotonic() + PATIENCE
        while len(pool._pool._turns.get(subject, ())) < waiting or (waiting == 0 and pool._pool._free):
            assert monotonic() < end
            sleep(0.001)
    threads.append(Thread(target=plan, args=("ann",)))
    threads[-1].start()
    while len(pool._pool._turns["ann"]) < 4:
        sleep(0.001)
    with pytest.raises(TooManyWaiting), pool.turn("ann"):
        pass
    worker.may_go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert done.index("bob") <= 2
    assert sorted(done) == ["ann"] * 5 + ["bob"]
    pool.close()


def test_planning_is_paid_for_in_processor_time(servers: Servers) -> None:
    """Whoever has used theirs up is refused at once, and told when to come again; nobody else is."""
    pool = planners(servers, Fake(6.0), per_minute=10)
    for _ in range(2):
        with pool.turn("ann") as planner:
            assert planner.plan(JOB) is PLANNED
    with pytest.raises(TooMuchPlanning) as refused, pool.turn("ann"):
        pass
    assert 1 <= refused.value.retry_after <= 12  # 2 seconds too many, at 10 a minute
    with pool.turn("bob") as planner:
        planner.plan(JOB)


def test_those_who_wait_are_bound_by_what_was_used_up_before_them(servers: Servers) -> None:
    """Eight calls wait while the first ones use up the share: they are refused when it is their turn."""
    worker = Fake(6.0)
    worker.may_go.clear()
    pool, found = planners(servers, worker, per_minute=10), list[str]()

    def plan() -> None:
        try:
            with pool.turn("ann") as planner:
                planner.plan(JOB)
            found.append("planned")
        except TooMuchPlanning:
            found.append("refused")

    threads = [Thread(target=plan) for _ in range(8)]
    for thread in threads:
        thread.start()
    end = monotonic() + PATIENCE
    while len(pool._pool._turns.get("ann", ())) < 7:
        assert monotonic() < end
        sleep(0.001)
    worker.may_go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(found) == ["planned"] * 2 + ["refused"] * 6
    with pool.turn("bob") as planner:
        planner.plan(JOB)


def test_what_does_not_end_is_charged_in_full(servers: Servers) -> None:
    """A process that is stuck, ended, or was ended by the system: the caller pays its limit, and there is a new one."""
    for worker, error, text in (
        (Fake("stuck"), Unsupported, "too long"),
        (Fake(None), EngineUnavailable, "ended"),
        (Fake(None), Unsupported, "too long"),
    ):
        worker.is_at_its_limit = text == "too long"
        subject = f"{error.code}{worker.took}"
        pool = planners(servers, worker, seconds=10.0, per_minute=9)
        with pytest.raises(error, match=text), pool.turn(subject) as planner:
            planner.plan(JOB)
        assert worker.restarts == 1
        with pytest.raises(TooMuchPlanning), pool.turn(subject):
            pass
