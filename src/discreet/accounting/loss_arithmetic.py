"""Arithmetic of losses: arguments in range, searches that can't make a result wrong, and sums that are rounded up.

A conversion often has a free parameter, every value of which is sound. Floats then look for a good one, and the value
at it is enclosed by a ball. Where an equation must be solved instead, each candidate is checked in balls before it is
returned. So a poor search costs utility and never privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil, exp, log, log1p, sqrt

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.exact.rounding import shorten
from discreet.exact.rounding import sqrt as rational_sqrt

BITS = 128
"""Working precision: conversions lose a few bits, and results keep 53 at most."""

LEAST_EPSILON = Fraction(1, 2**64)
"""No ε below this is stated: a loss of 0 is never given, and less than this is of no use to anyone."""

LEAST_LOG_DELTA = Fraction(-700)
"""No bound smaller than e^−700 is stated: nobody needs it, and its digits would fill pages."""

_LEAST, _MOST = Fraction(1, 2**100), Fraction(2**100)
_DOUBLINGS = 400


def moderate(value: Rationalizable, name: str) -> Fraction:
    """Read a positive number that floats can search with; beyond it, nothing is protected or nothing revealed."""
    number = positive(value, name)
    if not _LEAST <= number <= _MOST:
        raise InvalidArgument(f"{name} must lie between 2⁻¹⁰⁰ and 2¹⁰⁰, not {value}")
    return number


def log_of(number: Fraction) -> float:
    """The natural logarithm of a positive rational, however small or near 1."""
    if number > Fraction(1, 2):
        return log1p(float(number - 1))
    return log(number.numerator) - log(number.denominator)


def minimise(value: Callable[[float], float], around: float) -> Fraction:
    """Golden-section search for the least `value(h)`, h from e^−20 to e^20 times `around`.

    The result needn't be the minimum: callers are sound at any h > 0.
    """
    golden = (sqrt(5) - 1) / 2
    middle = log(min(max(around, 1e-280), 1e280))
    low, high = middle - 20, middle + 20
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(exp(left)) < value(exp(right)):
            high = right
        else:
            low = left
    return Fraction(exp((low + high) / 2))


def least(passes: Callable[[Fraction], bool], *, start: Fraction, floor: Fraction, bits: int = 44) -> Fraction:
    """The least number that passes, to about `bits` binary digits; `floor` if that passes.

    Args:
        passes: whether a number is proved to be large enough. The result has passed, whatever this does.
        start: a guess; above 0.
        floor: nothing smaller is tried; above 0.
        bits: how finely.

    Raises:
        ArithmeticError: nothing passes up to 2^400 times the start.

    Examples:
        >>> float(least(lambda x: x * x >= 2, start=Fraction(1), floor=Fraction(1, 1000)))
        1.4142135623731065
    """
    high = _first(passes, shorten(max(start, floor), bits=8, round_up=True), factor=Fraction(2))
    low = high / 2
    while low > floor and passes(low):
        low, high = low / 2, low
    if low <= floor:
        if passes(floor):
            return floor
        low = floor
    for _ in range(bits):
        middle = (low + high) / 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def greatest(passes: Callable[[Fraction], bool], *, start: Fraction, ceiling: Fraction, bits: int = 44) -> Fraction:
    """The greatest number that passes, to about `bits` binary digits; `ceiling` if that passes.

    Args:
        passes: whether a number is proved to be small enough. The result has passed, whatever this does.
        start: a guess; above 0.
        ceiling: nothing greater is tried.
        bits: how finely.

    Raises:
        ArithmeticError: nothing passes down to 2^−400 times the start.

    Examples:
        >>> float(greatest(lambda x: x * x <= 2, start=Fraction(1), ceiling=Fraction(1000)))
        1.4142135623730496
    """
    low = _first(passes, shorten(min(start, ceiling), bits=8, round_up=False), factor=Fraction(1, 2))
    high = low * 2
    while high < ceiling and passes(high):
        low, high = high, high * 2
    if high >= ceiling:
        if passes(ceiling):
            return ceiling
        high = ceiling
    for _ in range(bits):
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _first(passes: Callable[[Fraction], bool], start: Fraction, *, factor: Fraction) -> Fraction:
    """The first of start, start·factor, start·factor², … that passes."""
    candidate = start
    for _ in range(_DOUBLINGS):
        if passes(candidate):
            return candidate
        candidate *= factor
    raise ArithmeticError("no number was found that passes")


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
    found = rational_sqrt(square, round_up=True)
    return found if found**2 == square else shorten(found, bits=53, round_up=True)
