"""The end of a process: at once, but with everything said, its exit code told, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.common.exit_codes import ExitCode


def test_a_question_leaves_nothing_behind(town: Path, shell: Any, run: Any) -> None:
    """What engines spill is gone with them, and the answer is whole and paid for."""
    spilled = town / "spilled"
    spilled.mkdir()
    done = shell(
        "ask", "SELECT COUNT(*) AS n FROM census", "--epsilon", "1", env={**os.environ, "TMPDIR": str(spilled)}
    )
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert done.stdout.splitlines()[-1].startswith("left")
    assert not list(spilled.iterdir())
    assert run("verify").exit_code == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--version"], ExitCode.OK), (["budget"], ExitCode.REFUSED), (["aks"], ExitCode.USAGE)],
)
def test_the_shell_is_told_the_exit_code(shell: Any, arguments: list[str], code: ExitCode) -> None:
    """And what was said is out by then."""
    done = shell(*arguments)
    assert done.returncode == code
    assert done.stdout or done.stderr


ENDING = """
import atexit, sys, threading, time
import discreet.cli
from discreet.__main__ import main

def run():
    def later():
        time.sleep(0.5)
        print("a thread that is waited for")

    atexit.register(print, "what is called at exit")
    threading.Thread(target=later).start()
    print("x" * 1_000_000)
    sys.exit(5)

discreet.cli.main = run  # in the place of a command
main()
"""


def test_all_that_is_to_be_done_is_done() -> None:
    """More than a pipe holds is read, threads end, and what is called at exit is called; then the process is gone."""
    done = subprocess.run([sys.executable, "-c", ENDING], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout.splitlines() == ["x" * 1_000_000, "a thread that is waited for", "what is called at exit"]


def test_an_error_of_python_ends_as_usual() -> None:
    """What is no exit code is Python's to report."""
    program = ENDING.replace("sys.exit(5)", "raise SystemExit('why')")
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "why\n")
