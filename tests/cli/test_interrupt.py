"""Ctrl-C during a question: what was reserved stays spent, and the shell is told."""

from __future__ import annotations

import json
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
from discreet.gateway import answering

def slowly(*_):
    print("running", flush=True)
    for _ in range(1800):
        time.sleep(0.1)  # a signal that another thread took is heard between two steps

answering.run = slowly  # in the place of an engine that takes its time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
sys.argv = ["discreet", "ask", {question!r}, "--epsilon", "0.5", "--format", {format!r}]
main()
"""


@pytest.mark.parametrize("format_", ["table", "json"])
def test_ctrl_c_during_a_question(town: Path, run: Any, format_: str) -> None:
    """The process ends with 130 and says that what was paid stays paid; the account remembers the reservation."""
    program = SLOW.format(question=COUNT, format=format_)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=town, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert "stays spent" in err
    assert "Traceback" not in err
    if format_ == "json":
        assert json.loads(err)["code"] == "interrupted"
    entries = json.loads(run("history", "--format", "json").stdout)
    assert [(one["epsilon"], one["state"]) for one in entries if one["kind"] == "question"] == [("1/2", "reserved")]
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.5
    assert run("verify").exit_code == 0


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
