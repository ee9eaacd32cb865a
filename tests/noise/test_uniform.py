"""Whole numbers, all equally likely: on every tape, in fit, and at the ends of the range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.noise import uniform
from discreet.noise.uniform import draw_uniform
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.tapes import Tape, outcomes


@pytest.mark.parametrize("below", [1, 2, 3, 6, 7, 8, 10, 31])
@pytest.mark.parametrize("width", [3, 5])
def test_every_tape_agrees_with_equal_probabilities(below: int, width: int) -> None:
    """What all tapes of 15 bits decide is at most 1/n for each number, and short of it by what is undecided."""
    decided, undecided = outcomes(lambda source: int(draw_uniform(below, 1, source)[0]), width=width, depth=15 // width)
    assert set(decided) == set(range(below))
    assert sum(decided.values()) + undecided == 1
    assert undecided <= Fraction(below, 2**15)
    assert all(chance <= Fraction(1, below) <= chance + undecided for chance in decided.values())
    if below & (below - 1) == 0:
        assert undecided == 0


def test_numbers_fit_and_a_missing_share_does_not() -> None:
    """Likelihood ratio, false alarm 1e-9: ten numbers fit; a twin in which one is 3 % rarer doesn't, by 200 nats."""
    critical = likelihood_ratio_critical(10, Fraction(1, 10**9))
    drawn = uniform(10, size=2**20)
    assert likelihood_ratio(np.bincount(drawn, minlength=10), np.full(10, 0.1)) <= critical
    rarer = np.where((drawn == 0) & (uniform(100, size=2**20) < 15), 1, drawn)
    assert likelihood_ratio(np.bincount(rarer, minlength=10), np.full(10, 0.1)) > critical


def test_the_ends_of_the_range() -> None:
    """The least and the greatest word give the first and the last number, up to 2^62."""
    for below in (1, 3, 2**40, 2**62):
        assert draw_uniform(below, 2, Tape([0, 2**63 - 1], width=63)).tolist() == [0, below - 1]
    assert type(uniform(2**62)) is int
    assert uniform(5, size=(2, 3)).dtype == np.int64


@pytest.mark.parametrize("below", [0, -1, 2**62 + 1, 1.0, "6", None, True, Fraction(6)], ids=repr)
def test_other_ranges_are_refused(below: Any) -> None:
    """The number of numbers is whole, and from 1 to 2^62."""
    with pytest.raises(InvalidArgument, match="below"):
        uniform(below)
