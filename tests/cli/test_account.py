"""`discreet budget`, `history` and `verify`: the account as people and programs see it."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import LedgerMissing
from discreet.ledger import Ledger
from discreet.privacy import LaplaceEvent

pytestmark = pytest.mark.usefixtures("town")

COUNT = "SELECT COUNT(*) AS n FROM census"


def test_budget_shows_allowed_spent_and_left(run: Any) -> None:
    """In words for people; as decimal and exact numbers for programs."""
    assert run("ask", COUNT, "--epsilon", "1/3").exit_code == 0
    table = run("budget").stdout
    assert "everyone" in table
    assert "ε = 3, δ = 1e-06" in table
    assert "ε = 0.333333" in table
    data = json.loads(run("budget", "--format", "json").stdout)
    assert data["budget"] == {"epsilon": 3.0, "rho": None, "delta": 1e-6}
    assert data["spent"]["exact"]["epsilon"] == "1/3"
    assert data["remaining"]["epsilon"] == pytest.approx(8 / 3, rel=1e-6)
    assert data["analysts"] == {}
    (row,) = csv.DictReader(io.StringIO(run("budget", "--format", "csv").stdout))
    assert (row["who"], float(row["budget_epsilon"])) == ("everyone", 3.0)
    stream = pa.ipc.open_stream(run("budget", "--format", "arrow").stdout_bytes).read_all()
    assert stream.column("spent_epsilon").to_pylist() == [pytest.approx(1 / 3)]


def test_a_missing_ledger_is_an_error_until_one_is_created(town: Path, run: Any) -> None:
    """Exit code 4, and no ledger appears by itself; the hint names the command that makes one, which then works."""
    assert run("ask", COUNT, "--epsilon", "1").exit_code == 0
    (town / "census.ledger").unlink()
    for command in (["budget"], ["ask", COUNT, "--epsilon", "1"], ["history"], ["verify"]):
        result = run(*command)
        assert result.exit_code == 4, result.output
        assert result.stderr.startswith("error[ledger_missing]: ")
    assert not (town / "census.ledger").exists()
    named = " ".join(result.stderr.split()).rpartition("hint: ")[2].split("`")[1]
    assert named == "discreet ledger create"
    made = run(*named.split()[1:])
    assert (made.exit_code, made.stdout) == (
        0,
        f"created {town / 'census.ledger'}, the account of census: budget ε = 3, δ = 1e-06, nothing spent\n",
    )
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.0


def test_a_ledger_is_not_created_where_one_is(town: Path, run: Any) -> None:
    """Not even an empty one over another: it remembers what was spent. Nor without a configuration that holds."""
    assert run("ask", COUNT, "--epsilon", "1").exit_code == 0
    written = (town / "census.ledger").read_bytes()
    refused = run("ledger", "create")
    assert refused.exit_code == 1
    assert "which remembers what was spent" in " ".join(refused.stderr.split())
    assert (town / "census.ledger").read_bytes() == written
    (town / "census.ledger").unlink()
    config = town / "discreet.toml"
    config.write_text(config.read_text("utf-8").replace("epsilon = 3", "epsilon = -3"), "utf-8")
    assert run("ledger", "create").exit_code == 1
    assert not (town / "census.ledger").exists()


def test_a_missing_ledger_names_the_argument_of_the_function_that_was_called(town: Path) -> None:
    """`load` and `Ledger.open` each have one, of a name of its own."""
    (town / "census.ledger").unlink()
    with pytest.raises(LedgerMissing, match="create_ledger=True"):
        dp.load(town / "discreet.toml")
    with pytest.raises(LedgerMissing, match=r" create=True"):
        Ledger.open(town / "census.ledger", create=False)


def test_history_shows_what_was_asked(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question with its cost and what became of it; the text is cut on a terminal, whole for programs."""
    monkeypatch.setattr("discreet.cli.account.width", lambda: 80)
    long = f"{COUNT} WHERE age >= 40 AND sex = 'Female' AND income >= 10000\nAND income < 20000"
    run("ask", COUNT, "--epsilon", "0.25")
    run("ask", long, "--epsilon", "0.5")
    table = run("history").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert "…" in table
    assert "answered" in table
    entries = json.loads(run("history", "--format", "json").stdout)
    questions = [entry for entry in entries if entry["kind"] == "question"]
    assert [(one["entry"], one["epsilon"], one["state"]) for one in questions] == [
        (1, "1/4", "committed"),
        (2, "1/2", "committed"),
    ]
    assert questions[1]["text"] == long
    rows = list(csv.DictReader(io.StringIO(run("history", "--format", "csv").stdout, newline="")))
    assert [row["text"] for row in rows if row["kind"] == "question"] == [COUNT, long]
    stream = pa.ipc.open_stream(run("history", "--format", "arrow").stdout_bytes).read_all()
    assert stream.num_rows == len(entries)
    assert json.loads(run("history", "--last", "1", "--format", "json").stdout) == entries[-1:]


def test_an_account_without_questions_has_a_history(run: Any) -> None:
    """Nothing asked is no error."""
    result = run("history", "--last", "5")
    assert result.exit_code == 0, result.output


