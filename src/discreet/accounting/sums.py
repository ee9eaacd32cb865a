"""Sums of amounts of loss: exact, or rounded up where they would grow too long."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil

from discreet.exact import sqrt
from discreet.exact.rounding import shorten

_GRAIN = 10**40
"""Sums whose denominator outgrows this are rounded up to a multiple of its inverse.

Without a limit, thousands of questions whose ε have unrelated denominators would make a total of thousands of digits,
and an analyst could choose them so. All decimals of up to forty places, and thirds and sevenths too, stay exact.
"""


def rounded_up(amount: Fraction) -> Fraction:
    """The amount itself if its denominator is moderate, else the next multiple of 10^−40 above it."""
    return amount if amount.denominator <= _GRAIN else Fraction(ceil(amount * _GRAIN), _GRAIN)


def total(amounts: Iterable[Fraction]) -> Fraction:
    """The sum, never below the exact one.

    Examples:
        >>> total([Fraction(1, 10)] * 10)
        Fraction(1, 1)
    """
    found = Fraction(0)
    for amount in amounts:
        found = rounded_up(found + amount)
    return found


def root(square: Fraction) -> Fraction:
    """The square root, exact if it is rational, else rounded up to 53 digits.

    Examples:
        >>> root(Fraction(25)), root(Fraction(2)) ** 2 > 2
        (Fraction(5, 1), True)
    """
    found = sqrt(square, round_up=True)
    return found if found**2 == square else shorten(found, bits=53, round_up=True)
