"""Brute force: over all neighbours of tiny tables, the exact part of a plan moves by no more than declared.

Tables, declarations and questions are made at random; the neighbours are not: every unit is removed in turn, or
replaced by every unit of a pool that holds NULLs, infinities and values far outside the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import discreet as dp
from discreet.mechanisms import Contribution
from discreet.privacy import Adjacency, Sensitivity
from discreet.query import ir
from discreet.query.estimates import Noise
from discreet.query.planner import Level, Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.crossed import crossed
from support.engines import compiled_once
from support.neighbours import Found, check, engine_of, exact, may_move

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.int64()), ("y", pa.float64()), ("g", pa.string()), ("d", pa.date32())])
DAYS = [date(2026, 1, 1), date(2026, 1, 2)]

Row = dict[str, Any]

ROWS = st.fixed_dictionaries(
    {
        "x": st.sampled_from([None, -(2**63), -7, -1, 0, 1, 3, 10, 2**63 - 1]),
        "y": st.sampled_from([None, float("nan"), float("-inf"), -2.5, -0.0, 0.1, 0.7, 1e300, float("inf")]),
        "g": st.sampled_from([None, "a", "b", "c"]),
        "d": st.sampled_from([None, *DAYS]),
    }
)
UNITS = st.lists(ROWS, min_size=1, max_size=4)
POOL: list[list[Row]] = [
    [],
    [{"x": None, "y": None, "g": None, "d": None}],
    [{"x": 2**63 - 1, "y": float("inf"), "g": "a", "d": DAYS[0]}] * 4,
    [{"x": -(2**63), "y": float("-inf"), "g": "b", "d": DAYS[0]}] * 4,
    [{"x": 3, "y": 0.7, "g": group, "d": DAYS[1]} for group in ("a", "b", "c", None)],
    [{"x": 1, "y": float("nan"), "g": "a", "d": DAYS[0]}],
]
VALUES = [
    "x", "y", "x + 1", "x * x", "x * y", "y / 3", "ABS(x)", "CASE WHEN x > 0 THEN y ELSE -1 END", "COALESCE(x, 7)",
    "NULLIF(x, 3)", "GREATEST(x, 2)", "LEAST(y, 0.5)", "x / y", "x % 3", "CAST(g AS INTEGER)", "LENGTH(g)",
]  # fmt: skip
AGGREGATES = [
    "COUNT(*)", "COUNT({})", "SUM({})", "AVG({})", "VAR_POP({})", "STDDEV_SAMP({})", "COUNT(DISTINCT FLOOR({}))",
    "COUNT(DISTINCT g)", "MEDIAN({})", "QUANTILE_CONT({}, 0.9)", "MIN({})", "MAX({})", "MODE(g)", "MODE(x)",
    "APPROX_TOP_K(x, 2)", "COVAR_POP({}, x)", "CORR(y, {})", "SUM({}) FILTER (WHERE x > 0)",
    "REGR_SLOPE(y, {})", "REGR_INTERCEPT({}, x)",
    "COUNT(*) FILTER (WHERE g = 'a')", "MEDIAN({}) FILTER (WHERE y > 0.3)", "COUNT(DISTINCT d) FILTER (WHERE x < 3)",
]  # fmt: skip
FILTERS = ["", "WHERE x > 0", "WHERE y IS NOT NULL", "WHERE g IN ('a', 'b') OR x IS NULL", "WHERE NOT (x = 1)"]
KEYS = [
    "", "g", "x > 1", "g, x > 1", "CASE WHEN x > 2 THEN 'high' WHEN x <= 2 THEN 'low' END", "d",
    "ROLLUP (g, d)", "CUBE (d, g)", "GROUPING SETS ((g), (d), ())",
]  # fmt: skip


OWN_LIMITS = (
    st.builds(dp.Limits, groups=st.integers(1, 3), rows_per_group=st.integers(1, 3))
    | st.builds(dp.Limits, rows=st.integers(1, 5))
    | st.builds(dp.Limits, rows=st.integers(1, 5), groups=st.integers(1, 3))
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A plan of a random question about a table with random declarations."""
    lo, hi = sorted(draw(st.tuples(st.integers(-5, 12), st.integers(-5, 12))))
    unit = draw(st.sampled_from([dp.Unit.row(), dp.Unit("id"), dp.Unit("id", per="day", at="d")]))
    limits = draw(OWN_LIMITS)
    keys = draw(st.sampled_from([None, dp.Keys(["a", "b"]), dp.Keys(["b", None])]))
    table = Table(
        name="t",
        source=Source(kind="memory", location="t"),
        columns=(
            Column(name="id", kind=Kind.INTEGER),
            Column(name="x", kind=Kind.INTEGER, bounds=dp.Bounds(lo, hi)),
            Column(name="y", kind=Kind.REAL, bounds=draw(st.sampled_from([dp.Bounds(0, 1), dp.Bounds("-5/2", 0.1)]))),
            Column(name="g", kind=Kind.TEXT, keys=keys),
            Column(name="d", kind=Kind.DATE, bounds=draw(st.sampled_from([None, dp.Bounds(*DAYS)]))),
        ),
        unit=unit,
        limits=dp.Limits(rows=1) if unit.is_row else limits,
    )
    dataset = Dataset(
        name="t",
        tables=(table,),
        budget=dp.Budget(epsilon=1),
        ledger="none",
        adjacency=draw(st.sampled_from(list(Adjacency))),
    )
    columns = [draw(st.sampled_from(AGGREGATES)).format(draw(st.sampled_from(VALUES))) for _ in range(2)]
    columns += draw(st.sampled_from([[], ["COUNT(DISTINCT id)"]])) if not unit.is_row else []
    key = draw(st.sampled_from(KEYS))
    grouping = f"GROUP BY {key}" if key else ""
    text = f"SELECT {', '.join(columns)} FROM t {draw(st.sampled_from(FILTERS))} {grouping}"
    offer = draw(st.sampled_from([{"epsilon": 1}, {"rho": "1/2"}]))
    offer["limits"] = draw(st.sampled_from([None] if unit.is_row else [None, None, "auto"]) | OWN_LIMITS)
    try:
        return make_plan(question(text, dataset.tables), Request.of(delta="1/1000", **offer), dataset)  # type: ignore[arg-type]  # numbers
    except dp.DiscreetError:
        return draw(st.nothing())


