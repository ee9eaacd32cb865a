"""`discreet ask` and `discreet explain`: answers in each format, refusals that cost nothing."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.cli import ask
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.errors import InvalidArgument
from discreet.results import Answer

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census WHERE age >= 40"
GROUPED = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM census GROUP BY sex"


def over_forty(town: Path) -> int:
    """The truth."""
    with (town / "census.csv").open(encoding="utf-8", newline="") as file:
        return sum(int(row["age"]) >= 40 for row in csv.DictReader(file))


def history(run: Any) -> list[dict[str, Any]]:
    """The questions in the account."""
    entries = json.loads(run("history", "--format", "json").stdout)
    return [entry for entry in entries if entry["kind"] == "question"]


def test_json_has_rows_intervals_cost_spent_entry_and_reused(town: Path, run: Any) -> None:
    """The shape is the documented one, to the key; the answer is near the truth."""
    result = run("ask", COUNT, "--epsilon", "0.5", "--format", "json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert list(answer) == [
        *("columns", "rows", "intervals", "confidence", "cost", "spent"),
        *("entry", "reused", "origin", "coverage", "limits", "declared", "informative", "certificate", "signature"),
    ]
    assert Answer.from_json(answer).interval("n") == [tuple(answer["intervals"]["n"][0])]
    assert list(answer["rows"][0]) == ["n"]
    n = answer["rows"][0]["n"]
    ((low, high),) = answer["intervals"]["n"]
    assert isinstance(n, int)
    assert low < n < high
    assert abs(n - over_forty(town)) < 60  # Pr[|Laplace(2)| ≥ 60] = e^-30
    assert answer["cost"]["epsilon"] == 0.5
    assert answer["spent"]["exact"]["epsilon"] == "1/2"
    assert answer["entry"] == 1
    assert answer["reused"] is False
    assert answer["origin"] == []
    assert result.stderr == ""


def test_an_answer_is_drawn_beside_its_table(tmp_path: Path, run: Any) -> None:
    """As SVG and as PNG; what can't be drawn or kept is refused before it is paid."""
    for refused in (tmp_path / "answer.gif", tmp_path / "nowhere" / "answer.svg"):
        assert run("ask", GROUPED, "--epsilon", "1", "--plot", refused).exit_code == ExitCode.REFUSED
    assert run("ask", f"EXPLAIN {GROUPED}", "--epsilon", "1", "--plot", tmp_path / "a.svg").exit_code != 0
    assert history(run) == []
    result = run("ask", GROUPED, "--epsilon", "1", "--plot", tmp_path / "answer.svg")
    assert result.exit_code == 0, result.stderr
    assert "answer.svg, 2 charts: n by sex: largest" in " ".join(result.stdout.split())
    assert (tmp_path / "answer.svg").read_text(encoding="utf-8").count('class="bar"') == 2
    assert run("ask", GROUPED, "--epsilon", "1", "-o", tmp_path / "answer.png", "--format", "csv").exit_code == 0
    assert (tmp_path / "answer.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_question_again_is_free(run: Any) -> None:
    """The answer is the same, marked as reused, and nothing more is spent."""
    first = json.loads(run("ask", COUNT, "--epsilon", "0.5", "--format", "json").stdout)
    again = json.loads(run("ask", COUNT.lower(), "--epsilon", "1/2", "--format", "json").stdout)
    assert again == {**first, "reused": True, "signature": again["signature"]}
    assert (first["signature"]["question"], again["signature"]["question"]) == (COUNT, COUNT.lower())
    table = run("ask", COUNT, "--epsilon", "0.50")
    assert "free: the same answer again, paid for in entry 1" in table.stdout
    assert len(history(run)) == 1


def test_a_table_shows_errors_cost_and_what_is_left(run: Any) -> None:
    """Each noisy value with its ±, the account below, all within 80 columns and without colours.

    An average's ends are as far but for a hundredth, where a twentieth is let pass; a fifth of the rows would not.
    """
    result = run("ask", GROUPED, "--epsilon", "1")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["sex", "n", "age"]
    assert [line.split()[0] for line in lines[2:4]] == ["Female", "Male"]
    assert all(line.count("±") == 2 for line in lines[2:4])
    assert "cost       ε = 1, entry 1" in result.stdout
    assert "left       ε = 2, with δ = " in result.stdout
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.stdout


def test_a_table_says_what_its_errors_leave_out(run: Any) -> None:
    """Of quantiles something more than of a count."""
    of_quantile = "a quantile's holds more often than it says"
    plain = run("ask", COUNT, "--epsilon", "0.5").stdout
    assert "±          at 95 %\n" in plain
    assert of_quantile not in plain
    assert of_quantile in run("ask", "SELECT MEDIAN(age) AS m FROM census", "--epsilon", "0.1").stdout


def test_csv_reads_back_with_the_ends_of_intervals(run: Any) -> None:
    """Each noisy column is followed by the ends of its intervals."""
    result = run("ask", GROUPED, "--epsilon", "1", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert list(rows[0]) == ["sex", "n", "n_low", "n_high", "age", "age_low", "age_high"]
    assert [row["sex"] for row in rows] == ["Female", "Male"]
    assert all(float(row["n_low"]) < int(row["n"]) < float(row["n_high"]) for row in rows)


def test_arrow_reads_back(run: Any) -> None:
    """The stream holds the same columns, with types."""
    result = run("ask", GROUPED, "--epsilon", "1", "--format", "arrow")
    table = pa.ipc.open_stream(result.stdout_bytes).read_all()
    assert table.column_names == ["sex", "n", "n_low", "n_high", "age", "age_low", "age_high"]
    assert table.schema.field("n").type == pa.int64()
    assert table.column("sex").to_pylist() == ["Female", "Male"]


def test_a_wider_confidence_makes_a_wider_interval(run: Any) -> None:
    """`--confidence` changes the interval, and neither the answer nor the cost."""
    found = [
        json.loads(run("ask", COUNT, "--epsilon", "0.5", "--confidence", level, "--format", "json").stdout)
        for level in ("0.5", "0.999")
    ]
    (narrow,), (wide,) = (one["intervals"]["n"] for one in found)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert found[0]["rows"] == found[1]["rows"]
    assert len(history(run)) == 1


def test_a_question_is_read_from_standard_input(run: Any) -> None:
    """`-` reads it; errors show the place in what was read."""
    assert run("explain", "-", "--epsilon", "1", stdin=COUNT).exit_code == 0
    refused = run("explain", "-", "--epsilon", "1", stdin="SELECT COUNT(*) AS n FROM census WHERE agee > 1")
    assert refused.exit_code == 1
    assert "│ SELECT COUNT(*) AS n FROM census WHERE agee > 1" in refused.stderr


def test_gaussian_noise_and_accuracy_can_be_asked_for(run: Any) -> None:
    """`--rho` and `--within` are offers like `--epsilon`; `--within` takes a column's name."""
    by_rho = json.loads(run("explain", COUNT, "--rho", "0.005", "--format", "json").stdout)
    assert by_rho["cost"]["rho"] == pytest.approx(0.005, rel=0.01)
    by_width = json.loads(run("explain", COUNT, "--within", "n=30", "--format", "json").stdout)
    assert by_width["expected"][0]["error"] <= 30
    assert by_width["cost"]["epsilon"] == pytest.approx(0.1, rel=0.05)
    same = json.loads(run("explain", COUNT, "--within", "30", "--format", "json").stdout)
    assert same["cost"] == by_width["cost"]
    in_percent = json.loads(run("explain", COUNT, "--within", "n=3%@1000", "--format", "json").stdout)
    assert in_percent["cost"] == by_width["cost"]
    capped = run("explain", COUNT, "--within", "30", "--epsilon", "1/100")
    assert "ε = 0.01" in capped.stdout
    assert "where ± 30 was wanted" in " ".join(capped.stdout.split())


def test_noise_is_chosen_where_delta_is_offered(run: Any) -> None:
    """Which and why stands in the plan, in words and in JSON; Gaussian noise is charged in ρ."""
    columns = ", ".join(f"COUNT(DISTINCT age + {age}) AS n{age}" for age in range(12))
    many, offer = f"SELECT {columns} FROM census", ["--epsilon", "1", "--delta", "1e-7"]
    found = json.loads(run("explain", many, *offer, "--format", "json").stdout)
    assert found["noise"].startswith("Gaussian: at this ε and δ its worst error is 0.")
    assert found["cost"]["epsilon"] is None
    assert found["noise"] in " ".join(run("explain", many, *offer).stdout.split())
    assert json.loads(run("explain", COUNT, *offer, "--format", "json").stdout)["noise"].startswith("Laplace: ")
    assert "noise" not in json.loads(run("explain", COUNT, "--epsilon", "1", "--format", "json").stdout)
    asked = json.loads(run("ask", many, *offer, "--format", "json").stdout)
    assert asked["cost"]["rho"] == pytest.approx(found["cost"]["rho"])


def test_the_split_and_the_confidence_can_be_asked_for(run: Any) -> None:
    """`--weights` moves accuracy between columns; `--confidence` says at which errors are announced."""
    even, heavy = (
        json.loads(run("explain", GROUPED, "--epsilon", "1", *more, "--format", "json").stdout)["expected"]
        for more in ([], ["--weights", "n=10"])
    )
    assert heavy[0]["error"] < even[0]["error"]
    assert heavy[1]["error"] > even[1]["error"]
    sure = json.loads(run("explain", COUNT, "--within", "30", "--confidence", "0.999", "--format", "json").stdout)
    assert sure["cost"]["epsilon"] > 0.2
    answer = json.loads(run("ask", COUNT, "--within", "30", "--confidence", "0.8", "--format", "json").stdout)
    low, high = answer["intervals"]["n"][0]
    assert high - low <= 60
    assert answer["cost"]["epsilon"] < 0.06


def test_limits_of_a_question_need_units_of_several_rows(run: Any) -> None:
    """Where each row is a unit there is nothing to limit, and what isn't limits is refused."""
    refused = run("explain", COUNT, "--epsilon", "1", "--limits", "5x10")
    assert refused.exit_code != 0
    assert "nothing to limit" in refused.stderr
    assert run("explain", COUNT, "--epsilon", "1", "--limits", "many").exit_code != 0


def test_placeholders_take_parameters(run: Any) -> None:
    """Numbers, and texts in which nothing is anything but text."""
    words = ["SELECT COUNT(*) AS n FROM census WHERE age >= ? AND sex = ?", "--parameter", "40", "--parameter"]
    shown = run("explain", *words, "Female' --", "--epsilon", "1").stdout
    assert "age >= 40 AND sex = 'Female'' --'" in shown
    assert run("explain", *words[:3], "--epsilon", "1").exit_code == ExitCode.REFUSED


def test_explaining_spends_nothing_and_needs_no_data(town: Path, run: Any) -> None:
    """The plan comes out in each format, with the table's file gone."""
    (town / "census.csv").unlink()
    text = run("explain", GROUPED, "--epsilon", "0.5")
    assert text.exit_code == 0, text.stderr
    assert "ε = 0.5" in text.stdout
    assert "±" in text.stdout
    data = json.loads(run("explain", GROUPED, "--epsilon", "0.5", "--format", "json").stdout)
    assert data["cost"]["epsilon"] == 0.5
    assert [one["column"] for one in data["expected"]] == ["n", "age"]
    rows = list(csv.DictReader(io.StringIO(run("explain", GROUPED, "--epsilon", "0.5", "--format", "csv").stdout)))
    assert [row["column"] for row in rows] == ["n", "age"]
    stream = run("explain", GROUPED, "--epsilon", "0.5", "--format", "arrow").stdout_bytes
    assert pa.ipc.open_stream(stream).read_all().num_rows == 2
    assert history(run) == []


REFUSED = [
    ("SELECT COUNT(*) AS n FROM census WHERE agee >= 40", "unknown_column", "agee"),
    ("SELECT COUNT(*) AS n FROM cencus", "unknown_table", "cencus"),
    ("SELECT SOUNDEX(sex) AS s, COUNT(*) AS n FROM census GROUP BY 1", "unknown_function", "SOUNDEX"),
    ("SELECT SUM(hours) AS h FROM census", "unbounded_column", None),
    ("SELECT sex, COUNT(*) AS n FROM census", "ungrouped_column", "sex"),
    ("SELECT COUNT(* FROM census", "sql_syntax", None),
    ("SELECT COUNT(*) FROM census; SELECT 1", "not_one_select", None),
    ("DROP TABLE census", "not_one_select", None),
    ("SELECT education, COUNT(*) AS n FROM census GROUP BY education", "delta_required", None),
]


@pytest.mark.parametrize(("sql", "code", "at"), REFUSED)
def test_a_refused_question_shows_why_and_where_and_costs_nothing(
    run: Any, sql: str, code: str, at: str | None
) -> None:
    """Exit code 1, the code, a hint or a place, a caret under the culprit, and an untouched account."""
    result = run("ask", sql, "--epsilon", "1")
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"error[{code}]: ")
    assert "Traceback" not in result.stderr
    if at is not None:
        source, caret = lines[1:3]
        assert source[caret.index("^") :].startswith(at)
    as_json = json.loads(run("ask", sql, "--epsilon", "1", "--format", "json").stderr)
    assert as_json["code"] == code
    assert as_json["hint"] or as_json["place"]
    assert history(run) == []


@pytest.mark.parametrize(
    "offer",
    [
        ["--epsilon", "0"],
        ["--epsilon", "-1"],
        ["--epsilon", "nan"],
        ["--epsilon", "inf"],
        ["--epsilon", "much"],
        ["--epsilon", "1e400000000"],
        ["--rho", "-1/2"],
        ["--within", "0"],
        ["--within", "n=-3"],
        ["--epsilon", "1", "--rho", "1"],
        ["--epsilon", "1", "--delta", "1.5"],
        ["--epsilon", "1", "--confidence", "1"],
        ["--epsilon", "1", "--confidence", "nan"],
        [],
    ],
)
def test_a_number_out_of_range_is_refused_and_costs_nothing(run: Any, offer: list[str]) -> None:
    """What is offered is checked before anything is spent: also what only the display needs."""
    result = run("ask", COUNT, *offer)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith(f"error[{'invalid_argument' if offer else 'offer_required'}]: ")
    assert history(run) == []


def test_a_question_beyond_the_budget_ends_with_3_and_costs_nothing(run: Any) -> None:
    """The error says what was asked, spent and left; a smaller question still goes."""
    assert run("ask", COUNT, "--epsilon", "2.5").exit_code == 0
    result = run("ask", "SELECT COUNT(*) AS n FROM census", "--epsilon", "1")
    assert result.exit_code == 3
    assert result.stderr.startswith("error[budget_exhausted]: ")
    assert "2.5" in result.stderr
    assert len(history(run)) == 1
    assert run("ask", "SELECT COUNT(*) AS n FROM census", "--epsilon", "0.5").exit_code == 0


def test_analysts_have_shares(town: Path, run: Any) -> None:
    """Where analysts are named, each has a share, and nobody else may ask."""
    with (town / "discreet.toml").open("a", encoding="utf-8") as config:
        config.write("\n[analysts.mia]\nepsilon = 1\n")
    assert run("ask", COUNT, "--epsilon", "0.5").exit_code == 3
    assert run("ask", COUNT, "--epsilon", "0.5", "--analyst", "eve").exit_code == 3
    assert run("ask", COUNT, "--epsilon", "0.75", "--analyst", "mia").exit_code == 0
    assert run("ask", "SELECT COUNT(*) AS n FROM census", "--epsilon", "0.75", "--analyst", "mia").exit_code == 3
    standing = json.loads(run("budget", "--format", "json").stdout)
    assert standing["analysts"]["mia"]["spent"]["exact"]["epsilon"] == "3/4"


def test_the_first_question_says_how_far_reading_is(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `discreet admit` does; later questions read nothing."""
    told: list[tuple[str, int]] = []

    @contextmanager
    def counting(what: str) -> Iterator[Callable[[str, int], None]]:
        """Note what is told."""
        assert what == "reading"
        yield lambda name, rows: told.append((name, rows))

    monkeypatch.setattr("discreet.cli.ask.counting", counting)
    assert run("ask", COUNT, "--epsilon", "0.1").exit_code == 0
    assert told[-1] == ("census", 2_000)
    told.clear()
    assert run("ask", COUNT, "--epsilon", "0.2").exit_code == 0
    assert told == []


def test_an_arrow_stream_is_not_written_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything is spent; other formats aren't."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    with pytest.raises(InvalidArgument, match="binary"):
        refuse_binary_to_screen(Format.ARROW)
    refuse_binary_to_screen(Format.CSV)


def test_explain_before_a_question_costs_nothing(run: Any) -> None:
    """`ask "EXPLAIN …"` shows what `explain` shows, and both take EXPLAIN or leave it."""
    sql = "SELECT COUNT(*) AS n FROM census"
    plain = run("explain", sql, "--epsilon", "0.1")
    for form in (("ask", f"EXPLAIN {sql}"), ("explain", f"explain (dp) {sql}")):
        shown = run(*form, "--epsilon", "0.1")
        assert shown.exit_code == 0
        assert shown.stdout == plain.stdout
    asked = run("ask", f"EXPLAIN {sql}", "--epsilon", "0.1", "--format", "json")
    assert json.loads(asked.stdout)["expected"][0]["column"] == "n"
    assert history(run) == []
    refused = run("ask", f"EXPLAIN ANALYZE {sql}", "--epsilon", "0.1")
    assert refused.exit_code != 0
    assert "ANALYZE" in refused.stderr


def test_a_question_may_bring_its_own_offer(run: Any) -> None:
    """OPTIONS stand for --epsilon, in any dialect, and may not contradict it."""
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1) COUNT(*) AS n FROM `census`"
    asked = run("ask", sql, "--dialect", "bigquery", "--format", "json")
    assert asked.exit_code == 0
    assert json.loads(asked.stdout)["cost"]["epsilon"] == 0.1
    assert run("ask", sql, "--dialect", "bigquery", "--epsilon", "1/10").exit_code == 0
    assert run("ask", sql, "--dialect", "bigquery", "--epsilon", "0.2").exit_code != 0


def test_what_follows_is_free_and_says_from_what(run: Any) -> None:
    """In words, and in JSON; nothing more is spent."""
    run("ask", GROUPED, "--epsilon", "2")
    derived = run("ask", "SELECT sex, COUNT(*) AS n FROM census GROUP BY sex ORDER BY n", "--epsilon", "0.1")
    assert "cost       free: follows from entry 1\n" in derived.stdout
    as_json = run("ask", "SELECT sex, COUNT(*) AS m FROM census GROUP BY sex", "--epsilon", "0.1", "--format", "json")
    answer = json.loads(as_json.stdout)
    assert (answer["reused"], answer["origin"], answer["entry"]) == (True, [1], 1)
    assert answer["spent"]["exact"]["epsilon"] == "2"
    assert len(history(run)) == 1


EMPTY = "SELECT COUNT(*) AS n, AVG(age) AS a FROM census WHERE age > 200"
DOUBTFUL = "SELECT COUNT(*) AS n FROM census WHERE sex = 'female' OR age >= 40"
DOUBT = "sex is never 'female': sex is one of 'Female', 'Male'; did you mean 'Female'?"


def test_what_is_declared_answers_for_nothing_and_says_so(run: Any) -> None:
    """Also once the budget is spent; `explain` warns of the same, and nothing is asked first."""
    assert run("ask", COUNT, "--epsilon", "3").exit_code == 0
    shown = run("ask", EMPTY, "--epsilon", "1")
    assert shown.exit_code == 0, shown.stderr
    assert "0 ± 0  NULL" in shown.stdout
    assert "warning    No row can have age > 200: the answer follows from what is declared" in shown.stdout
    assert "cost       free: follows from what is declared\n" in shown.stdout
    answer = json.loads(run("ask", EMPTY, "--epsilon", "1", "--format", "json").stdout)
    explained = json.loads(run("explain", EMPTY, "--epsilon", "1", "--format", "json").stdout)
    assert (answer["rows"], answer["cost"]["epsilon"], answer["entry"]) == ([{"n": 0, "a": None}], 0, 0)
    assert answer["warnings"] == explained["warnings"]
    assert len(answer["warnings"]) == 2
    assert explained["cost"]["epsilon"] == 0
    assert "warning   No row can have age > 200" in run("explain", EMPTY, "--epsilon", "1").stdout
    assert len(history(run)) == 1


def test_nobody_pays_by_mistake_where_nobody_can_be_asked(run: Any) -> None:
    """The question is refused before anything is charged; --yes asks it, and the warning stays."""
    refused = run("ask", DOUBTFUL, "--epsilon", "0.1", "--format", "json")
    assert refused.exit_code == ExitCode.REFUSED
    error = json.loads(refused.stderr)
    assert DOUBT in error["message"]
    assert "--yes" in error["hint"]
    assert history(run) == []
    asked = run("ask", DOUBTFUL, "--epsilon", "0.1", "--yes", "--format", "json")
    assert json.loads(asked.stdout)["warnings"] == [DOUBT]
    assert len(history(run)) == 1


@pytest.mark.parametrize(("typed", "paid"), [("y\n", 1), ("n\n", 0), ("", 0)])
def test_a_terminal_is_asked_before_it_pays(run: Any, monkeypatch: pytest.MonkeyPatch, typed: str, paid: int) -> None:
    """On standard error, so that the answer can be piped on."""
    monkeypatch.setattr(ask, "_may_ask", lambda: True)
    result = run("ask", DOUBTFUL, "--epsilon", "0.1", "--format", "csv", stdin=typed)
    assert f"warning: {DOUBT}" in result.stderr
    assert "Pay ε = 0.1 for it anyway?" in result.stderr
    assert (result.exit_code == 0, len(history(run))) == (bool(paid), paid)
    assert ("n,n_low,n_high" in result.stdout) is bool(paid)


def test_a_plan_says_whether_the_budget_pays_for_it_and_what_it_leaves(run: Any) -> None:
    """How many such questions there are, and what is left after one, at any form; nothing of what costs nothing."""

    def told(*offer: str) -> str:
        return " ".join(run("explain", COUNT, *offer).stdout.split())

    assert "budget pays for 35 such questions; after one, what is left is ε = 2.9 or ρ = 0.1708" in told(
        "--epsilon", "0.1"
    )
    assert "budget pays for 1 such question; after one, what is left is ε = 1" in told("--epsilon", "2")
    assert "budget doesn't pay for it" in told("--epsilon", "5")
    gaussian = json.loads(run("explain", COUNT, "--rho", "0.17", "--format", "json").stdout)
    assert gaussian["remaining_like_this"] == 1
    assert 0 < gaussian["remaining_after"]["epsilon"] < 0.2  # of 3: what is charged in ρ takes it as well
    assert run("ask", COUNT, "--rho", "0.17").exit_code == 0
    left = json.loads(run("budget", "--format", "json").stdout)["remaining"]
    assert left == gaussian["remaining_after"]
    assert "answer answered already by entry 1: free" in told("--rho", "0.17")
    assert json.loads(run("explain", COUNT, "--rho", "0.17", "--format", "json").stdout)["answered_by"] == [1]
    assert "budget doesn't pay for it" in told("--rho", "0.3")
    free = run("explain", "SELECT COUNT(*) AS n FROM census WHERE 1 = 0", "--epsilon", "1")
    assert "budget" not in free.stdout
    assert "doesn't pay for it" in run("ask", f"EXPLAIN {COUNT}", "--rho", "0.3").stdout


def test_names_of_several_words_are_suggested_as_a_question_spells_them(town: Path, run: Any) -> None:
    """In double quotes, whether somebody wrote them with underscores, or without the quotes."""
    config, table = town / "discreet.toml", town / "census.csv"
    config.write_text(config.read_text().replace("hours = {", '"hours-per-week" = {'))
    table.write_text(table.read_text().replace("hours", "hours-per-week", 1))
    for written in ("hours_per_week", "hours-per-week"):
        refused = run("explain", f"SELECT COUNT(*) AS n FROM census WHERE {written} > 40", "--epsilon", "1")
        assert 'did you mean "hours-per-week"?' in refused.stderr, refused.output


def test_nothing_offered_is_said_as_options_are_written(run: Any) -> None:
    """In English, and with what may be typed."""
    refused = run("ask", COUNT)
    assert refused.exit_code == ExitCode.REFUSED
    assert "nothing says what the question may cost" in refused.stderr
    assert "--epsilon 0.5, --rho 0.01 or --within 100" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("command", [("key",), ("verify",), ("request", "approve", "0" * 32), ("token", "list")])
def test_what_needs_the_ledger_says_so_where_a_server_is_named(
    town: Path, run: Any, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """An analyst who has no configuration isn't told to write one."""
    (town / "discreet.toml").unlink()
    monkeypatch.setenv("DISCREET_SERVER", "https://gate.example.org")
    refused = run(*command)
    assert refused.exit_code == ExitCode.REFUSED
    assert "run it where the ledger is" in " ".join(refused.stderr.split())
    assert "init" not in refused.stderr
    monkeypatch.delenv("DISCREET_SERVER")
    assert "discreet init" in run(*command).stderr
