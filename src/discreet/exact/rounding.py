"""From an exact rational to a float, on a side that is named."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, nextafter
from sys import float_info


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
