"""`discreet demo`: the whole story, real, and gone afterwards."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from discreet.census import hospital, synthetic
from discreet.cli.common import extras
from discreet.cli.demo import served_story
from discreet.errors import InvalidArgument, ServerUnreachable
from discreet.interfaces.client import connect
from discreet.tables import load_config


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the demo prints in an empty folder, and what it left behind."""
    import subprocess
    import sys

    folder, temporary = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("tmp")
    run = subprocess.run(
        [sys.executable, "-m", "discreet", "demo"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), "COLUMNS": "80"},
        check=False,
        capture_output=True,
        text=True,
    )
    return {
        "run": run,
        "text": run.stdout,
        "left": [*folder.iterdir(), *temporary.iterdir()],
    }


def test_it_runs_to_its_end(told: dict[str, Any]) -> None:
    """No error, nothing on standard error, no colours in a pipe, and no line too long for a screen."""
    assert told["run"].returncode == 0, told["run"].stderr
    assert told["run"].stderr == ""
    assert "\x1b" not in told["text"]
    assert max(map(len, told["text"].splitlines())) <= 80


def test_it_leaves_nothing(told: dict[str, Any]) -> None:
    """No file in the folder or among temporary files."""
    assert told["left"] == []


def test_it_tells_every_part(told: dict[str, Any]) -> None:
    """Truth beside private answers, a plan, the attacks, a refusal, the end of the budget, history and verification."""
    for part in ("truth", "private", "±", "Laplace", "error[", "budget_exhausted", "refused", "answered", "Head:"):
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


@pytest.mark.long
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
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
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


def test_the_hospital_can_be_kept(here: Path, run: Any) -> None:
    """`--hospital` writes two tables of the same people, the same each time, and a configuration that declares them."""
    assert run("demo", "--hospital", ".").exit_code == 0
    patients, visits = hospital()
    assert (here / "patients.csv").read_text(encoding="utf-8").count("\n") == patients.num_rows + 1
    assert (here / "visits.csv").read_text(encoding="utf-8").count("\n") == visits.num_rows + 1
    assert sorted(set(visits["patient_id"].to_pylist())) == patients["patient_id"].to_pylist()
    assert 70_000 < visits.num_rows < 80_000
    assert load_config(here / "hospital.toml").name == "hospital"
    assert run("demo", "--hospital", ".").exit_code == 1
    with pytest.raises(InvalidArgument, match="from 1 to"):
        hospital(0)


def test_the_console_is_open_until_it_is_interrupted(tmp_path: Path) -> None:
    """It prints an address and a token of each role, by which one signs in; Ctrl-C ends it, and its files go."""
    import signal
    import subprocess
    import sys

    from httpx2 import Client

    with subprocess.Popen(
        [sys.executable, "-m", "discreet", "demo", "--console"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        try:
            lines = [run.stdout.readline() for _ in range(6)]
            found = re.search(r"http://127\.0\.0\.1:\d+", lines[0])
            tokens = dict(line.split() for line in lines[1:5])
            assert found is not None
            assert set(tokens) == {"analyst", "custodian", "auditor", "operator"}
            with Client(base_url=found[0], headers={"Accept": "text/html"}, follow_redirects=True) as client:
                while not _is_open(client):
                    sleep(0.05)
                form = re.search(r'name="form" value="(\w+)"', client.get("/sign-in").text)
                assert form is not None
                page = client.post("/sign-in", data={"form": form[1], "token": tokens["analyst"]})
                assert "Left for you" in page.text
        finally:
            run.send_signal(signal.SIGINT)
        assert run.wait(60) == 0
    assert list(tmp_path.glob("discreet-demo-*")) == []  # its tables, ledger and tokens


def _is_open(client: Any) -> bool:
    """Whether the server answers by now."""
    from httpx2 import TransportError

    try:
        return bool(client.get("/healthz").is_success)
    except TransportError:
        return False
