"""Ranges: what interval a result lies in, given the intervals of the arguments.

Ends are exact rationals; None stands for an unknown end. Every rule here returns an interval that holds each result
the engine can compute. For real numbers that includes float64 rounding: rounding to nearest never decreases, so the
rounded result of an operation lies between the rounded ends of the exact interval, and `outward` gives those ends
away from the middle.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import TypeAlias

Interval: TypeAlias = tuple[Fraction | None, Fraction | None]

UNKNOWN: Interval = (None, None)
INT64: Interval = (Fraction(-(2**63)), Fraction(2**63 - 1))
"""The integers that engines can hold."""

EXACT = 2**53 - 1
"""Whole numbers up to this size are float64 numbers, and so are their neighbours."""

REAL_LIMIT = Fraction(2**500)
"""Real numbers of a larger range are refused, so that no product of two can be infinite."""


def number(value: float) -> Fraction:
    """A finite number as an exact rational."""
    return Fraction(value)


def add(left: Interval, right: Interval) -> Interval:
    """The interval of x + y.

    Examples:
        >>> add((Fraction(0), Fraction(1)), (Fraction(5), None))
        (Fraction(5, 1), None)
    """
    lo = None if left[0] is None or right[0] is None else left[0] + right[0]
    hi = None if left[1] is None or right[1] is None else left[1] + right[1]
    return lo, hi


def negate(interval: Interval) -> Interval:
    """The interval of −x."""
    lo, hi = interval
    return None if hi is None else -hi, None if lo is None else -lo


def subtract(left: Interval, right: Interval) -> Interval:
    """The interval of x − y."""
    return add(left, negate(right))


def multiply(left: Interval, right: Interval) -> Interval:
    """The interval of x · y; unknown if an end is."""
    ends = _ends(left, right)
    if ends is None:
        return UNKNOWN
    corners = [x * y for x in ends[:2] for y in ends[2:]]
    return min(corners), max(corners)


def square(interval: Interval) -> Interval:
    """The interval of x · x, which is never negative."""
    size = magnitude(interval)
    return least_size(interval) ** 2, None if size is None else size**2


def divide(left: Interval, right: Interval, *, whole: bool) -> Interval:
    """The interval of x / y for y ≠ 0; unknown if y can come arbitrarily close to 0.

    Args:
        left: of x.
        right: of y.
        whole: whether y is a whole number, and so at least 1 in size.

    Examples:
        >>> divide((Fraction(0), Fraction(6)), (Fraction(0), Fraction(2)), whole=True)
        (Fraction(0, 1), Fraction(6, 1))
        >>> divide((Fraction(0), Fraction(6)), (Fraction(0), Fraction(2)), whole=False)
        (None, None)
    """
    ends = _ends(left, right)
    if ends is None:
        return UNKNOWN
    lo, hi = ends[2:]
    divisors = [y for y in (lo, hi) if y]
    if lo <= 0 <= hi:
        if not whole:
            return UNKNOWN
        divisors += [Fraction(y) for y in (-1, 1) if lo <= y <= hi]
    if not divisors:
        return Fraction(0), Fraction(0)  # y is always 0, so x / y is always NULL
    corners = [x / y for x in ends[:2] for y in divisors]
    return min(corners), max(corners)


def absolute(interval: Interval) -> Interval:
    """The interval of |x|."""
    return least_size(interval), magnitude(interval)


def magnitude(interval: Interval) -> Fraction | None:
    """The greatest |x|, or None if it's unknown."""
    lo, hi = interval
    return None if lo is None or hi is None else max(abs(lo), abs(hi))


def least_size(interval: Interval) -> Fraction:
    """A lower end for |x|."""
    lo, hi = interval
    if lo is not None and lo > 0:
        return lo
    if hi is not None and hi < 0:
        return -hi
    return Fraction(0)


def hull(*intervals: Interval) -> Interval:
    """The least interval that holds all of them; nothing is known of none.

    Examples:
        >>> hull((Fraction(0), Fraction(1)), (Fraction(5), None))
        (Fraction(0, 1), None)
    """
    los = [lo for lo, _ in intervals]
    his = [hi for _, hi in intervals]
    known_lo = [lo for lo in los if lo is not None]
    known_hi = [hi for hi in his if hi is not None]
    return (
        min(known_lo) if known_lo and len(known_lo) == len(los) else None,
        max(known_hi) if known_hi and len(known_hi) == len(his) else None,
    )


def intersection(one: Interval, other: Interval) -> Interval:
    """The part that two intervals share; its low end lies above the high one if there is none."""
    los, his = ([end for end in ends if end is not None] for ends in zip(one, other, strict=True))
    return max(los, default=None), min(his, default=None)


def at_most(low: Fraction | None, high: Fraction | None) -> bool:
    """Whether a low end lies below a high one, as far as is known."""
    return low is None or high is None or low <= high


def below(low: Fraction | None, high: Fraction | None) -> bool:
    """Whether a low end lies strictly below a high one, as far as is known."""
    return low is None or high is None or low < high


def within(interval: Interval, outer: Interval) -> bool:
    """Whether both ends are known and lie within `outer`, whose ends are known too."""
    lo, hi = interval
    least, most = outer
    return lo is not None and hi is not None and least is not None and most is not None and least <= lo and hi <= most


def outward(interval: Interval) -> Interval:
    """The ends rounded to float64, away from the middle; an end beyond `REAL_LIMIT` becomes unknown.

    Examples:
        >>> lo, hi = outward((Fraction(1, 10), Fraction(1, 10)))
        >>> lo < Fraction(1, 10) < hi
        True
    """
    lo, hi = interval
    return _rounded(lo, -inf), _rounded(hi, inf)


def _rounded(end: Fraction | None, towards: float) -> Fraction | None:
    """The end as a float64 number, not nearer the middle than it is."""
    if end is None or abs(end) > REAL_LIMIT:
        return None
    nearest = float(end)
    inside = Fraction(nearest) > end if towards < 0 else Fraction(nearest) < end
    return Fraction(nextafter(nearest, towards) if inside else nearest)


def _ends(left: Interval, right: Interval) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
    """All four ends, if all are known."""
    (a, b), (c, d) = left, right
    if a is None or b is None or c is None or d is None:
        return None
    return a, b, c, d
