"""Reading a user's number as the exact rational they meant."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

from discreet.errors import InvalidArgument

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
        InvalidArgument: it isn't a finite number.

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
    if isinstance(value, (float, Decimal)) and not isfinite(value):
        raise InvalidArgument(f"{name} must be a finite number, not {value}")
    try:
        return Fraction(repr(float(value)) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise InvalidArgument(f"{name} must be a number, not {value!r}") from None


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
        raise InvalidArgument(f"{name} must be above 0, not {value}")
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
        raise InvalidArgument(f"{name} must be strictly between 0 and 1, not {value}")
    return number
