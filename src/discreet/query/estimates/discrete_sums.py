"""Sums of discrete noises: within which distance they stay, by continuous noises that reach at least as far.

*Discrete Laplace noise*, by `summed_radius`. Let Y be discrete Laplace noise with p = e^(−h), h = 1/scale, V uniform on
[−1/2, 1/2], and X continuous Laplace noise with the rate h′ = 2·tanh(h/2), which is at most h. Then |Y + V| is
stochastically at most |X|:

- Pr[|Y + V| > t] is linear between the points k − 1/2. At 1/2 it is 1 − h′/2 ≤ e^(−h′/2), and from each point to the
  next it shrinks by p ≤ e^(−h′); so at the points it is at most e^(−h′t). On [0, 1/2] it is 1 − h′t ≤ e^(−h′t).
- Between two points it is enough to look at the first two. There it is q(1 − θ(1−p)), with q = 2p/(1+p) and θ from 0
  to 1, and e^(−h′(1/2+θ)) minus that is convex in θ, and least where its derivative vanishes, at θ = h/h′ − 1/2. There
  it is p − q(1 − θ(1−p)), which is at least 0 if θ ≥ 1/2, that is, if h ≥ h′.

Both are symmetric and unimodal, so the order is kept when independent copies are added up (Birnbaum 1948), and adding
further uniforms to a symmetric unimodal sum makes no interval about 0 likelier (Anderson 1955). So for n copies and a
whole r, Pr[|ΣY| ≤ r] = Pr[|ΣY + V| ≤ r + 1/2] ≥ Pr[|ΣX| ≤ r + 1/2]. The price is one part in 12·scale² of the scale.

*Discrete Gaussian noise*, by `summed_radius`. The sum of n discrete Gaussians has the law of one with variance nσ²,
times a theta function over the cosets of a lattice. By Poisson's formula that differs from a constant by sums of
e^(−2π²σ²|w|²) over the dual lattice, where |w|² ≥ 1/2: for σ ≥ 4 by less than 10⁻⁶⁰ of it. So the sum is one discrete
Gaussian, with σ√n rounded up. Of a narrower one, Y, |Y + V| is stochastically at most |X|, for a normal X that is a
little wider: the least of some that passes is taken (`dominating_sigma`). Between the points k − 1/2, Pr[|Y + V| > t]
is linear and Pr[|X| > t] convex, so it is enough to look at these points, and between two of them where both fall
alike. From there on all is as for Laplace noise.

*Sums with factors*, by `combined_radius`. Let S₁, S₂, … be sums of independent discrete noises, of one mechanism each,
and a, b, … factors. By the above, |S₁ + V₁| is at most as far out as a sum X₁ of continuous ones, and so on; the order
is kept by factors and by adding up (Birnbaum 1948). As |aV₁ + bV₂ + …| ≤ (|a| + |b| + …)/2, the sum aS₁ + bS₂ + … lies
no further out than aX₁ + bX₂ + … and that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count
from math import ceil, erfc, exp, fsum, hypot, isqrt, log, pi, sqrt, tanh
from statistics import NormalDist

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.parameters import GREATEST
from discreet.query.estimates.discrete_tails import Mechanism
from discreet.query.estimates.many_laplaces import repeated_radius

_PLAIN_SIGMA = 4
"""Sums of narrower Gaussians are no Gaussians; they are at most as far out as those of a wider one."""

_WIDER = Fraction(1, 96)
"""In these steps a variance is raised until the normal law is far enough out."""

_BITS = 40
"""The binary digits behind the point to which σ√n is rounded up."""

_SEEN = 30
"""Noise is never seen beyond this many standard deviations."""

_ROUNDED = 1 + 1e-9
"""Far more than the rounding of floats in a radius."""


@dataclass(frozen=True, slots=True)
class Addend:
    """Independent noises of one mechanism, of which the sum, times a factor, is part of another noise.

    Args:
        mechanism: that made each of them.
        factor: of their sum; a float, as it has no part in any answer.
        number: how many.
    """

    mechanism: Mechanism
    factor: float = 1.0
    number: int = 1

    @property
    def size(self) -> float:
        """The scale, or sigma, of a continuous noise whose sums reach at least as far, times the factor."""
        mechanism = self.mechanism
        if isinstance(mechanism, Gaussian):
            return abs(self.factor) * dominating_sigma(mechanism.sigma)
        return abs(self.factor) * dominating_scale(mechanism.scale)


def can_be_summed(mechanism: Mechanism, number: int) -> bool:
    """Whether it is known how far a sum of this many noises reaches."""
    return isinstance(mechanism, Laplace) or number * mechanism.sigma**2 < GREATEST**2


def dominating_scale(scale: Fraction) -> float:
    """The scale of the continuous Laplace noise whose sums reach at least as far as those of the discrete one.

    Examples:
        >>> round(dominating_scale(Fraction(10)), 5)
        10.00833
    """
    return 1 / (2 * tanh(1 / (2 * float(scale))))


@lru_cache(maxsize=1024)
def dominating_sigma(sigma: Fraction) -> float:
    """The σ of the normal law whose sums reach at least as far as those of the discrete one.

    Examples:
        >>> round(dominating_sigma(Fraction(1)), 3), dominating_sigma(Fraction(10))
        (1.094, 10.0)
    """
    if sigma >= _PLAIN_SIGMA:
        return float(sigma)
    masses = _masses(float(sigma))
    wider = (sqrt(sigma**2 + number * _WIDER) for number in count())
    return next(each for each in wider if _reaches_as_far(each, masses))


def _masses(sigma: float) -> list[float]:
    """Pr[Y = k] for k from 0 on, as far as Y could be seen."""
    weights = [exp(-(k**2) / (2 * sigma**2)) for k in range(ceil(_SEEN * sigma) + 2)]
    whole = 2 * fsum(weights) - weights[0]
    return [weight / whole for weight in weights]


def _reaches_as_far(sigma: float, masses: Sequence[float]) -> bool:
    """Whether a normal X has Pr[|X| > t] ≥ Pr[|Y + V| > t] for all t up to where Y is never seen."""
    above = 0.0
    for k in reversed(range(len(masses))):
        start, end = max(k - 0.5, 0.0), k + 0.5
        density = masses[k] * sigma * sqrt(2 * pi)
        alike = sigma * sqrt(-2 * log(density)) if 0 < density < 1 else end
        for point in (start, min(max(alike, start), end)):
            beyond = above + 2 * masses[k] * (end - point)
            if erfc(point / (sigma * sqrt(2))) * _ROUNDED < beyond:
                return False
        above += 2 * masses[k]
    return True


def summed_radius(mechanism: Mechanism, number: int, confidence: Fraction) -> int:
    """An r with Pr[|sum of `number` independent noises| ≤ r] ≥ confidence, in steps: the least, or next to it.

    Args:
        mechanism: that made each of the noises.
        number: how many; 2 or more.
        confidence: in (0, 1).
    """
    if isinstance(mechanism, Gaussian) and mechanism.sigma >= _PLAIN_SIGMA:
        return Gaussian(_root_above(number * mechanism.sigma**2), mechanism.sensitivity).radius(confidence)
    return max(ceil(combined_radius((Addend(mechanism, 1.0, number),), float(1 - confidence)) - 1), 0)


@lru_cache(maxsize=4096)
def combined_radius(addends: tuple[Addend, ...], outside: float) -> float:
    """A t with Pr[|sum of all addends| > t] ≤ outside.

    Args:
        addends: of one family; at least one.
        outside: in (0, 1).

    Examples:
        >>> from discreet.privacy import Sensitivity
        >>> one = Laplace(Fraction(10), Sensitivity.scalar(1))
        >>> round(combined_radius((Addend(one, 0.5, 4), Addend(one, 2.0, 1)), 0.05), 2)
        66.37
    """
    slack = sum(abs(each.factor) for each in addends) / 2
    if isinstance(addends[0].mechanism, Gaussian):
        sigma = hypot(*(each.size * sqrt(each.number) for each in addends))
        return slack - NormalDist().inv_cdf(outside / 2) * sigma * _ROUNDED
    scales = tuple(each.size for each in addends)
    return slack + repeated_radius(scales, tuple(each.number for each in addends), outside) * _ROUNDED


def _root_above(square: Fraction) -> Fraction:
    """√square, rounded up."""
    return Fraction(isqrt(square.numerator * 4**_BITS // square.denominator) + 1, 2**_BITS)
