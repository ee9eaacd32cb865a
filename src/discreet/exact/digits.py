"""Fewer digits, rounded to a side that is named: exact numbers that stay short."""

from __future__ import annotations

from fractions import Fraction


def shorten(number: Fraction, *, bits: int, round_up: bool) -> Fraction:
    """The number with `bits` significant binary digits next to `number` on the named side.

    Args:
        number: above 0.
        bits: 1 or more.
        round_up: whether the answer may be above `number` (True) or below it (False).

    Examples:
        >>> shorten(Fraction(1, 3), bits=4, round_up=True), shorten(Fraction(1, 3), bits=4, round_up=False)
        (Fraction(11, 32), Fraction(5, 16))
    """
    magnitude = number.numerator.bit_length() - number.denominator.bit_length()  # 2^(m−1) < number < 2^(m+1)
    leading = magnitude if number >= Fraction(2) ** magnitude else magnitude - 1
    step = Fraction(2) ** (leading - bits + 1)
    return (-(-number // step) if round_up else number // step) * step
