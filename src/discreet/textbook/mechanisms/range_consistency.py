"""Consistency: noisy sums over a binary tree made to agree with each other, and how much that helps.

A leaf has height 1. With βₕ = 2^(h−1)/(2^h − 1), so β₁ = 1, β₂ = 2/3 and so on down to 1/2, the least-squares solution
gives a node of height h the weight βₕ for its own noisy sum and 1 − βₕ for that of its children.

Source: Hay, Rastogi, Miklau, Suciu (2010), "Boosting the accuracy of differentially private histograms through
consistency", Theorem 3.

The error of the consistent sum over a range is S = Σw(v)·X(v), with the weights of `weights`, and V = Σw². Two bounds
on Pr[|S| > t] hold, and the lesser t is taken. All is in floats: an interval speaks of accuracy, and no guarantee rests
on it.

*Chernoff.* Let g(λ²) = log E exp(λX). For Gaussian noise g(x) ≤ σ²x/2. For Laplace noise of scale s,
exp(g) = (cosh(1/s) − 1)/(cosh(1/s) − cosh λ), and g is convex with g(0) = 0, because cosh √x is convex. No weight
exceeds 1, so g(w²λ²) ≤ w²g(λ²), and Pr[|S| > t] ≤ 2·exp(V·g(λ²) − λt) for any λ. It holds for any scale, and is wide.

*Real noise.* Discrete noise is real noise and a small rest, of which a 1/32 of the doubt takes care.

- Gaussian, σ ≥ 4: let Z be normal of variance 2. By Poisson's summation formula X + Z has at most 1 + 10⁻¹⁴ times the
  density of a normal of variance σ² + 2 (with v = 2σ²/(σ² + 2) ≥ 16/9, the factor is 1 + 2Σ exp(−2π²vj²)); over all
  nodes of any tree that makes 1 + 10⁻⁶. So S + Σw·Z is as good as normal, and S lies within Σw·Z of it.
- Laplace: with E a standard exponential, |X| = ⌊c + s·E⌋ for a c in (0, 1/2], see `discreet.noise.laplace`. So
  X = L + D with L = ±s·E real Laplace noise and D symmetric, |D| < 1. By Hoeffding |Σw·D| exceeds d with probability
  at most 2·exp(−d²/2V). The law of Σw·L has the characteristic function φ(u) = Π 1/(1 + s²w²u²), which is inverted by
  numbers.

Source: Canonne, Kamath, Steinke (2020), the lemma that a discrete Gaussian is subgaussian; Gil-Pelaez (1951), the
inversion theorem.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, inf, log, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


def consistent(levels: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """The sums that agree, nearest to the noisy ones in least squares; in floats, as post-processing.

    Going up, a node's estimate is the weighted mean of its own sum and its children's; going down, what a node has more
    than its children is shared out between them.

    Args:
        levels: noisy sums from the root to the leaves: 1, 2, 4, … of them.
    """
    up = [levels[-1].astype(float)]
    for height, level in enumerate(reversed(levels[:-1]), start=2):
        own = float(share(height))
        up.append(own * level.astype(float) + (1 - own) * _pairs(up[-1]))
    down = [up[-1]]
    for level in reversed(up[:-1]):
        missing = (down[-1] - _pairs(level)) / 2
        down.append((level.reshape(-1, 2) + missing[:, None]).reshape(-1))
    return down


def share(height: int) -> Fraction:
    """βₕ."""
    return Fraction(1 << (height - 1), (1 << height) - 1)


@lru_cache(maxsize=4096)
def variance(depth: int, low: int, high: int) -> Fraction:
    """The variance of the consistent sum over leaves low to high − 1, in units of one node's variance; exactly.

    The consistent sum weighs the noise of each node v by some w(v). These weights form a consistent tree themselves
    (each is the sum of its children's), and on the path from the root to a leaf they add up to 1 if the leaf is in the
    range, else to 0; both follow from least squares. So Σw² is the sum of the leaves' weights over the range.

    Let c be what the path above a node of height h adds up to. Then w = α − βₕ·c, where α is βₕ for a node that lies
    in the range, 0 for one outside, and (α′ + α″)/(1 + 2βₕ₋₁) for one with children's α′ and α″. By induction
    0 ≤ α ≤ βₕ, so c stays within [0, 1], and **no weight exceeds 1**: |w| ≤ βₕ.

    Args:
        depth: of the tree; 2^depth leaves.
        low: the first leaf of the range.
        high: the one after its last.
    """
    return _solve(depth + 1, low, high)[1]


def weights(depth: int, low: int, high: int) -> list[tuple[float, int]]:
    """The sizes of the weights w(v) of `variance`, and how many nodes have each; nodes without weight aren't counted.

    In a subtree that lies within the range, or outside it, all nodes of a height are alike. So there are some depth²
    sizes at most.
    """
    counted: Counter[float] = Counter()
    waiting = [(depth + 1, low, high, Fraction(0))]
    while waiting:
        height, start, end, path = waiting.pop()
        half = (1 << height) // 4
        if start < end and (start, end) != (0, 1 << (height - 1)):
            own = _solve(height, start, end)[0] - share(height) * path
            counted[abs(float(own))] += 1
            waiting.append((height - 1, start, min(end, half), path + own))
            waiting.append((height - 1, max(start - half, 0), end - half, path + own))
        else:
            for below in range(height, 0, -1):
                own = share(below) * (int(start < end) - path)
                counted[abs(float(own))] += 1 << (height - below)
                path += own
    del counted[0.0]
    return list(counted.items())


def _solve(height: int, low: int, high: int) -> tuple[Fraction, Fraction, Fraction]:
    """For a subtree: its root's α, and r, r′ such that its leaves in the range have weights that sum to r + r′·c."""
    size, own = 1 << (height - 1), share(height)
    if low >= high:
        return Fraction(0), Fraction(0), Fraction(0)
    if low == 0 and high == size:
        return own, own, -own
    half = size // 2
    left = _solve(height - 1, low, min(high, half))
    right = _solve(height - 1, max(low - half, 0), high - half)
    alpha = (left[0] + right[0]) / (1 + 2 * share(height - 1))
    constant, slope = left[1] + right[1], left[2] + right[2]
    return alpha, constant + slope * alpha, slope * (1 - own)


def _pairs(level: NDArray[Any]) -> NDArray[Any]:
    """The sums of neighbours, two by two."""
    sums: NDArray[Any] = level.reshape(-1, 2).sum(axis=1)
    return sums


_REST = 1 / 32
"""The part of the doubt that the rest gets."""

_SMOOTH = 4.0
"""From this σ on the Gaussian's rest is as stated; more of Z isn't needed."""

_VARIANCE = 2.0
_EXCESS = 1e-6

_FAR = 40
_MOST_STEPS = 1 << 14
_FOLLOWED = 1e-12
_BLOCK = 256


def gaussian_radius(sigma: float, depth: int, low: int, high: int, doubt: float) -> float:
    """A t with Pr[|S| > t] ≤ doubt, for Gaussian noise."""
    spread = float(variance(depth, low, high))
    chernoff = sigma * sqrt(2 * spread * log(2 / doubt))
    if sigma < _SMOOTH:
        return chernoff
    normal = -NormalDist().inv_cdf(doubt * (1 - _REST) / (1 + _EXCESS) / 2) * sqrt(spread * (sigma**2 + _VARIANCE))
    rest = -NormalDist().inv_cdf(doubt * _REST / 2) * sqrt(spread * _VARIANCE)
    return min(chernoff, normal + rest)


def laplace_radius(scale: float, depth: int, low: int, high: int, doubt: float) -> float:
    """A t with Pr[|S| > t] ≤ doubt, for Laplace noise."""
    spread = float(variance(depth, low, high))
    rest = sqrt(2 * spread * log(2 / (doubt * _REST)))
    return min(_chernoff(scale, spread, doubt), scale * _real_laplace(depth, low, high, doubt * (1 - _REST)) + rest)


def _chernoff(scale: float, spread: float, doubt: float) -> float:
    """The least (V·g(λ²) + log(2/doubt))/λ, over λ from 0 to 1/scale by golden section; any λ is sound."""

    def bound(share: float) -> float:
        top = 1 / scale
        moment = 2 * _log_sinh(top / 2) - _log_sinh(top * (1 + share) / 2) - _log_sinh(top * (1 - share) / 2)
        return (spread * moment + log(2 / doubt)) / (share * top)

    low, high, golden, best = 0.0, 1.0, (sqrt(5) - 1) / 2, inf
    for _ in range(80):
        first, second = high - golden * (high - low), low + golden * (high - low)
        at_first, at_second = bound(first), bound(second)
        best = min(best, at_first, at_second)
        low, high = (low, second) if at_first < at_second else (first, high)
    return best


def _log_sinh(x: float) -> float:
    """Log sinh x for x > 0, without overflow: x + log((1 − e^(−2x))/2)."""
    return x + log(-expm1(-2 * x) / 2)


@lru_cache(maxsize=1024)
def _real_laplace(depth: int, low: int, high: int, doubt: float) -> float:
    """The least t with Pr[|Σw·L| > t] ≤ doubt, for real Laplace noise of scale 1; or slightly more.

    Pr[|Σw·L| > t] = 1 − (2/π) ∫₀^∞ sin(ut) φ(u)/u du. The integral is a sum at the midpoints of steps of π/(40 sd) up
    to T. That adds at most Pr[|Σw·L| > 80 sd − t], beyond any digit here; it leaves out at most φ(T) if T is at least 1
    over the largest weight, because φ(u)·(1 + w²u²) doesn't grow.
    """
    import numpy as np

    far = _FAR * sqrt(2 * float(variance(depth, low, high)))
    points = (np.arange(_MOST_STEPS) + 0.5) * pi / far
    values = _characteristic(weights(depth, low, high), points)
    kept = max(int(np.count_nonzero(values > _FOLLOWED)), _BLOCK)
    terms = 2 * values[:kept] / (np.arange(kept) + 0.5) / pi
    omitted = 2 / pi * float(values[min(kept, _MOST_STEPS - 1)])
    near, out = 0.0, far
    for _ in range(48):
        middle = (near + out) / 2
        outside = 1 - float(np.sum(np.sin(points[:kept] * middle) * terms)) + omitted
        near, out = (middle, out) if outside > doubt else (near, middle)
    return out


def _characteristic(counted: list[tuple[float, int]], points: NDArray[Any]) -> NDArray[np.float64]:
    """φ at points that rise, by weights and how often each occurs; 0 from where it is next to nothing."""
    import numpy as np

    values = np.zeros(len(points))
    sizes, numbers = (np.array(column) for column in zip(*counted, strict=True))
    for start in range(0, len(points), _BLOCK):
        piece = points[start : start + _BLOCK]
        decay = numbers @ np.log1p((sizes[:, None] * piece) ** 2)
        values[start : start + _BLOCK] = np.exp(-decay)
        if exp(-decay[-1]) < _FOLLOWED:
            break
    return values
