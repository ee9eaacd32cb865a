"""The draft of a plan: what the rules have decided so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.exact.rational import Rationalizable
from discreet.mechanisms import Gaussian, Laplace, Threshold
from discreet.mechanisms.histogram import Contribution
from discreet.mechanisms.mode import Mode
from discreet.mechanisms.quantile import Quantile
from discreet.privacy import Adjacency, Event, Limits, Sensitivity, Unit
from discreet.query import ir
from discreet.query.estimators import Estimator
from discreet.query.request import Request
from discreet.query.uncertainty.summed import radius

Mechanism: TypeAlias = Laplace | Gaussian

_ONE_ROW = Limits(rows=1)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the rules have decided so far; each rule fills in its part, and none changes another's.

    Args:
        question: bound and typed.
        request: what is offered.
        adjacency: which tables are neighbours.
        keys: by `public_keys`.
        limits: by `contributions`.
        measures: by `measures`; those that are counted or added up.
        histograms: by `measures`; those that something is chosen from.
        picks: by `measures`; what is chosen from histograms.
        estimators: by `measures`; from what is released to the aggregates, by aggregate name.
        selector: by `measures`; the measure that decides which private groups are released; None if all are public.
        sensitivities: by `sensitivities`, one per measure.
        contributions: by `sensitivities`, one per histogram.
        noises: by `noise`, one per measure.
        selections: by `noise`, one per pick.
        needed: by `noise`; the least offer that is accurate enough, which may be more than what is offered; None if
            no accuracy was asked for, or no offer is enough.
        threshold: by `selection`.
    """

    question: ir.Question
    request: Request
    adjacency: Adjacency
    keys: tuple[ir.Key, ...] = ()
    limits: Limits = _ONE_ROW
    measures: tuple[ir.Measure, ...] = ()
    histograms: tuple[ir.Histogram, ...] = ()
    picks: tuple[Pick, ...] = ()
    estimators: tuple[tuple[str, Estimator], ...] = ()
    selector: str | None = None
    sensitivities: tuple[Sensitivity, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    noises: tuple[Noise, ...] = ()
    selections: tuple[Selection, ...] = ()
    needed: Fraction | None = None
    threshold: Threshold | None = None

    @property
    def scans(self) -> tuple[ir.Scan, ...]:
        """The tables that are read."""
        return tuple(dict.fromkeys(ir.scans(self.question.source)))

    @property
    def unit(self) -> Unit:
        """Whose presence is hidden."""
        owner = ir.owner_of(self.question.source)
        if owner is None:
            raise TypeError("a question reads a private table")
        return owner.unit

    @property
    def laws(self) -> Mapping[str, Noise]:
        """The noise of every number that is released, by the name it is released under."""
        around = {
            selection.pick.around: Noise(measure=selection.measure, mechanism=selection.counting)
            for selection in self.selections
            if selection.counting is not None
        }
        return {noise.measure.name: noise for noise in self.noises} | around

    @property
    def has_private_keys(self) -> bool:
        """Whether some key's values aren't known in public."""
        return any(key.values is None for key in self.keys)
