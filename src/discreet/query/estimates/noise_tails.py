"""Tails: how likely a noise, or a sum of independent ones, is to lie far out; and within which distance it stays.

*Few Laplace noises of different scales*, by `tail` and `radius`. With independent standard Laplace Xᵢ and distinct aᵢ >
0, the characteristic function of Σ aᵢXᵢ is Π 1/(1 + aᵢ²u²); its partial fractions are again those of Laplaces, so

    Pr[|Σ aᵢXᵢ| > t] = Σᵢ wᵢ e^(−t/aᵢ),   wᵢ = Πⱼ≠ᵢ aᵢ²/(aᵢ² − aⱼ²).

Where scales come close, the weights cancel and lose digits. So each scale is raised until it keeps a distance from the
next smaller one. That errs on the wide side: a Laplace of the larger scale is one of the smaller scale plus an
independent symmetric unimodal variable (the quotient of their characteristic functions is a²/b² + (1 − a²/b²)/(1 +
b²u²)), and adding one of those to a symmetric unimodal variable makes no interval about 0 likelier (Anderson 1955).

*Many Laplace noises of a few scales*, by `repeated_tail` and `repeated_radius`. Partial fractions lose their digits
where many scales are equal. So the characteristic function φ is inverted by numbers instead (Gil-Pelaez 1951):

    Pr[X > x] = 1/2 − (1/π) ∫₀^∞ sin(ux) φ(u)/u du,   φ(u) = (1 + a²u²)^(−p) (1 + b²u²)^(−r) ….

The integral is a sum at the midpoints of steps of width h up to T. What that adds or leaves out is at most
Pr[|X| > 2π/h − x], which is beyond any digit here, and ∫_T^∞ φ(u)/u du. As φ(u)·(1 + a²u²) doesn't grow, the latter is
at most φ(T)·(1 + 1/(aT)²)/2; so it is at most φ(T), since T is chosen with aT ≥ 1 for a the largest scale. It is added
to the answer, which so errs on the wide side.

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
from math import ceil, erfc, exp, factorial, frexp, fsum, hypot, isqrt, ldexp, log, log1p, pi, sqrt, tanh
from statistics import NormalDist
from typing import TypeAlias

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.parameters import GREATEST

Mechanism: TypeAlias = Laplace | Gaussian

_PLAIN_SIGMA = 4
"""Sums of narrower Gaussians are no Gaussians; they are at most as far out as those of a wider one."""

_WIDER = Fraction(1, 96)
"""In these steps a variance is raised until the normal law is far enough out."""

_BITS = 40
"""σ√n is rounded up to so many binary digits behind the point."""

_ROUNDED = 1 + 1e-9
"""Far more than the rounding of floats in a radius."""

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

_MILLS = 30.0
"""Beyond so many standard deviations a normal tail is bounded by Mills' ratio instead of computed."""

_WIDE = 16.0
"""Gaussian noise of a σ above is so wide that one step more or less doesn't matter."""


# ── Few Laplace noises of different scales ────────────────────────────────────────────────────────────────────────────


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


# ── Many Laplace noises of a few scales ───────────────────────────────────────────────────────────────────────────────


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

    variances = [number * scale**2 for scale, number in zip(scales, numbers, strict=True)]
    far = _FAR * sqrt(2 * sum(variances))
    if distance <= 0:
        return 1.0
    step = pi / far
    end = _end(scales, numbers, step)
    points = (np.arange(round(end / step)) + 0.5) * step
    decay = sum(number * np.log1p((scale * points) ** 2) for scale, number in zip(scales, numbers, strict=True))
    inside = 2 / pi * float(np.sum(np.sin(points * min(distance, far)) * np.exp(-decay) / points)) * step
    return min(max(1 - inside + _REST * _law(scales, numbers, end), 0.0), 1.0)


def _end(scales: tuple[float, ...], numbers: tuple[int, ...], step: float) -> float:
    """T: where φ has died away, as far as steps go."""
    steps = 64
    while steps < _MOST_STEPS and _law(scales, numbers, steps * step) > _CLOSE:
        steps *= 2
    return steps * step


def _law(scales: tuple[float, ...], numbers: tuple[int, ...], point: float) -> float:
    """φ at a point."""
    return exp(-sum(number * log1p((scale * point) ** 2) for scale, number in zip(scales, numbers, strict=True)))


# ── Sums of discrete noises ───────────────────────────────────────────────────────────────────────────────────────────


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
    """Whether the reach of a sum of so many such noises is known."""
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
    """Pr[Y = k] for k from 0 on, as far as anybody could see."""
    weights = [exp(-(k**2) / (2 * sigma**2)) for k in range(ceil(_MILLS * sigma) + 2)]
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
    """An r with Pr[|sum of so many independent noises| ≤ r] ≥ confidence, in steps: the least, or next to it.

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


# ── One discrete noise ────────────────────────────────────────────────────────────────────────────────────────────────


def log_tail(noise: Mechanism, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least]."""
    if least < 1:  # by symmetry, 1 − Pr[noise ≥ 1 − least], which is at least 1/2
        below, above = log_tail(noise, 1 - least)
        return log_rest(above), log_rest(below)
    if isinstance(noise, Gaussian):
        return _log_gaussian_tail(float(noise.sigma), least)
    rate = 1 / float(noise.scale)
    exact = -rate * least - log1p(exp(-rate))
    return exact, exact


def log_rest(log_part: float) -> float:
    """ln(1 − e^x)."""
    return log1p(-exp(log_part))


@lru_cache(maxsize=1 << 16)  # the same few are asked for again in each group
def _log_gaussian_tail(sigma: float, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least], for `least` above 0.

    Narrow noise is summed. Else, as the density falls there, Σ e^(−n²/2σ²) over n ≥ least lies between the integrals
    from `least` and from `least` − 1, and over all n it is √(2π)σ, by Poisson's formula, but for less than 10⁻⁶⁰ of it.
    """
    if sigma > _WIDE:
        return _log_normal_tail(least / sigma)[0], min(_log_normal_tail((least - 1) / sigma)[1], log(0.5))
    reach = range(int(_MILLS * sigma) + 2)
    beyond = fsum(exp(-(2 * least * n + n * n) / (2 * sigma**2)) for n in reach)
    whole = 2 * fsum(exp(-n * n / (2 * sigma**2)) for n in reach) - 1
    exact = log(beyond) - least**2 / (2 * sigma**2) - log(whole)
    return exact, exact


def _log_normal_tail(distance: float) -> tuple[float, float]:
    """Bounds on the logarithm of the normal law's upper tail, for a distance from 0 on."""
    if distance < _MILLS:
        exact = log(erfc(distance / sqrt(2)) / 2)
        return exact, exact
    above = -(distance**2) / 2 - log(distance * sqrt(2 * pi))
    return above - log1p(distance**-2), above
