"""Choices: the most frequent values of a public list, and quantiles, which are chosen from the bins of a public grid.

A `Pick` is what is to be chosen, a `Selection` has the mechanism that chooses it, and an estimator reads what it chose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Self

from discreet.mechanisms import Mode, Quantile, QuantileInterval
from discreet.mechanisms.quantile_interval import nested
from discreet.privacy import Event, KeyValue
from discreet.query import ir
from discreet.query.estimates.estimator import Estimator, is_empty
from discreet.query.estimates.grids import Grid
from discreet.query.estimates.linear import Linear
from discreet.query.estimates.noise import Interval, Noises, Noisy, integer

_ROUNDED = 1e-15
"""Confidences that are equal but for the rounding of floats count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What is to be chosen from a histogram: a quantile, or the fullest bins.

    Args:
        name: what the choice is released under; unique among those of measures too.
        histogram: the name of the measure.
        fraction: of a quantile; None for the fullest bins.
        most: how many bins are chosen, if it isn't a quantile.
    """

    name: str
    histogram: str
    fraction: Fraction | None = None
    most: int = 1

    @property
    def around(self) -> str:
        """What the interval about a quantile is released under."""
        return f"{self.name} around"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A pick with the mechanism that makes it.

    Args:
        pick: what is chosen.
        measure: what it is chosen from.
        mechanism: that chooses, calibrated in steps of the histogram's counts.
        about: for a quantile: what chooses the interval about the chosen bin, which tells how good it is.
    """

    pick: Pick
    measure: ir.Histogram
    mechanism: Quantile | Mode
    about: QuantileInterval | None = None

    @property
    def step(self) -> Fraction:
        """How many rows one step of the counts is."""
        return Fraction(2) ** self.measure.grid

    def reach(self, confidence: Fraction) -> float:
        """By how many rows the choice is off, at most, with this confidence."""
        radius = self.mechanism.rank_radius if isinstance(self.mechanism, Quantile) else self.mechanism.radius
        return float(self.step * radius(confidence))

    @property
    def events(self) -> tuple[Event, ...]:
        """What is done to the data, for accounting."""
        chosen: Event = self.mechanism.event
        return (chosen,) if self.about is None else (chosen, self.about.event)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileEstimator(Estimator):
    """A quantile: MEDIAN, PERCENTILE_CONT, MIN, MAX and their like.

    Args:
        pick: the choice of a bin.
        grid: what the bins stand for.
        rows: the number of the group's rows, where it is known.
        confidence: that of the interval about the choice; 0 before there is any.
    """

    pick: Pick
    grid: Grid
    rows: Linear | None = None
    confidence: Fraction = Fraction(0)

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice, and the interval about it."""
        return self.pick.name, self.pick.around

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float | date | None:
        """The chosen bin's value; None where a count, or without one the interval, says that there are no rows."""
        says_so = is_empty(self.rows, noisy, noises)
        if says_so is None:
            says_so = self._place(noisy) == len(self._nested(noisy))
        return None if says_so else self.grid.value(integer(self.pick.name, noisy))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The values of the interval of bins that was chosen about the quantile, see `mechanisms.QuantileInterval`.

        At a greater confidence than it was chosen for, all values: nothing was released that would tell.
        """
        del noises
        intervals = self._nested(noisy)
        is_known = confidence <= float(self.confidence) + _ROUNDED
        return self.grid.interval(*intervals[min(self._place(noisy), len(intervals) - 1) if is_known else -1])

    def slopes(self, _noises: Noises, _rows: int) -> None:
        """None: how far a rank is off is known, not how far the values about it lie apart."""

    def ends(self, of: ir.Type) -> tuple[float, float] | None:
        """The bounds themselves."""
        return None if of.lo is None or of.hi is None else (float(of.lo), float(of.hi))

    def beside(self, rows: Linear | None) -> Self:
        """It is NULL then where the count leaves no row."""
        return replace(self, rows=rows)

    def chosen_by(self, selection: Selection) -> Self:
        """The estimator with the confidence of the interval that a selection makes."""
        return self if selection.about is None else replace(self, confidence=selection.about.confidence)

    def _place(self, noisy: Noisy) -> int:
        """The place of the chosen interval."""
        return integer(self.pick.around, noisy)

    def _nested(self, noisy: Noisy) -> tuple[tuple[int, int], ...]:
        """What it was chosen from."""
        return nested(integer(self.pick.name, noisy), self.grid.size, self.pick.fraction or Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeEstimator(Estimator):
    """The most frequent value, or a list of the most frequent ones.

    Args:
        pick: the choice of bins.
        values: what the bins stand for.
        is_list: whether a list was asked for.
        rows: the number of the group's rows, where it is known.
    """

    pick: Pick
    values: tuple[KeyValue, ...]
    is_list: bool
    rows: Linear | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice."""
        return (self.pick.name,)

    def estimate(self, noisy: Noisy, noises: Noises) -> KeyValue | list[KeyValue]:
        """The values chosen, in the order in which they were chosen: mostly the most frequent one first.

        None where a noisy count leaves no row. Of a group without rows that nothing counts it is any value: nothing was
        released that would tell.
        """
        if is_empty(self.rows, noisy, noises):
            return [] if self.is_list else None
        numbers = noisy[self.pick.name]
        found = [self.values[number] for number in numbers] if not isinstance(numbers, int) else [self.values[numbers]]
        return found if self.is_list else found[0]

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> None:
        """None: values that aren't numbers have no order, and by how much others are rarer isn't released.

        What is known beforehand is how many rows the chosen value may lack of the most frequent one's number; the
        plan says so.
        """
        del noisy, noises, confidence

    def slopes(self, _noises: Noises, _rows: int) -> None:
        """None: values that aren't numbers don't move."""

    def beside(self, rows: Linear | None) -> Self:
        """It is NULL then where the count leaves no row."""
        return replace(self, rows=rows)
