"""Cells: what a row adds to all of them together, whatever its values; what is read from them; where they are used.

Moments that are read from cells are compared with those that are added up by themselves, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import inf, isnan, nan
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.gateway.execute import with_room
from discreet.query import ir
from discreet.query.aggregates import UNITS, Moment
from discreet.query.planner import Draft, Level, Request, blocks, make_plan, plan, worst_error
from discreet.query.planner.accuracy import expected_errors
from discreet.query.planner.cells import Cells, TooManyCellsError
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.engines import engine_as_if_admitted
from support.reference import brought
from support.relations import evaluate

REALS = st.floats(-1e18, 1e18) | st.sampled_from([0.0, -0.0, 5e-324])
"""Ends of ranges, and values."""

TINY = 1e-100
"""Narrower ranges are refused."""

HALF = {("t", "a"): 0.5, ("t", "b"): 0.5}


def dataset(*ranges: tuple[float | int, float | int], nullable: bool = True) -> Dataset:
    """A table of columns a, b, … with these bounds, each row a unit, in 50 groups."""
    columns = [
        Column(name="abcdefghij"[place], kind=Kind.REAL, bounds=dp.Bounds(*map(Fraction, ends)), nullable=nullable)
        for place, ends in enumerate(ranges)
    ]
    table = Table(
        name="t",
        source=Source(kind="memory", location="t"),
        unit=dp.Unit.row(),
        limits=dp.Limits(rows=1),
        columns=(Column(name="k", kind=Kind.INTEGER, keys=dp.Keys(list(range(50)))), *columns),
    )
    return Dataset(name="t", tables=(table,), budget=dp.Budget(epsilon=100), ledger="none", adjacency=dp.ADD_REMOVE)


def planned(text: str, of: Dataset, *, in_cells: bool | None = None, **offer: float | str) -> Level:
    """The plan of a question."""
    return make_plan(question(text, of.tables), Request.of(**(offer or {"epsilon": 1})), of, in_cells=in_cells).levels[
        0
    ]  # type: ignore[arg-type]  # numbers


def vectors(level: Level) -> list[ir.Vector]:
    """Those of a plan."""
    return [measure for measure in level.draft.measures if isinstance(measure, ir.Vector)]


@settings(deadline=None)
@given(
    ranges=st.tuples(st.tuples(REALS, REALS), st.tuples(REALS, REALS)),
    rows=st.lists(st.tuples(REALS | st.sampled_from([None, nan, inf, -inf]), REALS), min_size=1, max_size=20),
    grid=st.integers(-36, 4),
)
def test_what_a_row_adds_to_all_sums_together_is_bounded(
    ranges: tuple[tuple[float, float], tuple[float, float]], rows: list[tuple[float | None, float]], grid: int
) -> None:
    """Also where a value lies outside of its bounds, and float64 can't tell these from each other."""
    (low, high), (least, most) = (sorted(ends) for ends in ranges)
    assume(min(high - low, most - least) > TINY)
    level = planned("SELECT CORR(a, b) AS c FROM t", dataset((low, high), (least, most)), in_cells=True)
    ((vector),) = vectors(level)
    coarser = replace(vector, grid=grid)
    for a, b in [*rows, (low, least), (high, most), ((low + high) / 2, (least + most) / 2), (high, least)]:
        for each in (vector, coarser):
            steps = [brought(one, {("t", "a"): a, ("t", "b"): b}) for one in each.sums]
            assert min(steps) >= 0
            assert sum(steps) <= each.most, (a, b)