def test_verify_prints_the_head(run: Any) -> None:
    """A whole ledger verifies; the head of before is still in the chain later, another isn't."""
    run("ask", COUNT, "--epsilon", "0.25")
    text = run("verify")
    assert text.exit_code == 0, text.output
    data = json.loads(run("verify", "--format", "json").stdout)
    assert data["whole"] is True
    assert data["problems"] == []
    assert f"head {data['head']}" in text.stdout
    run("ask", COUNT, "--epsilon", "0.5")
    assert run("verify", "--kept", data["head"]).exit_code == 0
    assert run("verify", "--kept", "0" * 64).exit_code == 4


def test_a_changed_ledger_does_not_verify(town: Path, run: Any) -> None:
    """A debit made smaller is found, named, and ends with exit code 4."""
    run("ask", COUNT, "--epsilon", "0.25")
    run("ask", COUNT, "--epsilon", "0.5")
    with closing(sqlite3.connect(town / "census.ledger")) as ledger, ledger:
        tables = [name for (name,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        entry = next(name for name in tables if "entr" in name)
        for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            ledger.execute(f'DROP TRIGGER "{trigger}"')
        changed = ledger.execute(f"UPDATE {entry} SET epsilon = '1/8' WHERE epsilon = '1/4'")
        assert changed.rowcount == 1
    result = run("verify")
    assert result.exit_code == 4
    assert "entry" in result.stdout
    data = json.loads(run("verify", "--format", "json").stdout)
    assert data["whole"] is False
    assert data["problems"]


def test_a_changed_snapshot_does_not_verify(town: Path, run: Any) -> None:
    """Changed by a byte, cut off or gone: the table is named, with exit code 4, and the ledger holds all the same."""
    run("ask", COUNT, "--epsilon", "0.25")
    whole = run("verify")
    assert whole.exit_code == 0
    assert "the admitted tables hold\n" in whole.stdout
    (path,) = town.glob("census.snapshots/census/*/0.parquet")
    written = path.read_bytes()

    def damaged() -> str:
        """What is said of it."""
        text, data = run("verify"), run("verify", "--format", "json")
        assert (text.exit_code, data.exit_code) == (4, 4)
        said = json.loads(data.stdout)
        assert (said["whole"], said["problems"], len(said["damaged"])) == (False, [], 1)
        assert "the chain and every loss hold" in text.stdout
        assert said["damaged"][0] in " ".join(text.stdout.split())
        return str(said["damaged"][0])

    half = len(written) // 2
    for change in (written[:half] + bytes([written[half] ^ 1]) + written[half + 1 :], written[:half]):
        path.write_bytes(change)
        assert "'census'" in damaged()
    path.unlink()
    assert "isn't there as it was written" in damaged()
    path.write_bytes(written)
    assert run("verify").exit_code == 0
    manifest = path.with_name("manifest.json")
    manifest.write_text(manifest.read_text("utf-8").replace('"digest": "', '"digest": "0'), "utf-8")
    assert "isn't what was admitted" in damaged()


def test_a_file_that_is_no_ledger_is_refused(town: Path, run: Any) -> None:
    """Exit code 4 with a typed error, not a traceback."""
    (town / "census.ledger").write_bytes(b"not a database" * 100)
    for command in (["ledger", "create"], ["ask", COUNT, "--epsilon", "1"], ["verify"]):
        result = run(*command)
        assert result.exit_code == 4, result.output
        assert result.stderr.startswith("error[ledger")


def test_a_long_question_is_cut_on_a_terminal_alone(town: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads it from a pipe has all of it."""
    assert town.is_dir()
    question = f"SELECT COUNT(*) AS n FROM census WHERE {' AND '.join(f'age <> {n}' for n in range(40))}"
    assert run("ask", question, "--epsilon", "0.1").exit_code == 0
    assert question in run("history").stdout
    monkeypatch.setattr("discreet.cli.account.width", lambda: 80)
    assert question not in run("history").stdout


def test_failures_are_shown_and_looked_at(town: Path, run: Any) -> None:
    """Which failed, and how many may; after the look they are counted anew, and the history says so."""
    with Ledger.open(town / "census.ledger", create=False) as ledger:
        account = ledger.account("census", dp.Budget(epsilon=3, delta=1e-6))
        version = account.admitted() or account.admit("x", after=0)
        event = LaplaceEvent(scale=Fraction(10), l1=1)
        paid = account.reserve(question="q", text=COUNT, version=version.version, event=event, analyst="ann")
        account.fail(paid)
    assert "failures   1 of 10 questions failed" in run("budget").stdout
    assert json.loads(run("budget", "--format", "json").stdout)["failures"] == {
        "allowed": 10,
        "failed": 1,
        "pending": 0,
    }
    shown = run("failures").stdout
    assert "SELECT COUNT(*)" in shown
    assert "1 of 10 questions failed; nobody has looked at them yet" in shown
    (row,) = json.loads(run("failures", "--format", "json").stdout)
    assert (row["entry"], row["analyst"], row["state"]) == (1, "ann", "failed")
    assert "looked at, by an entry of the ledger" in run("failures", "--acknowledge").stdout
    assert "0 of 10 questions failed" in run("failures").stdout
    assert "the custodian looked at failed questions: 1" in run("history").stdout
    assert run("verify").exit_code == 0
    assert run("failures", "--acknowledge").exit_code != 0
