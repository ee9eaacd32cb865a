"""Choices: the most frequent values of a public list, and quantiles with the noisy counts of the rows around them.

A quantile's interval is read off noisy counts of the rows around it. They are counted in few cells, because each of
them adds noise; and in narrow ones near the chosen bin, where the ends of the interval mostly lie, because an end is
known no better than to the edge of a cell. So cells double in width: 1, 1, 2, 4, 8, … bins on either side. Which cells
there are follows from the chosen bin alone, and that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate
from math import hypot, sqrt
from statistics import NormalDist

from discreet.mechanisms import Gaussian
from discreet.privacy import KeyValue
from discreet.query.estimates import laplace_sums
from discreet.query.estimates.estimators import Noises, Noisy, integer
from discreet.query.estimates.grids import Grid
from discreet.query.estimates.intervals import Interval
from discreet.query.estimates.noise import Noise, Pick


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
    """

    pick: Pick
    grid: Grid

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice, and the counts around it."""
        return self.pick.name, self.pick.around

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float | date:
        """The chosen bin's value; of a group without rows it is any value, as its interval shows."""
        del noises
        return self.grid.value(integer(self.pick.name, noisy))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All values that the noise could explain as the quantile, in whole cells.

        Let q be the fraction, n the exact number of rows, and, for a cell, A the exact number of rows below it and B
        that of rows below it or in it. If the cell holds the quantile, then A < qn + 1 and B > qn − 1, by whichever
        of its definitions (SQL's PERCENTILE_CONT lies between two rows whose numbers are q(n − 1) + 1, rounded down
        and up). Of noisy counts, Ã − qñ is off from A − qn by a combination of the noises whose law is known, so it
        exceeds 1 by more than that law's quantile with at most half of the error; and B̃ − qñ likewise. So the cell is
        among those kept with the stated confidence, whatever the data, and all of them together reach from the first
        to the last one kept.

        No value lies below the least: for MIN and MAX one side has the whole error, and the other reaches to the end
        of the range, because nothing that is private can say that there isn't one row farther out.
        """
        noise, counts = noises[self.pick.around], noisy[self.pick.around]
        if isinstance(counts, int):
            raise TypeError("the counts around a quantile are released as a list")
        cells = Cells(integer(self.pick.name, noisy), self.grid.size)
        through = [0, *accumulate(counts)]
        off = [count - float(self._fraction) * through[-1] for count in through]
        room = [self._radius(noise, below, len(counts) - below, 1 - confidence) for below in range(len(through))]
        row = float(1 / noise.step)
        kept = [cells.home]
        for place in range(len(counts)):
            starts_low = self._fraction == 1 or off[place] - row <= room[place]
            ends_high = self._fraction == 0 or off[place + 1] + row >= -room[place + 1]
            kept += [place] * (starts_low and ends_high)
        return self.grid.interval(cells.bins(min(kept))[0], cells.bins(max(kept))[1])

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
    """

    pick: Pick
    values: tuple[KeyValue, ...]
    is_list: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice."""
        return (self.pick.name,)

    def estimate(self, noisy: Noisy, noises: Noises) -> KeyValue | list[KeyValue]:
        """The values chosen, in the order in which they were chosen: mostly the most frequent one first.

        Of a group without rows it is any value: nothing was released that would tell.
        """
        del noises
        numbers = noisy[self.pick.name]
        found = [self.values[number] for number in numbers] if not isinstance(numbers, int) else [self.values[numbers]]
        return found if self.is_list else found[0]

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> None:
        """None: values that aren't numbers have no order, and by how much others are rarer isn't released.

        What is known beforehand is how many rows the chosen value may lack of the most frequent one's number; the
        plan says so.
        """
        del noisy, noises, confidence
