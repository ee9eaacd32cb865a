"""Rows in parts: what a row adds to all sums of a vector together, whatever its values; and where vectors are used."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query import ir
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.engines import engine_as_if_admitted
from support.reference import brought

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


def planned(text: str, of: Dataset, *, in_parts: bool | None = None, **offer: float | str) -> Level:
    """The plan of a question."""
    return make_plan(question(text, of.tables), Request.of(**(offer or {"epsilon": 1})), of, in_parts=in_parts).levels[
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
    level = planned("SELECT CORR(a, b) AS c FROM t", dataset((low, high), (least, most)), in_parts=True)
    ((vector),) = vectors(level)
    coarser = ir.Vector(name="m", values=vector.values, grid=grid)
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
    level = planned("SELECT k, CORR(a, b) AS c FROM t GROUP BY k", of, in_parts=True)
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


def test_rounding_lets_a_row_add_more_than_a_whole() -> None:
    """The wrong twin: a bound without what rounding adds is exceeded, of 8 steps by two."""
    level = planned("SELECT CORR(a, b) AS c FROM t", dataset((0, 1), (0, 1)), in_parts=True)
    (vector,) = vectors(level)
    coarse = ir.Vector(name="m", values=vector.values, grid=-3)
    steps = [sum(brought(one, HALF) for one in each.sums) for each in (coarse, vector)]
    assert steps == [10, 2**32]
    assert coarse.most == 12


PAIR = dataset((0, 1), (-5, 5))


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("CORR(a, b) AS c", 1),
        ("CORR(a, b) AS c, COVAR_POP(b, a) AS d, COVAR_SAMP(a, b) AS e", 1),
        ("CORR(a, b) AS c, COUNT(*) AS n, AVG(a) AS m", 1),
        ("CORR(a, 2 * b) AS c, CORR(a, b) AS d", 2),
        ("CORR(a, a) AS c", 0),
        ("VAR_POP(a) AS v", 0),
    ],
)
def test_pairs_are_measured_once(asked: str, number: int) -> None:
    """In whatever order they are named; a value by itself is no pair."""
    level = planned(f"SELECT {asked} FROM t", PAIR)
    assert len(vectors(level)) == number
    assert len(level.events) == len(level.draft.measures)
    assert len(level.noises) == len(level.draft.measures) + 8 * number


def test_measures_stay_apart_where_that_errs_less() -> None:
    """With Gaussian noise; with Laplace noise, where many pairs share a few columns; and where a range is a point."""
    assert not vectors(planned("SELECT CORR(a, b) AS c FROM t", PAIR, rho="1/2"))
    assert vectors(planned("SELECT CORR(a, b) AS c FROM t", PAIR, epsilon=1))
    many, few = ([(a, b) for a in names for b in names if a < b] for names in ("abcdefghij", "abc"))
    columns = dataset(*[(0, 1)] * 10, nullable=False)
    for pairs, number in ((many, 0), (few, 3)):
        asked = ", ".join(f"COVAR_POP({a}, {b}) AS {a}{b}" for a, b in pairs)
        assert len(vectors(planned(f"SELECT {asked} FROM t", columns))) == number
    assert not vectors(planned("SELECT CORR(a, b) AS c FROM t", dataset((0, 1), (3, 3)), in_parts=True))


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
