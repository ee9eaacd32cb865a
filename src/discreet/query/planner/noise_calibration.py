"""Calibration: an offer is shared out, or the least offer is found that will do; and how much noise each part buys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.mechanisms import Gaussian, Laplace, Mode, Quantile
from discreet.mechanisms.parameters import LEAST
from discreet.privacy import (
    Sensitivity,
)
from discreet.query import ir
from discreet.query.estimates import (
    Mechanism,
    Noise,
    Pick,
    QuantileEstimator,
    Selection,
    noisy_ranks,
    parts_with_intervals,
)
from discreet.query.planner.accuracy import MOST, least_offer, shares_for, targets, unreachable
from discreet.query.planner.allocation import Prices, check_columns, shares
from discreet.query.planner.draft import Draft, laws_of
from discreet.query.planner.request import CONFIDENCE


def calibrate(draft: Draft) -> Draft:
    """Calibrate one mechanism per measure, and one per choice.

    The shares of ε that they get add up to it (Dwork et al. 2006, Theorem 1 on sequential composition); so do those of
    ρ (Bun & Steinke 2016, Lemma 1.7). They are chosen to make the worst relative error of the columns least: see
    `planner.allocation`. Given `within`, the offer is the least that leaves each column within its width, to a
    thousandth; if that is more than the ε or ρ given beside it, it is that ε or ρ, shared so that all widths are missed
    by at most one factor.

    Raises:
        AccuracyUnreachable: no ε or ρ up to 2¹⁰ is enough for `within`.
        UnknownColumn: `within` or `weights` names a column that the answer doesn't have.
        Unsupported: a width that isn't known, or a column whose error isn't known before the answer.
    """
    request = draft.request
    if not draft.measures and not draft.picks:
        check_columns(draft, dict((*request.within, *request.weights)), "an accuracy or a weight")
        return draft
    if not request.within:
        return paid(draft, parts_of(draft), request.rho or request.epsilon or Fraction(0))
    prices = _prices(draft)
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
    return replace(paid(draft, parts, offer), needed=needed)


def parts_of(draft: Draft) -> dict[str, Fraction]:
    """The part of an offer that each measure and choice of a draft gets."""
    prices = _prices(draft)
    if not draft.request.within:
        return shares(draft, prices)
    return shares_for(targets(draft, prices.laws), prices)


def paid(draft: Draft, parts: Mapping[str, Fraction], offer: Fraction) -> Draft:
    """The draft with the noise that an offer of ε or ρ buys, in these parts."""
    return _with_noise(draft, _amounts(parts, offer))


def _prices(draft: Draft) -> Prices:
    """The noise that an offer of 1 buys."""
    return Prices(
        measures=_noises(draft, {measure.name: Fraction(1) for measure in draft.measures}),
        ranks={pick.name: selection_of(draft, pick, Fraction(1)).reach(CONFIDENCE) for pick in draft.picks},
        is_gaussian=draft.request.rho is not None,
    )


def _amounts(parts: Mapping[str, Fraction], offer: Fraction) -> dict[str, Fraction]:
    """The amount of an offer that each measure and choice gets."""
    return {name: part * offer for name, part in parts.items()}


def _noises(draft: Draft, amounts: Mapping[str, Fraction]) -> dict[str, Noise]:
    """Each measure with the mechanism that its amount buys."""
    return {
        measure.name: Noise(measure=measure, mechanism=_mechanism(draft, sensitivity, amounts[measure.name]))
        for measure, sensitivity in zip(draft.measures, draft.sensitivities, strict=True)
    }


def _mechanism(draft: Draft, sensitivity: Sensitivity, amount: Fraction) -> Mechanism:
    """The mechanism that costs this amount: of ρ if that is offered, ε otherwise.

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
    """The choice with this cost: ρ if that is offered, ε otherwise."""
    measure = next(histogram for histogram in draft.histograms if histogram.name == pick.histogram)
    contribution = draft.contributions[draft.histograms.index(measure)]
    is_rho = draft.request.rho is not None
    confidence, row = _confidence_in(draft, pick), int(Fraction(2) ** -measure.grid)
    if pick.fractions:
        ranks = noisy_ranks(
            pick.fractions,
            measure.size,
            contribution,
            amount,
            is_gaussian=is_rho,
            confidence=confidence,
            row=row,
        )
        return Selection(pick=pick, measure=measure, mechanism=ranks)
    if pick.fraction is None:
        fullest = Mode.for_rho if is_rho else Mode.calibrate
        return Selection(pick=pick, measure=measure, mechanism=fullest(pick.most, measure.size, contribution, amount))
    quantile = Quantile.for_rho if is_rho else Quantile.calibrate
    mechanism = quantile(pick.fraction, measure.size, contribution, amount, confidence=confidence, row=row)
    return Selection(pick=pick, measure=measure, mechanism=mechanism)


def _confidence_in(draft: Draft, pick: Pick) -> Fraction:
    """The greatest confidence at which some output needs the interval of a choice; at least that of all answers.

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
