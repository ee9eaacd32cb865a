"""Means, variances and standard deviations, from noisy sums of values and of their squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from discreet.query import ir
from discreet.query.estimates.estimator import Estimator, has_too_few
from discreet.query.estimates.intervals import Joint, explained, ratio_interval
from discreet.query.estimates.linear import Linear, LinearRatio, Slopes, by_differences
from discreet.query.estimates.noise import Interval, Noises, Noisy, clip, scaled

_FOR_MEAN = 1 / 20
"""Which part of the error is spent on keeping the mean to an interval."""

_COUNT, _TOTAL = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AboutCentre(Estimator):
    """What is made of sums of x − centre, because the noise that a sum needs grows with the size of its terms.

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
        count: the measure that counts the rows.
        total: the measure Σ(x − centre).
    """

    count: str
    total: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return self.count, self.total

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The mean of one group; None where the noisy count leaves nothing to divide by."""
        count = scaled(self.count, noisy, noises)
        if has_too_few(count, 1):
            return None
        return float(self.centre) + clip(scaled(self.total, noisy, noises) / count, self._below, self._above)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All means that the noise could explain, by Fieller's construction: see `estimates.intervals`."""
        joint = Joint.of([noises[self.total], noises[self.count]])
        total, count = scaled(self.total, noisy, noises), scaled(self.count, noisy, noises)
        offset = ratio_interval(
            joint, (total, (1.0, 0.0)), (count, (0.0, 1.0)), confidence, lo=self._below, hi=self._above
        )
        if offset is None:
            raise AssertionError("a range with two ends bounds every mean")
        return Interval(float(self.centre) + offset.lo, float(self.centre) + offset.hi)

    def slopes(self, noises: Noises, rows: int) -> Slopes | None:
        """Those of the ratio."""
        found = self.ratio.slopes(noises, rows)
        return None if found is None else replace(found, size=self._half)

    @property
    def ratio(self) -> LinearRatio:
        """The sum of the values over their number."""
        numerator = Linear({self.total: Fraction(1)}).plus(Linear({self.count: self.centre}))
        return LinearRatio(numerator, Linear({self.count: Fraction(1)}), (self.lo, self.hi))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(_AboutCentre):
    """A variance or a standard deviation.

    Args:
        least_rows: how many rows it needs: 1 where it divides by their number n, 2 where by n − 1.
        is_root: whether it is the standard deviation.
        count: the measure that counts the rows.
        total: the measure Σ(x − centre).
        squares: the measure Σ(x − centre)².
    """

    least_rows: int
    is_root: bool
    count: str
    total: str
    squares: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return self.count, self.total, self.squares

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The spread of one group; None where the noisy count leaves nothing to divide by."""
        count = scaled(self.count, noisy, noises)
        if has_too_few(count, self.least_rows):
            return None
        mean = clip(scaled(self.total, noisy, noises) / count, self._below, self._above)
        return self._spread(scaled(self.squares, noisy, noises) / count - mean**2, count)

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
        """
        joint = Joint.of([noises[name] for name in self.parts])
        count, total, squares = (scaled(name, noisy, noises) for name in self.parts)
        divisor = count if self._is_population else count - 1
        outside = 1 - confidence
        for_mean, outside = outside * _FOR_MEAN, outside * (1 - _FOR_MEAN)
        greatest = self._greatest
        mean = ratio_interval(joint, (total, _TOTAL), (count, _COUNT), 1 - for_mean, lo=self._below, hi=self._above)
        if mean is None or divisor <= 0 or joint.beyond(_COUNT, divisor) >= outside:
            return self._shown(Interval(0.0, greatest))
        least, most = _span(lambda mean: squares - 2 * mean * total + mean**2 * count, total / count, mean)
        far = max(abs(mean.lo), abs(mean.hi))
        near = 0.0 if mean.lo <= 0 <= mean.hi else min(abs(mean.lo), abs(mean.hi))

        def chance(variance: float) -> float:
            gap = max(0.0, least - variance * divisor, variance * divisor - most)
            return joint.beyond((max(abs(near**2 - variance), abs(far**2 - variance)), 2 * far, 1.0), gap)

        found = explained(chance, outside, clip(least / divisor, 0.0, greatest), 0.0, greatest)
        return self._shown(found or Interval(0.0, greatest))

    def slopes(self, noises: Noises, rows: int) -> Slopes | None:
        """By differences, at the reference group; a variance is compared with the square of half the range."""
        factors = by_differences(self.estimate, self.parts, noises, rows)
        if factors is None:
            return None
        size = self._half if self.is_root else self._half**2
        return Slopes(factors, rows=rows, size=size, is_announced=not self.is_root)

    def ends(self, of: ir.Type) -> tuple[float, float]:
        """0, and the most that values within bounds can be spread."""
        del of
        return 0.0, self._shown(Interval(0.0, self._greatest)).hi

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


def _span(parabola: Callable[[float], float], vertex: float, within: Interval) -> tuple[float, float]:
    """The least and the greatest value of a parabola that opens upwards."""
    ends = parabola(within.lo), parabola(within.hi)
    inside = within.lo <= vertex <= within.hi
    return min(*ends, parabola(vertex)) if inside else min(ends), max(ends)
