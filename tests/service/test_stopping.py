"""Stopping: what was paid for is answered, what only waits is refused, and nothing more is taken."""

from __future__ import annotations

from pathlib import Path
from time import sleep

import pytest

from discreet.errors import EngineUnavailable
from discreet.ledger import State
from support.served import COUNT, served_in_threads


def test_a_service_that_stops_leaves_nobody_behind_who_paid(tmp_path: Path) -> None:
    """One question runs, and one waits: the first has its outcome at its time, the second isn't charged."""
    with served_in_threads(tmp_path) as running:
        service, ann = running.service, running.callers["analyst"]
        assert service.is_ready
        first = service.ask(ann, COUNT, {"epsilon": "1/10"})
        while not running.states():
            sleep(0.01)
        second = service.ask(ann, COUNT, {"epsilon": "1/5"})
        service.stop()
        assert service.is_stopping
        assert not service.is_ready
        for caller in ("analyst", "bob"):
            with pytest.raises(EngineUnavailable, match="being stopped"):
                service.ask(running.callers[caller], COUNT, {"epsilon": "1/4"})
        with pytest.raises(EngineUnavailable, match="being stopped"):
            service.admit(running.callers["custodian"])
        assert service.plan(ann, COUNT, {"epsilon": 1})["digest"]
        assert service.drain()
        assert first.is_done
        assert second.outcome is not None
        assert second.outcome["error"]["code"] == "engine_unavailable"
        (state,) = running.states()
        assert (state is State.COMMITTED) == ("answer" in (first.outcome or {}))


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
            service.ask(running.callers["analyst"], COUNT, {"epsilon": "1/10"})
        assert running.states() == []
        assert service.drain()
