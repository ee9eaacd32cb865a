"""Intervals with what limits cut off: they hold as often as they say, whatever the rows that are missing were."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates import (
    CutOffIntervals,
    Interval,
    Linear,
    LinearRatio,
    Noise,
    RowsCutOff,
    RowSpans,
    SizeClass,
)
from discreet.query.ir import literal
from discreet.tables import Kind

ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100)
FIRSTS = (1, *(end + 1 for end in ENDS[:-1]))
LIMIT = 8
ONE = Sensitivity.scalar(1)
MECHANISMS = {"Laplace": Laplace(Fraction(10), ONE), "Gaussian": Gaussian(Fraction(10), ONE)}


def profile(sizes: np.ndarray, noise: list[int], mechanism: Laplace | Gaussian) -> RowsCutOff:
    """What is known of units of these sizes."""
    counts = np.bincount(np.searchsorted(ENDS, sizes), minlength=len(ENDS))
    classes = [
        SizeClass(first, last, float(count + more))
        for first, last, count, more in zip(FIRSTS, ENDS, counts, noise, strict=True)
    ]
    return RowsCutOff(tuple(classes), Noise(measure=ir.Units(name="u"), mechanism=mechanism), LIMIT)


def from_the_start(rows: RowsCutOff) -> RowsCutOff:
    """The wrong twin: units are taken to have as few rows as they can in their class."""
    classes = tuple(SizeClass(each.first, each.first, each.count) for each in rows.classes)
    return RowsCutOff(classes, rows.noise, rows.limit)


DRAWS = 2_000
"""In each of them an end fails with 2.5 % at the most: more than 100 of 2,000 do once in 1e9 runs."""
MOST_WRONG = 100


@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_rows_that_are_cut_off_lie_between_the_ends(kind: str) -> None:
    """Units at the last of their class make the upper end hold just as often as it says; the lower holds more often.

    That an end fails in none of 2,000 draws, where 2 % are expected, happens less often than once in 1e17 runs.
    """
    mechanism = MECHANISMS[kind]
    shapes = {"last": np.repeat(ENDS, 50), "first": np.repeat(FIRSTS, 50)}
    drawn = np.reshape(mechanism.release([0] * (len(ENDS) * DRAWS)), (DRAWS, -1)).tolist()
    for at, sizes in shapes.items():
        exact = np.maximum(sizes - LIMIT, 0).sum()
        above = below = twin = 0
        for noise in drawn:
            rows = profile(sizes, noise, mechanism)
            found = rows.between(0.95)
            above += exact > found.hi
            below += exact < found.lo
            twin += exact > from_the_start(rows).between(0.95).hi
        assert above <= MOST_WRONG
        assert below <= MOST_WRONG
        if at == "last":
            assert above > 0
            assert twin > 10 * MOST_WRONG


def test_without_a_ceiling_there_is_no_upper_end() -> None:
    """But a lower one; and where nobody can be over the limit nothing is cut off."""
    rows = profile(np.repeat(ENDS, 5_000), [0] * len(ENDS), MECHANISMS["Laplace"])
    open_ended = RowsCutOff((*rows.classes[:-1], SizeClass(65, inf, 5_000.0)), rows.noise, LIMIT)
    found = open_ended.between(0.95)
    assert found.hi == inf
    assert found.lo > 0
    assert RowsCutOff(rows.classes, rows.noise, 100).between(0.95) == Interval(0.0, 0.0)
    assert RowsCutOff(rows.classes, rows.noise, LIMIT, by_group=True).between(0.95).lo == 0
    assert 5_000 < rows.beyond(64, 0.95) < 5_100


REAL = ir.Type(Kind.REAL, Fraction(-2), Fraction(10), nullable=True)
SURE = ir.Type(Kind.REAL, Fraction(-2), Fraction(10), nullable=False)
COUNT = ir.Sum(name="n", value=literal(1), grid=0, lo=1, hi=1)
SUM = ir.Sum(name="s", value=ir.Column("t", "x", REAL), grid=0, lo=-2, hi=10)
NOISY = Laplace(Fraction(1, 10), ONE)
VECTOR = ir.Vector(
    name="v",
    values=(ir.Column("t", "a", SURE), ir.Column("t", "b", SURE)),
    grid=-20,
    parts=(Fraction(1, 4), Fraction(3, 4)),
)


def intervals(rows: Interval, *measures: ir.Measure | ir.Vector, whole: bool = False) -> CutOffIntervals:
    """For some measures, where as many rows were cut off."""
    classes = (SizeClass(9, 9.0, rows.lo), SizeClass(10, 10.0, rows.hi))
    known = RowsCutOff(classes, Noise(measure=ir.Units(name="u"), mechanism=NOISY), LIMIT)
    noises = tuple(Noise(measure=each, mechanism=NOISY) for each in measures)
    spans = RowSpans(noises, frozenset({"v"} if whole else ()), counts_all_units=True)
    return CutOffIntervals(known, spans)


def test_a_row_moves_what_is_measured_by_what_it_can_add() -> None:
    """A row may hold NULL, of which it adds nothing; parts of it add up to one."""
    spans = intervals(Interval(0, 0), COUNT, SUM).spans
    assert spans.of({"n": 2.0}) == Interval(2.0, 2.0)
    assert spans.of({"s": 1.0}) == Interval(-2.0, 10.0)
    assert spans.of({"s": -1.0, "n": 1.0}) == Interval(-9.0, 3.0)
    assert spans.of({"unknown": 1.0}) is None
    for whole in (False, True):
        found = intervals(Interval(0, 0), VECTOR, whole=whole).spans.of({"v.0": 3.0, "v.1": 5.0})
        assert found is not None
        assert found.hi == pytest.approx(5, rel=1e-5)
        assert found.lo == pytest.approx(3 if whole else 0, rel=1e-5)
    assert (
        intervals(Interval(0, 0), ir.Histogram(name="h", value=SUM.value, values=None, size=2, grid=0)).spans.of(
            {"h": 1.0}
        )
        is None
    )


def test_a_row_that_is_missing_has_left_room() -> None:
    """So the number of units, which is read from parts and room alike, is moved by none; the number of rows by each."""
    spans = intervals(Interval(0, 0), replace(VECTOR, parts=(*VECTOR.parts, Fraction(9)), rows=10), whole=True).spans
    assert spans.of({"v.0": 0.1, "v.1": 0.1, "v.room": 0.1}) == Interval(0.0, 0.0)
    rows = spans.of({"v.0": 1.0, "v.1": 1.0})
    both = spans.of({"v.0": 1.1, "v.1": 1.1, "v.room": 0.1})
    assert rows is not None
    assert both is not None
    for found in (rows, both):
        assert (found.lo, found.hi) == (pytest.approx(1, rel=1e-5), pytest.approx(1, rel=1e-5))


@pytest.mark.parametrize("missing", [0, 3, 40])
@pytest.mark.parametrize("value", [-2.0, 0.0, 7.0, 10.0])
def test_whatever_the_rows_that_are_missing_were_the_whole_is_in_the_interval(missing: int, value: float) -> None:
    """Of counts, sums, averages and shares, with next to no noise; but for the missing rows, it isn't."""
    kept, total, level = 100, 430.0, 0.999
    exact_n, exact_s = kept + missing, total + missing * value
    noises = {each.name: Noise(measure=each, mechanism=NOISY) for each in (COUNT, SUM)}
    noisy = {"n": kept, "s": int(total)}
    ends = Fraction(-2), Fraction(10)
    mean = LinearRatio(Linear.of("s"), Linear.of("n"), ends)
    per_row = LinearRatio(Linear.of("s"), Linear.of("n"))
    whole = intervals(Interval(0, missing / 2), COUNT, SUM)
    for ratio, exact in ((LinearRatio(Linear.of("n")), exact_n), (LinearRatio(Linear.of("s")), exact_s)):
        usual = ratio.interval(noisy, noises, level)
        assert usual is not None
        found = whole.moved(ratio, usual, level)
        assert found.lo <= exact <= found.hi
        if missing == 40 and value:
            assert not usual.lo <= exact <= usual.hi
    for ratio in (mean, per_row):
        found = whole.of_ratio(ratio, noisy, noises, level, level)
        assert found is not None
        assert found.lo <= exact_s / exact_n <= found.hi
        usual = ratio.interval(noisy, noises, level)
        assert usual is not None
        if missing == 40 and value != 7.0:
            assert not usual.lo <= exact_s / exact_n <= usual.hi


