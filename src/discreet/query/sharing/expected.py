"""Errors to expect: how wide each column's interval will be, told before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import charge_of
from discreet.privacy import ComposedEvent, Event
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Noise, is_announced, slopes_of
from discreet.query.request import CONFIDENCE
from discreet.query.sharing.accuracy import targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The error to expect of one column, from noise alone.

    Args:
        column: of the answer.
        error: half width of the interval; None where it depends on the noisy answer itself.
        rows: the number of rows in a group for which the error was computed, with means at three quarters of their
            range; None if it doesn't depend on the group.
        ranks: of a quantile, by how many rows its rank may be off.
        rarer: of a most frequent value, by how many rows another may be more frequent.
        confidence: of the interval.
        share: which part of the cost is for what the column rests on; columns may rest on the same.
        wanted: the half width asked for, where the offer doesn't reach it.
    """

    column: str
    error: float | None
    rows: int | None = None
    ranks: float | None = None
    rarer: float | None = None
    confidence: float = float(CONFIDENCE)
    share: float = 1.0
    wanted: Fraction | None = None

    def __str__(self) -> str:
        """The error in words."""
        if self.ranks is not None:
            error = f"off by {self.ranks:,.4g} rows in rank at {_percent(self.confidence)}"
        elif self.rarer is not None:
            error = f"{self.rarer:,.4g} rows rarer than the most frequent at {_percent(self.confidence)}"
        elif self.error is None:
            error = "depends on the noisy answer, and comes with it"
        else:
            error = f"± {self.error:.4g} at {_percent(self.confidence)}"
        within = "" if self.rows is None else f", in a group of {self.rows:,} rows"
        missed = "" if self.wanted is None else f", where ± {float(self.wanted):.4g} was wanted"
        paid = "" if self.share == 1 else f"; {_percent(self.share)} of the cost"
        return error + within + missed + paid


def expected_errors(draft: Draft) -> tuple[Expected, ...]:
    """The error to expect of each column that holds noise."""
    noises = {noise.measure.name: noise for noise in draft.noises}
    estimators, spent = dict(draft.estimators), cost_shares(draft)
    confidence = draft.request.confidence
    missed = _missed(draft, noises)
    errors = []
    for output in draft.question.outputs:
        names = sorted(ir.released_names(output.expr) & estimators.keys())
        if not names:
            continue
        parts = {part for name in names for part in estimators[name].parts}
        slopes = slopes_of(output.expr, estimators, noises) if is_announced(output.expr, estimators) else None
        errors.append(
            Expected(
                column=output.name,
                error=None if slopes is None else slopes.radius(noises, float(confidence)),
                rows=None if slopes is None else slopes.rows,
                ranks=_reach(draft, output.expr, of_quantile=True),
                rarer=_reach(draft, output.expr, of_quantile=False),
                confidence=float(confidence),
                share=float(sum(spent.get(part, Fraction(0)) for part in parts)),
                wanted=missed.get(output.name),
            )
        )
    return tuple(errors)


def cost_shares(draft: Draft) -> dict[str, Fraction]:
    """Which part of the cost each measure and each choice takes; they add up to 1."""
    costs = {noise.measure.name: _cost(draft, noise.mechanism.event) for noise in draft.noises}
    costs |= {one.pick.name: _cost(draft, ComposedEvent(one.events)) for one in draft.selections}
    total = sum(costs.values(), Fraction(0))
    return {name: cost / total for name, cost in costs.items()}


def _cost(draft: Draft, event: Event) -> Fraction:
    """What an event costs, in what was offered."""
    charge = charge_of(event)
    cost = charge.rho if draft.request.rho is not None else charge.epsilon
    if cost is None:
        raise AssertionError("what is offered pays for what is done")
    return cost


def _reach(draft: Draft, expr: ir.Expr, *, of_quantile: bool) -> float | None:
    """By how many rows a choice may be off; None if the column isn't one of this kind."""
    estimator = dict(draft.estimators).get(expr.name) if isinstance(expr, ir.Released) else None
    parts = () if estimator is None else estimator.parts
    chosen = [one for one in draft.selections if one.pick.name in parts]
    if not chosen or (chosen[0].pick.fraction is not None) != of_quantile:
        return None
    return chosen[0].reach(draft.request.confidence)


def _missed(draft: Draft, noises: Mapping[str, Noise]) -> dict[str, Fraction]:
    """The widths that the offer doesn't reach, by column."""
    if not draft.request.within:
        return {}
    confidence = draft.request.confidence
    return {one.column: one.width for one in targets(draft, noises) if not one.is_met(noises, confidence)}


def _percent(part: float) -> str:
    """A part of 1 in per cent."""
    return f"{100 * part:.3g} %"
