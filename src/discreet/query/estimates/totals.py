"""Counts and sums; and aggregates over no rows, which are known without noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf

from discreet.query import ir
from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.linear import Linear, LinearRatio, Slopes
from discreet.query.estimates.noise import Interval, Noises, Noisy


@dataclass(frozen=True, slots=True, kw_only=True)
class Total(Estimator):
    """A count, or a sum.

    Args:
        of: the numbers that it is read from.
        size: how much a row may add, to which its error is compared; above 0.
        whole: whether it is a whole number.
        is_count: whether it counts, and so is never below 0.
    """

    of: Linear
    size: float = 1.0
    whole: bool = False
    is_count: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return tuple(self.of.factors)

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float:
        """The noisy total itself."""
        value = self.of.exactly(noisy, noises)
        return round(value) if self.whole else float(value)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The noise's own quantiles about it: exact but for rounding outwards to whole numbers."""
        half = self.of.radius(noises, confidence)
        value = float(self.of.exactly(noisy, noises))
        lo, hi = value - half, value + half
        return Interval(floor(lo), ceil(hi)) if self.whole else Interval(lo, hi)

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """The slopes of the noise itself; a count is compared with the rows, a sum with half its range for each."""
        del noises
        return Slopes(self.of.floats, size=rows * self.size)

    @property
    def ratio(self) -> LinearRatio:
        """The numbers, over 1."""
        return LinearRatio(self.of)

    def ends(self, of: ir.Type) -> tuple[float, float] | None:
        """0 and infinity for a count; none for sums, because nobody knows how many rows they are over."""
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
