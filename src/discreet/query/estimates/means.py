"""Means, variances and standard deviations, from noisy sums of values and of their squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from discreet.query import ir
from discreet.query.estimates.estimator import Estimator, has_too_few
from discreet.query.estimates.intervals import Joint, explained
from discreet.query.estimates.linear import Linear, LinearRatio, Slopes, by_differences, combined, names_in
from discreet.query.estimates.noise import Interval, Noises, Noisy, clip

_FOR_MEAN = 1 / 20
"""The part of the error that keeps the mean to an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _AboutCentre(Estimator):
    """An estimate from sums of x − centre, because the noise that a sum needs grows with the size of its terms.

    Args:
        centre: the middle of the bounds.
        lo: least value a row can have; the estimate is kept consistent with it.
        hi: greatest value a row can have.
    """

    centre: Fraction = Fraction(0)
    lo: Fraction
    hi: Fraction

    @property
    def _below(self) -> float:
        """How far a mean can lie below the centre, as a negative number."""
        return float(self.lo - self.centre)

    @property
    def _above(self) -> float:
        """How far a mean can lie above the centre."""
        return float(self.hi - self.centre)

    @property
    def _half(self) -> float:
        """Half of the range, or 1 where it is a point: what errors are compared with."""
        return float(self.hi - self.lo) / 2 or 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(_AboutCentre):
    """An average.

    Args:
        count: of the rows.
        total: Σ(x − centre).
    """

    count: Linear
    total: Linear

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return names_in(self.count, self.total)

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The mean of one group; None where the noisy count leaves nothing to divide by."""
        count = self.count.at(noisy, noises)
        if has_too_few(count, 1):
            return None
        return float(self.centre) + clip(self.total.at(noisy, noises) / count, self._below, self._above)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All means that the noise could explain, by Fieller's construction: see `estimates.intervals`."""
        ends = self.lo - self.centre, self.hi - self.centre
        offset = LinearRatio(self.total, self.count, ends).interval(noisy, noises, confidence)
        if offset is None:
            raise AssertionError("a range with two ends bounds every mean")
        return Interval(float(self.centre) + offset.lo, float(self.centre) + offset.hi)

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """The slopes of the ratio, where the mean lies at three quarters of its range."""
        del noises
        offset = float(self.lo + 3 * self.hi) / 4 - float(self.centre)
        factors = combined((self.total, self.count), (1 / rows, -offset / rows))
        return Slopes(factors, rows=rows, size=self._half)

    @property
    def ratio(self) -> LinearRatio:
        """The sum of the values over their number."""
        return LinearRatio(self.total.plus(self.count.times(self.centre)), self.count, (self.lo, self.hi))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(_AboutCentre):
    """A variance or a standard deviation.

    Args:
        least_rows: how many rows it needs: 1 where it divides by their number n, 2 where by n − 1.
        is_root: whether it is the standard deviation.
        count: of the rows.
        total: Σ(x − centre).
        squares: Σ(x − centre)².
    """

    least_rows: int
    is_root: bool
    count: Linear
    total: Linear
    squares: Linear

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return names_in(*self._moments)

    @property
    def _moments(self) -> tuple[Linear, Linear, Linear]:
        return self.count, self.total, self.squares

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The spread of one group; None where the noisy count leaves nothing to divide by."""
        return self._statistic([each.at(noisy, noises) for each in self._moments])

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All spreads that the noise could explain, whatever mean goes with them.

        Write N, S, Q for the noisy count, sum and squares, Y, X, Z for their noises, n, s, q for the exact ones, D for
        the divisor (n, or n − 1 for a sample) and D̂ for the same of N. At the exact mean μ = s/n and variance v = (q −
        s²/n)/D,

            Q − 2μS + μ²N − vD̂  =  Z − 2μX + (μ² − v)Y,

        because q − 2μs + μ²n = q − s²/n. So for a known mean this would be Fieller's construction. Unknown, it is kept
        to an interval that holds it but for a small part of the error, and v is kept if any mean within explains it:
        judged by the least that the left side can be there, and the most that the right side can spread. Near S/N the
        left side depends on μ by N(μ − S/N)² alone, so in all but small groups little is lost. Both errors add up to
        the one stated (Bonferroni), so the interval holds the spread at least as often as said.

        Y, X and Z are combinations of the noises of the numbers. The right side has a factor for each of these that is
        a parabola in μ; the greatest size that it has for any mean within is what the right side can spread.
        """
        names = self.parts
        joint = Joint.of([noises[name] for name in names])
        columns = [[each.floats.get(name, 0.0) for name in names] for each in self._moments]
        count, total, squares = (each.at(noisy, noises) for each in self._moments)
        divisor = count if self._is_population else count - 1
        outside = 1 - confidence
        for_mean, outside = outside * _FOR_MEAN, outside * (1 - _FOR_MEAN)
        greatest = self._greatest
        ends = self.lo - self.centre, self.hi - self.centre
        mean = LinearRatio(self.total, self.count, ends).interval(noisy, noises, 1 - for_mean)
        if mean is None or divisor <= 0 or joint.beyond(columns[0], divisor) >= outside:
            return self._shown(Interval(0.0, greatest))
        within = mean
        least, most = _span(lambda mean: squares - 2 * mean * total + mean**2 * count, total / count, within)

        def chance(variance: float) -> float:
            gap = max(0.0, least - variance * divisor, variance * divisor - most)
            reach = [_farthest(of, variance, within) for of in zip(*columns, strict=True)]
            return joint.beyond(reach, gap)

        found = explained(chance, outside, clip(least / divisor, 0.0, greatest), 0.0, greatest)
        return self._shown(found or Interval(0.0, greatest))

    def slopes(self, noises: Noises, rows: int) -> Slopes | None:
        """Slopes by differences, at the reference group; a variance is compared with the square of half the range.

        There the mean lies at three quarters of the range, and the mean of squares at as much of theirs.
        """
        del noises
        offset = float(self.lo + 3 * self.hi) / 4 - float(self.centre)
        farthest = max(self._below**2, self._above**2)
        weights = by_differences(self._statistic, [rows, rows * offset, rows * 3 * farthest / 4])
        if weights is None:
            return None
        size = self._half if self.is_root else self._half**2
        factors = combined(self._moments, weights)
        return Slopes(factors, rows=rows, size=size, is_announced=not self.is_root)

    def ends(self, of: ir.Type) -> tuple[float, float]:
        """0, and the most that values within bounds can be spread."""
        del of
        return 0.0, self._shown(Interval(0.0, self._greatest)).hi

    def _statistic(self, moments: Sequence[float]) -> float | None:
        """The spread of a group with these moments."""
        count, total, squares = moments
        if has_too_few(count, self.least_rows):
            return None
        mean = clip(total / count, self._below, self._above)
        return self._spread(squares / count - mean**2, count)

    @property
    def _greatest(self) -> float:
        """The greatest variance: half of the values at either bound, of a sample of two."""
        return float((self.hi - self.lo) / 2) ** 2 * (1 if self._is_population else 2)

    @property
    def _is_population(self) -> bool:
        """Whether the divisor is n rather than n − 1."""
        return self.least_rows == 1

    def _shown(self, variances: Interval) -> Interval:
        """The interval of the statistic, from that of the variance."""
        return Interval(sqrt(variances.lo), sqrt(variances.hi)) if self.is_root else variances

    def _spread(self, variance: float, count: float) -> float:
        """Turn a raw variance into the statistic; no variance is negative, nor above that of half at either bound."""
        value = clip(variance, 0.0, float((self.hi - self.lo) / 2) ** 2)
        if not self._is_population:
            value *= min(count / (count - 1), 2.0)
        return sqrt(value) if self.is_root else value


def _farthest(factors: tuple[float, float, float], variance: float, means: Interval) -> float:
    """The greatest size of a number's factor in Z − 2μX + (μ² − v)Y, for any μ of an interval."""
    of_count, of_total, of_squares = factors

    def factor(mean: float) -> float:
        return abs(of_squares - 2 * mean * of_total + (mean**2 - variance) * of_count)

    turns = clip(of_total / of_count, means.lo, means.hi) if of_count else means.lo
    return max(factor(means.lo), factor(means.hi), factor(turns))


def _span(parabola: Callable[[float], float], vertex: float, within: Interval) -> tuple[float, float]:
    """The least and the greatest value of a parabola that opens upwards."""
    ends = parabola(within.lo), parabola(within.hi)
    inside = within.lo <= vertex <= within.hi
    return min(*ends, parabola(vertex)) if inside else min(ends), max(ends)
