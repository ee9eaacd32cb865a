"""Tails of the noise, in balls.

Results in balls enclose the truth: exactly but for a stated, proved radius. Call it within `precision(bits)`. For the
discrete Gaussian at any σ two ways of summing share the work, and each adds a bound on what it leaves out to the radius
of its result. Importing this file imports flint.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, factorial, log, log2, pi, sqrt

from flint import arb, ctx, fmpq

from discreet.exact.ball import ball

_MOST_TERMS = 400  # up to here terms are added one by one; beyond, by the Euler–Maclaurin formula
_MOST_ORDER = 20  # half the greatest number of derivatives that this formula uses


def laplace_tail(scale: Fraction, k: int) -> arb:
    """Pr[Y ≥ k] for Pr[Y = y] ∝ e^(−|y|/scale): with p = e^(−1/scale), p^k/(1+p) for k ≥ 1; the rest by symmetry.

    Examples:
        >>> from discreet.exact.ball import precision
        >>> with precision(64):
        ...     print(float(laplace_tail(Fraction(10), 1)), float(laplace_tail(Fraction(10), 0)))
        0.47502081252106 0.52497918747894
    """
    if k <= 0:
        return 1 - laplace_tail(scale, 1 - k)
    return ball(-k / scale).exp() / (1 + ball(-1 / scale).exp())


def gaussian_tail(sigma: Fraction, k: int) -> arb:
    """Pr[Y ≥ k] for Pr[Y = y] ∝ e^(−y²/2σ²).

    Examples:
        >>> from discreet.exact.ball import precision
        >>> with precision(64):
        ...     print(float(gaussian_tail(Fraction(1), 3)))
        0.004567171417803253
    """
    if k <= 0:
        return 1 - gaussian_tail(sigma, 1 - k)
    return _sum_from(sigma, k) / _sum_of_all(sigma)


def laplace_pmf(scale: Fraction, k: int) -> arb:
    """Pr[Y = k] = (1−p)/(1+p)·p^|k|, with p = e^(−1/scale)."""
    return ball(-abs(k) / scale).exp() * ball(1 / (2 * scale)).tanh()


def gaussian_pmf(sigma: Fraction, k: int) -> arb:
    """Pr[Y = k] for Pr[Y = y] ∝ e^(−y²/2σ²)."""
    return ball(-(k**2) / (2 * sigma**2)).exp() / _sum_of_all(sigma)


def _sum_of_all(sigma: Fraction) -> arb:
    """Σ e^(−y²/2σ²) over all integers y.

    From σ = 1 up by Poisson's summation formula, √(2π)σ·(1 + 2Σ_{j≥1} e^(−2π²σ²j²)), of which three terms leave less
    than 2^−455; below, term by term.
    """
    if sigma < 1:
        return 1 + 2 * _sum_from(sigma, 1)
    wave = (-2 * (arb.pi() * ball(sigma)) ** 2).exp()
    waves = wave + wave**4 + wave**9 + _from_zero_to(wave**16 / (1 - wave))
    return (2 * arb.pi()).sqrt() * ball(sigma) * (1 + 2 * waves)


def _sum_from(sigma: Fraction, k: int) -> arb:
    """Σ e^(−y²/2σ²) over y ≥ k, for k ≥ 1."""
    terms = _terms_needed(sigma, k, ctx.prec)
    return _term_by_term(sigma, k, terms) if terms <= _MOST_TERMS else _euler_maclaurin(sigma, k, ctx.prec)


def _terms_needed(sigma: Fraction, k: int, bits: int) -> int:
    """After how many terms the rest is below 2^−bits of the first; any answer is sound: the rest is accounted for."""
    variance, start = float(sigma**2), float(min(k, 2**500))
    room = 2 * variance * (bits * log(2) + 10)
    return ceil(room / (start + sqrt(start**2 + room)))


def _term_by_term(sigma: Fraction, k: int, terms: int) -> arb:
    """The first terms, and [0, next/(1 − ratio)] for the others: their ratios only fall."""
    variance = sigma**2
    term, ratio = ball(-(k**2) / (2 * variance)).exp(), ball(-(2 * k + 1) / (2 * variance)).exp()
    falling = ball(-1 / variance).exp()
    total = term
    for _ in range(terms):
        term = term * ratio
        ratio = ratio * falling
        total = total + term
    return total + _from_zero_to(term * ratio / (1 - ratio))


def _euler_maclaurin(sigma: Fraction, k: int, bits: int) -> arb:
    """The sum as an integral, half the first term, and derivatives at the start.

    With f(y) = e^(−y²/2σ²), u = k/σ and Hermite's polynomials Heₙ, f⁽ⁿ⁾(k) = (−1)ⁿ σ⁻ⁿ Heₙ(u) f(k), so

        Σ_{y≥k} f(y) = ∫ₖ^∞ f + f(k)/2 + f(k) Σ_{j=1}^m B₂ⱼ/(2j)! · σ^(1−2j) He₂ⱼ₋₁(u) + R.

    |R| ≤ 2ζ(2m)/(2π)^(2m) ∫ₖ^∞ |f⁽²ᵐ⁾|, ζ(2m) < 2, and |He₂ₘ(t)| ≤ E(t² + N²)^m ≤ 2^(m−1)(t^(2m) + (2m−1)!!) for a
    normal N, because Heₙ(t) = E(t + iN)ⁿ and powers are convex. The remainder, Iₘ = ∫ᵤ^∞ t^(2m) e^(−t²/2) dt, obeys Iⱼ
    = u^(2j−1) e^(−u²/2) + (2j−1) Iⱼ₋₁.
    """
    order = _order_needed(sigma, k, bits)
    u, square = ball(k / sigma), ball(k**2 / sigma**2)
    step = ball(1 / sigma**2)
    first = (-square / 2).exp()
    integral = (arb.pi() / 2).sqrt() * (u / arb(2).sqrt()).erfc()
    before, hermite, power, slopes = arb(1), u, ball(1 / sigma), arb(0)
    moment, powers, odd_factorial = integral, u * first, 1
    for j, coefficient in enumerate(_coefficients()[:order], start=1):
        slopes = slopes + coefficient * power * hermite
        power = power * step
        before = u * hermite - (2 * j - 1) * before
        hermite = u * before - 2 * j * hermite
        moment = powers + (2 * j - 1) * moment
        powers = powers * square
        odd_factorial *= 2 * j - 1
    scale = 2 ** (order + 1) / (2 * arb.pi()) ** (2 * order) * ball(sigma) * step**order
    rest = scale * (moment + odd_factorial * integral)
    return ball(sigma) * integral + first / 2 + first * slopes + _from_zero_to(rest) - _from_zero_to(rest)


def _order_needed(sigma: Fraction, k: int, bits: int) -> int:
    """Half the number of derivatives that bring the rest to about 2^−bits; any answer is sound, as with the terms."""
    falling = log2(pi * sqrt(2) / max(float(k / sigma**2), sqrt(2 * _MOST_ORDER) / float(sigma)))
    return min(_MOST_ORDER, ceil((bits + 10) / (2 * falling))) if falling > 0 else _MOST_ORDER


@cache
def _coefficients() -> tuple[fmpq, ...]:
    """B₂ⱼ/(2j)! for j from 1, exactly."""
    return tuple(fmpq.bernoulli(2 * j) / factorial(2 * j) for j in range(1, _MOST_ORDER + 1))


def _from_zero_to(bound: arb) -> arb:
    """A ball that encloses every number from 0 to a positive bound."""
    return bound.union(0 * bound)
