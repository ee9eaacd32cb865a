"""Clamping: values stay within what is declared of them and within their kind, and become the integers they should.

How raw values become those of their kind is asked of admission, in `tests/tables/admission`. Steps are those of exact
arithmetic at every grid, at both ends of 64 bits, and where there is none.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from math import nan
from typing import Any

import duckdb
import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import event, given, settings

from discreet.duckdb.sql_text import SQL_TYPES
from discreet.engine.duckdb.aggregation import adds_of
from discreet.engine.duckdb.bounded_values import bounded, identified, numeric_ends
from discreet.engine.duckdb.contributions import _scanned_ends
from discreet.engine.duckdb.steps import _from_real, as_number, clamped_steps, constant_steps, in_range
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Expr, Literal, Scan, Sum, Type
from discreet.query.ir import call as ir_call
from discreet.query.ir import literal as ir_literal
from discreet.tables import Column, Kind, Owner, Source, Table
from discreet.tables.schema.column import LONGEST_TEXT
from support.engines import engine_over
from support.questions import column, declared, exact, literal, run, table_of, total
from support.reference import steps

pytestmark = pytest.mark.usefixtures("kept_sessions")

moment = datetime.fromisoformat
INT64 = 2**63
FAR = 10**30
CONNECTION = duckdb.connect()
Values = list[tuple[Any, Any]]
"""Values, each with what becomes of it."""


def computed(sql: str, kind: Kind, values: list[Any]) -> list[Any]:
    """What an expression of `v` gives for values of a kind."""
    rows = f"SELECT unnest(CAST($1 AS {SQL_TYPES[kind]}[])) AS v"
    return [value for (value,) in CONNECTION.execute(f"SELECT {sql} FROM ({rows})", [values]).fetchall()]


BOUNDED: list[tuple[Kind, Bounds | None, Values]] = [
    (Kind.INTEGER, None, [(-INT64, -INT64), (INT64 - 1, INT64 - 1), (None, None)]),
    (Kind.INTEGER, Bounds(1, 9), [(-INT64, 1), (1, 1), (5, 5), (9, 9), (INT64 - 1, 9), (None, None)]),
    (Kind.INTEGER, Bounds("1/2", "9.5"), [(0, 1), (10, 9)]),
    (Kind.INTEGER, Bounds(-FAR, FAR), [(-INT64, -INT64), (INT64 - 1, INT64 - 1)]),
    (Kind.REAL, Bounds(-1, 0.1), [(-1e300, -1.0), (0.0, 0.0), (0.1, 0.1), (0.2, 0.1), (None, None)]),
    (Kind.REAL, Bounds(0, 10**400), [(1e308, 1e308), (-5e-324, 0.0)]),
    (Kind.DATE, Bounds(date(2000, 1, 1), date(2001, 1, 1)),
     [(date(1, 1, 1), date(2000, 1, 1)), (date(9999, 12, 31), date(2001, 1, 1)), (None, None)]),
    (Kind.TIMESTAMP, Bounds(moment("2000-01-01"), moment("2000-01-02 03:04:05.6")),
     [(moment("1999-12-31 23:59:59.999999"), moment("2000-01-01")), (moment("2000-01-03"),
      moment("2000-01-02 03:04:05.6")), (moment("2000-01-01 01:00"), moment("2000-01-01 01:00")), (None, None)]),
    (Kind.TEXT, None, [("", ""), ("é", "é"), (None, None)]),
    (Kind.BOOLEAN, None, [(True, True), (None, None)]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "bounds", "values"), BOUNDED)
def test_values_are_moved_within_their_bounds(kind: Kind, bounds: Bounds | None, values: Values) -> None:
    """To the nearer end, where they lie outside; NULL stays NULL."""
    declared = Column(name="v", kind=kind, bounds=bounds)
    assert computed(bounded(declared, "v"), kind, [value for value, _ in values]) == [wanted for _, wanted in values]


@pytest.mark.parametrize(("kind", "bounds", "values"), BOUNDED)
def test_ids_outside_their_bounds_are_null(kind: Kind, bounds: Bounds | None, values: Values) -> None:
    """Moving them to the nearer end would make one unit of many people."""
    declared = Column(name="v", kind=kind, bounds=bounds)
    wanted = [value if value == moved else None for value, moved in values]
    assert computed(identified(declared, "v"), kind, [value for value, _ in values]) == wanted


KEPT: list[tuple[Kind, str, Any]] = [
    (Kind.REAL, "'nan'::DOUBLE", None),
    (Kind.REAL, "'inf'::DOUBLE", float("inf")),
    (Kind.REAL, "1e300::DOUBLE", 1e300),
    (Kind.DATE, "DATE '0001-01-01'", date(1, 1, 1)),
    (Kind.DATE, "DATE '0001-01-01 (BC)'", None),
    (Kind.DATE, "DATE '10000-01-01'", None),
    (Kind.DATE, "DATE 'infinity'", None),
    (Kind.TIMESTAMP, "TIMESTAMP '9999-12-31 23:59:59.999999'", moment("9999-12-31 23:59:59.999999")),
    (Kind.TIMESTAMP, "TIMESTAMP '10000-01-01'", None),
    (Kind.TIMESTAMP, "TIMESTAMP '-infinity'", None),
    (Kind.TEXT, "repeat('é', 5000)", "é" * LONGEST_TEXT),
    (Kind.INTEGER, f"{INT64}::HUGEINT", None),
    (Kind.INTEGER, f"{INT64 - 1}::HUGEINT", INT64 - 1),
    (Kind.BOOLEAN, "true", True),
    *((kind, "NULL", None) for kind in Kind),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), KEPT)
def test_what_is_computed_stays_within_its_kind(kind: Kind, value: str, wanted: Any) -> None:
    """Or is NULL; sums move infinities within their bounds, so these may stay."""
    assert CONNECTION.execute(f"SELECT {in_range(kind, 'v')} FROM (SELECT {value} AS v)").fetchall() == [(wanted,)]


def test_a_text_that_is_longer_than_all_keys_stays_outside() -> None:
    """However long one person's cell is, joins write out one sign more than keys have; it is still no key, nor NULL."""
    declared = Column(name="v", kind=Kind.TEXT, keys=Keys(["a", "éé"]))
    cells = ["a", "éé", "eeee", "b", "eeeee", "z" * LONGEST_TEXT, None]
    assert computed(bounded(declared, "v"), Kind.TEXT, cells) == ["a", "éé", "eeee", "b", "eeeee", "z" * 5, None]


