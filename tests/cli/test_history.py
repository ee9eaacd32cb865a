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
