"""Relations between draws on one tape: exact consequences of the formulas, checked on fresh words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.entropy import Keystream
from discreet.noise import laplace
from discreet.noise.bernoulli import draw_bernoulli_exp
from discreet.noise.geometric import draw_geometric, geometric_law
from support.tapes import Tape

scales = st.fractions(min_value=Fraction(1, 64), max_value=2**20, max_denominator=1000)
tapes = st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=20)


def one_laplace(scale: Fraction, words: NDArray[np.int64]) -> NDArray[Any]:
    """Discrete Laplace draws on given words; where one needs more bits, they follow from a fixed list."""
    return laplace.draw_laplace(laplace.laplace_law(scale), object, len(words), Tape([*words, *[12345] * 99], width=63))


def one_geometric(scale: Fraction, words: NDArray[np.int64]) -> NDArray[Any]:
    """Geometric draws on given words; where one needs more bits, they follow from a fixed list."""
    return draw_geometric(geometric_law(scale), object, len(words), Tape([*words, *[12345] * 99], width=63))


@given(words=tapes, scale=scales, times=st.integers(1, 50))
def test_a_coarser_geometric_is_the_same_draw_divided(words: list[int], scale: Fraction, times: int) -> None:
    """⌊⌊scale·E⌋/m⌋ = ⌊(scale/m)·E⌋: the geometric of a scale m times smaller is the quotient, draw by draw."""
    tape = np.array(words)
    assert (one_geometric(scale, tape) // times == one_geometric(scale / times, tape)).all()


@given(words=tapes, scale=scales, more=scales)
def test_noise_grows_with_the_scale(words: list[int], scale: Fraction, more: Fraction) -> None:
    """On one tape, a larger scale never makes a magnitude smaller, and never changes a sign."""
    tape = np.array(words)
    assert (one_geometric(scale, tape) <= one_geometric(scale + more, tape)).all()
    small, large = one_laplace(scale, tape), one_laplace(scale + more, tape)
    assert (abs(small) <= abs(large)).all()
    assert (small * large >= 0).all()


@given(words=tapes, scale=scales)
def test_flipping_the_sign_bit_flips_the_draw(words: list[int], scale: Fraction) -> None:
    """The lowest bit of a word is the sign and nothing else."""
    tape = np.array(words)
    assert (one_laplace(scale, tape ^ 1) == -one_laplace(scale, tape)).all()


@given(words=tapes, x=scales, more=scales)
def test_coins_fall_with_the_exponent(words: list[int], x: Fraction, more: Fraction) -> None:
    """A toss that is True at a larger exponent is True at a smaller one, on one tape."""
    tape = [*words, *[12345] * 99]
    rarer = draw_bernoulli_exp(x + more, len(words), Tape(tape, width=63))
    assert (draw_bernoulli_exp(x, len(words), Tape(tape, width=63)) >= rarer).all()


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1000), Fraction(2**20)], ids=str)
def test_draws_come_one_by_one_as_they_do_together(scale: Fraction) -> None:
    """A batch gives what its words give one at a time: position in the batch doesn't matter."""
    words = Keystream().words(500)
    alone = [one_laplace(scale, words[i : i + 1])[0] for i in range(len(words))]
    assert one_laplace(scale, words).tolist() == alone
