"""Choices: the most frequent values of a public list, and quantiles, which are chosen from the bins of a public grid.

A `Pick` says what to choose, a `Selection` has the mechanism that chooses it, and an estimator reads what it chose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Self

from discreet.errors import unforeseen
from discreet.mechanisms import Gaussian, Mode, NoisyRanks, Quantile
from discreet.mechanisms.quantile import nested
from discreet.privacy import Event, KeyValue
from discreet.query import ir
from discreet.query.estimates.estimator import Estimator, has_too_few, is_empty
from discreet.query.estimates.grids import Grid
from discreet.query.estimates.linear import Linear
from discreet.query.estimates.noise import Interval, Noises, Noisy, integer
from discreet.query.estimates.rank_noise import rank_reach

_ROUNDED = 1e-15
"""Confidences that are equal but for the rounding of floats count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A choice from a histogram: a quantile, several that are read from noisy counts, or the fullest bins.

    Args:
        name: the name under which the choice is released; unique among those of measures too.
        histogram: the name of the measure.
        fraction: of a quantile; None for what isn't one.
        most: how many bins are chosen, if it isn't a quantile.
        fractions: of several quantiles; empty for what isn't that.
    """

    name: str
    histogram: str
    fraction: Fraction | None = None
    most: int = 1
    fractions: tuple[Fraction, ...] = ()

    @property
    def around(self) -> str:
        """The name under which the interval about a quantile is released."""
        return f"{self.name} around"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A pick with the mechanism that makes it.

    Args:
        pick: what is chosen.
        measure: what it is chosen from.
        mechanism: that chooses, calibrated in steps of the histogram's counts.
    """

    pick: Pick
    measure: ir.Histogram
    mechanism: Quantile | NoisyRanks | Mode

    @property
    def step(self) -> Fraction:
        """How many rows one step of the counts is."""
        return Fraction(2) ** self.measure.grid

    def reach(self, confidence: Fraction, fraction: Fraction | None = None) -> float:
        """The most rows by which the choice is off, with this confidence.

        Args:
            confidence: in (0, 1).
            fraction: which of several quantiles is meant; None for the one that may be off furthest.
        """
        match self.mechanism:
            case Quantile() as quantile:
                off: float | Fraction = quantile.rank_radius(confidence)
            case NoisyRanks() as ranks:
                some = ranks.fractions if fraction is None else (fraction,)
                off = max(rank_reach(ranks, each, confidence) for each in some)
            case Mode() as mode:
                off = mode.radius(confidence)
            case _:
                raise unforeseen(self.mechanism)
        return float(self.step) * float(off)

    @property
    def rate(self) -> float:
        """About how well a choice tells tables apart that differ by one step of a count."""
        if not isinstance(self.mechanism, NoisyRanks):
            return float(self.mechanism.selection.rate)
        noise = self.mechanism.noise
        return 1 / float(noise.sigma if isinstance(noise, Gaussian) else noise.scale)

    @property
    def event(self) -> Event:
        """The release as accounting needs to know it."""
        return self.mechanism.event


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileEstimator(Estimator):
    """A quantile: MEDIAN, PERCENTILE_CONT, MIN, MAX and their like.

    Args:
        pick: the choice of a bin.
        fraction: of the quantile.
        grid: what the bins stand for.
        rows: the number of the group's rows, where it is known.
        confidence: that of the interval about the choice; 0 before there is any.
        step: how many rows one step of the counts is, once that is known.
    """

    pick: Pick
    fraction: Fraction
    grid: Grid
    rows: Linear | None = None
    confidence: Fraction = Fraction(0)
    step: Fraction = Fraction(1)

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice, and the interval about it; or the choice of several, with all that is read of them."""
        return (self.pick.name,) if self.pick.fractions else (self.pick.name, self.pick.around)

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float | date | None:
        """The chosen bin's value; None where a count, or without one the interval, says that there are no rows."""
        says_so = is_empty(self.rows, noisy, noises)
        if says_so is None and self.pick.fractions:
            says_so = has_too_few(self.step * self._read(noisy)[0], 1)
        elif says_so is None:
            says_so = self._place(noisy) == len(self._nested(noisy))
        if says_so:
            return None
        return self.grid.value(self._read(noisy)[1] if self.pick.fractions else integer(self.pick.name, noisy))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The values of the interval of bins that was chosen with the quantile, see `mechanisms.Quantile`.

        At a greater confidence than it was chosen for, all values: nothing was released that would tell.
        """
        del noises
        if self.pick.fractions:
            _, _, *ends = self._read(noisy)
            first, last = ends if confidence <= float(self.confidence) + _ROUNDED else (0, self.grid.size - 1)
            return self.grid.interval(first, last)
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
        if isinstance(selection.mechanism, Mode):
            raise TypeError("a quantile is chosen as one")
        return replace(self, confidence=selection.mechanism.confidence, step=selection.step)

    def _read(self, noisy: Noisy) -> tuple[int, int, int, int]:
        """The noisy number of rows, the bin, and the interval's first and last one, where several are read."""
        found = noisy[self.pick.name]
        if isinstance(found, int):
            raise TypeError("several quantiles are released as a list")
        at = 1 + 3 * self.pick.fractions.index(self.fraction)
        return found[0], found[at], found[at + 1], found[at + 2]

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
