"""Answers as data: written and read again without what made them, immutable, and checked against their certificates."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.results import Answer, AnswerColumn, Cost, contradictions

pytestmark = pytest.mark.usefixtures("kept_sessions")

QUESTION = """SELECT town, COUNT(*) AS n, AVG(pay) AS pay, MAX(since) AS since, APPROX_TOP_K(town, 2) AS most, 1 AS one
FROM staff GROUP BY town"""
COUNT = "SELECT COUNT(*) AS n FROM staff"


@pytest.fixture
def staff(tmp_path: Path) -> Iterator[dp.Protected]:
    """Forty rows of some kinds, each a unit."""
    table = pa.table(
        {
            "town": ["a", "b"] * 20,
            "pay": [float(number) for number in range(40)],
            "since": [date(2020, 1, 1 + number % 28) for number in range(40)],
        }
    )
    columns = {
        "town": dp.Keys(["a", "b"]),
        "pay": dp.Bounds(0, 40),
        "since": dp.Bounds(date(2019, 1, 1), date(2022, 1, 1)),
    }
    with dp.protect(
        table,
        name="staff",
        unit=dp.Unit.row(),
        columns=columns,
        budget=dp.Budget(epsilon=100),
        ledger=tmp_path / "staff.ledger",
    ) as protected:
        yield protected


def read_back(answer: Answer, confidence: float | None = None) -> Answer:
    """The answer after it was JSON text."""
    return type(answer).from_json(json.loads(json.dumps(answer.to_json(confidence), allow_nan=False)))


def test_an_answer_is_read_from_json_as_it_was(staff: dp.Protected) -> None:
    """Values of each kind, intervals at the announced confidence, cost, certificate; nothing but JSON is needed."""
    answer = staff.ask(QUESTION, epsilon=10, confidence=0.9)
    again = read_back(answer)
    assert again.names == answer.names
    assert again.rows() == answer.rows()
    assert isinstance(again["since"][0], date)
    assert [again.interval(name) for name in again.names] == [answer.interval(name, 0.9) for name in answer.names]
    assert str(again) == str(answer.__replace__(left=""))
    assert (again.cost, again.certificate, again.entry) == (answer.cost, answer.certificate, 1)
    assert (again.confidence, again.coverage) == (Fraction(9, 10), answer.coverage)
    assert again.to_arrow() == answer.to_arrow()
    assert read_back(again) == again
    assert contradictions(again) == []


def test_an_answer_draws_itself(staff: dp.Protected) -> None:
    """As the same file, whether it was just given or read from JSON; an explanation has nothing to draw."""
    answer = staff.ask(QUESTION, epsilon=10)
    assert [chart.column for chart in answer.charts()] == ["n", "pay", "since"]
    picture = answer.to_svg()
    assert picture == read_back(answer).to_svg()
    assert "n by town: largest" in picture
    with pytest.raises(InvalidArgument, match="nothing to draw"):
        staff.ask(f"EXPLAIN {COUNT}", epsilon=1).to_svg()


def test_other_confidences_take_the_answer_itself(staff: dp.Protected) -> None:
    """What was read from JSON has the one it was written at, and says so."""
    answer = staff.ask(COUNT, epsilon=1)
    (wide,) = answer.interval("n", 0.999)
    assert wide is not None
    again = read_back(answer, 0.999)
    assert again.interval("n") == again.interval("n", 0.999) == [wide]
    with pytest.raises(InvalidArgument, match=r"intervals at 0\.999 only"):
        again.interval("n", 0.95)
    with pytest.raises(InvalidArgument, match="no column"):
        again.interval("m")


def test_what_was_measured_beside_is_written_in_words(staff: dp.Protected) -> None:
    """What bounds move, and which were chosen."""
    answer = staff.ask("SELECT SUM(pay) AS s FROM staff", epsilon=50, bounds={"pay": "auto"}, cut_off=True)
    again = read_back(answer)
    assert str(again) == str(answer.__replace__(left=""))
    assert [str(one) for one in again.moved] == [str(one) for one in answer.moved]
    assert again.bounds == {name: str(ends) for name, ends in answer.bounds.items()}


def test_times_and_ends_beyond_floats_are_read_again() -> None:
    """A time is no text; an end that lies nowhere is null."""
    answer = Answer(
        columns=(
            AnswerColumn("t", "timestamp", (datetime(2020, 1, 1, 12, 30), None)),
            AnswerColumn("x", "real", (float("inf"), 1.5)),
        ),
        intervals=lambda name, _: [(-float("inf"), 2.0), None] if name == "x" else [None, None],
        confidence=Fraction(19, 20),
        cost=Cost(epsilon=None, rho=Fraction(1, 3), delta=Fraction(1, 10**6)),
        certificate={},
        entry=3,
        reused=True,
        origin=(1, 2),
    )
    again = read_back(answer)
    assert again["t"] == [datetime(2020, 1, 1, 12, 30), None]
    assert again["x"] == [None, 1.5]
    assert again.interval("x") == [(-float("inf"), 2.0), None]
    assert (again.cost, again.origin) == (answer.cost, (1, 2))
    assert str(again.cost) == "ρ = 0.333333, δ = 1e-06"


@pytest.mark.parametrize("missing", ["columns", "rows", "intervals", "confidence", "cost", "entry", "reused", "origin"])
def test_what_is_no_answer_is_refused(staff: dp.Protected, missing: str) -> None:
    """With one typed error."""
    data = staff.ask(COUNT, epsilon=1).to_json()
    del data[missing]
    with pytest.raises(InvalidArgument, match="isn't an answer"):
        Answer.from_json(data)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {}, "rows": [], "intervals": {}},
        {"intervals": {"n": []}},
        {"intervals": {"n": [[1, 2], [1, 2]]}},
        {"intervals": {"n": [["\x1b[2J", 2]]}},
        {"intervals": {"n": [[[1], 2]]}},
        {"intervals": {"m": [[1, 2]]}},
        {"rows": [{"n": {"a": 1}}]},
    ],
    ids=str,
)
def test_an_answer_that_could_not_be_shown_is_refused(staff: dp.Protected, change: dict[str, Any]) -> None:
    """An interval for each row, of numbers or dates, and at least one column: else it fails when it is printed."""
    with pytest.raises(InvalidArgument, match="isn't an answer"):
        Answer.from_json({**staff.ask(COUNT, epsilon=1).to_json(), **change})


@pytest.mark.parametrize("data", [None, [], "answer", {"columns": {"n": "date"}, "rows": [{"n": "never"}]}], ids=str)
def test_other_json_is_refused(data: Any) -> None:
    """So is whatever else JSON can be."""
    with pytest.raises(InvalidArgument, match="isn't an answer"):
        Answer.from_json(data)


@pytest.mark.parametrize("question", [COUNT, f"{COUNT} WHERE UPPER(town) = 'A' HAVING COUNT(*) > -99"])
def test_an_answer_cannot_be_changed(staff: dp.Protected, question: str) -> None:
    """Its fields are frozen, and what it hands out is a copy; it can be pickled, without its account."""
    answer = staff.ask(question, epsilon=1)
    values = answer.rows()
    with pytest.raises(FrozenInstanceError):
        answer.entry = 2  # type: ignore[misc]  # which is the point
    answer["n"].append(5)
    answer.rows()[0]["n"] = 5
    assert answer.rows() == values
    again = pickle.loads(pickle.dumps(answer))  # noqa: S301 — its own bytes
    assert again == answer
    assert again.interval("n", 0.5) == answer.interval("n", 0.5)


def test_a_columns_noise_has_a_deviation_where_it_is_one(staff: dp.Protected) -> None:
    """That of a count, at ε = 1: √2 about; none of a key or a quantile, nor where levels have noise of their own."""
    assert staff.ask(COUNT, epsilon=1).columns[0].deviation == pytest.approx(1.36, abs=0.01)
    assert [one.deviation for one in staff.ask(QUESTION, epsilon=1).columns][0::3] == [None, None]
    rolled = staff.ask("SELECT town, COUNT(*) AS n FROM staff GROUP BY ROLLUP (town)", epsilon=1)
    assert rolled.column("n").deviation is None  # the total is the sum of three groups


def test_certificates_of_others_are_found(staff: dp.Protected) -> None:
    """Another entry's, one without any, and one of other origins."""
    first, second = staff.ask(COUNT, epsilon=5), staff.ask(QUESTION, epsilon=5)
    derived = staff.ask("SELECT COUNT(*) AS n FROM staff WHERE town = 'a'", epsilon="0.01")
    assert derived.origin
    assert derived.certificate["cost"] == Cost().to_json()
    for answer in (first, second, derived, *staff.ask([COUNT, QUESTION], epsilon=9)):
        assert contradictions(answer) == []
    assert contradictions(first.__replace__(certificate=second.certificate))
    assert contradictions(first.__replace__(certificate={}))
    assert contradictions(derived.__replace__(certificate=first.certificate))
    assert contradictions(derived.__replace__(origin=(7,)))


