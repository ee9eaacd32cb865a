"""Aggregates end to end: at a great ε, on a real engine, they are those of plain SQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet as dp

pytestmark = pytest.mark.usefixtures("kept_sessions")

GREAT = 100_000
"""An ε at which even sums have next to no noise."""

LARGE = 1_000
"""One at which counts have next to none, and at which it can still be drawn."""


def table() -> pa.Table:
    """Two rows for each of 600 people; every seventh age is NULL."""
    rows = range(1_200)
    return pa.table(
        {
            "id": [row // 2 for row in rows],
            "age": [None if row % 7 == 0 else 18 + row * 37 % 60 for row in rows],
            "income": [500.0 * (row * 37 % 60) + row * 7919 % 30_011 for row in rows],
            "sex": ["Male" if row % 3 else "Female" for row in rows],
            "city": [f"c{row % 5}" for row in rows],
            "day": [date(2021, 1, 1) + timedelta(days=row * 13 % 700) for row in rows],
            "moment": [datetime(2021, 1, 1) + timedelta(seconds=row * 7907 % 86_400) for row in rows],
        }
    )


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """The table, protected; its units keep all of their rows."""
    folder: Path = tmp_path_factory.mktemp("aggregates")
    protected = dp.protect(
        table(),
        name="people",
        unit=dp.Unit("id"),
        columns={
            "age": dp.Bounds(0, 110),
            "income": dp.Bounds(0, 100_000),
            "sex": dp.Keys(["Female", "Male"]),
            "day": dp.Bounds(date(2020, 1, 1), date(2025, 12, 31)),
            "moment": dp.Bounds(datetime(2021, 1, 1), datetime(2021, 1, 2)),
        },
        limits=dp.Limits(groups=2, rows_per_group=2),
        budget=dp.Budget(epsilon=10**8, delta="0.1"),
        ledger=str(folder / "people.ledger"),
    )
    with protected:
        yield protected


def plain(sql: str) -> Any:
    """DuckDB's answer."""
    connection = duckdb.connect()
    connection.register("people", table())
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("column", "margin"),
    [
        ("covar_pop(age, income)", 1),
        ("covar_samp(age, income)", 1),
        ("corr(age, income)", 1e-3),
        ("regr_count(income, age)", 0),
        ("regr_avgx(income, age)", 0.01),
        ("regr_avgy(income, age)", 1),
        ("regr_sxx(income, age)", 100),
        ("regr_syy(age, income)", 100),
        ("regr_sxy(income, age)", 20_000),
        ("regr_slope(income, age)", 1),
        ("regr_intercept(income, age)", 50),
        ("regr_r2(income, age)", 1e-3),
        ("count(DISTINCT age)", 0),
        ("count(DISTINCT city)", 0),
        ("count(DISTINCT day)", 0),
        ("count_if(age > 40)", 0),
        ("count(*) FILTER (WHERE age > 40 AND sex = 'Male')", 0),
        ("sum(age) FILTER (WHERE sex = 'Male')", 0),
        ("avg(income) FILTER (WHERE age > 40)", 0.1),
        ("count(DISTINCT age) FILTER (WHERE sex = 'Female')", 0),
    ],
)
def test_numbers(people: dp.Protected, column: str, margin: float) -> None:
    """Within the width of a bin, and what rounding of rows takes.

    False alarm below 1e-15: each margin is forty scales of the noise or more, as the plans say.
    """
    sql = f"SELECT {column} AS x FROM people"
    answer = people.ask(sql, epsilon=LARGE if "DISTINCT" in sql else 10 * GREAT)
    ((expected,),) = plain(sql)
    assert answer["x"][0] == pytest.approx(float(expected), abs=margin + 1e-9)
    assert answer.interval("x")[0] is not None


@pytest.mark.parametrize(
    ("column", "fraction", "margin"),
    [
        ("quantile_disc(age, {})", "0.5", 0),
        ("quantile_disc(age, {})", "0.9", 0),
        ("quantile_disc(age, {}) FILTER (WHERE sex = 'Female')", "0.5", 0),
        ("percentile_disc({}) WITHIN GROUP (ORDER BY income)", "0.05", 10),
        ("quantile_cont(income, {})", "0.75", 10),
    ],
)
def test_quantiles(people: dp.Protected, column: str, fraction: str, margin: float) -> None:
    """Where a rank lies between two values, a quantile may be anything between them; and a bin has a width."""
    answer = people.ask(f"SELECT {column.format(fraction)} AS x FROM people", epsilon=GREAT)
    low, high = (
        plain(f"SELECT {column.format(float(fraction) + aside)} FROM people")[0][0] for aside in (-0.001, 0.001)
    )
    assert low - margin <= answer["x"][0] <= high + margin


