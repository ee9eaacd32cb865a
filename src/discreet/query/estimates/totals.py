"""Counts and sums; and aggregates over no rows, which are known without noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf

from discreet.query import ir
from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.linear import Linear, LinearRatio, Slopes
from discreet.query.estimates.noise import Interval, Noises, Noisy, integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Total(Estimator):
    """A count, or a sum.

    Args:
        measure: that is counted or added up.
        whole: whether it is a whole number.
        is_count: whether it counts, and so is never below 0.
    """

    measure: str
    whole: bool = False
    is_count: bool = False

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
        half = float(noise.radius(confidence))
        value = float(noise.step * integer(self.measure, noisy))
        lo, hi = value - half, value + half
        return Interval(floor(lo), ceil(hi)) if self.whole else Interval(lo, hi)

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """Those of the noise itself; a count is compared with the rows, a sum with as many times half its range."""
        measure, size = noises[self.measure].measure, float(rows)
        if isinstance(measure, ir.Sum):
            half = (measure.hi - measure.lo) / 2 or max(abs(measure.lo), abs(measure.hi), 1)
            size = rows * float(noises[self.measure].step) * half
        return Slopes({self.measure: 1.0}, size=size)

    @property
    def ratio(self) -> LinearRatio:
        """The measure, over 1."""
        return LinearRatio(Linear({self.measure: Fraction(1)}))

    def ends(self, of: ir.Type) -> tuple[float, float] | None:
        """Of a count 0 and infinity; sums have none, as nobody knows how many rows they are over."""
        del of
        return (0.0, inf) if self.is_count else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfNoRows(Estimator):
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

    def slopes(self, _noises: Noises, _rows: int) -> Slopes:
        """None at all: nothing noisy is in it."""
        return Slopes({})

    @property
    def ratio(self) -> LinearRatio | None:
        """0, of a count; NULL is no number."""
        return LinearRatio(Linear()) if self.is_count else None
