"""Coins with odds of e^x to a rational: on every tape, at the step to 600 bits, and in fit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from discreet.errors import InvalidArgument
from discreet.noise import bernoulli_odds
from discreet.noise.bernoulli import draw_bernoulli_odds
from discreet.stats import clopper_pearson
from support.distributions import bounds, exp
from support.tapes import Tape, outcomes, words_of

CASES = [
    (Fraction(1, 1000), Fraction(1)),
    (Fraction(1), Fraction(1)),
    (Fraction(2), Fraction(9)),
    (Fraction(9), Fraction(1, 3)),
]


def chance(x: Fraction, against: Fraction) -> Any:
    """e^x/(e^x + against)."""
    return exp(x) / (exp(x) + exp(Fraction(0)) * against.numerator / against.denominator)


@pytest.mark.parametrize(("x", "against"), CASES, ids=str)
@pytest.mark.parametrize("width", [1, 7])
def test_every_tape_agrees_with_the_odds(x: Fraction, against: Fraction, width: int) -> None:
    """Of all tapes of 35 bits one remains undecided, and the others agree; with an x 3 % larger they don't."""
    decided, undecided = outcomes(
        lambda source: int(draw_bernoulli_odds(x, against, 1, source)[0]), width=width, depth=35 // width
    )
    low, high = bounds(lambda: chance(x, against))
    assert undecided == Fraction(1, 2**35)
    assert decided[1] <= high
    assert low <= decided[1] + undecided
    assert not decided[1] <= bounds(lambda: chance(x * Fraction(103, 100), against))[1] <= decided[1] + undecided


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(5), Fraction(40), Fraction(300)], ids=str)
def test_the_coin_changes_exactly_at_its_chance(x: Fraction) -> None:
    """Uniform numbers just below and above the chance, to 1,260 bits, give True and False; also where it's nearly 1."""
    bits = 1260
    with ctx.workprec(2000):
        cell = int((chance(x, Fraction(7)) * arb(2) ** bits).floor().unique_fmpz())
    tosses = [
        bool(draw_bernoulli_odds(x, Fraction(7), 1, Tape(words_of(cell + offset, bits=bits, width=63), width=63))[0])
        for offset in (-1, 1)
    ]
    assert tosses == [True, False]


def test_tosses_fit_and_other_odds_do_not() -> None:
    """Clopper–Pearson at 1 − 1e-9 around 2^21 tosses holds the chance, and not that of an x 3 % smaller."""
    heads = [int(bernoulli_odds(x, 2, size=2**21).sum()) for x in (Fraction(3), Fraction(291, 100))]
    right, wrong = (clopper_pearson(count, 2**21, 1 - 1e-9) for count in heads)
    claimed = float(1 / (1 + 2 * np.exp(-3)))
    assert right[0] <= claimed <= right[1]
    assert not wrong[0] <= claimed <= wrong[1]


@pytest.mark.parametrize(("x", "against"), [(0, 1), (-1, 1), (1, 0), (1, -1), ("x", 1), (None, 1)], ids=str)
def test_other_odds_are_refused(x: Any, against: Any) -> None:
    """Both numbers are above 0."""
    with pytest.raises(InvalidArgument, match=" must "):
        bernoulli_odds(x, against)