def test_an_answer_says_what_its_intervals_leave_out(people: dp.Protected) -> None:
    """Groups that were selected or picked by their noise, and quantiles; nothing more of a count."""
    counted, of_groups, of_quantiles, picked = (
        people.ask(asked, epsilon=2, delta="1e-9").coverage
        for asked in (
            "SELECT COUNT(*) AS n FROM people",
            "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
            "SELECT MAX(age) AS m FROM people",
            "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC LIMIT 1",
        )
    )
    assert counted == ""
    assert of_groups == ("groups are shown if their noisy numbers reach a threshold; near it, intervals reach far down")
    assert picked == (
        "rows were picked by their noisy values, so these have wider intervals, which hold as often for the rows shown"
    )
    assert of_quantiles == "a quantile's holds more often than it says"


def test_no_interval_that_is_shown_holds_a_group_well_below_the_threshold(people: dp.Protected) -> None:
    """Why answers and plans say so: a group more than its ± below the threshold is shown with a number out of reach.

    Nothing is drawn: what is shown is the threshold or more, and every ± at 95 % is the plan's.
    """
    plan = people.plan("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=1, delta="1e-9")
    (draft,) = (level.draft for level in plan.levels)
    assert draft.threshold is not None
    (error,) = plan.expected
    assert error.error is not None
    assert draft.threshold.value - error.error > 10  # a group of 10 is never within what is shown of it
    assert "numbers are too high; their intervals take that into account" in plan.explain()


@pytest.mark.parametrize(("size", "held"), [(10, 0), (12, 0.632), (14, 0.950)])
def test_what_the_page_says_of_groups_below_a_threshold(size: int, held: float) -> None:
    """By the law of the noise at ε = 1: of answers of 15 or more, those whose 95 % interval, ± 3, holds the group."""
    noise = dp.laplace(0, sensitivity=1, epsilon=1).mechanism
    radius = noise.radius(Fraction(19, 20))
    shown = list(range(15 - size, 60))
    chance = sum(float(noise.mass(off)) for off in shown if abs(off) <= radius) / sum(
        map(float, map(noise.mass, shown))
    )
    assert radius == 3
    assert chance == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize("fraction", ["0.000000001", "0.999999999", "0", "1"])
@pytest.mark.parametrize("rows", ["id < 0", "id = 3", "id >= 0"])
def test_no_fraction_fails_for_want_of_rows(people: dp.Protected, rows: str, fraction: str) -> None:
    """However many digits it has: or its failure would tell whether somebody has rows there."""
    found = people.ask(f"SELECT QUANTILE_CONT(age, {fraction}) AS q, COUNT(*) AS n FROM people WHERE {rows}", epsilon=1)
    assert len(found["q"]) == 1


def test_times(people: dp.Protected) -> None:
    """Days are exact, seconds are in steps; intervals have ends of the same kind."""
    sql = "SELECT quantile_disc(day, {0}) AS d, quantile_disc(moment, {0}) AS t FROM people"
    answer = people.ask(sql.format("0.5"), epsilon=GREAT)
    ((first_day, first),), ((last_day, last),) = (plain(sql.format(fraction)) for fraction in ("0.499", "0.501"))
    (day,), (moment,) = answer["d"], answer["t"]
    assert first_day <= day <= last_day
    assert first - timedelta(seconds=6) <= moment <= last + timedelta(seconds=6)
    (days,), (times,) = answer.interval("d"), answer.interval("t")
    assert days is not None
    assert times is not None
    assert days[0] <= day <= days[1]
    assert times[0] <= moment <= times[1]
    assert f"{day} (" in str(answer)


def test_extremes_come_near(people: dp.Protected) -> None:
    """Within a few values of the ends, and mostly on the inside of them.

    False alarm: each is beyond its end with probability at most 1/20, so half of 28 are once in 1e10 runs.
    """
    sql = "SELECT MIN(age) AS lo, MAX(age) AS hi FROM people"
    answers = [people.ask(sql, epsilon=GREAT + number) for number in range(28)]
    assert not any(answer.reused for answer in answers)
    assert sum(18 <= answer["lo"][0] <= 20 for answer in answers) > 14
    assert sum(75 <= answer["hi"][0] <= 77 for answer in answers) > 14


def test_most_frequent_values(people: dp.Protected) -> None:
    """One, and several in a list that Arrow holds too."""
    answer = people.ask("SELECT MODE(sex) AS m, APPROX_TOP_COUNT(sex, 5) AS t FROM people", epsilon=GREAT)
    assert answer.rows() == [{"m": "Male", "t": ["Male", "Female"]}]
    assert answer.to_arrow()["t"].to_pylist() == [["Male", "Female"]]
    assert "Male, Female" in str(answer)


def test_truths(people: dp.Protected) -> None:
    """Those of plain SQL: of conditions that some, all or no rows meet, and that are NULL in some."""
    conditions = ("age > 40", "age > 76", "age < 200", "age < 0 AND income < 0", "income >= 0", "city <> 'c1'")
    asked = [f"{of}({condition})" for of in ("bool_or", "bool_and") for condition in conditions]
    asked.append("bool_or(age > 76) FILTER (WHERE city = 'c1')")
    columns = ", ".join(f"{each} AS x{number}" for number, each in enumerate(asked))
    sql = f"SELECT sex, {columns} FROM people GROUP BY sex ORDER BY sex"
    answer = people.ask(sql, epsilon=LARGE * len(asked))
    assert [tuple(row.values()) for row in answer.rows()] == plain(sql)
    assert {True, False} <= {value for row in answer.rows() for value in row.values()}
    assert all(answer.interval(name) == [None, None] for name in answer.rows()[0] if name != "sex")
    assert answer.coverage == "a truth has no interval: its plan says how many rows it may overlook"


def test_groups(people: dp.Protected) -> None:
    """Public ones; where a rank lies between two values, a median may be anything between them."""
    sql = "SELECT sex, quantile_disc(age, {}) AS m, count(DISTINCT city) AS c FROM people GROUP BY sex ORDER BY sex"
    answer = people.ask(sql.format("0.5"), epsilon=LARGE)
    lower, upper = (plain(sql.format(fraction)) for fraction in ("0.499", "0.501"))
    for row, low, high in zip(answer.rows(), lower, upper, strict=True):
        assert (row["sex"], row["c"]) == (low[0], low[2])
        assert low[1] <= row["m"] <= high[1]


def test_private_groups(people: dp.Protected) -> None:
    """Those that pass the threshold, each with its choice."""
    sql = "SELECT city, quantile_disc(age, {}) AS m, mode(sex) AS s FROM people GROUP BY city ORDER BY city"
    answer = people.ask(sql.format("0.5"), epsilon=LARGE, delta="0.001")
    lower, upper = (plain(sql.format(fraction)) for fraction in ("0.499", "0.501"))
    for row, low, high in zip(answer.rows(), lower, upper, strict=True):
        assert (row["city"], row["s"]) == (low[0], low[2])
        assert low[1] <= row["m"] <= high[1]


def test_a_second_time_it_is_the_same_answer(people: dp.Protected) -> None:
    """Read back from the ledger, with its intervals."""
    sql = "SELECT sex, MEDIAN(income) AS m, APPROX_TOP_COUNT(sex, 1) AS t FROM people GROUP BY sex"
    first, second = (people.ask(sql, epsilon=1) for _ in range(2))
    assert second.reused
    assert second.rows() == first.rows()
    assert second.interval("m") == first.interval("m")


def test_a_moment_at_the_end_of_the_calendar_is_shown(tmp_path: Path) -> None:
    """An end of its interval is rounded outwards to a float, of which the next lies in the year 10000."""
    ends = dp.Bounds(datetime(1, 1, 1), datetime.max)
    with dp.protect(
        table(),
        name="people",
        unit=dp.Unit.row(),
        columns={"moment": ends},
        budget=dp.Budget(epsilon=10),
        ledger=tmp_path / "moments.ledger",
    ) as protected:
        answer = protected.ask("SELECT MAX(moment) AS last, MIN(moment) AS first FROM people", epsilon=1)
    assert answer.interval("last")[0][1] == datetime.max  # type: ignore[index]  # a quantile has one
    assert answer.interval("first")[0][0] == datetime.min  # type: ignore[index]  # the same
    assert str(answer)


NULL_WHERE = {
    "COUNT(*)": (False, False),
    "COUNT(x)": (False, False),
    "COUNT(DISTINCT x)": (False, False),
    "COUNT_IF(x > 1)": (False, False),
    "SUM(x)": (False, False),
    "AVG(x)": (True, False),
    "SUM(x) / COUNT(*)": (True, False),
    "VAR_POP(x)": (True, False),
    "STDDEV_POP(x)": (True, False),
    "VAR_SAMP(x)": (True, True),
    "STDDEV_SAMP(x)": (True, True),
    "COVAR_POP(x, y)": (True, False),
    "COVAR_SAMP(x, y)": (True, True),
    "CORR(x, y)": (True, True),
    "REGR_COUNT(y, x)": (False, False),
    "REGR_AVGX(y, x)": (True, False),
    "REGR_SXX(y, x)": (True, False),
    "REGR_SXY(y, x)": (True, False),
    "REGR_SLOPE(y, x)": (True, True),
    "REGR_INTERCEPT(y, x)": (True, True),
    "REGR_R2(y, x)": (True, True),
    "MEDIAN(x)": (True, False),
    "QUANTILE_CONT(x, 0.9)": (True, False),
    "MIN(x)": (True, False),
    "MAX(x)": (True, False),
    "MODE(x)": (True, False),
    "BOOL_OR(x > 1)": (True, False),
    "BOOL_AND(x > 1)": (True, False),
}
"""Whether each is NULL over no rows, and over one."""


def test_aggregates_over_too_few_rows_are_null(tmp_path: Path) -> None:
    """Over no rows, one and two: those of plain SQL, but that a sum over no rows is 0."""
    few = pa.table({"g": ["one", "two", "two"], "x": [3, 2, 6], "y": [1, 4, 5]})
    columns = ", ".join(f'{aggregate} AS "{aggregate}"' for aggregate in NULL_WHERE)
    with dp.protect(
        few,
        name="few",
        unit=dp.Unit.row(),
        columns={"g": dp.Keys(["none", "one", "two"]), "x": dp.Bounds(0, 9), "y": dp.Bounds(0, 9)},
        budget=dp.Budget(epsilon=10**8),
        ledger=str(tmp_path / "few.ledger"),
    ) as protected:
        answer = protected.ask(f"SELECT g, {columns} FROM few GROUP BY g", epsilon=LARGE * len(NULL_WHERE))
    assert answer["COUNT(*)"] == [0, 1, 2]
    found = {aggregate: [value is None for value in answer[aggregate]] for aggregate in NULL_WHERE}
    assert found == {aggregate: [*nulls, False] for aggregate, nulls in NULL_WHERE.items()}
    with duckdb.connect() as own:
        (plain,) = own.sql(f"SELECT {columns} FROM few WHERE g = 'one'").fetchall()
    assert [value is None or isnan(value) for value in plain] == [over_one for _, over_one in NULL_WHERE.values()]


def test_decimals_come_back_as_decimals(tmp_path: Path) -> None:
    """Sums, extremes and quantiles of DECIMAL(10, 2) keep its places, in rows, frames, JSON and text; averages don't.

    A cent is a hundred scales of the noise, and more.
    """
    prices = pa.array([Decimal("1.25"), Decimal("3.10"), Decimal("7.77")] * 20, pa.decimal128(10, 2))
    paid = pa.table({"price": prices, "pieces": [1, 2, 3] * 20})
    asked = {
        "SUM(price)": (Decimal("242.40"), 2),
        "SUM(price * pieces)": (Decimal("615.20"), 2),
        "SUM(-price * (1 - 0.5 * price))": (Decimal("473.05400"), 5),
        "SUM(price) FILTER (WHERE pieces > 2)": (Decimal("155.40"), 2),
        "MEDIAN(price)": (Decimal("3.10"), 2),
        "MIN(price)": (None, 2),
        "SUM(price) + 1": (Decimal("243.40"), 2),
        "0.5 * SUM(price) - COUNT(*)": (Decimal("61.200"), 3),
        "COALESCE(-SUM(price), 0)": (Decimal("-242.40"), 2),
        "SUM(price) / 2": (None, None),
        "ROUND(SUM(price), 1)": (None, None),
        "AVG(price)": (None, None),
        "SUM(price / 2)": (None, None),
        "COUNT(*)": (60, None),
    }
    columns = ", ".join(f'{aggregate} AS "{aggregate}"' for aggregate in asked)
    with dp.protect(
        paid,
        name="paid",
        unit=dp.Unit.row(),
        columns={"price": dp.Bounds(0, 10), "pieces": dp.Bounds(0, 9)},
        budget=dp.Budget(epsilon=10**9),
        ledger=str(tmp_path / "paid.ledger"),
    ) as protected:
        answer = protected.ask(f"SELECT {columns} FROM paid", epsilon=10**7)
    schema, frame = answer.to_arrow().schema, answer.to_polars()
    for aggregate, (value, places) in asked.items():
        (found,) = answer[aggregate]
        assert value is None or found == pytest.approx(value, abs=Decimal("0.01"))
        assert isinstance(found, Decimal) == (places is not None)
        if places is not None:
            assert found.as_tuple().exponent == -places
            assert schema.field(aggregate).type == pa.decimal128(38, places)
            assert frame[aggregate].to_list() == [found]
            assert answer.to_json()["rows"][0][aggregate] == float(found)
            assert str(found) in str(answer)
    again = dp.Answer.from_json(answer.to_json())
    assert again.rows() == answer.rows()


def test_decimals_stay_decimals_whatever_they_come_through(tmp_path: Path) -> None:
    """Subqueries, unions, summaries of each unit and windows hand on the places of their columns; means don't."""
    prices = pa.array([Decimal("1.25"), Decimal("3.10"), Decimal("7.77")] * 20, pa.decimal128(10, 2))
    paid = pa.table({"person": list(range(30)) * 2, "price": prices, "pieces": [1, 2, 3] * 20})
    asked = {
        "SELECT SUM(p) AS s FROM (SELECT price AS p FROM paid UNION ALL SELECT 0.125 FROM paid)": 3,
        "SELECT SUM(p) AS s FROM (SELECT price AS p FROM paid UNION ALL SELECT price / 3 FROM paid)": None,
        "WITH d AS (SELECT DISTINCT person, price FROM paid) SELECT SUM(price) AS s FROM d": 2,
        "SELECT SUM(p * n) AS s FROM (SELECT person, MAX(price) AS p, MIN(pieces) AS n FROM paid GROUP BY person)": 2,
        "SELECT SUM(p) AS s FROM (SELECT person, AVG(price) AS p FROM paid GROUP BY person)": None,
        "SELECT MAX(price * price) AS s FROM (SELECT person, price FROM paid GROUP BY person, price)": 4,
        "SELECT SUM(p) AS s FROM (SELECT LAG(price) OVER (PARTITION BY person ORDER BY pieces) AS p FROM paid)": 2,
        "SELECT SUM(price * r) AS s FROM (SELECT price, ROW_NUMBER() OVER (PARTITION BY person ORDER BY pieces) AS r "
        "FROM paid) WHERE r < 3": 2,
        "SELECT SUM(price * LEAST(LENGTH(t), 9)) AS s FROM (SELECT price, CAST(pieces AS TEXT) AS t FROM paid)": 2,
    }
    with dp.protect(
        paid,
        name="paid",
        unit=dp.Unit("person"),
        limits=dp.Limits(rows=9),
        columns={"price": dp.Bounds(0, 10), "pieces": dp.Bounds(0, 9)},
        budget=dp.Budget(epsilon=10**9),
        ledger=str(tmp_path / "paid.ledger"),
    ) as protected:
        for question, places in asked.items():
            answer = protected.ask(question, epsilon=10**4)
            kind = pa.float64() if places is None else pa.decimal128(38, places)
            assert answer.to_arrow().schema.field("s").type == kind, question


@pytest.mark.parametrize(
    ("function", "each"), [("ROW_NUMBER", 1 + 2 + 3), ("RANK", 1 + 1 + 3), ("DENSE_RANK", 1 + 1 + 2)]
)
def test_places_among_a_units_rows_begin_at_one(function: str, each: int, tmp_path: Path) -> None:
    """As SQL counts them, where two of three rows are equal; noise hardly moves the sum."""
    paid = pa.table({"person": list(range(20)) * 3, "pieces": [1] * 40 + [3] * 20})
    with dp.protect(
        paid,
        name="paid",
        unit=dp.Unit("person"),
        limits=dp.Limits(rows=9),
        columns={"pieces": dp.Bounds(0, 9)},
        budget=dp.Budget(epsilon=10**9),
        ledger=str(tmp_path / "paid.ledger"),
    ) as protected:
        answer = protected.ask(
            "SELECT SUM(LEAST(place, 9)) AS s FROM "
            f"(SELECT {function}() OVER (PARTITION BY person ORDER BY pieces) AS place FROM paid)",
            epsilon=10**5,
        )
    assert answer["s"] == [20 * each]
