"""Plans in words: what will be done, what it costs, and how accurate it will be."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from discreet.mechanisms import Gaussian
from discreet.privacy import Loss
from discreet.query import ir
from discreet.query.draft import Draft, Noise
from discreet.query.estimators import Estimator
from discreet.query.intervals import combination_radius
from discreet.query.released import released_names
from discreet.query.rules.noise import CONFIDENCE
from discreet.query.wording import wording

ROWS = 1_000
"""The group size for which errors of averages are announced: they shrink as the group grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The error to expect of one column, from noise alone.

    Args:
        column: of the answer.
        error: half width of the 95 % interval; None where it depends on the noisy answer itself, or there is no noise.
        rows: the number of rows in a group for which the error was computed; None if it doesn't depend on it.
    """

    column: str
    error: float | None
    rows: int | None = None

    def __str__(self) -> str:
        """The error in words."""
        if self.error is None:
            return "depends on the noisy answer, and comes with it"
        return f"± {self.error:.4g} at 95 %" + ("" if self.rows is None else f", in a group of {self.rows:,} rows")


def expected_errors(draft: Draft) -> tuple[Expected, ...]:
    """The error to expect of each column that holds noise."""
    noises = {noise.measure.name: noise for noise in draft.noises}
    estimators = dict(draft.estimators)
    errors = []
    for output in draft.question.outputs:
        if isinstance(output.expr, ir.Released) and output.expr.name in estimators:
            errors.append(_expected(output.name, estimators[output.expr.name], noises))
        elif released_names(output.expr) & estimators.keys():
            errors.append(Expected(column=output.name, error=None))
    return tuple(errors)


def _expected(column: str, estimator: Estimator, noises: dict[str, Noise]) -> Expected:
    """The error to expect of one aggregate."""
    count = noises[estimator.count]
    if not estimator.total:
        return Expected(column=column, error=float(count.step * count.mechanism.radius(CONFIDENCE)))
    part = noises[estimator.squares or estimator.total]
    error = combination_radius(((part, 1.0), (count, 0.0)), CONFIDENCE) / ROWS
    if estimator.statistic in {ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}:
        return Expected(column=column, error=None)
    return Expected(column=column, error=error, rows=ROWS)


def explain(draft: Draft, cost: Loss) -> str:
    """The plan in words."""
    sections = [
        ("question", [draft.question.text.strip()]),
        ("cost", [f"{cost}, for each {draft.table.unit}, neighbours by {_relation(draft)}"]),
        ("groups", [_groups(draft)]),
        ("limits", [_limits(draft)]),
        ("error", [f"{error.column}: {error}" for error in expected_errors(draft)] or ["nothing is measured"]),
        ("measures", [_measure(noise) for noise in draft.noises]),
    ]
    return "\n".join(_section(title, lines) for title, lines in sections)


def _section(title: str, lines: list[str]) -> str:
    """A title with its lines hanging to the right of it."""
    head, *rest = "\n".join(lines).splitlines() or [""]
    return "\n".join([f"{title:<10}{head}", *(f"{'':<10}{line}" for line in rest)])


def _relation(draft: Draft) -> str:
    """The adjacency in words."""
    return str(draft.adjacency).replace("_", " or ")


def _groups(draft: Draft) -> str:
    """Which groups are answered, in words."""
    if not draft.keys:
        return "one: the question has no GROUP BY"
    names = ", ".join(key.name for key in draft.keys)
    if draft.threshold is None:
        count = prod(len(key.values or ()) for key in draft.keys)
        return f"{count:,} public groups of {names}; each is answered, also when it is empty"
    whose = "rows" if draft.table.unit.is_row else "units"
    return (
        f"groups of {names} aren't public: those with a noisy number of {whose} of at least "
        f"{draft.threshold.value:,} are answered; smaller ones are left out (δ = {float(draft.threshold.delta):.3g})"
    )


def _limits(draft: Draft) -> str:
    """The limits in force, in words."""
    if draft.table.unit.is_row:
        return "each row is a unit of its own"
    limits, unit = draft.limits, draft.table.unit
    if limits.rows is not None:
        return f"{limits.rows:,} rows of each {unit} in all; the rows of one with more count for less"
    return (
        f"{limits.groups:,} groups of each {unit}, and {limits.rows_per_group:,} rows in each; "
        "the rows of one with more count for less"
    )


def _measure(noise: Noise) -> str:
    """A measure with what one unit does to it and the noise it gets."""
    name = "number of units" if isinstance(noise.measure, ir.Units) else _sum(noise.measure)
    moved = float(noise.step * noise.sensitivity.l1)
    mechanism = noise.mechanism
    if isinstance(mechanism, Gaussian):
        moved = float(noise.step) * float(noise.sensitivity.l2_squared) ** 0.5
        kind, width = "Gaussian, sigma", float(noise.step * mechanism.sigma)
        norm = "ℓ2"
    else:
        kind, width = "Laplace, scale", float(noise.step * mechanism.scale)
        norm = "ℓ1"
    return f"{name}: one unit moves it by at most {moved:,.6g} ({norm}); {kind} {width:,.6g}; {mechanism.loss}"


def _sum(measure: ir.Sum) -> str:
    """A sum in words."""
    if isinstance(measure.value, ir.Literal):
        return "number of rows"
    match measure.value:
        case ir.Call(
            function=ir.Function(name="if"), args=(ir.Call(function=ir.Function(name="is_null"), args=(value,)), *_)
        ):
            return f"number of rows with {wording(value)}"
    return f"sum of {wording(measure.value)}"
