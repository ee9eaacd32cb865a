"""Calibration: how far one unit moves each measure, how much noise each gets for it, and of which kind.

An offer is shared out; or the least offer is found that will do. Sensitivities are derived case by case, and checked by
brute force in the tests.

What a unit adds to a measure, group by group, is a vector. `Sum` promises where its entries lie:

*k groups, m rows each.* At most k entries differ from 0, each within [m·lo⁻, m·hi⁺], where lo⁻ = min(lo, 0) and
hi⁺ = max(hi, 0): a unit may have no row at all, so 0 always belongs to the range. Rounding towards zero stays within.

*r rows in all.* The vector is r·(a convex combination of 0 and of vectors with one entry, lo⁻ or hi⁺), and rounding
towards zero stays within that hull. Beside a limit on groups it may have entries in fewer groups, so nothing is more.
`Units` has entries of 0 or 1, in at most as many groups as the limit on groups says: k groups of one row each, with
lo = 0 and hi = 1, whatever the limit on rows.

Write M = max(|lo⁻|, hi⁺) and W = hi⁺ − lo⁻, both times m or r; so M ≤ W ≤ 2M.

Under *add-remove* the answers differ by one such vector: ℓ∞ = M, and ℓ1 = kM, ℓ2² = kM² by groups; ℓ1 = ℓ2 = M by
rows, whatever the number of groups.

Under *substitution* they differ by u − v for two such vectors. One group moves by at most W. By groups, t shared
groups and 2(k − t) others give ℓ1 ≤ tW + 2(k − t)M and ℓ2² ≤ tW² + 2(k − t)M², both linear in t, so greatest at an end
of its range: t = k, or the least t for which the answer has groups enough, max(0, 2k − groups). By rows, a convex
function of two points of the hull is greatest at its corners: in one group W, in two groups 2M in ℓ1 and √2·M in ℓ2; so
ℓ1 = 2M and ℓ2² = max(W², 2M²). With no keys there is one group, and all norms are W. Texts give hi − lo for that case,
which equals W only if 0 lies between the bounds: when the other row is dropped by a filter or holds NULL, the sum moves
by all of hi.

*Vectors.* Of a `Vector` a unit adds numbers that aren't negative, over all sums at most m·most in each of k groups, or
r·most in all, since weighing down keeps proportions and rounds towards zero; write M for m·most or r·most, and k = 1
for r rows. Under *add-remove* the answers differ by one such vector: ℓ∞ = M, ℓ1 = kM, and ℓ2² ≤ kM², as a group's
squares add up to the square of its sum at most. Under *substitution* they differ by u − v for two of them. No entry
moves by more than M, and ℓ1 = 2kM. As neither has negative entries, |u − v|² ≤ |u|² + |v|², so ℓ2² = 2kM². That holds
in a single group as well: what was in one sum may then be in another.

*Different values.* A unit keeps at most m values in each of k groups, or r pairs of group and value in all, by a hash
of its own rows; a value counts 1, however many units keep it. Take one unit away: each of its pairs takes off 1 or, if
another unit keeps it too, 0. So a group moves by u with 0 ≤ u ≤ m, in k groups, or by u with 0 ≤ Σu ≤ r: the vectors
of a `Sum` with lo = 0 and hi = 1. Substitution takes away one such vector and adds another, so all of the above holds.

*Histograms* are chosen from, and what that costs is proved with the mechanisms; they take what a unit weighs.

*Laplace or Gaussian noise.* An offer of ε alone is for Laplace noise and one of ρ for Gaussian noise. With ε and δ both
kinds can keep what is offered, and which one errs less depends on the question: Laplace noise grows with ℓ1 and with
the number of columns, Gaussian noise with ℓ2 and with the root of that number. So both plans are made, and the one is
taken of which the worst relative error is less; if they are equal, Laplace. Only public facts are looked at: the
question, what is declared, and the budgets, but not what was spent of them.

*What Gaussian noise may use.* Where groups are selected, half of δ is for that, and half of it is c below; else all of
δ is c. A release that is (ε, c)-DP but for an event of probability δ/2 is (ε, δ)-DP. A plan is fixed before it is
answered, so it may be proved by either of two bounds:

- every ρ-zCDP release is (ε, c)-DP, for the ρ of `rho_for`;
- so is every μ-GDP release, for the μ of `mu_for`. This one allows some 15 % more, as long as all is Gaussian noise:
  μ² is 2ρ then, but for what the discreteness adds, which is in `gaussian_loss_of`. It isn't used where a profile is
  asked first: the noise that is added then follows from an answer, and only its ρ is known.

No account that the question is asked of holds more than the ρ of its own budget, so an offer is cut at that.

*What it is charged.* The release has a ρ and no finite ε. So an account with a budget in (ε, δ) counts it in zCDP, and
can't be counted by plain sums from then on. Who wants plain sums offers ε alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import prod
from typing import Protocol, TypeVar

from discreet.accounting import Charge, filter_for, gaussian_loss_of, mu_for, rho_for
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.mechanisms import Contribution, Gaussian, Laplace, Mode, Quantile, QuantileInterval
from discreet.mechanisms.parameters import LEAST
from discreet.privacy import (
    ADD_REMOVE,
    Adjacency,
    ApproxDP,
    Budget,
    ComposedEvent,
    Event,
    Limits,
    SelectionEvent,
    Sensitivity,
)
from discreet.query import ir
from discreet.query.estimates import Mechanism, Noise, Pick, QuantileEstimator, Selection, parts_with_intervals
from discreet.query.planner.accuracy import MOST, least_offer, shares_for, targets, unreachable, worst_error
from discreet.query.planner.allocation import Prices, check_columns, shares
from discreet.query.planner.draft import Draft, laws_of
from discreet.query.planner.request import CONFIDENCE, Request
from discreet.tables import Dataset

_COUNTABLE_GROUPS = 2**48
"""Bounds the number of groups where nothing smaller does: no table has more rows than this."""

ABOUT = Fraction(3, 5)
"""Of what a quantile costs, the part that chooses the interval about it."""

_DIGITS = Context(prec=5, rounding=ROUND_FLOOR)
"""A ρ that is made of an offer has five decimal digits, so that costs can be read."""

_ROOM = Fraction(9995, 10_000)
"""How much of what the second bound allows is tried: what discreteness adds grows a little with ρ."""


# ── Sensitivities ─────────────────────────────────────────────────────────────────────────────────────────────────────


def sensitivities(draft: Draft) -> Draft:
    """Derive the sensitivity of each measure, and what a unit contributes to each histogram, in steps of its grid."""
    groups = _number_of_groups(draft)
    return replace(
        draft,
        sensitivities=tuple(
            measure_sensitivity(measure, draft.limits, draft.adjacency, groups=groups) for measure in draft.measures
        ),
        contributions=tuple(
            contribution(histogram, draft.limits, draft.adjacency, groups=groups) for histogram in draft.histograms
        ),
    )


def measure_sensitivity(
    measure: ir.Measure | ir.Vector, limits: Limits, adjacency: Adjacency, *, groups: int
) -> Sensitivity:
    """The sensitivity of one measure over an answer of `groups` groups; 1 means that there are no keys.

    A measure that can't move is given sensitivity 1 all the same: noise is never left out.
    """
    weight = _weight(measure, limits)
    if isinstance(measure, ir.Vector):
        kept = 1 if limits.rows is not None else min(limits.groups or groups, groups)
        return _of_vector(weight * measure.most, kept, groups * len(measure.values), adjacency)
    lo, hi = (measure.lo, measure.hi) if isinstance(measure, ir.Sum) else (0, 1)
    low, high = weight * min(lo, 0), weight * max(hi, 0)
    largest, width = max(-low, high, 1), max(high - low, 1)
    if groups == 1:
        return Sensitivity.scalar(largest if adjacency is ADD_REMOVE else width)
    if limits.rows is not None and not isinstance(measure, ir.Units):
        return _by_rows(largest, width, groups, adjacency)
    if limits.groups is None:
        raise AssertionError("units are counted in groups under a limit on groups")
    return _by_groups(largest, width, min(limits.groups, groups), groups, adjacency)


def contribution(histogram: ir.Histogram, limits: Limits, adjacency: Adjacency, *, groups: int) -> Contribution:
    """What one unit weighs in a histogram over an answer of `groups` groups; 1 means that there are no keys."""
    each = _weight(histogram, limits) * 2**-histogram.grid
    kept = 1 if limits.groups is None or limits.rows is not None else min(limits.groups, groups)
    known = None if groups == _COUNTABLE_GROUPS else groups
    return Contribution(each=each, total=kept * each, groups=known, adjacency=adjacency)


def _weight(measure: ir.Measure | ir.Vector, limits: Limits) -> int:
    """How many rows' worth a unit may add to one group."""
    if isinstance(measure, ir.Units):
        return 1
    weight = limits.rows if limits.rows is not None else limits.rows_per_group
    if weight is None:
        raise AssertionError("limits have one shape or the other")
    return weight