def test_numbers_of_units_lose_pairs_of_unit_and_group() -> None:
    """As many as a limit on groups cuts off, where that is known; and none where it leaves out no unit."""
    units = ir.Units(name="k")
    noises = (Noise(measure=units, mechanism=NOISY), Noise(measure=COUNT, mechanism=NOISY))
    spans = RowSpans(noises, frozenset(), counts_all_units=False)
    rows = RowsCutOff((SizeClass(9, 9.0, 5_000.0),), noises[0], LIMIT, by_group=True)
    known = RowsCutOff(
        rows.classes, noises[0], LIMIT, by_group=True, pairs=RowsCutOff((SizeClass(9, 9.0, 30.0),), noises[0], LIMIT)
    )
    number, per_unit = LinearRatio(Linear.of("k")), LinearRatio(Linear.of("n"), Linear.of("k"))
    assert not CutOffIntervals(rows, spans).covers(number)
    assert CutOffIntervals(known, spans).covers(number)
    assert not CutOffIntervals(known, spans).covers(per_unit)
    found = CutOffIntervals(known, spans).moved(number, Interval(100.0, 110.0), 0.95)
    assert found.lo == 100
    assert 140 <= found.hi < 145
    all_ = CutOffIntervals(rows, RowSpans(noises, frozenset(), counts_all_units=True))
    assert all_.moved(number, Interval(100.0, 110.0), 0.95) == Interval(100.0, 110.0)


def test_an_average_of_which_any_number_may_be_missing_is_only_what_bounds_say() -> None:
    """And a ratio that nothing bounds isn't known."""
    noises = {each.name: Noise(measure=each, mechanism=NOISY) for each in (COUNT, SUM)}
    endless = RowsCutOff((SizeClass(9, inf, 0.0),), noises["n"], LIMIT)
    whole = CutOffIntervals(endless, intervals(Interval(0, 0), COUNT, SUM).spans)
    mean = LinearRatio(Linear.of("s"), Linear.of("n"), (Fraction(-2), Fraction(10)))
    assert whole.of_ratio(mean, {"n": 100, "s": 430}, noises, 0.95, 0.95) == Interval(-2.0, 10.0)
    found = whole.moved(LinearRatio(Linear.of("n")), Interval(99.0, 101.0), 0.95)
    assert (found.lo, found.hi) == (99.0, inf)