def _table(units: list[list[Row]]) -> pa.Table:
    """A table in which each list of rows belongs to one id."""
    rows = [row | {"id": number} for number, unit in enumerate(units) for row in unit]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _exact(plan: Plan, units: list[list[Row]]) -> list[Found]:
    """The exact part: integers by group, level by level."""
    return exact(engine_of(plan, {"t": _table(units)}), plan)


def _unit(plan: Plan) -> dp.Unit:
    """Whose presence is hidden."""
    return plan.levels[0].draft.unit


def _as_units(plan: Plan, people: list[list[Row]]) -> list[list[Row]]:
    """Split the rows of each person into the units of the plan."""
    unit = _unit(plan)
    if unit.is_row:
        return [[row] for person in people for row in person]
    return people


def _neighbours(plan: Plan, units: list[list[Row]]) -> Iterator[list[list[Row]]]:
    """All tables that differ in one unit, in the plan's sense; a unit's replacement keeps its place and id."""
    for number, unit in enumerate(units):
        for other in _alternatives(plan, unit):
            yield [*units[:number], other, *units[number + 1 :]]


def _alternatives(plan: Plan, unit: list[Row]) -> Iterator[list[Row]]:
    """What the rows of one id may be in a neighbour."""
    declared = _unit(plan)
    removed = plan.dataset.adjacency is dp.ADD_REMOVE
    if declared.is_row:
        yield from [[]] if removed else [[row] for rows in POOL for row in rows[:1]]
    elif declared.per is None:
        yield from [[]] if removed else POOL
    else:
        for day in DAYS:
            rest = [row for row in unit if row["d"] != day]
            replacements = [[]] if removed else [[row | {"d": day} for row in rows] for rows in POOL]
            yield from (rest + replacement for replacement in replacements)


def _explore(plan: Plan, people: list[list[Row]]) -> None:
    """Compare a table with all its neighbours, both ways round."""
    units = _as_units(plan, people)
    with compiled_once():
        here = _exact(plan, units)
        for neighbour in _neighbours(plan, units):
            check(plan, here, _exact(plan, neighbour))


