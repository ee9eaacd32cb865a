"""Finding where a tail probability falls to a level, with a proof at the point that is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf, isfinite, ulp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

_PRECISIONS = (128, 256, 512)  # above that Arb's incomplete beta function can take minutes
_GAP = 2.0**-40


def excess(tail: Callable[[], arb], level: Fraction) -> float:
    """How far the logarithm of a tail probability is above that of `level`: at most 0 only if that is proved.

    Args:
        tail: evaluates the probability at the working precision.
        level: above 0.

    Returns:
        The difference, rounded up; infinite where 512 bits leave a doubt.
    """
    from discreet.exact.ball import ball, fraction, precision
    from discreet.exact.rounding import to_float

    for bits in _PRECISIONS:
        with precision(bits):
            ratio = tail() / ball(level)
            if ratio <= 0:
                return -inf
            logarithm = ratio.log()
            if logarithm.is_finite() and (logarithm <= 0 or logarithm > 0):
                return to_float(fraction(logarithm.upper()), round_up=True)
    return inf


def rounded_up(tail: arb) -> float:
    """A probability as a float that isn't below it; 1 if nothing is known of it."""
    from discreet.exact.ball import fraction
    from discreet.exact.rounding import to_float

    if not tail.is_finite():
        return 1.0
    if tail * 2**1074 < 1:
        return ulp(0.0)  # the least float above 0
    return min(1.0, to_float(fraction(tail.upper()), round_up=True))


def boundary(above: Callable[[float], float], inside: float, outside: float, guess: float | None = None) -> float:
    """A point where `above` is at most 0, as near as 2^-40 (relative) to where it ceases to be.

    Interpolates between the ends, and halves every third time: some twenty evaluations, or two with a good guess. What
    is returned is a point at which `above` was seen to be at most 0, so a poor search or guess costs tightness or time,
    never truth.

    Args:
        above: `excess` at a point; crosses 0 once between the two ends.
        inside: where it is at most 0. Relied on, and not asked.
        outside: where it is above 0, or needn't be at most 0.
        guess: where it may cross 0, found by floats.

    Examples:
        >>> round(boundary(lambda x: x * x - 2, 0.0, 2.0), 6)
        1.414214
    """
    seen = {inside: -inf, outside: inf}
    for point in () if guess is None else _around(guess):
        if min(inside, outside) < point < max(inside, outside):
            seen[point] = above(point)
            inside, outside = (point, outside) if seen[point] <= 0 else (inside, point)
        if isfinite(seen[inside]) and isfinite(seen[outside]):
            break
    for turn in range(200):
        width = outside - inside
        if abs(width) <= _GAP * max(abs(inside), abs(outside)):
            break
        low, high = seen[inside], seen[outside]
        point = inside + width / 2
        if turn % 3 and isfinite(low) and isfinite(high):
            step = width * low / (low - high)
            nudge = _GAP / 4 * max(abs(inside), abs(outside)) * (1 if width > 0 else -1)
            # to cross the root, so that both ends close in
            point = inside + step + (nudge if turn % 3 == 1 else -nudge)
        if not min(inside, outside) < point < max(inside, outside):
            point = inside + width / 2
        if point in seen:
            break
        seen[point] = above(point)
        if seen[point] <= 0:
            inside = point
        else:
            outside = point
    return inside


def _around(guess: float) -> Iterator[float]:
    """Points on both sides of a guess: near enough to be all that is needed, and ever farther if it is a poor one."""
    for reach in (_GAP / 3, 2.0**-36, 2.0**-30, 2.0**-20, 2.0**-10):
        yield guess * (1 - reach)
        yield guess * (1 + reach)
