"""Fewer digits: exact numbers that stay short, rounded to a side that is named, or that are shown."""

from __future__ import annotations

from decimal import Context, Decimal
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


def shown(number: Fraction, digits: int = 6) -> str:
    """The number for people to read, rounded to the nearest; also where no float holds it.

    Examples:
        >>> shown(Fraction(1, 3)), shown(Fraction(1, 10**6)), shown(Fraction(3 * 10**400))
        ('0.333333', '1e-06', '3e+400')
    """
    try:
        near = float(number)
    except OverflowError:
        near = 0.0
    if near or not number:
        return f"{near:.{digits}g}"
    exact = Context(prec=digits, Emax=10**9, Emin=-(10**9)).divide(
        Decimal(number.numerator), Decimal(number.denominator)
    )
    return f"{exact.normalize():.{digits}g}"
