"""`discreet history`: what was asked, as people and programs see it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census"


def test_history_shows_what_was_asked(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question with its cost and what became of it; the text is cut on a terminal, whole for programs."""
    monkeypatch.setattr("discreet.cli.show.entries.width", lambda: 80)
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


def test_a_long_question_is_cut_on_a_terminal_alone(town: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads it from a pipe has all of it."""
    assert town.is_dir()
    question = f"SELECT COUNT(*) AS n FROM census WHERE {' AND '.join(f'age <> {n}' for n in range(40))}"
    assert run("ask", question, "--epsilon", "0.1").exit_code == 0
    assert question in run("history").stdout
    monkeypatch.setattr("discreet.cli.show.entries.width", lambda: 80)
    assert question not in run("history").stdout


def test_a_table_fits_a_terminal_whatever_it_holds(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 80 columns too, with who asked and a cost in ρ and δ: then the day does without its time."""
    monkeypatch.setattr("discreet.cli.show.entries.width", lambda: 80)
    question = "SELECT education, COUNT(*) AS n FROM census GROUP BY education"
    assert run("ask", question, "--rho", "0.00123", "--delta", "1e-9", "--analyst", "annabel").exit_code == 0
    lines = run("history").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 10
    assert "SELECT educ" in lines[-1]
    assert all(words in lines[-1] for words in ("annabel", "ρ = 0.00123, δ = 1e-09", "answered"))
