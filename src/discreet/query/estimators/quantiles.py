"""Quantiles: a value of a public grid, and noisy counts of the rows around it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate
from math import hypot, sqrt
from statistics import NormalDist

from discreet.mechanisms import Gaussian
from discreet.query.cells import Cells
from discreet.query.estimators.base import Noises, Noisy, integer
from discreet.query.grids import Grid
from discreet.query.noise import Noise, Pick
from discreet.query.uncertainty import many_laplaces
from discreet.query.uncertainty.intervals import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
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
        return slack + float(noise.mechanism.scale) * many_laplaces.radius(factors, numbers, outside)
