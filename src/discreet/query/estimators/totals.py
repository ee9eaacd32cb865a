"""Totals: counts and sums, which are one noisy integer each."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from discreet.query.estimators.base import Noises, Noisy, integer, radius
from discreet.query.uncertainty.intervals import Interval


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
