"""Grids: the public bins from which quantiles are chosen.

Whole numbers and dates within a short range are bins of their own, so a quantile of them is a value that rows can have.
Any other range is cut into bins of one width, and a bin's value is its middle. The number of a row's bin is an
expression like any other: total, and never out of range.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from discreet.query import ir
from discreet.query.estimates.noise import Interval
from discreet.query.ir import EXACT, call, cast, day_of, literal, moment_of
from discreet.tables import Kind

MOST_VALUES = 1 << 16
"""The most whole numbers or dates that are bins of their own."""

MOST_BINS = 1 << 14
"""The bins of one width: half of one is 0.003 % of the range."""

_ALL_BINS = 1 << 20
"""About how many bins are held in memory, over all groups, if none of them is empty."""

_LEAST_BINS = 1 << 10
_UNKNOWN = 1 << 8
"""The groups that are reckoned with if their number isn't public."""

_SECOND = 10**6
_DAY = 24 * 60 * 60

_INSIDE = 1 - Fraction(1, 1 << 40)
"""Real bins are wider than the range by so little, lest the greatest value be rounded up into one more bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Bins of one width, side by side, that hold all values of an expression.

    Args:
        kind: of the values.
        lo: the least value there is: a number, days, or microseconds, as in `ir.Type`.
        hi: the greatest value there is.
        start: where the first bin begins; at most `lo`.
        width: of a bin.
        size: how many bins there are.
        is_discrete: whether values are whole multiples of the unit, so that a bin of width w holds w of them.
    """

    kind: Kind
    lo: Fraction
    hi: Fraction
    start: Fraction
    width: Fraction
    size: int
    is_discrete: bool

    def value(self, number: int) -> int | float | date:
        """The value that stands for a bin: its only one, or its middle.

        Examples:
            >>> ages = grid_of(literal(0).type, groups=1)
            >>> ages.size, ages.value(0)
            (1, 0)
        """
        ends = self._ends(number, number)
        middle = (ends[0] + ends[1]) / 2
        match self.kind:
            case Kind.REAL:
                return float(middle)
            case Kind.DATE:
                return day_of(floor(middle))
            case Kind.TIMESTAMP:
                return moment_of(floor(middle))
            case _:
                return floor(middle)

    def interval(self, first: int, last: int) -> Interval:
        """The values of some bins in a row; of times, in days or microseconds as in `ir.Type`."""
        lo, hi = self._ends(first, last)
        return Interval(lo=_rounded(lo, -inf), hi=_rounded(hi, inf))

    def number(self, expr: ir.Expr) -> ir.Expr:
        """The number of the bin that an expression's value is in; NULL for NULL."""
        if self.kind is Kind.DATE:
            return self._divided(call("days_between", literal(day_of(int(self.start))), expr))
        if self.kind is Kind.TIMESTAMP:
            return self._divided(_seconds(expr, day_of(int(self.start) // (_SECOND * _DAY))), _SECOND)
        if self.is_discrete and self.kind is Kind.INTEGER:
            return self._divided(call("subtract", expr, literal(int(self.start))))
        offset = call("subtract", cast(expr, Kind.REAL), literal(self.start))
        return call("floor", call("multiply", offset, literal(1 / self.width)))

    def _divided(self, offset: ir.Expr, unit: int = 1) -> ir.Expr:
        """A whole number of units from the first bin's beginning, in bins."""
        width = int(self.width) // unit
        return offset if width == 1 else call("quotient", offset, literal(width))

    def _ends(self, first: int, last: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest value of some bins in a row."""
        beyond = self.start + (last + 1) * self.width - self.is_discrete
        return max(self.start + first * self.width, self.lo), min(max(beyond, self.lo), self.hi)


def grid_of(type_: ir.Type, groups: int) -> Grid:
    """The grid for quantiles of an expression of this type.

    Args:
        type_: of a number or a time, with both ends known.
        groups: how many are answered; 0 if that isn't known.
    """
    lo, hi, kind = type_.lo, type_.hi, type_.kind
    if lo is None or hi is None:
        raise TypeError("a grid needs both ends")
    most = min(max(_ALL_BINS // (groups or _UNKNOWN), _LEAST_BINS), MOST_BINS)
    if kind is Kind.TIMESTAMP:
        start = Fraction(lo // (_DAY * _SECOND) * _DAY * _SECOND)
        return _whole(kind, lo, hi, Fraction(ceil((hi + 1 - start) / _SECOND / most) * _SECOND), start)
    if kind is not Kind.REAL and max(-lo, hi, hi - lo) < EXACT:
        lo, hi = Fraction(ceil(lo)), Fraction(floor(hi))
        few = hi - lo < MOST_VALUES
        return _whole(kind, lo, hi, Fraction(1 if few else ceil((hi + 1 - lo) / most)), lo)
    lo, hi = Fraction(float(lo)), Fraction(float(hi))
    width, size = Fraction(1), 1
    if lo < hi:
        width, size = 1 / Fraction(float(most * _INSIDE / (hi - lo))), most
    return Grid(kind=kind, lo=lo, hi=hi, start=lo, width=width, size=size, is_discrete=False)


def _whole(kind: Kind, lo: Fraction, hi: Fraction, width: Fraction, start: Fraction) -> Grid:
    """A grid of whole multiples of the unit."""
    size = ceil((hi + 1 - start) / width)
    return Grid(kind=kind, lo=lo, hi=hi, start=start, width=width, size=size, is_discrete=True)


def _seconds(expr: ir.Expr, first: date) -> ir.Expr:
    """How many whole seconds after the beginning of a day a timestamp is."""
    days = call("days_between", literal(first), cast(expr, Kind.DATE))
    parts = [(days, _DAY), (call("hour", expr), 3600), (call("minute", expr), 60)]
    seconds = call("second", expr)
    for part, size in parts:
        seconds = call("add", seconds, call("multiply", part, literal(size)))
    return seconds


def _rounded(end: Fraction, towards: float) -> float:
    """An end as a float, not nearer the middle than it is."""
    nearest = float(end)
    if Fraction(nearest) == end:
        return nearest
    inside = Fraction(nearest) > end if towards < 0 else Fraction(nearest) < end
    return nextafter(nearest, towards) if inside else nearest