def test_ids_outside_their_bounds_are_nobodys() -> None:
    """So their rows are left out; and so are those without an id."""
    source = Source(kind="memory", location="t")
    declared = Column(name="v", kind=Kind.INTEGER, bounds=Bounds(1, 10))
    table = Table(name="t", source=source, columns=(declared,), unit=Unit("v"), limits=Limits(rows=1))
    counting = Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1)
    question = Exact(
        source=Scan(table=table, columns=("v",), owner=Owner(table.unit), alias=table.name),
        keys=(),
        measures=(counting,),
        limits=Limits(rows=1),
        salt="",
    )
    data = pa.table({"v": [1, 2, 50, 60, -3, None]})
    assert engine_over([table], {"t": data}).run(question).measures["n"] == [2]


# ── Steps of the grid ────────────────────────────────────────────────────────────────────────────────────────────────

ENDS = st.sampled_from([0, 1, 3, 1000, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1]) | st.integers(0, 2**63 - 1)
SIGNED = st.builds(lambda size, sign: size * sign, ENDS, st.sampled_from([-1, 1]))
WHOLE = SIGNED | st.just(-(2**63)) | st.integers(-20, 20)
REALS = st.floats() | st.builds(
    lambda whole, half: whole + half, st.integers(-50, 50), st.sampled_from([0.5, -0.5, 0.0])
)


def measures(name: str, grids: st.SearchStrategy[int]) -> st.SearchStrategy[Sum]:
    """Sums of a column, with any bounds and grid."""

    def measure(ends: tuple[int, int], grid: int) -> Sum:
        lo, hi = sorted(ends)
        return total("s", column(name), grid=grid, lo=lo, hi=hi)

    return st.builds(measure, st.tuples(SIGNED, SIGNED), grids)


