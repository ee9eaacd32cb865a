"""Apportioning: how the offer for a workload is split over its bundles, so that the worst column errs least.

Within a bundle the offer is shared as in any question. With Laplace noise all its errors fall as 1/ε, with Gaussian
noise as 1/√ρ; so bundles whose worst relative errors are e at the whole offer err alike where their parts of it are in
the ratios of e, or of e².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from discreet.accounting import charge_of, rho_for
from discreet.errors import UnknownColumn, Unsupported
from discreet.privacy import ComposedEvent, Event, ExponentialEvent, LaplaceEvent
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import ROWS, magnitude, slopes_of_aggregate
from discreet.query.plan import Plan, make_plan
from discreet.query.request import CONFIDENCE, Request
from discreet.query.workloads.bundles import Bundle
from discreet.tables import Dataset

_Value = TypeVar("_Value")

_UNITS = 1_000
"""Parts of an offer are whole numbers of a unit, of which the greatest has so many."""

_DIGITS = 4
"""How many digits a factor has."""

_LESS = Fraction(999, 1000)
"""Where a factor turns out too great after rounding, the next to try is this part of it."""


def apportioned(bundles: Sequence[Bundle], request: Request, dataset: Dataset) -> tuple[Plan, ...]:
    """The plan of each bundle.

    With `within`, each gets the least that reaches it; if all of it is more than the ε or ρ given beside it, they get
    less in proportion. Without, and with Laplace noise and a δ, the ε of all may add up to more than was offered:
    to as much as is still (ε, δ)-DP by zCDP, if the account's budget knows a δ.

    Raises:
        QueryError: a bundle can't be bounded, or not at its part.
        UnknownColumn: a weight or a wish for a column that no question has.
    """
    _check_columns(bundles, request)
    requests = [_own(bundle, request) for bundle in bundles]
    if request.within:
        return _reaching(bundles, requests, dataset)
    whole = _planned(bundles, requests, dataset)
    selecting = sum(plan.levels[0].draft.has_private_keys for plan in whole)
    parts = _parts([_worst(plan) ** (1 if request.rho is None else 2) for plan in whole])
    plain = _planned(bundles, _shares(requests, parts, selecting), dataset)
    if request.epsilon is None or request.delta is None or dataset.budget.is_pure:
        return plain
    each = request.delta / (2 * selecting) if selecting else request.delta
    least = [replace(share, delta=each) for share in _shares(requests, parts, selecting)]
    factor = _factor(plain, rho_for(request.epsilon, request.delta / 2 if selecting else request.delta))
    while factor > 1:
        stretched = _planned(bundles, [_times(share, factor) for share in least], dataset)
        if _fits(stretched, request):
            return stretched
        factor *= _LESS
    return plain


def _planned(bundles: Sequence[Bundle], requests: Sequence[Request], dataset: Dataset) -> tuple[Plan, ...]:
    """The plans at these offers."""
    return tuple(
        make_plan(bundle.question, request, dataset) for bundle, request in zip(bundles, requests, strict=True)
    )


def _reaching(bundles: Sequence[Bundle], requests: Sequence[Request], dataset: Dataset) -> tuple[Plan, ...]:
    """The plans that reach what is wished, or miss it by one factor at the most."""
    plans = _planned(bundles, requests, dataset)
    cap = requests[0].rho or requests[0].epsilon
    needed = [_needed(plan) for plan in plans]
    total = sum(needed, Fraction(0))
    if cap is None or total <= cap:
        return plans
    return _planned(
        bundles, [_times(each, amount / total) for each, amount in zip(requests, needed, strict=True)], dataset
    )


def _needed(plan: Plan) -> Fraction:
    """What a bundle costs."""
    charge = charge_of(plan.event)
    return (charge.rho if plan.request.rho is not None else charge.epsilon) or Fraction(0)


def _own(bundle: Bundle, request: Request) -> Request:
    """The request in the names of a bundle's columns."""
    within = tuple(_named(bundle, request.within))
    if request.within and not within:
        raise Unsupported("within names no column of some question", hint='say what the others need: {"*": …}')
    return replace(request, within=within, weights=tuple(_named(bundle, request.weights)))