def _by_rows(largest: int, width: int, groups: int, adjacency: Adjacency) -> Sensitivity:
    """The norms under a limit on rows over all groups."""
    if adjacency is ADD_REMOVE:
        return Sensitivity(l0=groups, linf=largest, l1=largest, l2_squared=Fraction(largest**2))
    return Sensitivity(l0=groups, linf=width, l1=2 * largest, l2_squared=Fraction(max(width**2, 2 * largest**2)))


def _by_groups(largest: int, width: int, kept: int, groups: int, adjacency: Adjacency) -> Sensitivity:
    """The norms under a limit on groups and on rows in each."""
    if adjacency is ADD_REMOVE:
        return Sensitivity(l0=kept, linf=largest, l1=kept * largest, l2_squared=Fraction(kept * largest**2))
    shared = max(0, 2 * kept - groups)
    apart = kept - shared
    return Sensitivity(
        l0=min(2 * kept, groups),
        linf=width,
        l1=shared * width + 2 * apart * largest,
        l2_squared=Fraction(max(kept * width**2, shared * width**2 + 2 * apart * largest**2)),
    )


def _of_vector(each: int, kept: int, numbers: int, adjacency: Adjacency) -> Sensitivity:
    """The norms of a vector, of which a unit's part has at most so many steps in so many groups."""
    both = 1 if adjacency is ADD_REMOVE else 2
    total = both * kept * each
    return Sensitivity(l0=numbers, linf=each, l1=total, l2_squared=Fraction(total * each))


