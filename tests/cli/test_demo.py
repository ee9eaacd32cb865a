"""`discreet demo`: the whole story, real, quick, and gone afterwards."""

from __future__ import annotations

import os
import re
import resource
import tempfile
from pathlib import Path
from typing import Any

import pytest

from discreet.census import synthetic
from discreet.cli import served_story
from discreet.errors import ServerUnreachable
from discreet.interfaces.client import connect

SECONDS = 20
"""Of computing: three times what it takes where cores are shared."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the demo prints in an empty folder, what it took, and what it left behind."""
    import subprocess
    import sys

    folder, temporary = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("tmp")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [sys.executable, "-m", "discreet", "demo"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), "COLUMNS": "80"},
        check=False,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "run": run,
        "text": run.stdout,
        "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "left": [*folder.iterdir(), *temporary.iterdir()],
    }


def test_it_runs_to_its_end(told: dict[str, Any]) -> None:
    """No error, nothing on standard error, no colours in a pipe, and no line too long for a screen."""
    assert told["run"].returncode == 0, told["run"].stderr
    assert told["run"].stderr == ""
    assert "\x1b" not in told["text"]
    assert max(map(len, told["text"].splitlines())) <= 80


def test_it_takes_seconds_and_leaves_nothing(told: dict[str, Any]) -> None:
    """Some seconds of work, and no file in the folder or among temporary files."""
    assert told["seconds"] < SECONDS
    assert told["left"] == []


def test_it_tells_every_part(told: dict[str, Any]) -> None:
    """Truth beside private answers, a plan, the attacks, a refusal, the end of the budget, history and verification."""
    for part in ("truth", "private", "±", "Laplace", "error[", "budget_exhausted", "refused", "committed", "Head:"):
        assert part in told["text"], part


def test_the_differencing_attack_works_without_discreet_only(told: dict[str, Any]) -> None:
    """The plain difference is the person's income; the private one has an error far above it.

    False alarm: ten times the error is seventy scales of either noise, beyond which both together are once in 1e30.
    """
    person = synthetic(1).to_pylist()[0]
    line = next(line for line in told["text"].splitlines() if line.startswith("difference"))
    plain, private, error = (int(number.replace(",", "")) for number in re.findall(r"-?[\d,]+", line))
    assert plain == person["income"]
    assert error > 20 * person["income"]
    assert abs(private) < 10 * error


def test_asking_again_gave_one_value(told: dict[str, Any]) -> None:
    """Fifty answers, one value, paid for once."""
    assert re.search(r"50\s+answers\s+hold\s+1\s+distinct\s+value,", told["text"])


def test_strangers_are_served_and_the_server_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Averaging and differencing gain nothing, the budget ends, and Ctrl-C leaves no server and no file."""
    end = served_story.the_budget_of_all

    def interrupted(gate: Any) -> None:
        end(gate)
        raise KeyboardInterrupt

    monkeypatch.setattr(served_story, "the_budget_of_all", interrupted)
    monkeypatch.setattr(served_story, "_STEP", 0.8)
    monkeypatch.setattr(served_story, "_TIMES", 10)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        served_story.tell_served(synthetic(2_000))
    told = " ".join(capsys.readouterr().out.split())
    assert "They hold 1 distinct value, 10 replies" in told
    assert "error[budget_exhausted]" in told
    assert "dsc_" not in told
    assert list(tmp_path.iterdir()) == []
    address = re.search(r"http://127\.0\.0\.1:\d+", told)
    assert address is not None
    with pytest.raises(ServerUnreachable), connect(address[0], "nobody", patience=0) as nobody:
        nobody.me()


def test_a_demo_that_cannot_serve_says_so_at_once(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    """Before anything is told."""
    monkeypatch.setattr(served_story, "find_spec", lambda _: None)
    refused = run("demo", "--serve")
    assert refused.exit_code == 1
    assert "discreet[server,client]" in refused.output
    assert refused.stdout == ""


def test_the_census_can_be_kept(here: Path, run: Any) -> None:
    """`--save` writes a CSV file that the other commands take; one that is there stays."""
    assert run("demo", "--save", "census.csv").exit_code == 0
    assert (here / "census.csv").read_text(encoding="utf-8").count("\n") == synthetic().num_rows + 1
    size = (here / "census.csv").stat().st_size
    refused = run("demo", "--save", "census.csv")
    assert refused.exit_code == 1
    assert (here / "census.csv").stat().st_size == size
    assert run("demo", "--save", "nowhere/census.csv").exit_code == 1
