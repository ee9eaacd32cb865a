"""Rationals: a user's number read as they meant it."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

from discreet.errors import InvalidArgument

_LONGEST = 1_000
_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")
_LONGEST_EXPONENT = 3
"""Numbers are read as far as floats reach. "1e99999999" would be a hundred million digits, and minutes of work."""

_MODERATE = 10**100
_DOUBT = Fraction(1, 2**50)

Rationalizable: TypeAlias = int | float | str | Decimal | Fraction
"""The types in which a parameter such as ε may be given."""


def rational(value: Rationalizable, name: str) -> Fraction:
    """Read `value` as an exact rational number.

    A float is read by its shortest decimal form: `0.1` is one tenth, not the 55-digit binary number beside it,
    because one tenth is what was typed and what the budget should be charged.

    Args:
        value: an int, float, Decimal, Fraction, or a string such as `"0.1"` or `"1/3"`. Finite.
        name: what to call it in an error.

    Raises:
        InvalidArgument: it isn't a finite number, or has more digits than anyone means.

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
    if (
        not text.isascii() or "_" in text
    ):  # Python reads every script's digits; the person who approves an offer may not
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
    """A number for a message. A fraction may be longer than Python writes out, or than anyone reads."""
    long = isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONGEST
    return "a fraction of many digits" if long else str(value)