def _number_of_groups(draft: Draft) -> int:
    """How many groups the answer can have at the most."""
    if draft.has_private_keys:
        return _COUNTABLE_GROUPS
    return prod(len(key.values) for key in draft.keys if key.values is not None)


# ── Noise ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def calibrate(draft: Draft) -> Draft:
    """Calibrate one mechanism per measure, and one per choice.

    The shares of ε that they get add up to it (Dwork et al. 2006, Theorem 1 on sequential composition); so do those of
    ρ (Bun & Steinke 2016, Lemma 1.7). They are chosen to make the worst relative error of the columns least: see
    `planner.allocation`. Given `within`, the offer is the least that leaves each column within its width, to a
    thousandth; if that is more than the ε or ρ given beside it, it is that ε or ρ, shared so that all widths are missed
    by one factor at the most.

    Raises:
        AccuracyUnreachable: no ε or ρ up to 2¹⁰ is enough for `within`.
        UnknownColumn: `within` or `weights` names a column that the answer doesn't have.
        Unsupported: a width that isn't known, or a column whose error isn't known before the answer.
    """
    request = draft.request
    if not draft.measures and not draft.picks:
        check_columns(draft, dict((*request.within, *request.weights)), "an accuracy or a weight")
        return draft
    prices = _prices(draft)
    if not request.within:
        offer = request.rho or request.epsilon or Fraction(0)
        return _with_noise(draft, _amounts(shares(draft, prices), offer))
    wanted = targets(draft, prices.laws)
    parts = shares_for(wanted, prices)

    def is_enough(offer: Fraction) -> bool:
        laws = laws_of(_noises(draft, _amounts(parts, offer)).values())
        return all(target.is_met(laws, request.confidence) for target in wanted)

    needed = least_offer(is_enough)
    cap = request.rho or request.epsilon
    if needed is None and cap is None:
        raise unreachable(draft.request, wanted, laws_of(_noises(draft, _amounts(parts, MOST)).values()))
    offer = min(amount for amount in (needed, cap) if amount is not None)
    return replace(_with_noise(draft, _amounts(parts, offer)), needed=needed)


def _prices(draft: Draft) -> Prices:
    """What an offer of 1 buys."""
    return Prices(
        measures=_noises(draft, {measure.name: Fraction(1) for measure in draft.measures}),
        ranks={pick.name: selection_of(draft, pick, Fraction(1)).reach(CONFIDENCE) for pick in draft.picks},
        is_gaussian=draft.request.rho is not None,
    )


def _amounts(parts: Mapping[str, Fraction], offer: Fraction) -> dict[str, Fraction]:
    """What each measure and choice gets of an offer."""
    return {name: part * offer for name, part in parts.items()}


def _noises(draft: Draft, amounts: Mapping[str, Fraction]) -> dict[str, Noise]:
    """Each measure with the mechanism that its amount buys."""
    return {
        measure.name: Noise(measure=measure, mechanism=_mechanism(draft, sensitivity, amounts[measure.name]))
        for measure, sensitivity in zip(draft.measures, draft.sensitivities, strict=True)
    }