@settings(deadline=None, max_examples=10)
@given(
    ranges=st.tuples(st.tuples(REALS, REALS), st.tuples(REALS, REALS)),
    rows=st.lists(st.tuples(REALS | st.sampled_from([None, inf, -inf]), REALS), min_size=1, max_size=46),
)
def test_the_engine_keeps_to_it(
    ranges: tuple[tuple[float, float], tuple[float, float]], rows: list[tuple[float | None, float]]
) -> None:
    """One row in each group, as DuckDB computes it; and a row without a NULL adds next to a whole."""
    (low, high), (least, most) = (sorted(ends) for ends in ranges)
    assume(min(high - low, most - least) > TINY)
    of = dataset((low, high), (least, most))
    level = planned("SELECT k, CORR(a, b) AS c FROM t GROUP BY k", of, in_cells=True)
    (vector,) = vectors(level)
    rows = [*rows, (low, least), (high, most), ((low + high) / 2, (least + most) / 2), (high, least)]
    a, b = zip(*rows, strict=True)
    columns = {"k": list(range(len(rows))), "a": pa.array(a, pa.float64()), "b": pa.array(b, pa.float64())}
    result = engine_as_if_admitted(of.tables, {"t": pa.table(columns)}, threads=1).run(level.exact)
    for place, (group,) in enumerate(result.keys):
        steps = [result.measures[each.name][place] for each in vector.sums]
        assert min(steps) >= 0
        assert sum(steps) <= vector.most
        assert sum(steps) == 0 if rows[group][0] is None else sum(steps) >= 2**32 - 5


@given(
    ends=st.tuples(REALS, REALS),
    values=st.lists(REALS | st.sampled_from([None, inf, -inf]), min_size=1, max_size=46),
    grid=st.integers(-36, 4),
)
@settings(deadline=None, max_examples=10)
def test_two_parts_of_a_row_are_a_whole(ends: tuple[float, float], values: list[float | None], grid: int) -> None:
    """Neither more nor less, for one is what the other leaves; only where steps are too wide, both are computed."""
    low, high = sorted(ends)
    assume(high - low > TINY)
    of = dataset((low, high))
    level = planned("SELECT k, AVG(a) AS m FROM t GROUP BY k", of, in_cells=True)
    vector = replace(*vectors(level), grid=grid)
    assert [each.is_rest for each in vector.sums] == [grid <= 0, False]
    columns = {"k": list(range(len(values))), "a": pa.array(values, pa.float64())}
    exact = replace(level.exact, measures=vector.sums)
    result = engine_as_if_admitted(of.tables, {"t": pa.table(columns)}, threads=1).run(exact)
    for place, (group,) in enumerate(result.keys):
        whole = sum(result.measures[each.name][place] for each in vector.sums)
        assert whole == (0 if values[group] is None else 2**-grid) or grid > 0
        assert whole <= vector.most


def test_rounding_lets_a_row_add_more_than_a_whole() -> None:
    """The wrong twin: a bound without what rounding adds is exceeded, of 8 steps by two."""
    level = planned("SELECT CORR(a, b) AS c FROM t", dataset((0, 1), (0, 1)), in_cells=True)
    (vector,) = vectors(level)
    coarse = replace(vector, grid=-3)
    steps = [sum(brought(one, HALF) for one in each.sums) for each in (coarse, vector)]
    assert steps == [10, 2**32]
    assert coarse.most == 12


PAIR = dataset((0, 1), (-5, 5))


MIXED = dataset((-3, 7), (0, 1), (100, 120))
"""Of columns that may be NULL."""

ASKED = [
    "COUNT(*) AS p, AVG(a) AS q",
    "COUNT(*) AS p, SUM(a) AS q, COUNT(a) AS r, VAR_SAMP(a) AS s",
    "COUNT(*) AS p, COUNT_IF(a > 2) AS q, COUNT_IF(b > 0.5) AS r, AVG(CASE WHEN a > 2 THEN 5 ELSE 1 END) AS s",
    "SUM(a) FILTER (WHERE b > 0.5) AS p, AVG(a) AS q, AVG(c) FILTER (WHERE a < 0 AND b > 0.2) AS r",
    "COUNT_IF(k < 10) AS p, COUNT_IF(k BETWEEN 10 AND 20) AS q, COUNT_IF(k > 20) AS r, COUNT(*) AS s",
    "CORR(a, b) AS p, AVG(a) AS q, COUNT(*) AS r, SUM(b) AS s",
    "COVAR_POP(a, b) AS p, COVAR_SAMP(b, c) AS q, AVG(a * b) AS r",
    "REGR_SLOPE(a, b) AS p, REGR_INTERCEPT(a, b) AS q, REGR_COUNT(c, b) AS r, COUNT(*) AS s",
    "AVG(CASE WHEN a > 0 THEN b END) AS p, BOOL_OR(a > 6.9) AS q, AVG(NULLIF(b, 0)) AS r",
    "SUM(CASE WHEN a IS NULL THEN 1 ELSE 0 END) AS p, COUNT(a) AS q, STDDEV_POP(b) AS r",
]
ROWS = st.fixed_dictionaries(
    {
        "k": st.integers(0, 49),
        "a": st.none() | st.floats(-4, 8) | st.sampled_from([-3.0, 0.0, 2.0, 7.0, nan, inf]),
        "b": st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]),
        "c": st.none() | st.floats(99, 121),
    }
)


