"""Estimators: from noisy measures to the statistic an analyst asked for, with its interval.

All of it is post-processing of released integers: it costs nothing and can give nothing away, so plain floats will
do from here on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, TypeAlias

from discreet.query import ir
from discreet.query.intervals import Interval, combination_radius

if TYPE_CHECKING:
    from discreet.query.draft import Noise

Noisy: TypeAlias = Mapping[str, int]
"""One group's released integers, by measure."""

_STEPS = 30
"""Halvings when an end of an interval is searched: it is found to a billionth of the range, on the outside."""

Noises: TypeAlias = Mapping[str, "Noise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """How one aggregate is estimated from noisy measures.

    Averages and variances are taken about `centre`, the middle of the bounds, because the noise a sum needs grows
    with the size of its terms.

    Args:
        statistic: what is estimated.
        count: the measure that counts the rows (or units, or is the sum itself for SUM).
        total: the measure Σ(x − centre), for AVG, VAR and STDDEV.
        squares: the measure Σ(x − centre)², for VAR and STDDEV.
        centre: about which the sums are taken.
        lo: least value a row can have; estimates of means and spreads are kept consistent with it.
        hi: greatest value a row can have.
        whole: whether the statistic is a whole number.
    """

    statistic: ir.Statistic
    count: str
    total: str = ""
    squares: str = ""
    centre: Fraction = Fraction(0)
    lo: Fraction = Fraction(0)
    hi: Fraction = Fraction(0)
    whole: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return tuple(name for name in (self.count, self.total, self.squares) if name)

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float | None:
        """The statistic of one group; None where a noisy count leaves nothing to divide by."""
        if not self.total:
            value = noises[self.count].step * noisy[self.count]
            return round(value) if self.whole else float(value)
        count = _scaled(self.count, noisy, noises)
        if count < 1:
            return None
        mean = _clip(_scaled(self.total, noisy, noises) / count, self._below, self._above)
        if not self.squares:
            return float(self.centre) + mean
        return self._spread(_scaled(self.squares, noisy, noises) / count - mean**2, count)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """An interval that holds the statistic with at least this confidence, over the noise."""
        if not self.total:
            noise = noises[self.count]
            radius = float(noise.step * noise.mechanism.radius(confidence))
            value = float(noise.step * noisy[self.count])
            lo, hi = value - radius, value + radius
            return Interval(floor(lo), ceil(hi)) if self.whole else Interval(lo, hi)
        if not self.squares:
            offset = self._mean_interval(noisy, noises, confidence)
            return Interval(float(self.centre) + offset.lo, float(self.centre) + offset.hi)
        return self._spread_interval(noisy, noises, confidence)

    @property
    def _below(self) -> float:
        """How far a mean can lie below the centre, as a negative number."""
        return float(self.lo - self.centre)

    @property
    def _above(self) -> float:
        """How far a mean can lie above the centre."""
        return float(self.hi - self.centre)

    def _mean_interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All means t, from the centre, that the noise could explain: |S − tN| ≤ the quantile of |X − tY|.

        S and N are the noisy sum and count, X and Y their noises. At the true mean, S − tN is exactly X − tY, so the
        set holds it with the stated confidence: Fieller's construction. The excess |S − tN| − quantile is concave on
        either side of the estimate and negative there, so each end is found by bisection, or is the bound itself.
        """
        total, count = _scaled(self.total, noisy, noises), _scaled(self.count, noisy, noises)

        def excess(mean: float) -> float:
            radius = combination_radius(((noises[self.total], 1.0), (noises[self.count], mean)), confidence)
            return abs(total - mean * count) - radius

        middle = _clip(total / count, self._below, self._above) if count > 0 else 0.0
        return Interval(_end(excess, middle, self._below), _end(excess, middle, self._above))

    def _spread_interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """An interval by boxes: each of the three parts at a third of the error, then their worst combination.

        It is wider than it need be, never narrower (Bonferroni).
        """
        part = 1 - (1 - confidence) / 3
        n, s, q = (
            Interval(value - radius, value + radius)
            for name in self.parts
            for value, radius in ((_scaled(name, noisy, noises), _radius(noises[name], part)),)
        )
        widest = (self.hi - self.lo) / 2
        if n.lo < 1:
            worst = float(widest) if self._is_root else float(widest**2)
            return Interval(0.0, worst if self._is_population else 2 * worst)
        least_square = 0.0 if s.lo <= 0 <= s.hi else min(abs(s.lo), abs(s.hi)) / n.hi
        most_square = min(max(abs(s.lo), abs(s.hi)) / n.lo, max(-self._below, self._above))
        low = max(q.lo, 0.0) / n.hi - most_square**2
        high = max(q.hi, 0.0) / n.lo - least_square**2
        return Interval(self._spread(low, n.hi), self._spread(high, n.lo))

    @property
    def _is_population(self) -> bool:
        """Whether the divisor is n rather than n − 1."""
        return self.statistic in {ir.Statistic.VAR_POP, ir.Statistic.STDDEV_POP}

    @property
    def _is_root(self) -> bool:
        """Whether the statistic is a standard deviation."""
        return self.statistic in {ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}

    def _spread(self, variance: float, count: float) -> float:
        """Turn a raw variance into the statistic; no variance is negative, nor above that of half at either bound."""
        value = _clip(variance, 0.0, float((self.hi - self.lo) / 2) ** 2)
        if not self._is_population:
            value *= count / (count - 1) if count >= 2 else 2.0  # noqa: PLR2004 — a sample variance takes two rows
        return sqrt(value) if self._is_root else value


def _scaled(name: str, noisy: Noisy, noises: Noises) -> float:
    """A noisy measure in the units of its values."""
    return float(noises[name].step * noisy[name])


def _radius(noise: Noise, confidence: float) -> float:
    """The half width of a measure's interval, in the units of its values."""
    return float(noise.step * noise.mechanism.radius(confidence))


def _clip(value: float, lo: float, hi: float) -> float:
    """The value, moved into [lo, hi]."""
    return min(max(value, lo), hi)


def _end(excess: Callable[[float], float], inside: float, limit: float) -> float:
    """Where `excess` turns positive between a point where it isn't and a limit; the limit if it doesn't."""
    if excess(limit) <= 0:
        return limit
    outside = limit
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if excess(middle) <= 0:
            inside = middle
        else:
            outside = middle
    return outside
