"""Calibration: the least σ whose δ(ε) is proved to be small enough. Importing this imports flint."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, pi, sqrt

from flint import arb

from discreet.exact.ball import ball, fraction, precision
from discreet.exact.rounding import shorten
from discreet.mechanisms.additive.hockey_stick import many_coordinates, one_coordinate, smoothing_for
from discreet.mechanisms.scale import GREATEST, LEAST
from discreet.privacy import Sensitivity

_RESOLUTION_BITS = 23
"""σ is a number of about so many binary digits: within 2⁻²⁰ of the least that will do."""

_GREATEST_EPSILON = Fraction(2**10)
"""Above this ε the noise is calibrated as for it: a stronger guarantee, and numbers that stay within reason."""

_LEAST_DELTA = Fraction(1, 1 << 1024)
"""No bound smaller than this is stated: its digits would fill pages."""

_FAR = 2**20
"""The first guess exceeds the least σ by much less than this."""


@lru_cache(maxsize=1024)
def least_sigma(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least σ for which δ(ε) is proved to be at most δ, to the resolution; never below it.

    One step of the resolution less isn't enough, or isn't provably so.
    """
    epsilon = min(epsilon, _GREATEST_EPSILON)
    guess = _guess(sensitivity.l2_squared, epsilon, delta)
    if guess > GREATEST * _FAR:
        return guess  # more than any noise there is, so it's refused
    step = shorten(guess, bits=1, round_up=True) / (1 << _RESOLUTION_BITS)

    def excess(multiple: int) -> float:
        return _log_ratio(_delta(sensitivity, multiple * step, epsilon), delta)

    with precision(working_bits(guess)):
        least = _least_multiple(excess, first=ceil(LEAST / step), start=ceil(guess / step))
    return least * step


def delta_bound(sensitivity: Sensitivity, sigma: Fraction, epsilon: Fraction) -> Fraction:
    """An upper bound on δ(ε), to 40 digits: exact if one coordinate moves, else by `many_coordinates`."""
    epsilon = min(epsilon, _GREATEST_EPSILON)
    with precision(working_bits(sigma)):
        found = _delta(sensitivity, sigma, epsilon)
        if found < ball(_LEAST_DELTA):
            return _LEAST_DELTA
        return fraction(found.upper()) if found < 1 else Fraction(1)


def moving_coordinates(sensitivity: Sensitivity) -> int:
    """How many coordinates of an integer vector can move at once: each takes at least 1 of ℓ1, and 1 of ℓ2²."""
    return min(sensitivity.l0, sensitivity.l1, int(sensitivity.l2_squared))


def working_bits(sigma: Fraction) -> int:
    """Enough to see the difference between two tails that are a step apart, to 100 bits."""
    return 128 + max(0, int(sigma).bit_length())


def _guess(l2_squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A σ that errs on the large side: the lesser of two that suffice for continuous noise.

    By Bun and Steinke's (2016) conversion, ε = ρ + 2√(ρ·ln(1/δ)); and because δ(ε) ≤ δ(0) ≤ ℓ2/(σ√(2π)).
    """
    surprise = log(delta.denominator) - log(delta.numerator)
    ratio = max(float(epsilon), 1e-200) * sqrt(2) / (sqrt(float(epsilon) + surprise) + sqrt(surprise))
    return Fraction(sqrt(l2_squared) / max(ratio, sqrt(2 * pi) * exp(-surprise)))


def _delta(sensitivity: Sensitivity, sigma: Fraction, epsilon: Fraction) -> arb:
    """An enclosure of δ(ε) or of an upper bound on it, by the lemma that applies."""
    coordinates = moving_coordinates(sensitivity)
    if coordinates == 1:
        return one_coordinate(sigma, sensitivity.linf, epsilon)
    smoothing = smoothing_for(sigma, coordinates, epsilon)
    return many_coordinates(sigma, sensitivity.l2_squared, coordinates, epsilon, smoothing)


def _log_ratio(found: arb, target: Fraction) -> float:
    """ln(found/target) as a float, to steer by; but 0 or less only if found ≤ target is proved."""
    steer = float((found.upper() / ball(target)).log())
    return min(steer, 0.0) if found <= ball(target) else max(steer, 1e-300)


def _least_multiple(excess: Callable[[int], float], *, first: int, start: int) -> int:
    """The least integer from `first` on at which a falling `excess` is at most 0.

    Bracketed by doubling, then found by regula falsi in logarithms (Illinois variant).
    """
    low = high = max(first, start)
    under = over = excess(high)
    while over > 0:
        low, under, high = high, over, 2 * high
        over = excess(high)
    while under <= 0:
        if low == first:
            return low
        low, high, over = max(first, low * 3 // 4), low, under
        under = excess(low)
    last = ""
    while high - low > 1:
        weight = under / (under - over)
        middle = min(max(round(low * (high / low) ** weight), low + 1), high - 1)
        value = excess(middle)
        if value > 0:
            over = over / 2 if last == "low" else over
            low, under, last = middle, value, "low"
        else:
            under = under / 2 if last == "high" else under
            high, over, last = middle, value, "high"
    return high
