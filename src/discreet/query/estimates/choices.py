"""Choices: the most frequent values of a public list, and quantiles, which are chosen from the points of a public grid.

*Grids.* Whole numbers and dates within a short range are bins of their own, so a quantile of them is a value that rows
can have. Any other range is cut into bins of one width, and a bin's value is its middle. The number of a row's bin is
an expression like any other: total, and never out of range.

*Intervals.* A quantile's interval is read off noisy counts of the rows around it. They are counted in few cells,
because each of them adds noise; and in narrow ones near the chosen bin, where the ends of the interval mostly lie,
because an end is known no better than to the edge of a cell. So cells double in width: 1, 1, 2, 4, 8, … bins on either
side. Which cells there are follows from the chosen bin alone, and that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, hypot, inf, nextafter, sqrt
from statistics import NormalDist

from discreet.mechanisms import Gaussian
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates import laplace_sums
from discreet.query.estimates.estimators import Noises, Noisy, has_too_few, integer, is_empty
from discreet.query.estimates.intervals import Interval
from discreet.query.estimates.noise import Noise, Pick
from discreet.query.ir import EXACT, call, cast, day_of, literal, moment_of
from discreet.tables import Kind

MOST_VALUES = 1 << 16
"""As many whole numbers or dates are bins of their own."""

MOST_BINS = 1 << 14
"""As many bins of one width: half of one is 0.003 % of the range."""

_ALL_BINS = 1 << 20
"""About so many bins are held in memory, over all groups, if none of them is empty."""

_LEAST_BINS = 1 << 10
_UNKNOWN = 1 << 8
"""As many groups are reckoned with, where their number isn't public."""

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
        """What stands for a bin: its only value, or its middle.

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


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells about a bin of a histogram, from the least to the greatest.

    Args:
        chosen: the number of the bin that is a cell of its own.
        size: how many bins there are.
    """

    chosen: int
    size: int

    @property
    def home(self) -> int:
        """The place of the chosen bin's cell: how many cells lie below it."""
        return self.chosen.bit_length()

    def __len__(self) -> int:
        """How many cells there are.

        Examples:
            >>> len(Cells(10, 111)), len(Cells(8192, 16384))
            (12, 28)
        """
        return self.home + 1 + (self.size - 1 - self.chosen).bit_length()

    def bins(self, place: int) -> tuple[int, int]:
        """The first and the last bin of a cell.

        Examples:
            >>> cells = Cells(10, 111)
            >>> [cells.bins(place) for place in range(6)]
            [(0, 2), (3, 6), (7, 8), (9, 9), (10, 10), (11, 11)]
        """
        away = abs(place - self.home)
        if away == 0:
            return self.chosen, self.chosen
        near, far = 1 << (away - 1), (1 << away) - 1
        if place < self.home:
            return max(self.chosen - far, 0), self.chosen - near
        return self.chosen + near, min(self.chosen + far, self.size - 1)

    def counts(self, histogram: Mapping[int, int]) -> list[int]:
        """What the cells hold.

        Examples:
            >>> Cells(10, 111).counts({0: 5, 2: 1, 10: 7, 110: 3})
            [6, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 3]
        """
        found, home = [0] * len(self), self.home
        for number, count in histogram.items():
            away = number - self.chosen
            found[home + away.bit_length() if away >= 0 else home - (-away).bit_length()] += count
        return found


