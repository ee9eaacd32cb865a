"""exp, log and √ as rational bounds: on the right side, tight, and consistent with each other."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.exact import exp, log, sqrt

TIGHT = Fraction(1, 2**60)
exponents = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
positives = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9)
digits = Context(prec=60)


def decimal(value: Fraction) -> Decimal:
    """A rational as a decimal of 60 digits."""
    return digits.divide(Decimal(value.numerator), Decimal(value.denominator))


def close(low: Fraction, high: Fraction) -> bool:
    """Whether two bounds agree to 60 bits."""
    return high - low <= TIGHT * max(abs(low), abs(high))


@given(exponents)
def test_exp_is_enclosed(x: Fraction) -> None:
    """The bounds enclose what Python's decimal arithmetic finds, and lie close together."""
    low, high = exp(x, round_up=False), exp(x, round_up=True)
    assert low <= high
    assert close(low, high)
    truth = Fraction(digits.exp(decimal(x)))
    assert low * (1 - Fraction(1, 10**50)) <= truth <= high * (1 + Fraction(1, 10**50))


@given(positives)
def test_log_is_enclosed(x: Fraction) -> None:
    """The bounds enclose what Python's decimal arithmetic finds, and lie close together."""
    low, high = log(x, round_up=False), log(x, round_up=True)
    assert low <= high
    assert close(low, high)
    truth = Fraction(digits.ln(decimal(x)))
    assert low - Fraction(1, 10**48) <= truth <= high + Fraction(1, 10**48)


@given(positives)
def test_sqrt_is_enclosed_exactly(x: Fraction) -> None:
    """Squares of the bounds enclose the number: no tolerance needed."""
    low, high = sqrt(x, round_up=False), sqrt(x, round_up=True)
    assert close(low, high)
    assert low * low <= x <= high * high


@given(st.fractions(min_value=0))
def test_square_roots_of_squares_are_exact(root: Fraction) -> None:
    """The root of a rational's square is that rational, on both sides."""
    assert sqrt(root * root, round_up=True) == root == sqrt(root * root, round_up=False)


@given(positives)
def test_exp_undoes_log(x: Fraction) -> None:
    """The exponential of a lower bound of the logarithm isn't above the number, and of an upper one isn't below."""
    assert exp(log(x, round_up=False), round_up=False) <= x <= exp(log(x, round_up=True), round_up=True)


@pytest.mark.parametrize("bits", [1, 10, 300, 2000])
def test_more_bits_are_tighter(bits: int) -> None:
    """The gap is at most 2^-bits, relative."""
    for function in (exp, log, sqrt):
        low, high = function(3, round_up=False, bits=bits), function(3, round_up=True, bits=bits)
        assert 0 < high - low <= high / 2 ** (bits - 1)


def test_exact_values_are_exact() -> None:
    """e^0 = 1, log 1 = 0 and √0 = 0 have no gap."""
    for round_up in (True, False):
        assert exp(0, round_up=round_up) == 1
        assert log(1, round_up=round_up) == 0
        assert sqrt(0, round_up=round_up) == 0


def test_far_out_the_bounds_stay_sound_and_small() -> None:
    """e^-(10^30) lies between 0 and e^-65536, and e^(10^30) is refused."""
    assert exp(-(10**30), round_up=False) == 0
    assert 0 < exp(-(10**30), round_up=True) == exp(-65536, round_up=True) < Fraction(1, 2**90_000)
    with pytest.raises(InvalidArgument):
        exp(10**30, round_up=True)


@pytest.mark.parametrize(("function", "x"), [(log, 0), (log, -1), (sqrt, -1), (sqrt, Fraction(-1, 10**30))])
def test_what_has_no_value_is_refused(function: object, x: Fraction) -> None:
    """Logarithms of what isn't above 0 and roots of what is below 0 are refused."""
    with pytest.raises(InvalidArgument):
        function(x, round_up=True)  # type: ignore[operator]  # a function of the three