def in_duckdb(values: list[Any], measure: Sum) -> list[int | None]:
    """What DuckDB makes of these values."""
    sql_type = "DOUBLE" if measure.value.type.kind is Kind.REAL else "BIGINT"
    rows = CONNECTION.execute(
        f"SELECT {clamped_steps('w', measure)} FROM (SELECT {as_number('v', measure)} AS w, i "
        f"FROM (SELECT unnest(CAST(? AS {sql_type}[])) AS v, generate_subscripts(?, 1) AS i)) ORDER BY i",
        [values, values],
    ).fetchall()
    return [row[0] for row in rows]


def agrees(values: list[Any], measure: Sum) -> None:
    """DuckDB's integers are those of exact arithmetic; NULL and NaN are NULL, which adds 0."""
    found = in_duckdb(values, measure)
    if measure.lo == measure.hi:
        found = [None if each is None else measure.lo for each in found]
    assert [each or 0 for each in found] == [steps(value, measure) for value in values]
    assert all(each is None or measure.lo <= each <= measure.hi for each in found)


@settings(max_examples=150)
@given(st.lists(st.none() | WHOLE, min_size=1, max_size=20), measures("x", st.integers(-62, 62)))
def test_whole_numbers(values: list[int | None], measure: Sum) -> None:
    """Integers of 64 bits at all grids that they can have."""
    agrees(values, measure)


@settings(max_examples=150)
@given(
    st.lists(st.none() | REALS, min_size=1, max_size=20), measures("y", st.integers(-1022, 1022) | st.integers(-60, 20))
)
def test_reals(values: list[float | None], measure: Sum) -> None:
    """Doubles of all sizes, infinities, NaN, denormals, and halves, which go away from zero."""
    agrees(values, measure)


@settings(max_examples=300)
@given(st.data(), st.sampled_from([Kind.INTEGER, Kind.REAL]), st.tuples(SIGNED, SIGNED).map(sorted), st.integers(-3, 3))
def test_what_the_scan_has_moved_is_not_tested_again(
    data: st.DataObject, kind: Kind, ends: list[int], grid: int
) -> None:
    """Where a measure's bounds enclose the column's; and the integers are the same as with the test, for any values."""
    bounds = Bounds(*ends)
    declared = Column(name="v", kind=kind, bounds=bounds)
    lo, hi = data.draw(st.just(ends) | st.tuples(SIGNED, SIGNED).map(sorted), "bounds of the measure")
    measure = total("s", column("x" if kind is Kind.INTEGER else "y"), grid=grid, lo=lo, hi=hi)
    values = data.draw(st.lists(st.none() | (WHOLE if kind is Kind.INTEGER else REALS), min_size=1, max_size=9), "rows")
    read = f"SELECT {as_number('v', measure)} AS w, v FROM (SELECT {bounded(declared, 'v')} AS v FROM rows)"
    tested, spared = clamped_steps("w", measure), clamped_steps("w", measure, numeric_ends(kind, bounds))
    rows = CONNECTION.execute(
        f"WITH rows AS (SELECT unnest(CAST(? AS {SQL_TYPES[kind]}[])) AS v) SELECT {tested}, {spared} FROM ({read})",
        [values],
    ).fetchall()
    assert all(one == other for one, other in rows)
    event("tested again" if tested == spared else "spared")


@given(
    st.tuples(st.integers(-50, 50), st.integers(1, 100)),
    st.lists(
        st.tuples(st.sampled_from(["add", "subtract", "multiply"]), st.fractions(-9, 9, max_denominator=7)),
        min_size=1,
        max_size=3,
    ),
    st.integers(-3, 3),
    st.lists(st.none() | st.floats(allow_nan=False), max_size=6),
)
def test_nor_is_what_is_computed_of_it_with_constants(
    ends: tuple[int, int], operations: list[tuple[str, Fraction]], grid: int, values: list[float | None]
) -> None:
    """Sums are those of exact steps of doubles, with bounds that enclose the ends of these, and with narrower ones."""
    lo, hi = ends[0], ends[0] + ends[1]
    value: Expr = Reference("t", "y", Type(Kind.REAL, Fraction(lo), Fraction(hi)))
    for name, constant in operations:
        value = ir_call(name, value, Literal(constant, Type(Kind.REAL, constant, constant)))
    wide = total("s", value, grid=grid, lo=-(2**50), hi=2**50)
    first, last = sorted(steps(_in_doubles(end, operations), wide) for end in (lo, hi))
    cuts = [(first, last), (first + 1, last), (first, last - 1), (first + 1, last - 1)]
    measures = [replace(wide, name=f"s{i}", lo=a, hi=b) for i, (a, b) in enumerate(cuts) if a < b]
    question = exact(table_of(y=declared("y", bounds=Bounds(lo, hi))), [wide, *measures])
    assert _scanned_ends(value, question) is not None
    values = [*values, -1e9, 1e9]
    moved = [_in_doubles(min(max(each, float(lo)), float(hi)), operations) for each in values if each is not None]
    wanted = {measure.name: sum(steps(each, measure) for each in moved) for measure in question.measures}
    assert run(question, [{"id": number, "y": each} for number, each in enumerate(values)]) == {(): wanted}