def most_cells(size: int) -> int:
    """As many cells as there can be about a bin of a histogram of this size.

    Examples:
        >>> most_cells(16384)
        29
    """
    return 2 * (size - 1).bit_length() + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileEstimator:
    """A quantile: MEDIAN, PERCENTILE_CONT, MIN, MAX and their like.

    Args:
        pick: the choice of a bin.
        grid: what the bins stand for.
        rows: the measure that counts the group's rows, where one does.
    """

    pick: Pick
    grid: Grid
    rows: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice, and the counts around it."""
        return self.pick.name, self.pick.around

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float | date | None:
        """The chosen bin's value; None where noisy counts leave no row that could have one."""
        around = noises[self.pick.around].step * sum(self._around(noisy))
        if has_too_few(around, ir.Statistic.QUANTILE) or is_empty(self.rows, noisy, noises):
            return None
        return self.grid.value(integer(self.pick.name, noisy))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All values that the noise could explain as the quantile, in whole cells.

        Let q be the fraction, n the exact number of rows, and, for a cell, A the exact number of rows below it and B
        that of rows below it or in it. SQL's PERCENTILE_CONT lies between two rows whose numbers are q(n − 1) + 1,
        rounded down and up. If the cell holds it, then A is less than the second number and B at least the first, so
        A − qn < 1 − q and B − qn > −q; for PERCENTILE_DISC, whose row is qn rounded up, A − qn < 0 and B − qn ≥ 0. With
        r the larger of q and 1 − q, A − qn < r and B − qn > −r for both.

        Of noisy counts, Ã − qñ is off from A − qn by a combination of the noises whose law is known, so it exceeds its
        greatest by more than that law's quantile with at most half of the error; and B̃ − qñ likewise. These are two
        events, of the one cell that holds the quantile: what happens in others can only widen the interval. So that
        cell is among those kept with the stated confidence, whatever the data, and all of them together reach from the
        first to the last one kept.

        No value lies below the least: for MIN and MAX one side has the whole error, and the other reaches to the end
        of the range, because nothing that is private can say that there isn't one row farther out.
        """
        noise, counts = noises[self.pick.around], self._around(noisy)
        cells = Cells(integer(self.pick.name, noisy), self.grid.size)
        through = [0, *accumulate(counts)]
        off = [count - float(self._fraction) * through[-1] for count in through]
        room = [self._radius(noise, below, len(counts) - below, 1 - confidence) for below in range(len(through))]
        row = float(max(self._fraction, 1 - self._fraction) / noise.step)
        kept = [cells.home]
        for place in range(len(counts)):
            starts_low = self._fraction == 1 or off[place] - row <= room[place]
            ends_high = self._fraction == 0 or off[place + 1] + row >= -room[place + 1]
            kept += [place] * (starts_low and ends_high)
        return self.grid.interval(cells.bins(min(kept))[0], cells.bins(max(kept))[1])

    def _around(self, noisy: Noisy) -> tuple[int, ...]:
        """The noisy counts of the cells around the choice."""
        counts = noisy[self.pick.around]
        if isinstance(counts, int):
            raise TypeError("the counts around a quantile are released as a list")
        return counts

    @property
    def _fraction(self) -> Fraction:
        """The fraction, q."""
        return self.pick.fraction or Fraction(0)

    def _radius(self, noise: Noise, below: int, above: int, outside: float) -> float:
        """How far Ã − qñ may lie from A − qn, in steps, with so many noisy counts below and above."""
        factor = float(self._fraction)
        if factor in {0, 1}:
            outside = min(2 * outside, 1.0)
        factors, numbers = (1 - factor, factor), (below, above)
        slack = ((1 - factor) * below + factor * above) / 2  # the noises are discrete, their laws here continuous
        if outside >= 1:
            return slack
        if isinstance(noise.mechanism, Gaussian):
            sigma = float(noise.mechanism.sigma) * hypot(*(f * sqrt(n) for f, n in zip(factors, numbers, strict=True)))
            return slack + sigma * NormalDist().inv_cdf(1 - outside / 2)
        return slack + float(noise.mechanism.scale) * laplace_sums.repeated_radius(factors, numbers, outside)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeEstimator:
    """The most frequent value, or a list of the most frequent ones.

    Args:
        pick: the choice of bins.
        values: what the bins stand for.
        is_list: whether a list was asked for.
        rows: the measure that counts the group's rows, where one does.
    """

    pick: Pick
    values: tuple[KeyValue, ...]
    is_list: bool
    rows: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice."""
        return (self.pick.name,)

    def estimate(self, noisy: Noisy, noises: Noises) -> KeyValue | list[KeyValue]:
        """The values chosen, in the order in which they were chosen: mostly the most frequent one first.

        None where a noisy count leaves no row. Of a group without rows that nothing counts it is any value: nothing was
        released that would tell.
        """
        if is_empty(self.rows, noisy, noises):
            return [] if self.is_list else None
        numbers = noisy[self.pick.name]
        found = [self.values[number] for number in numbers] if not isinstance(numbers, int) else [self.values[numbers]]
        return found if self.is_list else found[0]

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> None:
        """None: values that aren't numbers have no order, and by how much others are rarer isn't released.

        What is known beforehand is how many rows the chosen value may lack of the most frequent one's number; the
        plan says so.
        """
        del noisy, noises, confidence
