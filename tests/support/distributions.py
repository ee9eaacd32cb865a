"""What the samplers promise, written down a second time: probabilities as proved bounds, and as floats for fits.

Nothing here is shared with the samplers: the bounds come straight from the formulas in their docstrings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray
from scipy.special import ndtr  # type: ignore[import-untyped]  # scipy ships no types

Bounds: TypeAlias = tuple[Fraction, Fraction]
Pmf: TypeAlias = Callable[[int], Bounds]


NEGLIGIBLE = Fraction(1, 2**4000)


def bounds(compute: Callable[[], Any]) -> Bounds:
    """Rational bounds of a probability, some 500 bits tight; below 2^-4000 they are 0 and that."""
    with ctx.workprec(600):
        value = compute()
        if value < arb(2) ** -4000:
            return Fraction(0), NEGLIGIBLE
        low, high = value.lower().mid().fmpq(), value.upper().mid().fmpq()
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


def exp(x: Fraction) -> Any:
    """e^x as a ball."""
    return arb(fmpq(x.numerator, x.denominator)).exp()


def geometric_pmf(scale: Fraction) -> Pmf:
    """(1 − q)·q^n for n ≥ 0, with q = e^(-1/scale)."""
    return lambda n: bounds(lambda: (1 - exp(-1 / scale)) * exp(-n / scale)) if n >= 0 else (Fraction(0), Fraction(0))


def laplace_pmf(scale: Fraction) -> Pmf:
    """(1 − q)/(1 + q)·q^|n|."""
    return lambda n: bounds(lambda: (1 - exp(-1 / scale)) / (1 + exp(-1 / scale)) * exp(-abs(n) / scale))


def gaussian_pmf(sigma: Fraction) -> Pmf:
    """e^(-n²/2sigma²) over its sum, of which the terms beyond 40·sigma + 40 are bounded by a geometric series."""

    def weight(n: int) -> Any:
        return exp(-(Fraction(n) ** 2) / (2 * sigma**2))

    def total() -> Any:
        last = int(40 * sigma) + 40
        inner = 1 + 2 * sum((weight(n) for n in range(1, last)), arb(0))
        tail = 2 * weight(last) / (1 - weight(last + 1) / weight(last))
        return inner + tail.union(arb(0))

    with ctx.workprec(600):
        normaliser = total()
    return lambda n: bounds(lambda: weight(n) / normaliser)


def categorical_pmf(scores: Sequence[Fraction | int], rate: Fraction, weights: Sequence[int]) -> Pmf:
    """w_i·e^(rate·score_i) over the sum of all of them."""

    def chance(i: int) -> Any:
        best = max(scores)
        terms = [w * exp(rate * (score - best)) for w, score in zip(weights, scores, strict=True)]
        return terms[i] / sum(terms, arb(0))

    return lambda i: bounds(lambda: chance(i)) if 0 <= i < len(scores) and weights[i] else (Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Integers:
    """A distribution on the integers, in floats: Pr[X ≤ n], and Pr[X ≤ n] far enough to find gaps."""

    at_most: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    scale: float

    def below(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pr[X < n]."""
        return self.at_most(n - 1)

    def gap(self, other: Integers) -> float:
        """The largest difference of the two distribution functions; found on a grid, so never overstated."""
        grid = np.unique(np.rint(np.linspace(-12 * self.scale - 2, 12 * self.scale + 2, 100_001)))
        return float(np.abs(self.at_most(grid) - other.at_most(grid)).max())


def geometric_cdf(scale: Fraction) -> Integers:
    """Pr[X ≤ n] = 1 − q^(n+1)."""
    s = float(scale)
    return Integers(lambda n: np.where(n < 0, 0.0, -np.expm1(-np.maximum(n + 1, 0) / s)), s)


def laplace_cdf(scale: Fraction) -> Integers:
    """Pr[X ≤ n] = q^(-n)/(1 + q) below 0, and 1 − q^(n+1)/(1 + q) from 0 on."""
    s = float(scale)
    q = np.exp(-1 / s)
    return Integers(lambda n: np.where(n < 0, np.exp(-np.abs(n) / s), 1 + q - np.exp(-np.abs(n + 1) / s)) / (1 + q), s)


def gaussian_cdf(sigma: Fraction) -> Integers:
    """Pr[X ≤ n]: summed up to sigma 2^12, beyond that Φ((n + 1/2)/sigma), which is off by less than 1/(24·sigma²)."""
    s = float(sigma)
    if s > 2**12:
        return Integers(lambda n: ndtr((n + 0.5) / s), s)
    last = int(40 * s) + 2
    weights = np.exp(-((np.arange(-last, last + 1) / s) ** 2) / 2)
    table = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    return Integers(lambda n: table[np.clip(n + last + 1, 0, 2 * last + 1).astype(np.int64)], s)
