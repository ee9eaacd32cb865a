"""The draft of a plan: what the rules have decided so far."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.dataset import Table
from discreet.mechanisms import Gaussian, Laplace, Threshold
from discreet.privacy import Adjacency, Limits, Sensitivity
from discreet.query import ir
from discreet.query.estimators import Estimator
from discreet.query.request import Request

Mechanism: TypeAlias = Laplace | Gaussian

_ONE_ROW = Limits(rows=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A measure with the mechanism that releases it.

    Args:
        measure: what the engine adds up, in steps of a grid.
        mechanism: calibrated in the same steps.
    """

    measure: ir.Measure
    mechanism: Mechanism

    @property
    def step(self) -> Fraction:
        """The size of one step of the grid."""
        return Fraction(2) ** (self.measure.grid if isinstance(self.measure, ir.Sum) else 0)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the measure, in steps."""
        return self.mechanism.sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the rules have decided so far; each rule fills in its part, and none changes another's.

    Args:
        question: bound and typed.
        request: what is offered.
        adjacency: which tables are neighbours.
        keys: by `public_keys`.
        limits: by `contributions`.
        measures: by `measures`.
        estimators: by `measures`; from noisy measures to the aggregates, by aggregate name.
        selector: by `measures`; the measure that decides which private groups are released; None if all are public.
        sensitivities: by `sensitivities`, one per measure.
        noises: by `noise`, one per measure.
        threshold: by `selection`.
    """

    question: ir.Question
    request: Request
    adjacency: Adjacency
    keys: tuple[ir.Key, ...] = ()
    limits: Limits = _ONE_ROW
    measures: tuple[ir.Measure, ...] = ()
    estimators: tuple[tuple[str, Estimator], ...] = ()
    selector: str | None = None
    sensitivities: tuple[Sensitivity, ...] = ()
    noises: tuple[Noise, ...] = ()
    threshold: Threshold | None = None

    @property
    def table(self) -> Table:
        """The private table underneath."""
        relation = self.question.source
        while isinstance(relation, ir.Where):
            relation = relation.source
        return relation.table

    @property
    def has_private_keys(self) -> bool:
        """Whether some key's values aren't known in public."""
        return any(key.values is None for key in self.keys)
