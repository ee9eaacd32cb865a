"""Tails: the two ways of summing agree with each other, and with plain summation in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.exact.ball import fraction, precision
from discreet.mechanisms import tails
from discreet.mechanisms.tails import gaussian_pmf, gaussian_tail, laplace_pmf, laplace_tail
from support.pmf import exact_tail

BITS = 128


def encloses(found: arb, true: Decimal) -> bool:
    """Whether a ball holds a number known to 50 digits, and is itself known to 30."""
    low, high = (
        Decimal(end.numerator) / Decimal(end.denominator) for end in map(fraction, (found.lower(), found.upper()))
    )
    return low * (1 - Decimal("1e-25")) <= true <= high * (1 + Decimal("1e-25")) and found.rel_accuracy_bits() > 100


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(12)])
@pytest.mark.parametrize("k", [-3, 0, 1, 2, 5, 17])
def test_the_gaussian_tail_by_plain_summation(sigma: Fraction, k: int) -> None:
    """Term by term in decimals, out to where terms vanish."""
    reach = range(-int(15 * sigma) - 30, int(15 * sigma) + 31)
    true = exact_tail({n: n * n / (2 * sigma**2) for n in reach}, k)
    with precision(BITS):
        assert encloses(gaussian_tail(sigma, k), true)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("k", [-3, 0, 1, 2, 5, 17])
def test_the_laplace_tail_by_plain_summation(scale: Fraction, k: int) -> None:
    """The closed form, on either side of 0."""
    reach = range(-int(140 * scale) - 30, int(140 * scale) + 31)
    true = exact_tail({n: abs(n) / scale for n in reach}, k)
    with precision(BITS):
        assert encloses(laplace_tail(scale, k), true)


@given(st.integers(20 * 16, 400 * 16), st.integers(1, 100))
def test_both_ways_of_summing_agree(sixteenths: int, hundredths: int) -> None:
    """Where both can be done, their balls overlap and both are tight: the rest of neither is underestimated."""
    sigma = Fraction(sixteenths, 16)
    k = int(sigma * hundredths / 10) + 1
    with precision(BITS):
        terms = tails._terms_needed(sigma, k, BITS)
        one, other = tails._term_by_term(sigma, k, terms), tails._euler_maclaurin(sigma, k, BITS)
        assert one.overlaps(other)
        assert one.rel_accuracy_bits() > 90
        assert k > sigma**2 / 5 or other.rel_accuracy_bits() > 90


@pytest.mark.parametrize("order", [1, 2, 4, 8])
def test_fewer_derivatives_make_wider_balls_not_wrong_ones(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on the rest holds whatever the order, and isn't vacuous."""
    sigma, k = Fraction(40), 60
    with precision(256):
        true = tails._term_by_term(sigma, k, 1500)
        monkeypatch.setattr(tails, "_order_needed", lambda *_: order)
        found = tails._euler_maclaurin(sigma, k, 256)
        assert true.rel_accuracy_bits() > 200
        assert found.contains(true)
        assert 8 * order < found.rel_accuracy_bits() < 200


@pytest.mark.parametrize(
    "sigma", [Fraction(1, 1024), Fraction(1, 2), Fraction(1), Fraction(30), Fraction(2**20), Fraction(2**60)]
)
def test_the_two_tails_add_up(sigma: Fraction) -> None:
    """Pr[Y ≥ k] + Pr[Y ≥ 1 − k] = 1 by symmetry, and tails differ by the probability between them."""
    with precision(BITS + 120):
        for k in (1, 2, int(sigma) + 1, int(3 * sigma) + 1):
            step = gaussian_tail(sigma, k) - gaussian_tail(sigma, k + 1)
            assert step.overlaps(gaussian_pmf(sigma, k))
            assert (gaussian_tail(sigma, -k) + gaussian_tail(sigma, k + 1)).overlaps(arb(1))


@pytest.mark.parametrize("scale", [Fraction(1, 1024), Fraction(3, 7), Fraction(30), Fraction(2**60)])
def test_laplace_tails_differ_by_what_lies_between(scale: Fraction) -> None:
    """The closed form of the tail agrees with that of the probability."""
    with precision(BITS + 120):
        for k in (-2, 0, 1, int(scale) + 1):
            assert (laplace_tail(scale, k) - laplace_tail(scale, k + 1)).overlaps(laplace_pmf(scale, k))


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(31), Fraction(2**40)])
def test_far_tails_stay_sharp(sigma: Fraction) -> None:
    """A probability of e^(−5000) is known to as many digits as one of a half."""
    with precision(BITS):
        assert gaussian_tail(sigma, 100 * int(sigma)).rel_accuracy_bits() > 100
