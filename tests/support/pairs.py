"""Pairs of discrete laws by plain enumeration: what dominating pairs and their compositions are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import exp, fsum

import numpy as np
from numpy.typing import NDArray

from support.pmf import Pmf


@dataclass(frozen=True)
class Pair:
    """Probabilities of the same outcomes under two laws."""

    p: NDArray[np.float64]
    q: NDArray[np.float64]

    def __matmul__(self, other: Pair) -> Pair:
        return Pair(np.outer(self.p, other.p).ravel(), np.outer(self.q, other.q).ravel())

    def flipped(self) -> Pair:
        """In the other order."""
        return Pair(self.q, self.p)

    def variance(self) -> float:
        """Of ln(p/q), under p, where both are above 0."""
        both = (self.p > 0) & (self.q > 0)
        p, losses = self.p[both], np.log(self.p[both] / self.q[both])
        return float((p * losses**2).sum() - (p * losses).sum() ** 2)

    def delta(self, epsilon: float) -> float:
        """Σ max(0, p − e^ε q)."""
        return fsum(np.maximum(self.p - exp(epsilon) * self.q, 0.0).tolist())


def noisy(noise: Pmf, value: int, other: int) -> Pair:
    """The same noise on two values."""
    outcomes = sorted({n + v for n in noise for v in (value, other)})
    p, q = ([noise.get(y - v, 0.0) for y in outcomes] for v in (value, other))
    return Pair(np.array(p), np.array(q))


def mixed(noise: Pmf, values: dict[int, float], others: dict[int, float]) -> Pair:
    """The same noise on two random values."""
    outcomes = sorted({n + v for n in noise for v in (*values, *others)})
    p, q = (
        [fsum(chance * noise.get(y - v, 0.0) for v, chance in law.items()) for y in outcomes]
        for law in (values, others)
    )
    return Pair(np.array(p), np.array(q))


def composed(pairs: Sequence[Pair]) -> Pair:
    """All of them, independently."""
    return reduce(Pair.__matmul__, pairs)


def response(epsilon: float, delta: float = 0.0) -> Pair:
    """Randomised response that tells the truth plainly with probability δ."""
    truth = (1 - delta) / (1 + exp(-epsilon))
    lie = (1 - delta) - truth
    return Pair(np.array([delta, truth, lie, 0.0]), np.array([0.0, lie, truth, delta]))
