"""Choices: with what each pick is made, for what it is to cost."""

from __future__ import annotations

from fractions import Fraction

from discreet.mechanisms import Contribution, Gaussian, Laplace, Mode, Quantile
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Mechanism, Pick, Selection, most_cells
from discreet.query.rules.sensitivities import sensitivity_of_cells

AROUND = Fraction(1, 2)
"""Of what a quantile costs, the part that counts the rows around it, by which its interval is known."""


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