BRUTE = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@pytest.mark.long
@BRUTE
@given(plans(), st.lists(st.lists(ROWS, min_size=1, max_size=3), min_size=1, max_size=2))
def test_the_exact_part_moves_by_no_more_than_declared(plan: Plan, people: list[list[Row]]) -> None:
    """For both adjacencies, all units, random declarations and random questions."""
    _explore(plan, people)


@pytest.mark.soak
@settings(BRUTE, max_examples=5_000)
@given(plans(), st.lists(UNITS, min_size=1, max_size=3))
def test_the_exact_part_moves_by_no_more_than_declared_at_length(plan: Plan, people: list[list[Row]]) -> None:
    """The same, for as long as a soak has."""
    _explore(plan, people)


def _dataset(*columns: Column, limits: dp.Limits) -> Dataset:
    """A table of people who may have several rows."""
    table = Table(
        name="t",
        source=Source(kind="memory", location="t"),
        columns=(Column(name="id", kind=Kind.INTEGER), *columns),
        unit=dp.Unit("id"),
        limits=limits,
    )
    return Dataset(name="t", tables=(table,), budget=dp.Budget(epsilon=1), ledger="none")


@pytest.mark.parametrize("asked", ["COUNT(*)", "COUNT(DISTINCT x)", "MEDIAN(x)", "MODE(x)"])
def test_brute_force_finds_a_sensitivity_that_is_too_small(asked: str) -> None:
    """The wrong twin: limits that the engine isn't told of must be caught, whatever is measured."""
    dataset = _dataset(Column(name="x", kind=Kind.INTEGER, bounds=dp.Bounds(0, 3)), limits=dp.Limits(rows=1))
    plan = make_plan(question(f"SELECT {asked} FROM t", dataset.tables), Request.of(epsilon=1), dataset)
    person = [POOL[2][0] | {"x": number} for number in range(4)]
    _explore(plan, [person])
    (level,) = plan.levels
    loose = replace(plan, levels=(Level(replace(level.draft, limits=dp.Limits(rows=2))),))
    with pytest.raises(AssertionError):
        _explore(loose, [person])


@pytest.mark.parametrize(
    ("asked", "adjacency"),
    crossed(["COUNT(*)", "AVG(x)", "COUNT(*) FILTER (WHERE x > 1)", "COUNT(x), VARIANCE(x)"], list(Adjacency)),
)
def test_what_units_leave_of_their_rows_moves_with_these(asked: str, adjacency: Adjacency) -> None:
    """Within the norms of the rows alone, whether units have few rows, as many as they may, or more.

    The wrong twin has room for more rows than the noise was made for.
    """
    dataset = _dataset(
        Column(name="x", kind=Kind.INTEGER, bounds=dp.Bounds(0, 3)),
        Column(name="y", kind=Kind.REAL, bounds=dp.Bounds(0, 1)),
        limits=dp.Limits(rows=2),
    )
    dataset = replace(dataset, adjacency=adjacency)
    found = question(f"SELECT {asked}, COUNT(DISTINCT id) FROM t WHERE y IS NOT NULL", dataset.tables)
    plan = make_plan(found, Request.of(epsilon=1), dataset, in_cells=True)
    (noise,) = plan.levels[0].draft.noises
    assert isinstance(noise.measure, ir.Vector)
    assert noise.measure.rows == 2
    people = [[POOL[2][0] | {"x": x} for x in held] for held in ([1], [0, 3], [2, None, 1, 0])]
    people.append([POOL[2][0] | {"y": None}])
    _explore(plan, people)
    twin = _with_vector(plan, lambda each: replace(each, measure=replace(noise.measure, rows=5)))
    with pytest.raises(AssertionError):
        _explore(twin, people)


SPREAD_OUT = [{"x": x, "y": y, "g": None, "d": DAYS[0]} for x, y in [(0, 0.0), (1, 0.1), (2, 0.5), (3, 0.7), (1, None)]]


