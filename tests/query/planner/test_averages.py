"""Averages: a ratio that means one is planned as one, and means what it meant."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.gateway.answers import evaluate
from discreet.privacy import ADD_REMOVE, Bounds, Budget, Unit
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.asked import PEOPLE, TABLES
from support.reference import answer

DATASET = Dataset(name="people", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", adjacency=ADD_REMOVE)
ROWS = [
    {"age": None if row % 3 == 0 else 60 + row % 7, "married": row % 2 == 0, "income": 1000.0 * row}
    for row in range(20)
]
AGES = [row["age"] for row in ROWS if row["age"] is not None]

RATIOS = {
    "SUM(age) / COUNT(age)": ("AVG(age)", sum(AGES) / len(AGES)),
    "SUM(age) / NULLIF(COUNT(age), 0)": ("AVG(age)", sum(AGES) / len(AGES)),
    "1.0 * SUM(age) / COUNT(age)": ("AVG(age)", sum(AGES) / len(AGES)),
    "CAST(SUM(age) AS DOUBLE) / COUNT(age)": ("AVG(age)", sum(AGES) / len(AGES)),
    "SUM(age) / (COUNT(age) * 1.0)": ("AVG(age)", sum(AGES) / len(AGES)),
    "SUM(age) * 1.0 / NULLIF(CAST(COUNT(age) AS DOUBLE), 0)": ("AVG(age)", sum(AGES) / len(AGES)),
    "-SUM(age) / COUNT(age)": ("AVG(age) * -1", -sum(AGES) / len(AGES)),
    "SUM(age) / 4 / COUNT(age) * 100": ("AVG(age) * 25", 25 * sum(AGES) / len(AGES)),
    "1.0 / COUNT(age) * SUM(age)": ("AVG(age)", sum(AGES) / len(AGES)),
    "SUM(age) / COUNT(*)": ("AVG(COALESCE(age, 0))", sum(AGES) / len(ROWS)),
    "SUM(CASE WHEN married THEN 1 ELSE 0 END) / COUNT(*)": ("AVG(CASE WHEN married THEN 1 ELSE 0 END)", 0.5),
    "100.0 * SUM(CASE WHEN married THEN 1 ELSE 0 END) / COUNT(*)": (
        "AVG(CASE WHEN married THEN 1 ELSE 0 END) * 100.0",
        50.0,
    ),
    "1.0 * COUNT_IF(married) / COUNT(*)": ("AVG(CASE WHEN married THEN 1 ELSE 0 END)", 0.5),
    "100.0 * COUNT(*) FILTER (WHERE married) / COUNT(*)": ("AVG(CASE WHEN married THEN 1 ELSE 0 END) * 100.0", 50.0),
    "COUNT(CASE WHEN married THEN 1 END) * 1.0 / NULLIF(COUNT(*), 0)": (
        "AVG(CASE WHEN married THEN 1 ELSE 0 END)",
        0.5,
    ),
    "1.0 * COUNT(age) / COUNT(*)": ("AVG(CASE WHEN age IS NULL THEN 0 ELSE 1 END)", len(AGES) / len(ROWS)),
    "1.0 * COUNT(age) FILTER (WHERE married) / COUNT(age)": (
        "AVG(CASE WHEN age IS NULL THEN NULL WHEN CASE WHEN married THEN age END IS NULL THEN 0 ELSE 1 END)",
        sum(row["married"] for row in ROWS if row["age"] is not None) / len(AGES),
    ),
    "1.0 * COUNT(*) FILTER (WHERE married AND income > 5000) / COUNT(*) FILTER (WHERE married)": (
        "AVG(CASE WHEN IF(married, 1, NULL) IS NULL THEN NULL WHEN married AND income > 5000 THEN 1 ELSE 0 END)",
        0.7,
    ),
}
"""Ratios, what they are asked as, and their values over `ROWS`."""


def plan(outputs: str, rest: str = "") -> Plan:
    """The plan of a question over all people."""
    return make_plan(question(f"SELECT {outputs} FROM people {rest}", TABLES), Request.of(epsilon=1), DATASET)


def value_of(planned: Plan) -> Any:
    """The first column without noise."""
    (level,) = planned.levels
    exact = answer(level.exact, {"people": ROWS}, lambda *_: 0)[()]
    values = {name: each.estimate(exact, level.noises) for name, each in level.draft.estimators}
    return evaluate(planned.question.outputs[0].expr, values)


@pytest.mark.parametrize("ratio", RATIOS)
def test_a_ratio_is_planned_as_the_average_that_it_is(ratio: str) -> None:
    """The same measures, noise and expected error; and the value that the ratio has in plain SQL."""
    average, value = RATIOS[ratio]
    one, other = plan(f"{ratio} AS x"), plan(f"{average} AS x")
    assert one.canonical == other.canonical
    assert one.digest == other.digest
    assert one.expected == other.expected
    assert value_of(one) == pytest.approx(value)


def test_it_errs_less_than_the_ratio_of_its_parts() -> None:
    """Where values lie far from 0: what was planned before is what is planned if the sum is shown, too."""
    text = "SUM(age) / COUNT(age) AS x, SUM(age) AS total, COUNT(age) AS n"
    parts = make_plan(question(f"SELECT {text} FROM people", TABLES), Request.of(epsilon=1), DATASET, in_cells=False)
    assert "avg" not in parts.canonical
    average, ratio = plan("SUM(age) / COUNT(age) AS x").expected[0].error, parts.expected[0].error
    assert average is not None
    assert ratio is not None
    assert 2 * average < ratio


@pytest.mark.parametrize(
    "outputs",
    [
        "SUM(age) / COUNT(married) AS x",
        "SUM(age) / COUNT(DISTINCT married) AS x",
        "COUNT(*) / SUM(age) AS x",
        "SUM(age) / (COUNT(age) + 1) AS x",
        "SUM(age) / COUNT(age) AS x, SUM(age) AS y",
        "SUM(age) / COUNT(age) + SUM(age) AS x",
        "SUM(age) / SUM(income) AS x",
        "NULLIF(SUM(age), 0) / COUNT(age) AS x",
        "1.0 * COUNT(*) / COUNT(age) AS x",
        "1.0 * COUNT(age) / COUNT(married) AS x",
        "1.0 * COUNT_IF(married) / COUNT_IF(age > 30) AS x",
        "1.0 * COUNT_IF(married OR age > 30) / COUNT_IF(married) AS x",
        "1.0 * COUNT_IF(married) / COUNT(*) AS x, COUNT_IF(married) AS n",
        "1.0 * COUNT_IF(age > 200) / COUNT(*) AS x",
        "1.0 * COUNT(DISTINCT married) / COUNT(*) AS x",
    ],
)
def test_other_ratios_stay_what_they_are(outputs: str) -> None:
    """Of other rows, of more than a count, or of a sum that is needed anyway."""
    assert "avg" not in plan(outputs).canonical


def test_division_of_whole_numbers_stays_what_the_dialect_says() -> None:
    """In PostgreSQL two counts are divided as whole numbers: that is no average."""
    sql = "SELECT COUNT(*) FILTER (WHERE married) / COUNT(*) AS x FROM people"
    asked = make_plan(question(sql, TABLES, "postgres"), Request.of(epsilon=1), DATASET)
    assert "avg" not in asked.canonical
    real = make_plan(
        question(sql.replace("COUNT(*) F", "1.0 * COUNT(*) F"), TABLES, "postgres"), Request.of(epsilon=1), DATASET
    )
    assert "avg" in real.canonical


NARROW = [(low, low + width) for width in range(6) for low in (-3, 0, 1)]


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"rho": "0.5"}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize(
    "sql",
    [
        "AVG({})",
        "VAR_POP({})",
        "VAR_SAMP({})",
        "STDDEV_POP({})",
        "STDDEV_SAMP({})",
        "COVAR_POP({}, {})",
        "CORR({}, {})",
    ],
)
def test_whole_numbers_err_as_little_as_real_ones(sql: str, offer: dict[str, Any]) -> None:
    """An average or a spread of any few whole numbers errs no more than that of the same real column.

    Of two of them it errs less, if anything: what is one of two numbers is its own square.
    """
    for low, high in NARROW:
        columns = tuple(
            Column(name=f"{kind.value}{number}", kind=kind, bounds=Bounds(low, high), nullable=False)
            for kind in (Kind.INTEGER, Kind.REAL)
            for number in (1, 2)
        )
        table = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=columns, unit=Unit.row())
        dataset = Dataset(name="t", tables=(table,), budget=Budget(epsilon=100), ledger="unused", adjacency=ADD_REMOVE)
        found: list[list[float]] = []
        for kind in ("integer", "real"):
            asked = question(f"SELECT {sql.format(f'{kind}1', f'{kind}2')} AS x FROM t", [table])
            plan = make_plan(asked, Request.of(**offer), dataset)
            draft = plan.levels[0].draft
            errors = [each.error for each in plan.expected]
            found.append([noise.deviation for noise in draft.noises] + [error for error in errors if error is not None])
        assert all(one <= other * (1 + 1e-6) for one, other in zip(*found, strict=True))


def test_ratios_are_found_wherever_they_stand() -> None:
    """In arithmetic, HAVING, ORDER BY and error bars; one average for all of them."""
    ratio = "SUM(age) / COUNT(age)"
    found = plan(
        f"married, ROUND({ratio}, 1) AS x, DP_INTERVAL_LOW({ratio}) AS low",
        f"GROUP BY married HAVING {ratio} > 3 ORDER BY {ratio} DESC",
    )
    assert [str(each) for each in found.question.aggregates] == ['avg("people"."age")']
    assert "sum(" not in found.canonical
