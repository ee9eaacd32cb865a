"""Failures through a server: counted for all who ask, until the custodian has looked; and they don't travel."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

import discreet as dp
from discreet.errors import TooManyFailures
from discreet.ledger import Failures, State
from discreet.service import Ask, Ticket
from discreet.service.carrying_out import recovered
from discreet.service.workers import Worker
from support import served as support
from support.served import CONFIG, COUNT, FAILED, Served, answered, asked, outcome, served, spent


def missed(running: Served, monkeypatch: pytest.MonkeyPatch) -> Ticket:
    """A question whose process dies once it was paid for; a busy machine may fail others before that."""
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "go", lambda worker: worker.kill())
        ticket = asked(running)
        assert outcome(ticket) == FAILED
    return ticket


@pytest.mark.long
def test_after_so_many_misses_nothing_new_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A miss is a failure in the ledger; as many as may be, and everybody is refused until the custodian looks."""
    monkeypatch.setattr(support, "CONFIG", CONFIG.replace("failures = 1000", "failures = 2"))
    with served(tmp_path / "served", step=1.0) as running:
        service, bob = running.service, running.callers["bob"]
        first = answered(running)
        for number in (1, 2):
            missed(running, monkeypatch)
            assert running.states().count(State.FAILED) == number
            assert service.budget(bob)["failures"] == {"allowed": 2, "failed": number, "pending": 0}
        before = spent(running)
        for caller in (bob, running.callers["analyst"]):
            with pytest.raises(TooManyFailures, match="2 questions to this account failed") as caught:
                service.ask(caller, Ask(f"{COUNT} WHERE id > 3", {"epsilon": "1/10"}))
            assert "acknowledge" in caught.value.hint_at("cli")
        assert spent(running) == before
        assert support.again(running, first).is_done
        with dp.load(running.folder / "discreet.toml") as tables:
            assert tables.acknowledge_failures() == Failures(failed=(2, 3))
            assert tables.verify().holds
        answered(running)


class Warming:
    """A process that is warm after some time, by a clock of its own."""

    def __init__(self, after: float) -> None:
        self.now, self.after = 0.0, after

    def is_warm(self) -> bool:
        """Whether it is by now."""
        return self.now >= self.after

    def wait(self, seconds: float) -> bool:
        """Let time pass; nobody stops it."""
        self.now += seconds
        return False


@pytest.mark.parametrize(("after", "begins"), [(0.0, 2.0), (0.1, 2.0), (1.9, 2.0), (2.1, 4.0), (5.0, 6.0)])
def test_the_next_question_waits_until_the_process_is_warm(
    monkeypatch: pytest.MonkeyPatch, after: float, begins: float
) -> None:
    """For whole steps of the one that failed: how long it took to get warm depends on rows, and doesn't show."""
    slot = Warming(after)
    monkeypatch.setattr("discreet.service.carrying_out.monotonic", lambda: slot.now)
    recovered(cast("Worker", slot), 2.0, slot.wait)
    assert slot.now == begins


def test_a_service_that_stops_waits_for_no_process_to_get_warm() -> None:
    """Nobody is asked any more."""
    slot = Warming(1e9)
    recovered(cast("Worker", slot), 0.001, lambda _: True)
    assert slot.now == 0.0
