"""Stopping: what was paid for is answered, what only waits is refused, and nothing more is taken."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from discreet.errors import EngineUnavailable
from discreet.ledger import State
from discreet.service import Ask
from discreet.service.workers import Worker
from support.served import COUNT, PATIENCE, asked, became, served_in_threads


def test_a_service_that_stops_leaves_nobody_behind_who_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One question runs, and one waits: the first has its outcome, the second isn't charged.

    The first isn't stored before the service was told to stop.
    """
    is_paid, is_stopped, go = Event(), Event(), Worker.go

    def late(self: Worker) -> None:
        is_paid.set()
        is_stopped.wait(PATIENCE)
        go(self)

    monkeypatch.setattr(Worker, "go", late)
    with served_in_threads(tmp_path) as running:
        service, ann = running.service, running.callers["analyst"]
        assert service.is_ready
        first = asked(running)
        assert is_paid.wait(PATIENCE)
        charged = len(running.states())
        second = service.ask(ann, Ask(COUNT, {"epsilon": "1/5"}))
        service.stop()
        assert service.is_stopping
        assert not service.is_ready
        for caller in ("analyst", "bob"):
            with pytest.raises(EngineUnavailable, match="being stopped"):
                service.ask(running.callers[caller], Ask(COUNT, {"epsilon": "1/4"}))
        with pytest.raises(EngineUnavailable, match="being stopped"):
            service.admit(running.callers["custodian"])
        assert service.plan(ann, COUNT, {"epsilon": 1}).digest
        is_stopped.set()
        assert service.drain()
        assert first.is_done
        assert became(second.reply)["error"]["code"] == "engine_unavailable"
        assert len(running.states()) == charged
        assert (running.states()[-1] is State.COMMITTED) == (first.answer is not None)


def test_a_question_that_was_planned_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was being planned for when the service was told to stop isn't charged either."""
    with served_in_threads(tmp_path) as running:
        service = running.service
        planned = type(service._questions)._planned

        def stopping(*arguments: object) -> object:
            service.stop()
            return planned(*arguments)  # type: ignore[arg-type]  # as it was called

        monkeypatch.setattr(type(service._questions), "_planned", stopping)
        with pytest.raises(EngineUnavailable, match="being stopped"):
            service.ask(running.callers["analyst"], Ask(COUNT, {"epsilon": "1/10"}))
        assert running.states() == []
        assert service.drain()
