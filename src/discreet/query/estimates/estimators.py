"""Estimators: counts, sums, means, variances and standard deviations, from noisy sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt
from typing import Protocol, TypeAlias

from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates.intervals import Interval, Joint, explained, ratio_interval
from discreet.query.estimates.noise import Noise

Noisy: TypeAlias = Mapping[str, int | tuple[int, ...]]
"""What was released of one group, by name: a noisy integer for each measure, the number of a bin (or several) for each
choice."""

Noises: TypeAlias = Mapping[str, Noise]

Value: TypeAlias = KeyValue | float | list[KeyValue]
"""What an estimate can be."""

_FOR_MEAN = 1 / 20
"""Which part of the error is spent on keeping the mean to an interval."""

_COUNT, _TOTAL = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


class Estimator(Protocol):
    """How one aggregate is estimated from what was released."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the released integers that are used."""
        ...

    def estimate(self, noisy: Noisy, noises: Noises) -> Value:
        """The statistic of one group; None where a noisy count leaves nothing to divide by."""
        ...

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval that holds the statistic with at least this confidence, over the noise; None if there is none."""
        ...


def integer(name: str, noisy: Noisy) -> int:
    """One released integer."""
    value = noisy[name]
    if not isinstance(value, int):
        raise TypeError("this was released as a list")
    return value


def scaled(name: str, noisy: Noisy, noises: Noises) -> float:
    """A noisy measure in the units of its values."""
    return float(noises[name].step * integer(name, noisy))


def is_empty(rows: str | None, noisy: Noisy, noises: Noises) -> bool:
    """Whether a noisy count leaves no row; nothing says so where there is none.

    Args:
        rows: the measure that counts them.
        noisy: one group's released integers.
        noises: the mechanisms.
    """
    return rows is not None and rows in noisy and has_too_few(scaled(rows, noisy, noises), ir.Statistic.MODE)


_OF_TWO = {ir.Statistic.VAR_SAMP, ir.Statistic.STDDEV_SAMP, ir.Statistic.COVAR_SAMP, ir.Statistic.CORR}


def has_too_few(count: float | Fraction, statistic: ir.Statistic) -> bool:
    """Whether a statistic is NULL, as in SQL, of a group of which a noisy count says that it has so many rows.

    It needs two rows if it is of a sample, or a correlation, and one if it is anything else that is divided by a count
    or chosen. Counts and sums are never NULL: no count goes with them, and so they add up over groups, as a NULL
    wouldn't. SQL's SUM is NULL over no rows; here it is 0 and its noise.

    Args:
        count: noisy, of the rows that the statistic is over; where limits weigh rows down, rounded as it is shown.
        statistic: not a count or a sum.

    Examples:
        >>> [has_too_few(count, ir.Statistic.VAR_SAMP) for count in (1.0, 2.0)]
        [True, False]
    """
    return round(count) < (2 if statistic in _OF_TWO else 1)


def radius(noise: Noise, confidence: float) -> float:
    """The half width of a measure's interval, in the units of its values."""
    return float(noise.radius(confidence))


def clip(value: float, lo: float, hi: float) -> float:
    """The value, moved into [lo, hi]."""
    return min(max(value, lo), hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A count, or a sum.

    Args:
        measure: that is counted or added up.
        whole: whether it is a whole number.
    """

    measure: str
    whole: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The measure."""
        return (self.measure,)

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float:
        """The noisy total itself."""
        value = noises[self.measure].step * integer(self.measure, noisy)
        return round(value) if self.whole else float(value)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The noise's own quantiles about it: exact but for rounding outwards to whole numbers."""
        noise = noises[self.measure]
        half = radius(noise, confidence)
        value = float(noise.step * integer(self.measure, noisy))
        lo, hi = value - half, value + half
        return Interval(floor(lo), ceil(hi)) if self.whole else Interval(lo, hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfNoRows:
    """An aggregate over no rows, as public facts prove: it is known exactly, and nothing is released for it.

    Args:
        is_count: whether it counts, and so is 0; anything else is NULL, as in SQL.
    """

    is_count: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """None."""
        return ()

    def estimate(self, _noisy: Noisy, _noises: Noises) -> int | None:
        """0 or NULL."""
        return 0 if self.is_count else None

    def interval(self, _noisy: Noisy, _noises: Noises, _confidence: float) -> Interval | None:
        """The count itself: it has no noise."""
        return Interval(0, 0) if self.is_count else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _AboutCentre:
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
        if has_too_few(count, ir.Statistic.AVG):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(_AboutCentre):
    """A variance or a standard deviation.

    Args:
        statistic: which one.
        count: the measure that counts the rows.
        total: the measure Σ(x − centre).
        squares: the measure Σ(x − centre)².
    """

    statistic: ir.Statistic
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
        if has_too_few(count, self.statistic):
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
        greatest = float((self.hi - self.lo) / 2) ** 2 * (1 if self._is_population else 2)
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

    @property
    def _is_population(self) -> bool:
        """Whether the divisor is n rather than n − 1."""
        return self.statistic in {ir.Statistic.VAR_POP, ir.Statistic.STDDEV_POP}

    @property
    def _is_root(self) -> bool:
        """Whether the statistic is a standard deviation."""
        return self.statistic in {ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}

    def _shown(self, variances: Interval) -> Interval:
        """The interval of the statistic, from that of the variance."""
        return Interval(sqrt(variances.lo), sqrt(variances.hi)) if self._is_root else variances

    def _spread(self, variance: float, count: float) -> float:
        """Turn a raw variance into the statistic; no variance is negative, nor above that of half at either bound."""
        value = clip(variance, 0.0, float((self.hi - self.lo) / 2) ** 2)
        if not self._is_population:
            value *= min(count / (count - 1), 2.0)
        return sqrt(value) if self._is_root else value


def _span(parabola: Callable[[float], float], vertex: float, within: Interval) -> tuple[float, float]:
    """The least and the greatest value of a parabola that opens upwards."""
    ends = parabola(within.lo), parabola(within.hi)
    inside = within.lo <= vertex <= within.hi
    return min(*ends, parabola(vertex)) if inside else min(ends), max(ends)
