"""Probabilities of discrete noise by plain summation, independent of the library's own formulas."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, fsum

Pmf = Mapping[int, float]


def gaussian_pmf(sigma: float, reach: float = 40.0) -> dict[int, float]:
    """Pr[n] ∝ e^(−n²/2σ²), for |n| up to `reach` times σ, beyond which floats hold nothing."""
    most = int(reach * sigma) + 2
    weights = {n: exp(-((n / sigma) ** 2) / 2) for n in range(-most, most + 1)}
    total = fsum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def laplace_pmf(scale: float, reach: float = 750.0) -> dict[int, float]:
    """Pr[n] ∝ e^(−|n|/scale), for |n| up to `reach` times the scale."""
    most = int(reach * scale) + 2
    weights = {n: exp(-abs(n) / scale) for n in range(-most, most + 1)}
    total = fsum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def tail(pmf: Pmf, k: int) -> float:
    """Pr[noise ≥ k]."""
    return fsum(chance for n, chance in pmf.items() if n >= k)


def hockey_stick(p: Pmf, q: Pmf, epsilon: float) -> float:
    """Σ max(0, p − e^ε q): the least δ with which outcomes p are within ε of outcomes q."""
    return fsum(max(0.0, chance - exp(epsilon) * q.get(n, 0.0)) for n, chance in p.items())


def shifted(pmf: Pmf, by: int) -> dict[int, float]:
    """The noise, added to `by`."""
    return {n + by: chance for n, chance in pmf.items()}


def exact_tail(exponents: Mapping[int, Fraction], k: int) -> Decimal:
    """Pr[noise ≥ k] to 60 digits, for weights e^(−exponent)."""
    with localcontext() as context:
        context.prec = 60
        weights = {n: (-Decimal(e.numerator) / Decimal(e.denominator)).exp() for n, e in exponents.items()}
        above = sum((weight for n, weight in weights.items() if n >= k), start=Decimal(0))
        return above / sum(weights.values(), start=Decimal(0))
