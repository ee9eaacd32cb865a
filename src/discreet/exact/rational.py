"""Rationals: a user's number read as they meant it, and directed rounding, on a side that is named.

Accounts are kept in rationals; exp, log and √ leave them. A bound on the safe side stays exact to add and compare, and
says in the code which way its error goes.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from math import copysign, inf, isfinite, isqrt, nextafter
from sys import float_info
from typing import TypeAlias

from discreet.errors import InvalidArgument

_LONGEST = 1_000
_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")
_LONGEST_EXPONENT = 3
"""Numbers are read as far as floats reach. "1e99999999" would be a hundred million digits, and minutes of work."""

_MODERATE = 10**100
_DOUBT = Fraction(1, 2**50)

Rationalizable: TypeAlias = int | float | str | Decimal | Fraction
"""What a parameter such as ε may be given as."""


def rational(value: Rationalizable, name: str) -> Fraction:
    """Read `value` as an exact rational number.

    A float is read by its shortest decimal form: `0.1` is one tenth, not the 55-digit binary number beside it,
    because one tenth is what was typed and what the budget should be charged.

    Args:
        value: an int, float, Decimal, Fraction, or a string such as `"0.1"` or `"1/3"`. Finite.
        name: what to call it in an error.

    Raises:
        InvalidArgument: it isn't a finite number, or has more digits than anybody means.

    Examples:
        >>> rational(0.1, "epsilon")
        Fraction(1, 10)
        >>> rational("1/3", "epsilon")
        Fraction(1, 3)
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise InvalidArgument(f"{name} must be a number, not {type(value).__name__}")
    if not (value.is_finite() if isinstance(value, Decimal) else isinstance(value, (int, str)) or isfinite(value)):
        raise InvalidArgument(f"{name} must be a finite number, not {value}")
    if isinstance(value, int) and value.bit_length() > 4 * _LONGEST:  # before Python refuses to write it out
        raise InvalidArgument(f"{name} has too many digits")
    text = repr(float(value)) if isinstance(value, float) else str(value)
    if len(text) > _LONGEST or any(len(digits) > _LONGEST_EXPONENT for digits in _EXPONENT.findall(text)):
        raise InvalidArgument(f"{name} has too many digits")
    if not text.isascii() or "_" in text:  # Python reads every script's digits; whoever approves an offer may not
        raise InvalidArgument(f"{name} must be a number in digits from 0 to 9")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        hint = "a point stands before the fraction, as in 0.5" if "," in str(value) else ""
        raise InvalidArgument(f"{name} must be a number, not {value!r}", hint=hint) from None


def positive(value: Rationalizable, name: str) -> Fraction:
    """Read `value` as an exact rational above zero.

    Raises:
        InvalidArgument: it isn't a finite number, or isn't above zero.

    Examples:
        >>> positive("0.5", "epsilon")
        Fraction(1, 2)
    """
    number = rational(value, name)
    if number <= 0:
        raise InvalidArgument(f"{name} must be above 0, not {_shown(value)}")
    return number


def probability(value: Rationalizable, name: str) -> Fraction:
    """Read `value` as an exact rational in the open interval (0, 1).

    Raises:
        InvalidArgument: it isn't a number strictly between 0 and 1.

    Examples:
        >>> probability(0.95, "confidence")
        Fraction(19, 20)
    """
    number = rational(value, name)
    if not 0 < number < 1:
        raise InvalidArgument(f"{name} must be strictly between 0 and 1, not {_shown(value)}")
    return number


def moderate(value: Rationalizable, name: str) -> Fraction:
    """Read `value` as an exact rational from 10⁻¹⁰⁰ to 10¹⁰⁰: floats that weigh such numbers hold their squares.

    Raises:
        InvalidArgument: it isn't a finite number, or is out of range.

    Examples:
        >>> moderate("1e-9", "within")
        Fraction(1, 1000000000)
    """
    number = positive(value, name)
    if not 1 <= number * _MODERATE <= _MODERATE**2:
        raise InvalidArgument(f"{name} must lie between 1e-100 and 1e+100, not {_shown(value)}")
    return number


def confidence(value: Rationalizable) -> Fraction:
    """Read a confidence as an exact rational that floats tell from 0 and from 1: from 2⁻⁵⁰ to 1 − 2⁻⁵⁰.

    Raises:
        InvalidArgument: it isn't a number, or is out of range.

    Examples:
        >>> confidence(0.95)
        Fraction(19, 20)
    """
    number = probability(value, "confidence")
    if not _DOUBT <= number <= 1 - _DOUBT:
        raise InvalidArgument(f"confidence must lie between 1e-15 and 1 − 1e-15, not {_shown(value)}")
    return number


def _shown(value: Rationalizable) -> str:
    """A number for a message. A fraction may be longer than Python writes out, or than anybody reads."""
    long = isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONGEST
    return "a fraction of many digits" if long else str(value)


# ── Directed rounding ─────────────────────────────────────────────────────────────────────────────────────────────────


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
