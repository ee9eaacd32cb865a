"""Packed coins: every lane on every tape, in fit, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.noise.bernoulli import draw_packed, packed_bernoulli
from discreet.stats import clopper_pearson
from support.tapes import Tape, outcomes

BIASES = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(3, 8), Fraction(551, 2048), Fraction(65533, 65536)]


@pytest.mark.parametrize("p", BIASES, ids=str)
def test_a_lane_has_its_bias_over_all_tapes(p: Fraction) -> None:
    """All L fair bits a coin is made of, in all 2^L combinations at once: exactly p·2^L of them come up."""
    steps = p.denominator.bit_length() - 1
    combinations = np.arange(2**steps)
    tape = Tape((255 * (combinations[None, :] >> np.arange(steps)[:, None] & 1)).reshape(-1), width=8)
    coins = draw_packed(p, 2**steps, tape)
    assert tape.left == 0
    assert set(coins.tolist()) <= {0, 255}
    assert np.count_nonzero(coins) == p * 2**steps


def test_lanes_are_independent() -> None:
    """All tapes of two words of 8 bits: each byte of coins with p = 1/4 has the probability of its 8 coins."""
    decided, undecided = outcomes(lambda source: int(draw_packed(Fraction(1, 4), 1, source)[0]), width=8, depth=2)
    assert undecided == 0
    for octet in range(256):
        ups = octet.bit_count()
        assert decided[octet] == Fraction(1, 4) ** ups * Fraction(3, 4) ** (8 - ups)


def test_coins_have_their_bias_and_a_wrong_one_is_seen() -> None:
    """Clopper–Pearson at 1 − 4e-10 over 2^23 coins: holds the bias, and not one that is 3 % off, 40 deviations away.

    So does the bias of two at once: both share a false alarm of 1e-9.
    """
    p = Fraction(551, 2048)
    coins = np.unpackbits(packed_bernoulli(p, 2**20))
    low, high = clopper_pearson(int(coins.sum()), coins.size, 1 - 4e-10)
    assert low <= p <= high
    assert not low <= p * Fraction(97, 100) <= high
    both = np.unpackbits(packed_bernoulli(p, 2**20)) & coins
    low, high = clopper_pearson(int(both.sum()), coins.size, 1 - 4e-10)
    assert low <= p**2 <= high


@pytest.mark.parametrize("p", [-1, 2, "1/3", Fraction(1, 2**64)], ids=str)
def test_other_biases_are_refused(p: Any) -> None:
    """A bias is a multiple of 2^-63 in [0, 1]."""
    with pytest.raises(InvalidArgument, match="multiple"):
        packed_bernoulli(p, 1)
