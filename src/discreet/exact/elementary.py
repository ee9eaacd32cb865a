"""Rational bounds of exp, log and √, each on a side that is named.

Accounts are kept in rationals, and these three functions leave the rationals. A bound on the safe side stays exact to
add and compare, and says in the code which way its error goes.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from discreet.errors import InvalidArgument

_FAR = 1 << 16  # e^±65536 has some 95,000 bits: beyond it a bound is of no use to anyone


def exp(x: Fraction | int, *, round_up: bool, bits: int = 64) -> Fraction:
    """A rational bound of e^x.

    Args:
        x: at most 65536. Below -65536 the bounds are those of the whole range: 0, and a bound of e^-65536.
        round_up: whether the bound is an upper one (≥ e^x) or a lower one (≤ e^x).
        bits: how tight, relative: 2^-bits.

    Raises:
        InvalidArgument: x is above 65536.

    Examples:
        >>> float(exp(1, round_up=True)), exp(0, round_up=False)
        (2.718281828459045, Fraction(1, 1))
    """
    if x > _FAR:
        raise InvalidArgument(f"exp takes at most {_FAR}")
    if x < -_FAR:
        return exp(-_FAR, round_up=True, bits=bits) if round_up else Fraction(0)
    from discreet.exact.ball import ball, enclose

    low, high = enclose(lambda: ball(x).exp(), bits=bits)
    return high if round_up else low


def log(x: Fraction | int, *, round_up: bool, bits: int = 64) -> Fraction:
    """A rational bound of the natural logarithm of x.

    Args:
        x: above 0.
        round_up: whether the bound is an upper one (≥ log x) or a lower one (≤ log x).
        bits: how tight, relative: 2^-bits.

    Raises:
        InvalidArgument: x isn't above 0.

    Examples:
        >>> float(log(2, round_up=True)), log(1, round_up=True)
        (0.6931471805599453, Fraction(0, 1))
    """
    if x <= 0:
        raise InvalidArgument("log takes a number above 0")
    from discreet.exact.ball import ball, enclose

    low, high = enclose(lambda: ball(x).log(), bits=bits)
    return high if round_up else low


def sqrt(x: Fraction | int, *, round_up: bool, bits: int = 64) -> Fraction:
    """A rational bound of the square root of x; the root itself if x is the square of a rational.

    Args:
        x: 0 or above.
        round_up: whether the bound is an upper one (≥ √x) or a lower one (≤ √x).
        bits: how tight, relative: 2^-bits.

    Raises:
        InvalidArgument: x is below 0.

    Examples:
        >>> sqrt(2, round_up=True) ** 2 > 2, sqrt(9, round_up=True)
        (True, Fraction(3, 1))
    """
    if x < 0:
        raise InvalidArgument("sqrt takes a number of at least 0")
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if root * root == x:
        return root
    from discreet.exact.ball import ball, enclose

    low, high = enclose(lambda: ball(x).sqrt(), bits=bits)
    return high if round_up else low
