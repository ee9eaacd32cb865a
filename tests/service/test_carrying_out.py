"""When what is carried out in a slot is stored, and when its answer leaves."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from discreet.errors import QuestionFailed
from discreet.service import carrying_out
from discreet.service.release_times import longest
from discreet.service.tickets import Ticket
from discreet.service.workers import Message
from support.served import encoded, ticket_of

if TYPE_CHECKING:
    from discreet.service.workers import Worker


STORING = 0.25
ANSWER = encoded({})


def test_nothing_sleeps_deeply_before_an_answer_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who wait are woken again and again in the last five milliseconds; it leaves at its time, and not before."""
    now, woken = [0.0], list[float]()

    def nap(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(carrying_out, "monotonic", lambda: now[0])
    monkeypatch.setattr(carrying_out, "sleep", nap)
    ticket = ticket_of(step=1.0)
    ticket.when_woken(lambda: woken.append(now[0]))
    carrying_out._wait_awake(ticket, 1.0)
    assert 1.0 <= now[0] < 1.0001
    assert woken[0] == pytest.approx(0.995)
    assert max(later - before for before, later in pairwise([*woken, 1.0])) < 0.00031
    assert not ticket.is_done


class Measured:
    """A worker with a clock of its own, which measures each step in a given time.

    Args:
        takes: how many seconds each step takes; infinity if it never ends.
    """

    def __init__(self, *takes: float) -> None:
        self.now, self.takes, self.begun, self.restarts = 0.0, list(takes), 0.0, 0
        self.stores, self.stored = 0.0, 0.0
        self.killed, self.given_up = False, list[float]()

    def monotonic(self) -> float:
        """What time it is."""
        return self.now

    @property
    def clock(self) -> SimpleNamespace:
        """The same, as a day and an hour."""
        return SimpleNamespace(now=lambda zone: datetime.fromtimestamp(self.now, zone))

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def wait_until_ready(self) -> None:
        """It is."""

    def send(self, _: object) -> None:
        """Begin."""

    def receive(self, until: float | None = None) -> Message | None:
        """What it says next."""
        if not self.takes and until is not None and self.stored > until:
            self.now = max(self.now, until)
            return None
        if not self.takes:
            self.now = max(self.now, self.stored)
            return Message("done", ANSWER)
        ready = self.begun + self.takes[0]
        self.now = max(self.now, ready if until is None or ready <= until else until)
        return None if until is not None and ready > until else Message("held")

    def go(self) -> None:
        """It may store it, and begin the next step."""
        self.takes.pop(0)
        self.begun, self.stored = self.now + STORING, self.now + self.stores

    def kill(self) -> None:
        """What was paid for can be given up from now on."""
        self.killed = True

    def give_up(self) -> None:
        """Once, when it can pay for nothing more, and before another takes its place."""
        assert self.killed
        assert not self.restarts
        self.given_up.append(self.now)

    def restart(self) -> None:
        """Another takes its place."""
        self.restarts += 1


@pytest.mark.parametrize(
    ("takes", "rungs", "leaves"),
    [
        ([0.0], 1, 1), ([0.75], 1, 1), ([0.8], 1, None), ([inf], 1, None),
        ([0.0], 3, 1), ([0.75], 3, 1), ([0.8], 3, 2), ([1.75], 3, 2), ([1.8], 3, 4), ([3.75], 3, 4), ([3.8], 3, None),
        ([0.1, 0.1], 3, 2), ([0.8, 0.1], 3, 3), ([0.1, 3.0], 3, 5), ([3.0, 3.0], 3, 8), ([0.1, inf], 3, None),
    ],
)  # fmt: skip
def test_a_step_ends_at_the_first_of_its_times_that_it_is_ready_for(
    monkeypatch: pytest.MonkeyPatch, takes: list[float], rungs: int, leaves: float | None
) -> None:
    """Each is twice the one before; what is ready for none fails at the last. What happens between them never shows."""
    worker = Measured(*takes)
    monkeypatch.setattr(carrying_out, "monotonic", worker.monotonic)
    monkeypatch.setattr(carrying_out, "sleep", worker.sleep)
    ticket = ticket_of(step=1.0, steps=len(takes), rungs=rungs)
    if leaves is None:
        with pytest.raises(QuestionFailed):
            carrying_out.carried_out(cast("Worker", worker), ticket, STORING, worker.give_up)
        assert (worker.now, worker.restarts) == (len(takes) - 1 + 2 ** (rungs - 1), 1)
        assert worker.given_up == [worker.now - STORING]
    else:
        assert carrying_out.carried_out(cast("Worker", worker), ticket, STORING, worker.give_up) is ANSWER
        assert (worker.now, worker.restarts, worker.given_up) == (leaves, 0, [])
    assert worker.now <= longest(1.0, len(takes), rungs) == len(takes) * 2 ** (rungs - 1)


@pytest.mark.parametrize(
    ("takes", "more", "leaves"),
    [([0.1], 1, 1.0), ([0.1], 5, 1.0), ([0.1, 0.1], 1, 2.0), ([0.8, 0.1], 1, 3.0), ([], 1, 0.0), ([], 2, 0.0)],
)
def test_an_answer_leaves_when_it_was_said_to_where_a_step_was_stored_already(
    monkeypatch: pytest.MonkeyPatch, takes: list[float], more: int, leaves: float
) -> None:
    """Then there are fewer steps than might have been: the last one's time is that of the answer, and not before."""
    worker, said = Measured(*takes), list[float]()
    monkeypatch.setattr(carrying_out, "monotonic", worker.monotonic)
    monkeypatch.setattr(carrying_out, "sleep", worker.sleep)
    monkeypatch.setattr(carrying_out, "datetime", worker.clock)
    ticket = ticket_of(step=1.0, steps=len(takes) + more, rungs=2)

    def go() -> None:
        """Note what is said when the outcome of a step is stored."""
        Measured.go(worker)
        said.append(release(ticket))

    monkeypatch.setattr(worker, "go", go)
    assert carrying_out.carried_out(cast("Worker", worker), ticket, STORING, worker.give_up) is ANSWER
    assert (worker.now, release(ticket)) == (leaves, leaves)
    assert said[-1:] == ([leaves] if takes else [])


def test_an_answer_that_takes_long_to_store_leaves_once_it_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Late; and by then that is what is said, and no next step."""
    worker = Measured(0.1)
    worker.stores = 0.4
    monkeypatch.setattr(carrying_out, "monotonic", worker.monotonic)
    monkeypatch.setattr(carrying_out, "sleep", worker.sleep)
    monkeypatch.setattr(carrying_out, "datetime", worker.clock)
    ticket = ticket_of(step=1.0, steps=2)
    assert carrying_out.carried_out(cast("Worker", worker), ticket, STORING, worker.give_up) is ANSWER
    assert (worker.now, release(ticket)) == (pytest.approx(1.15), pytest.approx(1.15))


def release(ticket: Ticket) -> float:
    """When its answer leaves, by the clock of a measured worker."""
    assert ticket.release is not None
    return ticket.release.timestamp()
