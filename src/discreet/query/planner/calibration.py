"""Calibration: how much noise each measure gets, and how sharp each choice is.

An offer is shared out; or the least offer is found that will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.errors import AccuracyUnreachable
from discreet.mechanisms import Contribution, Gaussian, Laplace, Mode, Quantile
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates import Mechanism, Noise, Pick, Selection, most_cells
from discreet.query.planner.accuracy import MOST, Target, least_offer, shares_for, targets
from discreet.query.planner.allocation import Prices, shares
from discreet.query.planner.draft import Draft
from discreet.query.planner.request import CONFIDENCE
from discreet.query.planner.sensitivities import sensitivity_of_cells

AROUND = Fraction(1, 2)
"""Of what a quantile costs, the part that counts the rows around it, by which its interval is known."""


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
    prices = _prices(draft)
    if not request.within:
        offer = request.rho or request.epsilon or Fraction(0)
        return _with_noise(draft, _amounts(shares(draft, prices), offer))
    wanted = targets(draft, prices.noises)
    parts = shares_for(wanted, prices)

    def is_enough(offer: Fraction) -> bool:
        noises = _noises(draft, _amounts(parts, offer))
        return all(target.is_met(noises, request.confidence) for target in wanted)

    needed = least_offer(is_enough)
    cap = request.rho or request.epsilon
    if needed is None and cap is None:
        raise _unreachable(draft, wanted, _amounts(parts, MOST))
    offer = min(amount for amount in (needed, cap) if amount is not None)
    return replace(_with_noise(draft, _amounts(parts, offer)), needed=needed)


def _prices(draft: Draft) -> Prices:
    """What an offer of 1 buys."""
    return Prices(
        noises=_noises(draft, {measure.name: Fraction(1) for measure in draft.measures}),
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
    """The mechanism that costs so much: ρ if that is offered, ε otherwise."""
    if draft.request.rho is not None:
        return Gaussian.for_rho(sensitivity, amount)
    return Laplace.calibrate(sensitivity, amount)


def _with_noise(draft: Draft, amounts: Mapping[str, Fraction]) -> Draft:
    """The draft with all mechanisms."""
    return replace(
        draft,
        noises=tuple(_noises(draft, amounts).values()),
        selections=tuple(selection_of(draft, pick, amounts[pick.name]) for pick in draft.picks),
    )


def _unreachable(draft: Draft, wanted: tuple[Target, ...], amounts: Mapping[str, Fraction]) -> AccuracyUnreachable:
    """Which columns miss their widths even at the greatest offer, and by how much."""
    noises = _noises(draft, amounts)
    confidence = draft.request.confidence
    missed = "; ".join(
        f"{target.column} reaches ± {target.slopes.radius(noises, float(confidence)):.4g}, "
        f"and ± {float(target.width):.4g} was wanted"
        for target in wanted
        if not target.is_met(noises, confidence)
    )
    symbol = "rho" if draft.request.rho is not None else "epsilon"
    return AccuracyUnreachable(
        f"no {symbol} up to {MOST} brings the error within: {missed}",
        hint=f"give {symbol} beside within to get the best that it reaches",
    )


def selection_of(draft: Draft, pick: Pick, amount: Fraction) -> Selection:
    """The choice that costs so much: ρ if that is offered, ε otherwise.

    A quantile takes half of it. With the other half, the rows in cells around the chosen bin are counted: a bin that
    was released is as good as one that was named in advance, so this is a question like any other, asked after the
    choice (adaptive composition: Dwork et al. 2006, Theorem 1; Bun & Steinke 2016, Lemma 2.3).
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
        mechanism=quantile(pick.fraction, measure.size, contribution, amount * (1 - AROUND)),
        counting=_counting(measure, contribution, amount * AROUND, is_rho=is_rho),
    )


def _counting(measure: ir.Histogram, contribution: Contribution, amount: Fraction, *, is_rho: bool) -> Mechanism:
    """The noise of the rows around a quantile."""
    sensitivity = sensitivity_of_cells(contribution, most_cells(measure.size))
    return Gaussian.for_rho(sensitivity, amount) if is_rho else Laplace.calibrate(sensitivity, amount)