def _mechanism(draft: Draft, sensitivity: Sensitivity, amount: Fraction) -> Mechanism:
    """The mechanism that costs so much: ρ if that is offered, ε otherwise.

    The least noise there is costs less than a larger amount, and is 0 but for one draw in e^1024: more buys nothing.
    """
    if draft.request.rho is not None:
        return Gaussian.for_rho(sensitivity, min(amount, sensitivity.l2_squared / (2 * LEAST**2)))
    return Laplace.calibrate(sensitivity, min(amount, sensitivity.l1 / LEAST))


def _with_noise(draft: Draft, amounts: Mapping[str, Fraction]) -> Draft:
    """The draft with all mechanisms."""
    selections = {pick.name: selection_of(draft, pick, amounts[pick.name]) for pick in draft.picks}
    return replace(
        draft,
        noises=tuple(_noises(draft, amounts).values()),
        selections=tuple(selections.values()),
        estimators=tuple(
            (name, one.chosen_by(selections[one.pick.name]) if isinstance(one, QuantileEstimator) else one)
            for name, one in draft.estimators
        ),
    )


def selection_of(draft: Draft, pick: Pick, amount: Fraction) -> Selection:
    """The choice that costs so much: ρ if that is offered, ε otherwise.

    A quantile takes two fifths of it. With the rest, an interval about the chosen bin is chosen: a bin that was
    released is as good as one that was named in advance, so this is a choice like any other, made after the first
    (adaptive composition: Dwork et al. 2006, Theorem 1; Bun & Steinke 2016, Lemma 2.3).
    """
    measure = next(histogram for histogram in draft.histograms if histogram.name == pick.histogram)
    contribution = draft.contributions[draft.histograms.index(measure)]
    is_rho = draft.request.rho is not None
    if pick.fraction is None:
        fullest = Mode.for_rho if is_rho else Mode.calibrate
        mechanism = fullest(pick.most, measure.size, contribution, amount)
        return Selection(pick=pick, measure=measure, mechanism=mechanism)
    quantile = Quantile.for_rho if is_rho else Quantile.calibrate
    return Selection(
        pick=pick,
        measure=measure,
        mechanism=quantile(pick.fraction, measure.size, contribution, amount * (1 - ABOUT)),
        about=_interval_about(draft, pick, measure, amount * ABOUT),
    )


def _interval_about(draft: Draft, pick: Pick, measure: ir.Histogram, amount: Fraction) -> QuantileInterval:
    """What chooses the interval about a quantile, at the confidence that the answer needs of it."""
    chooses = QuantileInterval.for_rho if draft.request.rho is not None else QuantileInterval.calibrate
    contribution = draft.contributions[draft.histograms.index(measure)]
    confidence, row = _confidence_in(draft, pick), int(Fraction(2) ** -measure.grid)
    return chooses(pick.fraction or 0, measure.size, contribution, amount, confidence=confidence, row=row)


def _confidence_in(draft: Draft, pick: Pick) -> Fraction:
    """The greatest confidence at which some output needs the interval of a choice; that of all answers at the least.

    Where an output is put together of several parts, each has its share of the error.
    """
    estimators, found = dict(draft.estimators), {CONFIDENCE, draft.request.confidence}
    wanted = [(output.expr, draft.request.confidence) for output in draft.question.outputs]
    wanted += [(margin.of, margin.confidence) for margin in ir.margins_of(draft.question)]
    for expr, confidence in wanted:
        parts = dict(parts_with_intervals(expr, estimators)).values()
        if any(pick.name in part.parts for part in parts):
            found.add(1 - (1 - confidence) / len(parts))
    return max(found)


# ── Laplace or Gaussian ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseChoice:
    """Which noise an offer of ε and δ got, and why.

    Args:
        offer: ε, δ and the other terms, as they were said.
        rho: what Gaussian noise was given of ρ; None if Laplace noise was taken.
        ratio: the worst error with Gaussian noise, divided by that with Laplace noise.
    """

    offer: Request
    rho: Fraction | None
    ratio: float

    @property
    def proved(self) -> ApproxDP | None:
        """What Gaussian noise was calibrated to, and is proved to keep; None if Laplace noise was taken."""
        if self.rho is None or self.offer.epsilon is None or self.offer.delta is None:
            return None
        return ApproxDP(self.offer.epsilon, self.offer.delta)

    def __str__(self) -> str:
        if self.rho is None:
            return f"Laplace: at this ε and δ the worst error of Gaussian noise would be {self.ratio:.3g} times as much"
        return (
            f"Gaussian: at this ε and δ its worst error is {self.ratio:.3g} times that of Laplace noise; the account "
            f"is charged ρ = {float(self.rho):.4g}, and no finite ε"
        )


