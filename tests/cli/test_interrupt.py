"""Ctrl-C during a question: what was reserved stays spent, and the shell is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, main_thread
from types import FrameType
from typing import Any

import pytest

from discreet.cli.common.interrupt import Abandoned, Errand, heard, patiently
from discreet.errors import QuestionFailed

COUNT = "SELECT COUNT(*) AS n FROM census"

PATIENCE = 120
"""Seconds after which a process is taken to hang."""

SLOW = """
import signal, sys, time
from discreet.cli import main
from discreet.gateway import execute

def slowly(*_):
    print("running", flush=True)
    for _ in range(1800):
        time.sleep(0.1)  # a signal that another thread took is heard between two steps

execute.run = slowly  # in the place of an engine that takes its time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
sys.argv = ["discreet", "ask", {question!r}, "--epsilon", "0.5", "--format", {format!r}]
main()
"""


@pytest.mark.parametrize("format_", ["table", "json"])
def test_ctrl_c_during_a_question(town: Path, run: Any, format_: str) -> None:
    """The process ends with 130 and says that what was paid stays paid; the account remembers the reservation.

    What the engine spilled is removed, though the engine isn't waited for.
    """
    program, spilled = SLOW.format(question=COUNT, format=format_), town / "spilled"
    spilled.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=town,
        env={**os.environ, "TMPDIR": str(spilled)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert "stays spent" in err
    assert "Traceback" not in err
    assert not list(spilled.iterdir())
    if format_ == "json":
        assert json.loads(err)["code"] == "interrupted"
    entries = json.loads(run("history", "--format", "json").stdout)
    assert [(one["epsilon"], one["state"]) for one in entries if one["kind"] == "question"] == [("1/2", "reserved")]
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.5
    assert run("verify").exit_code == 0


LOADING = """
import signal, sys, time
from discreet.__main__ import main

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "discreet.cli":
            print("loading", flush=True)
            time.sleep(1800)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Slow())
main()
"""


def test_ctrl_c_while_modules_are_loaded(here: Path) -> None:
    """In the first second of any command: a line instead of a traceback, and the same exit code."""
    with subprocess.Popen(
        [sys.executable, "-c", LOADING], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "stopped by Ctrl-C\n")


def test_a_closed_pipe_is_no_defect(town: Path) -> None:
    """`discreet history | head -0` ends quietly."""
    with subprocess.Popen(
        [sys.executable, "-m", "discreet", "explain", COUNT, "--epsilon", "1"],
        cwd=town,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=PATIENCE)
    assert "defect" not in err
    assert "Traceback" not in err


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
        release.wait(PATIENCE)
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
        if frame.f_code is Event.wait.__code__ and frame.f_back.f_code is Errand.wait.__code__:
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
