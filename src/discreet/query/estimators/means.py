"""Means: a noisy sum over a noisy count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.query.estimators.base import Noises, Noisy, clip, scaled
from discreet.query.uncertainty.intervals import Interval, Joint
from discreet.query.uncertainty.ratios import ratio_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """An average, taken about `centre`, because the noise that a sum needs grows with the size of its terms.

    Args:
        count: the measure that counts the rows.
        total: the measure Σ(x − centre).
        centre: the middle of the bounds.
        lo: least value a row can have; the estimate is kept consistent with it.
        hi: greatest value a row can have.
    """

    count: str
    total: str
    centre: Fraction = Fraction(0)
    lo: Fraction
    hi: Fraction

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return self.count, self.total

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The mean of one group; None where the noisy count leaves nothing to divide by."""
        count = scaled(self.count, noisy, noises)
        if count < 1:
            return None
        return float(self.centre) + clip(scaled(self.total, noisy, noises) / count, self._below, self._above)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All means that the noise could explain, by Fieller's construction: see `query.uncertainty.ratios`."""
        joint = Joint.of([noises[self.total], noises[self.count]])
        total, count = scaled(self.total, noisy, noises), scaled(self.count, noisy, noises)
        offset = ratio_interval(
            joint, (total, (1.0, 0.0)), (count, (0.0, 1.0)), confidence, lo=self._below, hi=self._above
        )
        if offset is None:
            raise AssertionError("a range with two ends bounds every mean")
        return Interval(float(self.centre) + offset.lo, float(self.centre) + offset.hi)

    @property
    def _below(self) -> float:
        """How far a mean can lie below the centre, as a negative number."""
        return float(self.lo - self.centre)

    @property
    def _above(self) -> float:
        """How far a mean can lie above the centre."""
        return float(self.hi - self.centre)
