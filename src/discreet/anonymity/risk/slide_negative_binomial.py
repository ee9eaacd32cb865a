"""The slide negative binomial model of a population, fitted to the sizes of a sample's classes.

A class has 1 + X people, X negative binomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import log, log1p, sqrt

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes

_GRID = 256
"""Where a crossing is looked for before it is pinned down; the curve is smooth and bends at most a few times."""

_BISECTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideNegativeBinomial:
    """A population of K classes of 1 + X people each, where P(X = x) = Γ(α+x)/(Γ(α)·x!) · β^α · (1−β)^x.

    Args:
        classes: K; above 0.
        alpha: above 0.
        beta: in (0, 1).

    Examples:
        >>> model = SlideNegativeBinomial(classes=1000, alpha=1.0, beta=0.5)
        >>> model.unique, model.people
        (500.0, 2000.0)
    """

    classes: float
    alpha: float
    beta: float

    @property
    def unique(self) -> float:
        """How many classes of one are expected: K·β^α."""
        return self.classes * math.pow(self.beta, self.alpha)

    @property
    def people(self) -> float:
        """How many people are expected: K·(1 + α(1−β)/β)."""
        return self.classes * (1 + self.alpha * (1 - self.beta) / self.beta)

    def seen_once(self, fraction: float) -> float:
        """How many classes are expected to have one row in a sample of this fraction π.

        Each person is in the sample with probability π, so a class of F sends one with probability F·π·(1−π)^(F−1).
        With d = (1−π)(1−β) and the generating function of X that sums to K·π·(β/(1−d))^α·(1 + αd/(1−d)).
        """
        d = (1 - fraction) * (1 - self.beta)
        return self.classes * fraction * math.pow(self.beta / (1 - d), self.alpha) * (1 + self.alpha * d / (1 - d))

    def seen_twice(self, fraction: float) -> float:
        """The same of classes with two rows: K·α·β^α·π²·(1−β)·(2 − (1−α)d) / (2(1−d)^(α+2))."""
        d = (1 - fraction) * (1 - self.beta)
        height = self.classes * self.alpha * math.pow(self.beta, self.alpha) * fraction**2 * (1 - self.beta)
        return height * (2 - (1 - self.alpha) * d) / (2 * math.pow(1 - d, self.alpha + 2))


def fit_snb(sizes: ClassSizes, fraction: float) -> SlideNegativeBinomial | None:
    """The model by which as many classes of one and of two rows are expected as the sample has.

    Args:
        sizes: of the sample's classes.
        fraction: π: the share of the population that is in the sample; in (0, 1).

    Returns:
        The model; None if no such model exists, or several do: then the sample doesn't settle it.

    Source: Chen, Keller-McNulty (1998), "Estimation of identification disclosure risk in microdata", the definition of
    the slide negative binomial model; Dankar et al. (2012), appendix A. The equations are derived here.
    """
    return solved(sizes.unique, sizes.of(2) // 2, classes_in_population(sizes, fraction), fraction)


def solved(once: float, twice: float, classes: float, fraction: float) -> SlideNegativeBinomial | None:
    """The model with this many classes that expects these numbers of classes of one and of two rows in a sample.

    With e = d/(1−d) and x = αe, dividing the equation of the classes of two by that of the classes of one leaves
    (2q/π)·s₂/s₁·(1+x) = x·(2 + x + e), q = 1−π, so e follows from x; what remains is one equation in x, solved by
    bisection.

    Args:
        once: s₁, classes of one row.
        twice: s₂, classes of two.
        classes: K, of the population.
        fraction: π; in (0, 1).

    Returns:
        The model; None if no such model exists, or several do.
    """
    if once <= 0 or twice <= 0 or classes <= 0:
        return None
    ratio = 2 * (1 - fraction) / fraction * twice / once
    curve = _Curve(ratio=ratio, scale=classes * fraction / once, odds=fraction / (1 - fraction))
    crossing = _crossing(curve)
    if crossing is None:
        return None
    e = curve.e(crossing)
    d = e / (1 + e)
    return SlideNegativeBinomial(classes=classes, alpha=crossing / e, beta=1 - d / (1 - fraction))


def classes_in_population(sizes: ClassSizes, fraction: float) -> float:
    """How many classes the population has, by Shlosser's estimate as modified by Haas and Stokes.

    Shlosser adds to the classes that were seen s₁·A/B, where A = Σ qⁱsᵢ estimates what is left unseen and
    B = Σ iπq^(i−1)sᵢ what is seen once. Thinning by π once more tells how far A/B goes wrong: its expectation for
    classes of size i is Σ qⁱ((1+π)ⁱ−1) / Σ iπ²(1−π²)^(i−1), so A/B is multiplied by A/B over that, with the sample's
    own sizes in it.

    Args:
        sizes: of the sample's classes; one row or more.
        fraction: π; in (0, 1).

    Source: Haas, Stokes (1998), "Estimating the number of classes in a finite population", the definition of
    the modified Shlosser estimator.
    """
    counts = sizes.classes.astype(np.float64)
    i = sizes.sizes.astype(np.float64)
    left = 1 - fraction
    unseen = float((left**i * counts).sum())
    once = float((i * fraction * left ** (i - 1) * counts).sum())
    again = float((np.exp(i * log1p(-(fraction**2))) - left**i) @ counts)
    thinned = float((i * fraction**2 * np.exp((i - 1) * log1p(-(fraction**2)))) @ counts)
    if not once or not again:
        return float(sizes.number)
    return sizes.number + sizes.of(1) * (unseen / once) ** 2 * thinned / again


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """The equation in x that is left: the logarithm of the expected classes of one over those there are.

    Args:
        ratio: (2q/π)·s₂/s₁.
        scale: K·π/s₁.
        odds: π/q.
    """

    ratio: float
    scale: float
    odds: float

    def e(self, x: float) -> float:
        """The e that makes the ratio of classes of two and of one right; it falls as x grows."""
        return self.ratio * (1 + x) / x - 2 - x

    def at(self, x: float) -> float:
        """Above 0 where too many classes of one are expected. (β/(1−d))^α = (1 − e·π/q)^(x/e)."""
        e = self.e(x)
        return log(self.scale * (1 + x)) + x / e * log1p(-e * self.odds)

    def ends(self) -> tuple[float, float]:
        """The x at which e is q/π, and that at which it is 0: solutions of x² + (2 + e − r)x − r = 0."""
        return self._where(1 / self.odds), self._where(0.0)

    def _where(self, e: float) -> float:
        """The x that belongs to an e; written so that nothing cancels."""
        half = (2 + e - self.ratio) / 2
        root = sqrt(half * half + self.ratio)
        return self.ratio / (half + root) if half > 0 else root - half


def _crossing(curve: _Curve) -> float | None:
    """The x at which the curve is 0, if there is exactly one."""
    low, high = curve.ends()
    inside = np.linspace(0, 1, _GRID + 2)[1:-1]
    # closer to both ends than an even grid would look: the curve falls to −∞ at the lower one
    points = [low + (high - low) * float(0.5 - 0.5 * np.cos(np.pi * share)) for share in inside]
    points = [x for x in points if 0 < curve.e(x) < 1 / curve.odds]
    heights = [curve.at(x) for x in points]
    turns = [place for place in range(1, len(points)) if (heights[place - 1] < 0) != (heights[place] < 0)]
    if len(turns) != 1:
        return None
    return _bisected(curve, points[turns[0] - 1], points[turns[0]])


def _bisected(curve: _Curve, below: float, above: float) -> float:
    """Where the curve is 0 between two points at which its sign differs."""
    rising = curve.at(below) < 0
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        if middle in {below, above}:
            break
        if (curve.at(middle) < 0) == rising:
            below = middle
        else:
            above = middle
    return (below + above) / 2
