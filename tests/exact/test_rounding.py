"""Rational to float, on the named side."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf, nextafter
from sys import float_info

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.exact import to_float

rationals = st.fractions() | st.builds(
    lambda mantissa, exponent: mantissa * Fraction(2) ** exponent, st.fractions(), st.integers(-1200, 1200)
)


@given(rationals)
def test_it_is_the_next_float_on_that_side(value: Fraction) -> None:
    """Rounded up is the smallest float at or above, rounded down the largest at or below."""
    up, down = to_float(value, round_up=True), to_float(value, round_up=False)
    assert up == inf or Fraction(up) >= value
    assert down == -inf or Fraction(down) <= value
    inner = nextafter(up, -inf)
    assert isinf(inner) or Fraction(inner) < value
    outer = nextafter(down, inf)
    assert isinf(outer) or Fraction(outer) > value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_stay_what_they_are(value: float) -> None:
    """A number that is a float is rounded to neither side."""
    assert to_float(Fraction(value), round_up=True) == value == to_float(Fraction(value), round_up=False)


def test_the_range_ends_on_the_safe_side() -> None:
    """Beyond the largest float: infinity outwards, the largest float inwards. Below the smallest: it, or zero."""
    huge, tiny = Fraction(10) ** 400, Fraction(1, 10**400)
    assert (to_float(huge, round_up=True), to_float(huge, round_up=False)) == (inf, float_info.max)
    assert (to_float(-huge, round_up=True), to_float(-huge, round_up=False)) == (-float_info.max, -inf)
    assert (to_float(tiny, round_up=True), to_float(tiny, round_up=False)) == (5e-324, 0.0)
    assert (to_float(-tiny, round_up=True), to_float(-tiny, round_up=False)) == (0.0, -5e-324)
    assert to_float(10**400, round_up=False) == float_info.max


def test_the_side_has_no_default() -> None:
    """Whoever rounds must say which way."""
    with pytest.raises(TypeError):
        to_float(Fraction(1, 3))  # type: ignore[call-arg]  # that is the point
