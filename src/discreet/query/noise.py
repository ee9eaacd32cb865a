"""The noise of each number that is released, and the mechanism of each choice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.exact.rational import Rationalizable
from discreet.mechanisms import Gaussian, Laplace, Mode, Quantile
from discreet.privacy import Event, Sensitivity
from discreet.query import ir
from discreet.query.uncertainty.summed import radius

Mechanism: TypeAlias = Laplace | Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A measure with the mechanism that releases it.

    Args:
        measure: what the engine adds up, in steps of a grid.
        mechanism: calibrated in the same steps.
        number: how many independent noises of the mechanism it holds: more than one only where released groups were
            added up afterwards.
    """

    measure: ir.Measure
    mechanism: Mechanism
    number: int = 1

    @property
    def step(self) -> Fraction:
        """The size of one step of the grid."""
        return Fraction(2) ** (self.measure.grid if isinstance(self.measure, ir.Sum | ir.Histogram) else 0)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the measure, in steps."""
        return self.mechanism.sensitivity

    def radius(self, confidence: Rationalizable) -> Fraction:
        """Within which distance of 0 it lies with this confidence, in the units of the measure's values.

        Args:
            confidence: in (0, 1).
        """
        return self.step * radius(self.mechanism, self.number, confidence)


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
        """What the rows around a quantile are released under."""
        return f"{self.name} around"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A pick with the mechanism that makes it.

    Args:
        pick: what is chosen.
        measure: what it is chosen from.
        mechanism: that chooses, calibrated in steps of the histogram's counts.
        counting: for a quantile: the noise of the rows around the chosen bin, which tell how good it is.
    """

    pick: Pick
    measure: ir.Histogram
    mechanism: Quantile | Mode
    counting: Mechanism | None = None

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
        return (chosen,) if self.counting is None else (chosen, self.counting.event)
