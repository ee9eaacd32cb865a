"""Sums of many Laplace noises of a few scales: how likely one is to lie far out, and within which distance it stays.

Partial fractions (see `laplace_sums`) lose their digits where many scales are equal. So the characteristic function φ
is inverted by numbers instead (Gil-Pelaez 1951):

    Pr[X > x] = 1/2 − (1/π) ∫₀^∞ sin(ux) φ(u)/u du,   φ(u) = (1 + a²u²)^(−p) (1 + b²u²)^(−r) ….

The integral is a sum at the midpoints of steps of width h up to T. What that adds or leaves out is at most
Pr[|X| > 2π/h − x], which is beyond any digit here, and ∫_T^∞ φ(u)/u du. As φ(u)·(1 + a²u²) doesn't grow, the latter is
at most φ(T)·(1 + 1/(aT)²)/2; so it is at most φ(T), since T is chosen with aT ≥ 1 for a the largest scale. It is added
to the answer, which so errs on the wide side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import ceil, exp, frexp, hypot, ldexp, log1p, pi, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FAR = 40
"""In standard deviations: beyond twice as far there is nothing that a float could show."""

_MOST_STEPS = 1 << 16

_CLOSE = 1e-15
"""φ is followed down to here."""

_REST = 2 / pi
"""The most that the rest of φ can add where it isn't followed any further."""

_HALVINGS = 40

_RAISED = 1 << 10
"""Scales are raised to this many parts of a power of two."""


def repeated_radius(scales: tuple[float, ...], numbers: tuple[int, ...], outside: float) -> float:
    """The least t with Pr[|X| > t] ≤ outside, or slightly more.

    It grows as all scales do, so it is worked out in units of the largest; others are raised by a thousandth or less,
    so that what was worked out for some scales serves their multiples.

    Args:
        scales: a, b, …; at least 0.
        numbers: p, r, …: how many noises there are of each scale.
        outside: in (0, 1).

    Examples:
        >>> round(repeated_radius((1.0, 0.0), (1, 5), 0.05), 4), round(repeated_radius((0.5, 0.5), (14, 14), 0.05), 2)
        (2.9957, 7.36)
    """
    largest = max(scales)
    if not largest:
        return 0.0
    ratios = tuple(_raised(scale / largest) for scale in scales)
    return largest * _unit_radius(ratios, numbers, outside)


def _raised(ratio: float) -> float:
    """The next number of ten binary digits; 1 and 0 stay what they are."""
    part, exponent = frexp(ratio)
    return ldexp(ceil(part * _RAISED), exponent) / _RAISED


@lru_cache(maxsize=4096)
def _unit_radius(scales: tuple[float, ...], numbers: tuple[int, ...], outside: float) -> float:
    """The same, where the largest scale is 1."""
    spread = sqrt(2) * hypot(*(scale * sqrt(number) for scale, number in zip(scales, numbers, strict=True)))
    low, high = 0.0, _FAR * spread
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if repeated_tail(scales, numbers, middle) > outside:
            low = middle
        else:
            high = middle
    return high


def repeated_tail(scales: tuple[float, ...], numbers: tuple[int, ...], distance: float) -> float:
    """Pr[|X| > distance], or slightly more.

    Args:
        scales: a, b, …; not all 0.
        numbers: p, r, ….
        distance: of any sign; beyond 40 standard deviations the answer is that for 40.
    """
    import numpy as np

    if distance <= 0:
        return 1.0
    far, points, weights, rest = _inverted(scales, numbers)
    inside = float(np.add.reduce(np.sin(points * min(distance, far)) * weights))
    return min(max(1 - inside + rest, 0.0), 1.0)


@lru_cache(maxsize=4)  # a radius asks for forty tails of the same noises
def _inverted(
    scales: tuple[float, ...], numbers: tuple[int, ...]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], float]:
    """How far tails are told, the points of the integral, what each weighs, and what may be left out."""
    import numpy as np

    pairs = list(zip(scales, numbers, strict=True))
    far = _FAR * sqrt(2 * sum([number * scale**2 for scale, number in pairs]))
    step, steps = pi / far, 64
    while (rest := _law(pairs, steps * step)) > _CLOSE and steps < _MOST_STEPS:
        steps *= 2
    points = _halves(steps) * step
    decay = sum(number * np.log1p((scale * points) ** 2) for scale, number in pairs)
    return far, points, 2 / pi * step * np.exp(-decay) / points, _REST * rest


@cache
def _halves(steps: int) -> NDArray[Any]:
    """The middles of the first steps of length 1; of powers of two, which are few."""
    import numpy as np

    found = np.arange(steps) + 0.5
    found.flags.writeable = False
    return found


def _law(pairs: Sequence[tuple[float, int]], point: float) -> float:
    """φ at a point, by scales and how many noises there are of each."""
    return exp(-sum([number * log1p((scale * point) ** 2) for scale, number in pairs]))