ALONE = """
import json, sys
from discreet.results import Answer

answer = Answer.from_json(json.loads(sys.stdin.read()))
print(answer)
heavy = {"duckdb", "ibis", "numpy", "sqlalchemy", "sqlglot", "flint", "pyarrow"}
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("discreet.")}
print(sorted(heavy & {name.split(".")[0] for name in sys.modules}), sorted(rooms))
"""


def test_a_client_reads_an_answer_alone(staff: dp.Protected) -> None:
    """In a process that loads no engine, no ledger, no gateway, and no library."""
    answer = staff.ask(COUNT, epsilon=1)
    found = subprocess.run(
        [sys.executable, "-c", ALONE], input=json.dumps(answer.to_json()), capture_output=True, text=True, check=True
    )
    *shown, loaded = found.stdout.splitlines()
    assert "\n".join(shown) == str(answer.__replace__(left=""))
    rooms = ["arguments", "errors", "exact", "hints", "notebook", "printable", "results", "strict_json", "suggestions"]
    assert loaded == f"[] {[*rooms, 'version']}"


def test_a_prompt_shows_the_table_and_nothing_that_signs(staff: dp.Protected) -> None:
    """At a prompt and in a notebook, as far as there is room; plans, entries and amounts on one line."""
    answer = staff.ask("SELECT COUNT(*) AS n FROM staff", epsilon=1)
    assert repr(answer) == str(answer)
    assert f"{answer['n'][0]} ± " in repr(answer)
    assert "certificate" not in repr(answer)
    page = answer._repr_html_()
    assert f'<td class="number">{answer["n"][0]} ± ' in page
    assert '<th class="number">n</th>' in page
    values = tuple(f"<b>{n}\x1b" for n in range(100))
    long = answer.__replace__(columns=(AnswerColumn("<k>", "text", values),), intervals=lambda *_: [None] * 100)
    assert "<b>" not in long._repr_html_()
    assert long._repr_html_().count("<tr>") == 41
    assert "60 more rows" in long._repr_html_()
    assert "more lines" in repr(long)
    assert "\x1b" not in repr(long)
    plan = staff.plan("SELECT COUNT(*) AS n FROM staff", epsilon=1)
    assert repr(plan) == "<Plan of 'SELECT COUNT(*) AS n FROM staff': ε = 1>"
    assert str(staff.spent).startswith("ε = ")
    assert "Fraction" not in repr([staff.spent, staff.remaining, staff.dataset.budget, staff.history()])
