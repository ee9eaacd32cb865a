"""Accuracy: how far noise strays at a confidence, and the scale that keeps it within a radius."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt

from discreet.accounting.loss_arithmetic import greatest
from discreet.errors import AccuracyUnreachable
from discreet.exact.rational import Rationalizable, positive, probability

_WORKING_BITS = 128
_FINEST = Fraction(1, 2**10)


class Noise(StrEnum):
    """The kind of noise; its size is `scale` for Laplace and `sigma` for Gaussian noise."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


def radius_of(noise: Noise, scale: Rationalizable, confidence: Rationalizable) -> int:
    """A radius r with Pr[|noise| ≤ r] ≥ confidence, for discrete noise on one number.

    The least one for Laplace noise, from Pr[|noise| ≥ k] = 2p^k/(1 + p), p = e^(−1/scale). For Gaussian noise at most
    one more than it, if the confidence is 90 % or more: from Pr[noise ≥ k] ≤ Φ(−(k − ½)/σ) for k ≥ σ + ½, where the
    weights e^(−y²/2σ²) are convex, so at most their means over [y − ½, y + ½], and add up to σ√(2π) at least.

    Args:
        noise: which.
        scale: of the noise (σ for Gaussian noise), in steps of the grid; above 0.
        confidence: in (0, 1).

    Examples:
        >>> radius_of(Noise.LAPLACE, 10, 0.95), radius_of(Noise.GAUSSIAN, 10, 0.95)
        (30, 20)
    """
    return _radius(noise, positive(scale, "scale"), 1 - probability(confidence, "confidence"))


def scale_within(noise: Noise, radius: int, confidence: Rationalizable) -> Fraction:
    """The greatest scale found at which noise stays within the radius at the confidence; rounded down, to 30 bits.

    Raises:
        AccuracyUnreachable: no scale from 2⁻¹⁰ on does.

    Examples:
        >>> float(round(scale_within(Noise.LAPLACE, 30, 0.95), 2))
        10.19
    """
    chance = 1 - probability(confidence, "confidence")
    if radius < 0 or _radius(noise, _FINEST, chance) > radius:
        raise AccuracyUnreachable(f"no noise stays within ±{radius} at this confidence")
    return greatest(
        lambda scale: scale <= _FINEST or _radius(noise, scale, chance) <= radius,
        start=Fraction(radius + 1),
        ceiling=Fraction(2**80),
        bits=30,
    )


@lru_cache(maxsize=1024)
def _radius(noise: Noise, scale: Fraction, chance: Fraction) -> int:
    """The least k that is proved to be reached with no more than `chance`, less 1."""
    from discreet.exact.ball import ball, precision

    surprise = log(2) + log(chance.denominator) - log(chance.numerator)
    with precision(_WORKING_BITS):
        if noise is Noise.LAPLACE:
            both = 2 / (1 + ball(-1 / scale).exp())
            guess = float(scale) * surprise
            return _first(lambda k: bool(ball(-k / scale).exp() * both <= ball(chance)), guess) - 1
        spread = ball(scale) * ball(2).sqrt()
        convex = ceil(scale + Fraction(1, 2))
        guess = float(scale) * sqrt(2 * surprise)
        return (
            max(_first(lambda k: bool((ball(k - Fraction(1, 2)) / spread).erfc() <= ball(chance)), guess), convex) - 1
        )


def _first(passes: Callable[[int], bool], guess: float) -> int:
    """The least whole number from 1 on that passes; the result has passed, at any rate."""
    high = max(int(guess), 1)
    while not passes(high):
        high *= 2
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
