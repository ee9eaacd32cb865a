"""Values become integers as exact arithmetic says: at every grid, at both ends of 64 bits, and where there is none."""

from __future__ import annotations

from typing import Any

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from discreet.engine.steps import check_steps, constant_steps, first_stage, second_stage
from discreet.errors import InvalidArgument
from discreet.query.ir import Sum
from discreet.tables import Kind
from support.questions import column, literal, total
from support.reference import steps

ENDS = st.sampled_from([0, 1, 3, 1000, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1]) | st.integers(0, 2**63 - 1)
SIGNED = st.builds(lambda size, sign: size * sign, ENDS, st.sampled_from([-1, 1]))
WHOLE = SIGNED | st.just(-(2**63)) | st.integers(-20, 20)
REALS = st.floats() | st.builds(
    lambda whole, half: whole + half, st.integers(-50, 50), st.sampled_from([0.5, -0.5, 0.0])
)
CONNECTION = duckdb.connect()


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
        f"SELECT {second_stage('w', measure)} FROM (SELECT {first_stage('v', measure)} AS w, i "
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


@settings(max_examples=300)
@given(st.lists(st.none() | WHOLE, min_size=1, max_size=20), measures("x", st.integers(-62, 62)))
def test_whole_numbers(values: list[int | None], measure: Sum) -> None:
    """Integers of 64 bits at all grids that they can have."""
    agrees(values, measure)


@settings(max_examples=300)
@given(
    st.lists(st.none() | REALS, min_size=1, max_size=20), measures("y", st.integers(-1022, 1022) | st.integers(-60, 20))
)
def test_reals(values: list[float | None], measure: Sum) -> None:
    """Doubles of all sizes, infinities, NaN, denormals, and halves, which go away from zero."""
    agrees(values, measure)


@settings(max_examples=200)
@given(WHOLE | st.floats(allow_nan=False, allow_infinity=False), measures("y", st.integers(-62, 62)))
def test_constants(value: float, measure: Sum) -> None:
    """A constant is worked out beforehand, to the same integer."""
    fixed = total("s", literal(value), grid=measure.grid, lo=measure.lo, hi=measure.hi)
    assert constant_steps(fixed) == steps(value, measure)


def test_a_null_constant_adds_nothing() -> None:
    """Even where 0 lies outside the bounds."""
    assert constant_steps(total("s", literal(None), lo=1, hi=2)) == 0


@pytest.mark.parametrize(
    "measure",
    [
        total("s", column("x"), lo=0, hi=2**63),
        total("s", column("x"), lo=-(2**63), hi=0),
        total("s", column("x"), lo=2, hi=1),
        total("s", column("x"), grid=63, lo=0, hi=1),
        total("s", column("y"), grid=-1023, lo=0, hi=1),
    ],
)
def test_what_64_bits_cannot_hold_is_refused(measure: Sum) -> None:
    """Bounds beyond 63 bits, and steps out of reach, by a public error."""
    with pytest.raises(InvalidArgument):
        check_steps(measure)
