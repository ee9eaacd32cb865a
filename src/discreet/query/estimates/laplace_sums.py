"""Sums of few Laplace noises of different scales: how likely one is to lie far out, and within which distance it stays.

With independent standard Laplace Xᵢ and distinct aᵢ > 0, the characteristic function of Σ aᵢXᵢ is Π 1/(1 + aᵢ²u²);
its partial fractions are again those of Laplaces, so

    Pr[|Σ aᵢXᵢ| > t] = Σᵢ wᵢ e^(−t/aᵢ),   wᵢ = Πⱼ≠ᵢ aᵢ²/(aᵢ² − aⱼ²).

Where scales come close, the weights cancel and lose digits. So each scale is raised until it keeps a distance from the
next smaller one. That errs on the wide side: a Laplace of the larger scale is one of the smaller scale plus an
independent symmetric unimodal variable (the quotient of their characteristic functions is a²/b² + (1 − a²/b²)/(1 +
b²u²)), and adding one of those to a symmetric unimodal variable makes no interval about 0 likelier (Anderson 1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, factorial, log, log1p

_MOST = 9
"""Sums of more terms are bounded rather than computed."""

_LOST = 1e9
"""The greatest weight there may be: nine of a float's sixteen digits may cancel, no more."""

_KEPT = tuple(
    0.5 * (_LOST * factorial(others // 2) * factorial(others - others // 2)) ** (-1 / max(others, 1))
    for others in range(_MOST)
)
"""How far scales are kept apart, relative, by the number of others, so that a weight is at most `_LOST`.

Of m + 1 scales δ apart, the one in the middle has the greatest weight: about 1/((2δ)^m ⌊m/2⌋! ⌈m/2⌉!).
"""

_TRIES = 60


def tail(scales: Sequence[float], distance: float) -> float:
    """Pr[|Σ aᵢXᵢ| > distance], or slightly more.

    Args:
        scales: aᵢ, of any sign; those that are 0 don't count.
        distance: of any sign; below 0 the answer is 1.

    Examples:
        >>> round(tail([1.0], 3.0), 4), round(tail([1.0, 1.0], 3.0), 4), round(tail([3.0, 1.0, 2.0], 3.0), 4)
        (0.0498, 0.1245, 0.509)
    """
    if distance <= 0:
        return 1.0
    sizes = sorted(abs(scale) for scale in scales if scale)
    if len(sizes) > _MOST:
        return _chernoff(sizes, distance)
    sizes = _apart(sizes)
    weights = [1.0] * len(sizes)
    for place, size in enumerate(sizes):
        for before in range(place):
            other = sizes[before]
            gap, both = size - other, size + other  # of near floats the gap is exact; that of their squares isn't
            weights[place] *= size / gap * (size / both)
            weights[before] *= -other / gap * (other / both)
    total = sum([weight * exp(-distance / size) for weight, size in zip(weights, sizes, strict=True)])
    return min(max(total, 0.0), 1.0)


def radius(scales: Sequence[float], outside: float) -> float:
    """The least t with Pr[|Σ aᵢXᵢ| > t] ≤ outside, or slightly more.

    Args:
        scales: aᵢ, of any sign.
        outside: in (0, 1).

    Examples:
        >>> round(radius([2.0], 0.05), 4), round(radius([1.0, 2.0], 0.05), 4)
        (5.9915, 6.5478)
    """
    sizes = [abs(scale) for scale in scales if scale]
    if not sizes:
        return 0.0
    low, high = max(sizes) * -log(outside), 2 * sum(sizes) * log(len(sizes) / outside)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if tail(sizes, middle) > outside:
            low = middle
        else:
            high = middle
    return high


def _apart(sizes: list[float]) -> list[float]:
    """The sizes, from the least on, each raised to keep its distance from the one before."""
    factor = 1 + _KEPT[len(sizes) - 1]
    kept: list[float] = []
    for size in sizes:
        kept.append(max(size, kept[-1] * factor) if kept else size)
    return kept


def _chernoff(sizes: Sequence[float], distance: float) -> float:
    """Twice the least e^(−θt) Π 1/(1 − aᵢ²θ²) over θ below 1/max aᵢ: any θ is sound, a good one is found by thirds."""
    low, high = 0.0, 1 / max(sizes)

    def exponent(theta: float) -> float:
        return -theta * distance - sum(log1p(-((size * theta) ** 2)) for size in sizes)

    for _ in range(_TRIES):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        if exponent(one) <= exponent(other):
            high = other
        else:
            low = one
    return min(1.0, 2 * exp(min(exponent(low), 0.0)))