@cache
def cells_of(asked: str) -> Cells:
    """Those of a question."""
    (cells,) = planned(f"SELECT {asked} FROM t", MIXED, in_cells=True).draft.cells
    return cells


def row_of(row: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """A row as questions meet it."""
    ends = {"a": (-3, 7), "b": (0, 1), "c": (100, 120)}
    found = dict(row)
    for name, (low, high) in ends.items():
        value = row[name]
        found[name] = None if value is None or isnan(value) else min(max(value, float(low)), float(high))
    return {("t", name): value for name, value in found.items()}


@settings(deadline=None, max_examples=20)
@pytest.mark.parametrize("asked", ASKED)
@given(rows=st.lists(ROWS, min_size=1, max_size=30), grid=st.sampled_from([-32, -12, -3, 0, 2]))
def test_no_row_adds_more_than_a_whole_whatever_conditions_it_meets(
    asked: str, rows: list[dict[str, Any]], grid: int
) -> None:
    """Patterns exclude each other, and the polynomials of each add up to 1."""
    vector = replace(cells_of(asked).vector, grid=grid)
    for row in map(row_of, rows):
        steps = [brought(one, row) for one in vector.sums]
        assert min(steps) >= 0
        assert sum(steps) <= vector.most


@settings(deadline=None, max_examples=20)
@pytest.mark.parametrize("asked", ASKED)
@given(rows=st.lists(ROWS, min_size=1, max_size=30))
def test_moments_are_read_from_cells_as_they_are_added_up(asked: str, rows: list[dict[str, Any]]) -> None:
    """For every row by itself, but for the steps of the grids; and what cells weren't made for too, if they tell it."""
    cells = cells_of(asked)
    every = [*cells.moments, Moment(), *(Moment.of((value, 0)) for each in cells.moments for value, _ in each.powers)]
    for row in map(row_of, rows):
        numbers = {one.name: Fraction(brought(one, row)) / 2**32 for one in cells.vector.sums}
        for moment in every:
            read = cells.read(moment)
            if read is None:
                assert moment not in cells.moments
                continue
            told = sum(factor * numbers[name] for name, factor in read.factors.items())
            added = evaluate(moment.summand, row)
            added = 0 if added is None or isnan(added) else added
            size = sum(map(abs, read.factors.values()))
            assert abs(told - Fraction(added)) <= size * Fraction(1, 2**32) + Fraction(1, 10**9), (
                str(moment.summand),
                row,
            )


def test_patterns_that_overlap_would_let_a_row_add_two_wholes() -> None:
    """The wrong twin: cells of which the conditions of others aren't left out."""
    level = planned("SELECT COUNT(*) AS p, COUNT_IF(a > 2) AS q, COUNT_IF(b > 0.5) AS r FROM t", MIXED, in_cells=True)
    (vector,) = vectors(level)
    row = row_of({"k": 1, "a": 5.0, "b": 1.0, "c": None})

    def without_exclusions(expr: ir.Expr) -> ir.Expr:
        match expr:
            case ir.Call(function=ir.Function(name="if"), args=(_, ir.Literal(value=None), value)):
                return without_exclusions(value)
            case ir.Call(function=ir.Function(name="if"), args=(condition, value, other)):
                return replace(expr, args=(condition, without_exclusions(value), other))
            case _:
                return expr

    twin = replace(vector, values=tuple(map(without_exclusions, vector.values)))
    assert sum(brought(one, row) for one in vector.sums) == 2**32
    assert sum(brought(one, row) for one in twin.sums) == 4 * 2**32


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("COUNT_IF(k < 10) AS p, COUNT_IF(k BETWEEN 10 AND 20) AS q, COUNT_IF(k > 20) AS r", 3),
        ("COUNT_IF(k < 10) AS p, COUNT_IF(k < 20) AS q", 2),
        ("COUNT_IF(k < 10) AS p, COUNT_IF(a < 2) AS q", 3),
        ("COUNT_IF(k = 1) AS p, COUNT_IF(k <> 1) AS q, COUNT(*) AS n", 3),
        ("COUNT(*) AS p, AVG(a) AS q", 3),
        ("AVG(CASE WHEN k = 3 THEN 1 ELSE 0 END) AS p, COUNT_IF(k = 3) AS q, COUNT(*) AS r", 2),
        ("CORR(a, b) AS p, AVG(a) FILTER (WHERE b IS NOT NULL) AS q", 9),
        ("REGR_SLOPE(a, c) AS p, REGR_INTERCEPT(a, c) AS q, REGR_AVGX(a, c) AS r, REGR_COUNT(a, c) AS s", 6),
        ("VAR_POP(CASE WHEN k = 3 THEN 10 ELSE 0 END) AS p, COUNT(*) AS q", 2),
    ],
)
def test_there_are_as_few_cells_as_tell_everything(asked: str, number: int) -> None:
    """What no row can meet has none, what follows from others none either, and what is one of two is its own square."""
    (vector,) = vectors(planned(f"SELECT {asked} FROM t", MIXED, in_cells=True))
    assert len(vector.values) == number


