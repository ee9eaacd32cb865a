"""`discreet summary`: one table of a table's columns, in each format; what it would cost; refusals, for nothing."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pytest

from discreet.cli.show import summaries
from discreet.results import Answer

pytestmark = pytest.mark.usefixtures("town")
SMALL = ("summary", "census", "--columns", "age,sex", "--epsilon", "0.5")


def test_a_table_has_a_row_for_each_column_and_counts_below(run: Any) -> None:
    """With the ± beside each value, what was left out, and the account."""
    result = run(*SMALL)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("census: ")
    assert lines[2].split() == ["column", "declared", "missing", "mean", "std", "25", "%", "median", "75", "%"]
    assert lines[4].startswith("sex     text, 2 keys       ") or lines[4].startswith("age     integer, 0 to 125  ")
    assert sum(lines[place].count("±") + lines[place].count(" to ") for place in (4, 5)) >= 5
    assert sum("█" in line for line in lines) == 2
    titles = [line.split("  ")[0] for line in lines[-4:]]
    assert titles == ["±", "left out", "cost", "left"]
    assert lines[-2] == "cost       ε = 0.5, entry 1"
    again = run("ask", 'SUMMARIZE SELECT age, sex FROM "census"', "--epsilon", "0.5")
    assert again.stdout.splitlines()[: len(lines) - 2] == lines[:-2]
    assert "cost       free: the same answer again, paid for in entry 1" in again.stdout


def test_json_has_the_answers_and_csv_each_number(run: Any) -> None:
    """Each with the ends of its interval."""
    found = json.loads(run(*SMALL, "--format", "json").stdout)
    assert list(found) == ["table", "summary", "cost", "answers", "spent"]
    assert [Answer.from_json(each).entry for each in found["answers"]] == [1, 1, 1]
    assert all("signature" in each for each in found["answers"])
    rows = list(csv.reader(io.StringIO(run(*SMALL, "--format", "csv").stdout)))
    assert rows[0] == ["column", "part", "key", "value", "low", "high"]
    assert rows[1][1] == "rows"
    assert float(rows[1][4]) < float(rows[1][3]) < float(rows[1][5])
    parts = [(column, part, key) for column, part, key, *_ in rows[2:]]
    assert set(parts) == {
        *(("age", part, "") for part in ("missing", "mean", "std", "q25", "median", "q75")),
        *(("sex", "rows", key) for key in ("Female", "Male", "(missing)")),
    }


def test_arrow_has_the_same(run: Any) -> None:
    """As a stream, in which numbers and times are texts."""
    run(*SMALL)
    with pa.ipc.open_stream(run(*SMALL, "--format", "arrow").stdout_bytes) as stream:
        found = stream.read_all().to_pylist()
    assert found[0]["part"] == "rows"
    assert {type(row["value"]) for row in found} == {str}


def test_a_dry_run_says_what_it_would_cost(run: Any) -> None:
    """The ± to expect of each part; nothing is spent, and what is answered already is free."""
    result = run(*SMALL, "--dry-run")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["column", "rows", "missing", "mean", "25", "%", "median", "75", "%"]
    assert lines[2].split()[:2] == ["(all)", "±"]
    assert any(line.startswith("age ") and line.count("ranks") == 3 for line in lines)
    assert "cost       ε = 0.5" in lines
    assert any(line.startswith("budget     pays for ") for line in lines)
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0
    run(*SMALL)
    assert "answered   already by entry 1: free" in run(*SMALL, "--dry-run").stdout
    planned = json.loads(run(*SMALL, "--dry-run", "--format", "json").stdout)
    assert planned["answered_by"] == [1]
    assert "3 questions" in run("explain", "SUMMARIZE SELECT age, sex FROM census", "--epsilon", "0.5").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said", "hint"),
    [
        (("cansus", "--epsilon", "1"), 1, "there is no private table 'cansus' here", "did you mean 'census'?"),
        (("--columns", "agee", "--epsilon", "1"), 1, "'census' has no column 'agee'", "did you mean age?"),
        ((), 1, "nothing says what the question may cost", "--epsilon 0.5"),
        (("--epsilon", "100"), 3, "ε = 3", ""),
        (("--epsilon", "1", "--limits", "auto"), 1, "there is nothing to limit", "leave"),
        (("--epsilon", "1", "--idempotency-key", "x"), 1, "keys are a server's", "--server"),
    ],
)
def test_what_is_mistyped_is_refused(run: Any, arguments: tuple[str, ...], code: int, said: str, hint: str) -> None:
    """With a hint, and before anything is paid."""
    result = run("summary", *arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert hint in result.stderr
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0


def test_on_a_narrow_terminal_columns_stand_in_several_tables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each begins with the name of the column; quartiles have tables of their own, and no line is too wide."""
    names = ["column", "declared", "missing", "mean", "std", "25 %", "median", "75 %"]
    rows = [["day", "date", "0 ± 9", "", "", *["2025-01-19 (2025-01-01 to 2025-12-31)"] * 3]]
    rows += [
        ["age", "integer, 0 to 125", "fewer than 3,957", "45.86 ± 0.21", "17 (9 to 20)", "1 ± 1", "2 ± 1", "3 ± 1"]
    ]
    monkeypatch.setattr(summaries, "width", lambda: 80)
    summaries._show_columns(names, rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("column")] == [
        ["column", "declared", "missing", "mean", "std"],
        ["column", "25", "%"],
        ["column", "median"],
        ["column", "75", "%"],
    ]
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("day") for line in lines) == 4
