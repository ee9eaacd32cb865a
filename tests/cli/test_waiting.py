"""People who wait are told what for, once it has taken a while."""

from __future__ import annotations

import io
import sys
import time

import pytest

from discreet.cli.show import waiting
from discreet.cli.show.waiting import working

HANGS = 120.0
"""Seconds after which something is taken to hang."""


class Terminal(io.StringIO):
    """A screen that somebody watches."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_nothing_is_shown_unless_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe there is no sign of waiting, however long it takes."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    with working("asking"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("patience", "shown"), [(0.01, True), (3600.0, False)])
def test_a_watcher_is_told_after_a_while(monkeypatch: pytest.MonkeyPatch, patience: float, shown: bool) -> None:
    """On a terminal the words appear on standard error once the time is up, and not before."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(waiting, "PATIENCE", patience)
    end = time.monotonic() + (HANGS if shown else 0.5)
    with working("asking"):
        while "asking" not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert ("asking" in terminal.getvalue()) is shown