def test_aggregates_of_many_columns_are_put_in_several_blocks() -> None:
    """All products of many values would have more noise than blocks apart."""
    columns = dataset(*[(0, 1)] * 8, nullable=False)
    asked = ", ".join(f"AVG({name}) AS {name}" for name in "abcdefgh")
    level = planned(f"SELECT {asked} FROM t", columns)
    apart = planned(f"SELECT {asked} FROM t", columns, in_cells=False)
    assert worst_error([level.draft]) < worst_error([apart.draft])
    with pytest.raises(TooManyCellsError):
        planned(f"SELECT {asked} FROM t", columns, in_cells=True)


def test_measures_stay_apart_where_that_errs_less() -> None:
    """With Gaussian noise, of an average; of a count alone; where groups are selected by the count that is shown."""
    assert not vectors(planned("SELECT AVG(a) AS m FROM t", PAIR, rho="1/50"))
    assert not vectors(planned("SELECT CORR(a, b) AS c FROM t", PAIR, rho="1/2"))
    assert vectors(planned("SELECT AVG(a) AS m FROM t", PAIR, epsilon=1))
    assert not vectors(planned("SELECT COUNT(*) AS n FROM t", PAIR, epsilon=1))


EIGHT = dataset(*[(0, 100)] * 8)

ON_EIGHT = [(name, other) for name, other in zip("abcdefgh", "bcdefgha", strict=True)]

LONG = [
    "k, " + ", ".join(f"VAR_SAMP(a) FILTER (WHERE {a} > 5 AND {b} < 20) AS {a}" for a, b in ON_EIGHT[:6]),
    ", ".join(f"VAR_SAMP({a}) FILTER (WHERE {b} > {n}) AS {a}{n}" for n in range(10) for a, b in ON_EIGHT),
    ", ".join(
        f"COUNT_IF({' OR '.join(f'{a} < {b} - {n} AND {b} > {place}' for n in range(1, 25))}) AS {a}"
        for place, (a, b) in enumerate(ON_EIGHT[:6])
    ),
]
"""Whoever asks such things decides how many arrangements there are, and how long each takes."""


