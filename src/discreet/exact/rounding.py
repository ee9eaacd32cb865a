"""Directed rounding, towards a named side.

Accounts are kept in rationals; exp, log and √ leave them. A bound on the safe side stays exact to add and compare, and
says in the code which way its error goes.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, copysign, floor, inf, isqrt, nextafter
from sys import float_info

from discreet.errors import InvalidArgument


def to_float(value: Fraction | int, *, round_up: bool) -> float:
    """The float next to `value` on the named side, or `value` itself if it is a float.

    The direction has no default, because only the caller knows which way an error may go.

    Args:
        value: any rational number.
        round_up: whether the answer may be above `value` (True) or below it (False).

    Returns:
        The smallest float ≥ `value`, or the largest float ≤ `value`. Beyond the floats' range that is an infinity on
        the outer side and the largest finite float on the inner one.

    Examples:
        >>> to_float(Fraction(1, 10), round_up=True) >= Fraction(1, 10) >= to_float(Fraction(1, 10), round_up=False)
        True
    """
    try:
        nearest = float(value)
    except OverflowError:
        outward = round_up == (value > 0)
        return copysign(inf if outward else float_info.max, 1 if value > 0 else -1)
    if round_up and nearest < value:
        return nextafter(nearest, inf)
    if not round_up and nearest > value:
        return nextafter(nearest, -inf)
    return nearest


def nearest(number: Fraction) -> float:
    """The double nearest to an exact number; beyond the doubles, an infinity. A zero has no sign.

    Examples:
        >>> nearest(Fraction(1, 10)), nearest(Fraction(-(10**400))), nearest(Fraction(-1, 10**400))
        (0.1, -inf, 0.0)
    """
    try:
        return float(number) + 0.0
    except OverflowError:
        return inf if number > 0 else -inf


def nearest_integer(number: Fraction) -> int:
    """The integer nearest to an exact number; halves go away from zero, as in C and SQL.

    Examples:
        >>> nearest_integer(Fraction(5, 2)), nearest_integer(Fraction(-1, 2)), nearest_integer(Fraction(1, 3))
        (3, -1, 0)
    """
    return floor(number + Fraction(1, 2)) if number >= 0 else ceil(number - Fraction(1, 2))


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