class Planned(Protocol):
    """A plan, or a workload."""

    @property
    def request(self) -> Request:
        """What was offered."""

    @property
    def event(self) -> Event:
        """What will be done to the data."""

    @property
    def drafts(self) -> Sequence[Draft]:
        """What the rules decided."""

    @property
    def is_free(self) -> bool:
        """Whether public facts alone answer it, so that there is no noise to choose."""


_Planned = TypeVar("_Planned", bound=Planned)


def choose_noise(
    laplace: _Planned, again: Callable[[Request], _Planned], dataset: Dataset
) -> tuple[_Planned, NoiseChoice | None]:
    """What was planned for an offer of ε and δ, with the noise that errs less; None beside it if there is no choice.

    Args:
        laplace: as it is planned for what was offered.
        again: plans the same for another request.
        dataset: with the budgets.
    """
    if laplace.is_free:
        return laplace, None
    try:
        gaussian = _gaussian(laplace, again, dataset)
    except InvalidArgument:  # no Gaussian noise is so large, or so small
        gaussian = None
    if gaussian is None:
        return laplace, None
    plain, other = worst_error(laplace.drafts), worst_error(gaussian.drafts)
    if other < plain:
        return gaussian, NoiseChoice(offer=laplace.request, rho=gaussian.request.rho, ratio=other / plain)
    return laplace, NoiseChoice(offer=laplace.request, rho=None, ratio=other / plain if plain else 1.0)


def _gaussian(laplace: _Planned, again: Callable[[Request], _Planned], dataset: Dataset) -> _Planned | None:
    """The same with the least Gaussian noise that keeps ε and δ; None where that isn't asked for, or can't be paid.

    Accuracies that are asked for have no choice: they are reached at the least ε.
    """
    offer = laplace.request
    budgets = _budgets(offer, dataset)
    if offer.epsilon is None or offer.delta is None or offer.within or not budgets:
        return None
    if any(budget.is_pure or offer.epsilon > (budget.epsilon or offer.epsilon) for budget in budgets):
        return None  # it would be refused, or pay for more than Laplace noise can be had for
    selects = any(draft.has_private_keys for draft in laplace.drafts)
    converted = offer.delta / 2 if selects else offer.delta
    left = [filter_for(budget).remaining(Charge.zero()) for budget in budgets]
    if selects and any(each.delta < converted for each in left):
        return None
    most = min(each.rho for each in left)

    def at(rho: Fraction) -> _Planned:
        short = Fraction(_DIGITS.divide(Decimal(rho.numerator), Decimal(rho.denominator)))
        return again(replace(offer, epsilon=None, rho=short, delta=converted if selects else None))

    concentrated = at(min(rho_for(offer.epsilon, converted), most))
    rho, mu = concentrated.request.rho, mu_for(offer.epsilon, converted)
    squared = _mu_squared(concentrated.event)
    if offer.takes_profile or offer.unknown_bounds or rho is None or squared is None or mu**2 * _ROOM <= squared:
        return concentrated
    found = at(min(rho * mu**2 / squared * _ROOM, most))
    tight = _mu_squared(found.event)
    return found if tight is not None and tight <= mu**2 else concentrated


def _budgets(offer: Request, dataset: Dataset) -> list[Budget]:
    """Those that an answer is paid from; none if whoever asks has no share."""
    if not dataset.analysts:
        return [dataset.budget]
    share = None if offer.analyst is None else dataset.analysts.get(offer.analyst)
    return [] if share is None else [dataset.budget, share]


def _mu_squared(event: Event) -> Fraction | None:
    """The μ² of an event, but for its selections; None if no μ of it is proved."""
    try:
        return gaussian_loss_of(ComposedEvent(tuple(_unselected(event)))).mu ** 2
    except (InvalidArgument, LossNotAccepted):
        return None


def _unselected(event: Event) -> Iterator[Event]:
    """The parts of an event that aren't selections of groups, whose δ is counted apart."""
    if isinstance(event, ComposedEvent):
        for part in event.events:
            yield from _unselected(part)
    elif not isinstance(event, SelectionEvent):
        yield event
