"""Ctrl-C during a question: what was reserved stays spent, and the shell is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