def _in_doubles(value: float, operations: list[tuple[str, Fraction]]) -> float:
    """What doubles make of it."""
    doubles = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}
    for name, constant in operations:
        value = doubles[name](value, float(constant))
    return value


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL])
@pytest.mark.parametrize(("lo", "is_spared"), [(0, True), (1, False)])
def test_only_bounds_that_enclose_the_columns_spare_the_test(kind: Kind, lo: int, is_spared: bool) -> None:
    """One step inside them, and the ends must be moved."""
    measure = total("s", column("x" if kind is Kind.INTEGER else "y"), lo=lo, hi=9)
    assert ("CASE" not in clamped_steps("w", measure, (0, 9))) is is_spared


@settings(max_examples=200)
@given(WHOLE | st.floats(allow_nan=False, allow_infinity=False), measures("y", st.integers(-62, 62)))
def test_constants(value: float, measure: Sum) -> None:
    """A constant is worked out beforehand, to the same integer."""
    fixed = total("s", literal(value), grid=measure.grid, lo=measure.lo, hi=measure.hi)
    assert constant_steps(fixed) == steps(value, measure)


def test_a_null_constant_adds_nothing() -> None:
    """Even where 0 lies outside the bounds."""
    assert constant_steps(total("s", literal(None), lo=1, hi=2)) == 0


@settings(max_examples=100)
@given(
    st.integers(-99, 99) | st.floats(-9, 9),
    st.tuples(st.integers(-99, 99), st.integers(-99, 99)).map(sorted),
    st.integers(-3, 3),
    st.booleans(),
)
def test_one_number_or_null_is_counted(value: float, ends: list[int], grid: int, is_rest: bool) -> None:
    """Rows that have it add the same, wherever it lies, and no row needs an expression; but for what it leaves."""
    present = ir_call("if", ir_call("is_null", column("x")), ir_literal(None), ir_literal(value))
    measure = total("s", present, grid=grid, lo=0 if is_rest else ends[0], hi=abs(ends[1]) + 1)
    measure = measure.rest if is_rest else measure
    question = exact(table_of(), [measure])
    (adds,) = adds_of(question.measures)
    assert adds.what == ("values" if is_rest else "present")
    rows = [{"id": 1, "x": 5}, {"id": 2, "x": None}, {"id": 3, "x": 0}]
    added = steps(value, replace(measure, is_rest=False))
    assert run(question, rows) == {(): {"s": 2 * (measure.hi - added if is_rest else added)}}


@pytest.mark.parametrize(("value", "wanted"), [(2.5, 3), (-2.5, -3), (2.4, 2), (-0.5, -1), (99.0, 50)])
def test_a_constant_is_rounded_to_the_nearest_step(value: float, wanted: int) -> None:
    """Halves go away from zero, and nothing beyond the measure's bounds."""
    constant = Literal(Fraction(value), Type(Kind.REAL))
    assert constant_steps(Sum(name="s", value=constant, grid=0, lo=-50, hi=50)) == wanted


@pytest.mark.parametrize("end", [2**53 + 3, 2**60 + 129, 2**63 - 1])
def test_bounds_between_two_doubles_are_kept(end: int) -> None:
    """The nearest double above the end of a range lies beyond the range, and becomes the end."""
    above = float(end)
    assert above > end
    sql = _from_real("v", -end, end)
    assert computed(sql, Kind.REAL, [above, -above, 1.0, nan]) == [end, -end, 1, None]