def tried(monkeypatch: pytest.MonkeyPatch, make: Callable[[], object]) -> int:
    """How many numbers the arrangements have that are looked at while something is planned."""
    found: list[int] = []

    def ruled(draft: Draft) -> Draft:
        made = usual(draft)
        found.append(sum(len(noise.numbers) for noise in made.noises))
        return made

    usual = plan._ruled
    with monkeypatch.context() as patched:
        patched.setattr(plan, "_ruled", ruled)
        make()
    return sum(found)


MOST = blocks._MOST_TRIED


@pytest.mark.parametrize(
    ("asked", "limits"),
    [*zip(LONG, [(MOST // 3, MOST), (MOST, 3 * MOST), (MOST // 3, MOST)], strict=True)],
    ids=["levels", "many", "long"],
)
def test_a_question_decides_not_how_much_is_tried(
    monkeypatch: pytest.MonkeyPatch, asked: str, limits: Sequence[int]
) -> None:
    """By a count, not a clock, so that a plan is the same everywhere; with a higher limit, more is tried."""
    text = f"SELECT {asked} FROM t" + (" GROUP BY ROLLUP (k)" if asked.startswith("k,") else "")
    found = []
    for limit in limits:
        monkeypatch.setattr(blocks, "_MOST_TRIED", limit)
        found.append(tried(monkeypatch, lambda: planned(text, EIGHT)))
        assert found[-1] < 2 * limit
    assert found[1] > 1.3 * found[0]


def test_questions_that_are_planned_together_share_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dashboard of ten takes no more than some few."""
    asked = question("SELECT " + ", ".join(f"AVG({a}) AS {a}" for a in "abcdef") + " FROM t", EIGHT.tables)
    alone, among = (
        tried(monkeypatch, partial(make_plan, asked, Request.of(epsilon=1), EIGHT, among=number)) for number in (1, 10)
    )
    assert among < alone / 3


@pytest.mark.parametrize(
    "conditions",
    [
        [" AND ".join(f"{name} <> {n}" for name in "abcdefgh") for n in range(4)],
        [" OR ".join(f"a < b - {n} AND b > c - {n}" for n in range(number, number + 40)) for number in (1, 41)],
    ],
    ids=["many", "long"],
)
def test_conditions_that_take_long_to_tell_apart_have_no_cells(conditions: list[str]) -> None:
    """There may be few of them, of many parts."""
    asked = ", ".join(f"COUNT(*) FILTER (WHERE {each}) AS c{place}" for place, each in enumerate(conditions))
    with pytest.raises(TooManyCellsError):
        planned(f"SELECT {asked} FROM t", EIGHT, in_cells=True)


_NULLABLE = dataset((0, 100), (0, 100)).tables[0].columns[1:]

PLAIN = replace(dataset((0, 100), (0, 100), nullable=False), name="plain")

REACHED = {
    "AVG(a) AS x": {"x": 0.24},
    "COUNT(*) AS n, AVG(a) AS x": {"n": 4.2, "x": 0.24},
    "k, COUNT(*) AS n, AVG(a) AS x": {"n": 4.2, "x": 0.24},
    "COUNT(*) AS n, SUM(a) AS s, AVG(a) AS x": {"n": 4.2, "s": 310, "x": 0.24},
    "AVG(CASE WHEN a > 50 THEN 1 ELSE 0 END) AS x": {"x": 0.0025},
    "100.0 * COUNT_IF(a > 50) / COUNT(*) AS x": {"x": 0.25},
    "COUNT_IF(a < 20) AS p, COUNT_IF(a BETWEEN 20 AND 50) AS q, COUNT_IF(a > 50) AS r": dict.fromkeys("pqr", 3.1),
    "VAR_SAMP(a) AS x": {"x": 17},
    "COUNT(*) AS n, CORR(a, b) AS c": {"n": 9},
    "CORR(a, b) AS c, AVG(a) AS x, AVG(b) AS y": {"x": 0.45, "y": 0.45},
}
"""The most that the 95 % radius may be at ε = 1, of 1,000 rows."""


@pytest.mark.parametrize("asked", REACHED)
def test_the_commonest_questions_err_as_little_as_cells_allow(asked: str) -> None:
    """And less than measures apart, each of them."""
    text = f"SELECT {asked} FROM t" + (" GROUP BY k" if asked.startswith("k,") else "")
    cells, apart = (
        {each.column: each.error for each in expected_errors(planned(text, PLAIN, in_cells=how).draft)}
        for how in (None, False)
    )
    for name, most in REACHED[asked].items():
        error, before = cells[name], apart[name]
        assert error is not None
        assert before is not None
        assert error <= most
        assert error < before


PEOPLE = replace(
    PLAIN,
    tables=(
        replace(
            PLAIN.tables[0],
            unit=dp.Unit("k"),
            limits=dp.Limits(rows=10),
            columns=(Column(name="k", kind=Kind.INTEGER), *PLAIN.tables[0].columns[1:]),
        ),
    ),
)


@pytest.mark.parametrize("rows", [1, 2, 10, 1_000])
@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
def test_the_number_of_units_costs_nothing_beside_that_of_rows(rows: int, offer: dict[str, Any]) -> None:
    """Rows err as if they were asked alone, and units √2 times as much as alone: 41 % more, however many rows count."""
    alone, both = (
        {
            each.column: each.error
            for each in expected_errors(
                planned(f"SELECT {asked} FROM t", PEOPLE, limits=dp.Limits(rows=rows), **offer).draft
            )
        }
        for asked in ("COUNT(*) AS n", "COUNT(*) AS n, COUNT(DISTINCT k) AS u")
    )
    (units,) = expected_errors(planned("SELECT COUNT(DISTINCT k) AS u FROM t", PEOPLE, **offer).draft)
    assert both["n"] == pytest.approx(alone["n"], rel=0.01)
    assert both["u"] is not None
    assert units.error is not None
    assert both["u"] <= 1.5 * units.error + 1  # a whole number is shown


@pytest.mark.parametrize(
    "asked", ["COUNT(*) AS n, COUNT(DISTINCT k) AS u", "AVG(a) AS x, COUNT(DISTINCT k) AS u, COUNT_IF(a > 50) AS c"]
)
def test_units_are_read_from_what_they_leave(asked: str) -> None:
    """Exactly as many as there are, whether they have few rows, as many as count, or more, and values that are NULL."""
    of = replace(PEOPLE, tables=(replace(PEOPLE.tables[0], columns=(PEOPLE.tables[0].columns[0], *_NULLABLE)),))
    level = planned(f"SELECT {asked} FROM t WHERE b < 90", of, in_cells=True)
    (vector,) = vectors(level)
    ids = [number for number in range(7) for _ in range(3 * number)]
    data = {"k": ids, "a": [None if each % 4 == 1 else float(each) for each in ids], "b": [30.0 * each for each in ids]}
    engine = engine_as_if_admitted(of.tables, {"t": pa.table(data)}, threads=1)
    result = with_room(level, engine.run(level.exact))
    noisy = {each.name: result.measures[each.name][0] for each in vector.numbers}
    assert sum(noisy.values()) == 2 * vector.whole  # ids 1 and 2; of 0 there is no row
    found = dict(level.draft.estimators)
    (units,) = (each.name for each in level.draft.question.aggregates if each.function is UNITS)
    assert found[units].estimate(noisy, level.draft.laws) == 2


def test_one_share_pays_for_all_parts() -> None:
    """The vector is one event of its joint sensitivity, and nothing else is paid for; the plan says so in words."""
    of = dataset((0, 1), (-5, 5))
    made = make_plan(question("SELECT CORR(a, b) AS c FROM t", of.tables), Request.of(epsilon=1), of)
    (measure,) = made.to_dict()["levels"][0]["measures"]  # type: ignore[index]  # JSON
    assert measure["l1"] == 2**32 + 4
    assert str(made.cost) == "ε = 1"
    assert (
        "rows in 9 parts by a and b, which add up to 1 for each: one unit moves it by at most 1 (ℓ1)" in made.explain()
    )
