"""While an engine works: Ctrl-C is heard, and somebody who watches is told."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from threading import Event, main_thread
from types import FrameType

import pytest

from discreet.cli.attack import heard
from discreet.cli.common import screen
from discreet.cli.common.screen import Abandoned
from discreet.cli.questions import patiently
from discreet.errors import QuestionFailed

HANGS = 120.0
"""Seconds after which something is taken to hang."""


class Terminal(io.StringIO):
    """A screen that somebody watches."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_the_result_is_handed_on() -> None:
    """What the work returns comes back, None too."""
    assert patiently(lambda: 42) == 42
    assert patiently(lambda: None) is None


def test_an_error_is_raised_here() -> None:
    """The very error, so that its type and place are kept."""
    error = ValueError("no")

    def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="no") as raised:
        patiently(fail)
    assert raised.value is error


def test_ctrl_c_is_heard_while_the_work_goes_on() -> None:
    """The wait ends, though the work is deaf and goes on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
    release, ended = Event(), Event()

    def work() -> None:
        while not is_waited_for():
            if release.wait(0.001):
                return
        os.kill(os.getpid(), signal.SIGINT)
        release.wait(HANGS)
        ended.set()

    try:
        with pytest.raises(Abandoned):
            patiently(work)
        assert not ended.is_set()
    finally:
        release.set()
        signal.signal(signal.SIGINT, before)


def is_waited_for() -> bool:
    """Whether the main thread is in the wait itself: before that, Ctrl-C would hit the test."""
    frame: FrameType | None = sys._current_frames()[main_thread().ident or 0]
    while frame is not None and frame.f_back is not None:
        if frame.f_code is Event.wait.__code__ and frame.f_back.f_code is patiently.__code__:
            return True
        frame = frame.f_back
    return False


def fail_when_interrupted() -> None:
    """What an engine does on Ctrl-C."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(300):
            time.sleep(0.1)  # a signal that another thread took is heard between two steps
    except KeyboardInterrupt:
        raise QuestionFailed from None


def test_ctrl_c_is_heard_behind_an_engines_error() -> None:
    """What an engine makes of Ctrl-C is Ctrl-C again; an error without it stays what it is."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), heard():
            fail_when_interrupted()
        with pytest.raises(QuestionFailed), heard():
            raise QuestionFailed
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_nothing_is_shown_unless_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe there is no sign of waiting, however long it takes."""
    monkeypatch.setattr(screen, "PATIENCE", 0.01)
    with screen.working("asking"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("patience", "shown"), [(0.01, True), (3600.0, False)])
def test_a_watcher_is_told_after_a_while(monkeypatch: pytest.MonkeyPatch, patience: float, shown: bool) -> None:
    """On a terminal the words appear on standard error once the time is up, and not before."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(screen, "PATIENCE", patience)
    end = time.monotonic() + (HANGS if shown else 0.5)
    with screen.working("asking"):
        while "asking" not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert ("asking" in terminal.getvalue()) is shown


def test_a_long_line_is_folded_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe a line stays a line; on a terminal what follows hangs under the text."""
    line = "measures  " + "word " * 30
    screen.say(line, 10)
    assert capsys.readouterr().out == f"{line}\n"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    screen.say(line, 10)
    first, *rest = terminal.getvalue().splitlines()
    assert len(first) <= 60
    assert rest
    assert all(one.startswith(" " * 10 + "word") for one in rest)


def test_a_number_stays_with_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is folded isn't folded there."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "12")
    screen.say("right 23 in 13.2 %", 6)
    assert shown.getvalue() == "right 23 in\n      13.2 %\n"
