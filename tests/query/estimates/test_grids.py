"""Grids and cells: every value has one bin, every bin one cell, and nothing lies beyond."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from math import nextafter
from typing import Any

import pytest

from discreet.query import ir
from discreet.query.estimates import Grid, grid_of
from discreet.query.estimates.grids import MOST_BINS
from discreet.query.ir import ordinal
from discreet.tables import Kind
from support.relations import evaluate


def typed(kind: Kind, lo: Any, hi: Any) -> ir.Type:
    """A type with these ends."""
    first, last = (ordinal(end) if isinstance(end, date) else Fraction(end) for end in (lo, hi))
    return ir.Type(kind, first, last)


def number_of(grid: Grid, type_: ir.Type, value: Any) -> Any:
    """The bin of a value."""
    column = ir.Column("t", "x", type_)
    return evaluate(grid.number(column), {("t", "x"): value})


RANGES = [
    (Kind.INTEGER, 0, 110),
    (Kind.INTEGER, -5, -5),
    (Kind.INTEGER, -(2**15), 2**15),
    (Kind.INTEGER, -70_001, 900_002),
    (Kind.INTEGER, -(2**60), 2**60),
    (Kind.INTEGER, 2**62, 2**62 + 10),
    (Kind.REAL, 0, 1),
    (Kind.REAL, Fraction(1, 10), Fraction(7, 10)),
    (Kind.REAL, -1000, 250_000),
    (Kind.REAL, 3, 3),
    (Kind.REAL, Fraction(1, 2**80), Fraction(3, 2**80)),
    (Kind.REAL, -(2**100), 2**100),
    (Kind.DATE, date(1990, 1, 1), date(1999, 12, 31)),
    (Kind.DATE, date(1, 1, 1), date(9999, 12, 31)),
    (Kind.TIMESTAMP, datetime(2023, 1, 1, 7, 30), datetime(2023, 1, 1, 8, 30)),
    (Kind.TIMESTAMP, datetime(1950, 1, 1, 13), datetime(2024, 12, 31, 23, 59, 59)),
]


def values_between(kind: Kind, lo: Any, hi: Any) -> list[Any]:
    """Both ends, what lies next to them, and what lies between."""
    shares = [Fraction(number, 97) for number in range(98)]
    if kind is Kind.INTEGER:
        return [min(lo + n, hi) for n in (0, 1, 2)] + [int(lo + (hi - lo) * share) for share in shares]
    if kind is Kind.REAL:
        low, high = float(lo), float(hi)
        near = [low, high, min(nextafter(low, high), high), max(nextafter(high, low), low)]
        return near + [min(max(float(lo + (hi - lo) * share), low), high) for share in shares]
    spread = hi - lo
    return [lo, hi, *(lo + timedelta(seconds=int(spread.total_seconds() * share)) for share in shares)]


@pytest.mark.parametrize("groups", [1, 10_000, 0])
@pytest.mark.parametrize(("kind", "lo", "hi"), RANGES)
def test_every_value_has_a_bin_that_stands_for_it(kind: Kind, lo: Any, hi: Any, groups: int) -> None:
    """Within the grid; the bin's interval holds the value, and its own value lies there too."""
    type_ = typed(kind, lo, hi)
    grid = grid_of(type_, groups)
    for value in values_between(kind, lo, hi):
        number = number_of(grid, type_, value)
        assert type(number) is int
        assert 0 <= number < grid.size
        ends, place = grid.interval(number, number), grid.value(number)
        exact = float(ordinal(value)) if isinstance(value, date) else float(value)
        shown = float(ordinal(place)) if isinstance(place, date) else float(place)
        slack = float(grid.width) * 1e-9
        assert ends.lo - slack <= exact <= ends.hi + slack
        assert ends.lo <= shown <= ends.hi
    assert number_of(grid, type_, None) is None


@pytest.mark.parametrize(("kind", "lo", "hi"), RANGES)
def test_bins_follow_the_order_of_values(kind: Kind, lo: Any, hi: Any) -> None:
    """A greater value never has a lower bin, nor a greater bin a lower value."""
    type_ = typed(kind, lo, hi)
    grid = grid_of(type_, 1)
    numbers = [number_of(grid, type_, value) for value in sorted(values_between(kind, lo, hi))]
    assert numbers == sorted(numbers)
    shown = [grid.value(number) for number in range(0, grid.size, max(grid.size // 500, 1))]
    assert shown == sorted(shown)


def test_short_ranges_are_exact_and_long_ones_fine() -> None:
    """Whole numbers and days are bins of their own as far as they go."""
    assert grid_of(typed(Kind.INTEGER, 0, 65_535), 1).width == 1
    assert grid_of(typed(Kind.DATE, date(1900, 1, 1), date(2050, 1, 1)), 1).width == 1
    assert grid_of(typed(Kind.INTEGER, 0, 10**6), 1).size in range(MOST_BINS - 300, MOST_BINS + 1)
    assert grid_of(typed(Kind.REAL, 0, 1), 1).size == MOST_BINS
    assert grid_of(typed(Kind.REAL, 0, 1), 10**5).size < MOST_BINS
