"""Intervals: how far noise, alone or in a linear combination, may carry an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, log
from statistics import NormalDist
from typing import TYPE_CHECKING

from discreet.mechanisms import Gaussian

if TYPE_CHECKING:
    from discreet.query.draft import Noise

_STEPS = 30


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval.

    Args:
        lo: the lower end.
        hi: the upper end.
    """

    lo: float
    hi: float


def combination_radius(terms: Sequence[tuple[Noise, float]], confidence: float) -> float:
    """The radius within which a combination of two independent noises lies, with this confidence.

    The noises are discrete; their continuous namesakes are used here, and half a step of each grid is added, which
    errs on the wide side.

    Args:
        terms: two noises of one family, each with its factor.
        confidence: in (0, 1).
    """
    factors = [abs(factor) * float(noise.step) for noise, factor in terms]
    slack = sum(factors) / 2
    first, second = terms[0][0].mechanism, terms[1][0].mechanism
    if isinstance(first, Gaussian) or isinstance(second, Gaussian):
        sigmas = [factor * _sigma(noise) for factor, (noise, _) in zip(factors, terms, strict=True)]
        return slack + NormalDist().inv_cdf((1 + confidence) / 2) * hypot(*sigmas)
    return slack + _laplace_radius(factors[0] * float(first.scale), factors[1] * float(second.scale), 1 - confidence)


def _sigma(noise: Noise) -> float:
    """The standard deviation of a Gaussian noise, in steps."""
    if not isinstance(noise.mechanism, Gaussian):
        raise TypeError("a plan's noises are of one family")
    return float(noise.mechanism.sigma)


def _laplace_radius(a: float, b: float, outside: float) -> float:
    """The t with Pr[|aX + bY| > t] = `outside` for independent standard Laplace X and Y.

    The tail is (a²e^(−t/a) − b²e^(−t/b)) / (a² − b²), and (1 + t/2a)e^(−t/a) where a = b: convolve the densities.
    """
    alone = -log(outside)
    lo, hi = max(a, b) * alone, (a + b) * (alone + log(2))  # one noise alone; and both at once, by the union bound
    for _ in range(_STEPS):
        middle = (lo + hi) / 2
        if _laplace_tail(a, b, middle) > outside:
            lo = middle
        else:
            hi = middle
    return hi


def _laplace_tail(a: float, b: float, t: float) -> float:
    """Pr[|aX + bY| > t]."""
    a, b = max(a, b), min(a, b)
    if b <= a * 1e-9:
        return exp(-t / a) if a else 0.0
    if a - b < 1e-6 * a:
        return (1 + t / (2 * a)) * exp(-t / a)
    return (a * a * exp(-t / a) - b * b * exp(-t / b)) / (a * a - b * b)