def _named(bundle: Bundle, values: Sequence[tuple[str, _Value]]) -> Iterator[tuple[str, _Value]]:
    """What is said of columns, of those that a bundle has."""
    for name, value in values:
        if name == "*":
            yield name, value
        yield from ((own, value) for (_, column), own in bundle.columns.items() if column == name)


def _check_columns(bundles: Sequence[Bundle], request: Request) -> None:
    """Refuse names that no question has."""
    known = {column for bundle in bundles for _, column in bundle.columns}
    for name in (*dict(request.within), *dict(request.weights)):
        if name != "*" and name not in known:
            raise UnknownColumn(f"no question has a column {name!r}", hint=f"they have {', '.join(sorted(known))}")


def _worst(plan: Plan) -> float:
    """The worst relative error of a bundle's columns, each times its weight."""
    return max((error for level in plan.levels for error in _errors(level.draft)), default=1.0)


def _errors(draft: Draft) -> Iterator[float]:
    """The relative error of each aggregate at the reference group, times its weight."""
    weights, laws = dict(draft.request.weights), {noise.measure.name: noise for noise in draft.noises}
    estimators = dict(draft.estimators)
    ranks = {selection.pick.name: selection.reach(CONFIDENCE) / ROWS for selection in draft.selections}
    for output in draft.question.outputs:
        weight = float(weights.get(output.name, weights.get("*", 1)))
        for name in ir.released_names(output.expr) & estimators.keys():
            estimator = estimators[name]
            slopes = slopes_of_aggregate(estimator, laws)
            if slopes is not None:
                yield weight * slopes.radius(laws, float(CONFIDENCE)) / magnitude(estimator, laws)
            yield from (weight * ranks[part] for part in estimator.parts if part in ranks)


def _parts(sizes: Sequence[float]) -> list[Fraction]:
    """Parts of 1 in these ratios, to three digits."""
    units = [max(1, round(_UNITS * size / max(sizes))) for size in sizes]
    return [Fraction(unit, sum(units)) for unit in units]


def _shares(requests: Sequence[Request], parts: Sequence[Fraction], selecting: int) -> list[Request]:
    """The parts of the offer; δ in equal parts for those that select groups."""
    shared = [_times(request, part) for request, part in zip(requests, parts, strict=True)]
    return [replace(each, delta=None if each.delta is None else each.delta / max(selecting, 1)) for each in shared]


def _times(request: Request, factor: Fraction) -> Request:
    """The offer times a number; δ stays."""
    return replace(
        request,
        epsilon=None if request.epsilon is None else request.epsilon * factor,
        rho=None if request.rho is None else request.rho * factor,
    )


def _factor(plans: Sequence[Plan], most: Fraction) -> Fraction:
    """How much more each may cost in ε until all of it costs so much in ρ; rounded down. 1 if it is more already."""
    event = ComposedEvent(tuple(plan.event for plan in plans))
    low, high = 1.0, 2.0**10
    while high > low * (1 + 10.0**-_DIGITS):
        middle = (low * high) ** 0.5
        rho = charge_of(_stronger(event, Fraction(middle))).rho
        low, high = (middle, high) if rho is not None and rho <= most else (low, middle)
    return Fraction(int(low * 10 ** (_DIGITS - 1)), 10 ** (_DIGITS - 1))


def _stronger(event: Event, factor: Fraction) -> Event:
    """The event if ε were so many times as much."""
    match event:
        case LaplaceEvent(scale=scale):
            return replace(event, scale=scale / factor)
        case ExponentialEvent(epsilon=epsilon, each=each):
            return replace(event, epsilon=epsilon * factor, each=None if each is None else each * factor)
        case ComposedEvent(events=events):
            return ComposedEvent(tuple(_stronger(one, factor) for one in events))
        case _:
            return event


def _fits(plans: Sequence[Plan], request: Request) -> bool:
    """Whether all of it is (ε, δ)-DP as offered."""
    charge = charge_of(ComposedEvent(tuple(plan.event for plan in plans)))
    if request.epsilon is None or request.delta is None or charge.rho is None:
        return False
    left = request.delta - charge.delta
    return left > 0 and charge.rho <= rho_for(request.epsilon, left)