def _in_parts(asked: str, adjacency: Adjacency) -> Plan:
    """A plan of two values, each row a unit, with rows counted in parts."""
    dataset = _dataset(
        Column(name="x", kind=Kind.INTEGER, bounds=dp.Bounds(0, 3)),
        Column(name="y", kind=Kind.REAL, bounds=dp.Bounds("1/10", "7/10")),
        Column(name="g", kind=Kind.TEXT),
        Column(name="d", kind=Kind.DATE),
        limits=dp.Limits(rows=1),
    )
    (table,) = dataset.tables
    dataset = replace(dataset, tables=(replace(table, unit=dp.Unit.row()),), adjacency=adjacency)
    plan = make_plan(question(f"SELECT {asked} FROM t", dataset.tables), Request.of(epsilon=1), dataset, in_cells=True)
    assert any(isinstance(measure, ir.Vector) for measure in plan.levels[0].draft.measures)
    return plan


def _with_vector(plan: Plan, change: Callable[[Noise], Noise]) -> Plan:
    """A plan with other noise on its vectors."""
    (level,) = plan.levels
    noises = tuple(change(each) if isinstance(each.measure, ir.Vector) else each for each in level.draft.noises)
    draft = replace(level.draft, noises=noises, measures=tuple(noise.measure for noise in noises))
    return replace(plan, levels=(Level(draft),))


@pytest.mark.parametrize("asked", ["CORR(x, y)", "COVAR_POP(y, x)", "REGR_SLOPE(y, x)"])
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
def test_brute_force_finds_a_vector_that_moves_too_far(asked: str, adjacency: Adjacency) -> None:
    """The wrong twins: sums that share no whole, and, of one that is replaced, the sensitivity of a single sum."""
    plan = _in_parts(asked, adjacency)
    _explore(plan, [[row] for row in SPREAD_OUT])

    def unshared(noise: Noise) -> Noise:
        assert isinstance(noise.measure, ir.Vector)
        first, *others = noise.measure.values
        return replace(noise, measure=replace(noise.measure, values=(first, first, *others)))

    def of_one(noise: Noise) -> Noise:
        return replace(noise, mechanism=replace(noise.mechanism, sensitivity=Sensitivity.scalar(2**32)))

    twins = [_with_vector(plan, unshared)] + [_with_vector(plan, of_one)] * (adjacency is dp.SUBSTITUTION)
    for twin in twins:
        with pytest.raises(AssertionError):
            _explore(twin, [[row] for row in SPREAD_OUT])


def test_a_histogram_that_moves_too_much_is_found() -> None:
    """The other wrong twins: a bin too many, a group too many, or a unit that comes and goes at once."""
    one = Contribution(each=4, total=4)
    assert may_move({("a",): {0: 4}}, one)
    assert not may_move({("a",): {0: 4, 1: 1}}, one)
    assert not may_move({("a",): {0: 4}, ("b",): {0: 1}}, one)
    assert not may_move({("a",): {0: 2, 1: -2}}, one)
    both = Contribution(each=4, total=4, adjacency=dp.SUBSTITUTION)
    assert may_move({("a",): {0: 4, 1: -4}}, both)
    assert not may_move({("a",): {0: 4, 1: -5}}, both)
    assert not may_move({("a",): {0: 4}, ("b",): {0: 4}}, both)


def test_questions_are_planned_often_enough_for_the_search_to_mean_something() -> None:
    """Every value, filter and key of the search is accepted with at least one aggregate."""
    dataset = _dataset(
        Column(name="x", kind=Kind.INTEGER, bounds=dp.Bounds(-5, 5)),
        Column(name="y", kind=Kind.REAL, bounds=dp.Bounds("1/2", 1)),
        Column(name="g", kind=Kind.TEXT, keys=dp.Keys(["a", "b"])),
        Column(name="d", kind=Kind.DATE),
        limits=dp.Limits(rows=1),
    )
    request = Request.of(epsilon=1, delta="1/1000")
    texts = [f"SELECT SUM({value}) FROM t" for value in VALUES if value != "CAST(g AS INTEGER)"]
    texts += [f"SELECT {aggregate.format('x')} FROM t" for aggregate in AGGREGATES]
    texts += [f"SELECT COUNT(*) FROM t {condition}" for condition in FILTERS]
    texts += [f"SELECT COUNT(*) FROM t GROUP BY {key}" for key in KEYS if key]
    for text in texts:
        assert isinstance(make_plan(question(text, dataset.tables), request, dataset).levels[0].exact, ir.Exact)
