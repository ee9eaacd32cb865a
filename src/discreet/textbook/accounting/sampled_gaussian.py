"""Gaussian noise on a secret sample: orders between whole ones for Poisson samples; samples without replacement.

Importing this file imports flint.

**Poisson samples, orders between whole ones**, for discrete noise and for continuous.
Let r be the ratio of probabilities of outcomes with and without the unit, u = 1 − q + qr, and l = 1 − q, the least that
u can be. The log-moment of order α = n + t, 0 < t < 1, is ln E[u^(n+t)] over outcomes without the unit. Whole orders
are known: M(k) = E[u^k] = Σ_j C(k,j) (1−q)^(k−j) q^j e^(j(j−1)ρ), ρ = ℓ2²/2σ², the same for discrete and
continuous noise.

*Lemma.* Let f(u) = u^(1+t), c > l, and P the parabola with P(l) = f(l), P(c) = f(c), P′(c) = f′(c). Then
E[u^(n+t)] ≤ E[u^(n−1)·P(u)], which is a sum of M(n−1), M(n) and M(n+1).

*Proof.* The error of Hermite interpolation, f − P = f‴(ξ)/6·(u − l)(u − c)², isn't positive for u ≥ l, as f‴ < 0. ∎

That is for the unit's greatest move. A smaller ρ gives no more: for *continuous* noise, whose moments are the same, r
grows in convex order with ρ, and h(u) = u^(n−1)·P(u) is convex for u ≥ l. (P is convex, as f is; P′(l) ≥ f′(l) > 0, as
P lies above f from l on; so all terms of h″ are 0 or more.) Every c is right; of a few the best is taken.

Mironov, Talwar and Zhang's series for fractional orders is that of continuous noise, of which no bound on the discrete
is known to follow. With this one, the ε of 10,000 steps of DP-SGD at q = 0.01, σ = 1 is 0.05 % above theirs.

**Samples without replacement**, discrete noise: a quarter of what is known of any noise, nearly as it is. Neighbours
have one unit in place of another. Let I be the rest of a sample with that unit, and i any further unit. Given I and i,
the outcomes on samples with the one, with the other and with i in its place are p, q, r: Gaussians whose means lie
within ℓ2 of each other, two by two. Those on all samples are mixtures over I and i of p′ = (1−γ)r + γp and q′ = (1−γ)r
+ γq, γ being the rate, and E_q′[(p′/q′)^n] is jointly convex, so it's enough to bound that of one I and i. With U = γ(p
− q)/q′ it is 1 + Σ_{j≥2} C(n,j)·E_q′[U^j].

*Lemma 1.* For even j, E_q′[U^j] ≤ γ^j·((1−γ)·T + γ·B), T and B being the greatest E_r[((p − q)/r)^j] and
E_q[((p − q)/q)^j].

*Proof.* (p − q)^j/q′^(j−1) is jointly convex in p − q and q′, and q′ is a mixture of r and q. ∎

*Lemma 2.* Let x = ℓ2²/σ² and u = e^(x/2). Then

    B = Σᵢ C(j,i)(−1)^i u^(i(i−1)),  T = max(B, Σₛ C(j,s)(−1)^s u^(j(j−1) − s(j−s))),

the second being that of an equilateral triangle: all three means at distance ℓ2 from each other.

*Proof.* Let σ = 1, the mean of r be 0, those of p and q a and b; A = |a|², C = |b|², g = a·b. As sa + tb is on the
grid, E_r[(p/r)^s (q/r)^t] = exp(s(s−1)A/2 + t(t−1)C/2 + stg), for discrete noise as for continuous. So
E = E_r[((p − q)/r)^j] is the same function of A, C and g, and may be studied for continuous noise and all real a, b.
Write P = p/r, Q = q/r.

1. ∂E/∂g = −j(j−1)·E_r[PQ(P − Q)^(j−2)] ≤ 0. So g is as small as may be: either |a − b|² = x, or r lies between p and q
   on a line.
2. If r lies so, move it: E = ∫(p − q)^j r^(1−j) is convex in r's mean, as e^((j−1)z²/2) is in z. So the greatest E has
   it at an end, at p or q; E is B then, with |a − b|² in place of x, and that increases: for b = 0, ∂E/∂A is
   j(j−1)/2·E_r[P²(P − 1)^(j−2)] ≥ 0.
3. Otherwise g = (A + C − x)/2, and dE/dA = j(j−1)/2·E_r[P(P − Q)^(j−1)], of the sign of E[(1 − e^L)^(j−1)] with L ~
   N(−(j−1)(A−C)/2 − jx/2, x), by tilting with P^j. That mean increases with A, so it changes its sign once, from minus
   to plus: the greatest E has A at an end, at x or where r lies between p and q (see 2). Likewise C. This leaves A = C
   = x, the triangle, and A = x, C = 0, where r = q and E = B. ∎

For odd j, E_q′[U^j] is at most the root of the product of its neighbours' bounds (Cauchy–Schwarz), and for any j at
most 2γ^j·u^(j(j−1)), as |p − q|^j ≤ p^j + q^j. This is the bound of other events, which isn't exceeded so; from some j
on it serves alone.

Source: Wang, Balle, Kasiviswanathan (2019), Theorem 9, for the expansion; the rest has its own proof.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, floor, log2

from flint import arb

from discreet.exact.ball import ball, fraction, precision
from discreet.exact.rounding import shorten

_MOMENT_BITS = 256
"""The sum of moments cancels to a few times q², so some bits more than elsewhere."""

_BITS = 64
_TRIES = 10


@lru_cache(maxsize=1 << 14)
def between(rho: Fraction, rate: Fraction, alpha: Fraction) -> Fraction | None:
    """A bound on the log-moment of a fractional order, rounded up; None if balls can't tell it from nothing.

    Args:
        rho: ℓ2²/2σ² of the noise.
        rate: of the sample, in (0, 1).
        alpha: above 1, not whole.

    Examples:
        >>> f"{float(between(Fraction(1, 2), Fraction(1, 100), Fraction(5, 2))):.4g}"
        '0.0003273'
    """
    order = floor(alpha)
    with precision(_MOMENT_BITS):
        moments = [_whole(rho, rate, k) for k in (order - 1, order, order + 1)]
        found = [_parabola(moments, rate, alpha - order, Fraction(2) ** j) for j in range(_TRIES)]
        proved = [value for value in found if value > 0]
        if not proved:
            return None
        return _short(min(fraction(value.log().upper()) for value in proved))


def _parabola(moments: list[arb], rate: Fraction, t: Fraction, far: Fraction) -> arb:
    """The lemma's sum, with c = l + far·q."""
    low, touch = ball(1 - rate), ball(1 - rate + far * rate)
    at_touch = touch ** ball(1 + t)
    slope = ball(1 + t) * at_touch / touch
    gap = ball(far * rate)
    bend = (low ** ball(1 + t) - at_touch + slope * gap) / gap**2
    constant, linear = at_touch - slope * touch + bend * touch**2, slope - 2 * bend * touch
    return moments[0] * constant + moments[1] * linear + moments[2] * bend


@lru_cache(maxsize=1 << 12)
def _whole(rho: Fraction, rate: Fraction, order: int) -> arb:
    """M(k), enclosed."""
    with precision(_MOMENT_BITS):
        odds, growth = ball(rate / (1 - rate)), ball(2 * rho).exp()
        weight, moment, step, total = ball(1 - rate) ** order, arb(1), arb(1), arb(0)
        for j in range(order + 1):  # moment = e^(j(j−1)ρ), step = e^(2jρ)
            total = total + weight * moment
            weight, moment, step = weight * odds * (order - j) / (j + 1), moment * step, step * growth
        return total


def _short(number: Fraction) -> Fraction:
    """The number in 64 bits, rounded up; 0 if it isn't above 0."""
    return shorten(number, bits=_BITS, round_up=True) if number > 0 else Fraction(0)


_MOST = 256
"""Terms from here on have the simpler bound, which is too much by a factor that matters only at rates above a half."""

_WORKING = 160


@lru_cache(maxsize=1 << 14)
def replaced(rho: Fraction, rate: Fraction, order: int) -> Fraction:
    """A bound on the log-moment of a whole order, rounded up.

    Args:
        rho: ℓ2²/2σ² of the noise.
        rate: the share that is sampled, in (0, 1).
        order: 2 or more.

    Examples:
        >>> f"{float(replaced(Fraction(1, 32), Fraction(1, 100), 2)):.4g}"  # some γ²ℓ2²/σ²
        '6.549e-06'
    """
    with precision(_WORKING):
        bounds = {j: _even(rho, rate, j) for j in range(2, min(order, _MOST) + 2, 2)}
        weight, total = ball(rate), arb(0)
        for j in range(2, order + 1):
            weight = weight * ball(rate)
            simple = 2 * ball(j * (j - 1) * rho).exp()
            close = bounds.get(j) if j % 2 == 0 else _between(bounds, j)
            total = total + comb(order, j) * weight * (simple if close is None else close.min(simple))
        return shorten(fraction(total.log1p().upper()), bits=_BITS, round_up=True)


def _between(bounds: dict[int, arb], j: int) -> arb | None:
    """The bound of an odd moment by its neighbours'; None if one isn't known."""
    below, above = bounds.get(j - 1), bounds.get(j + 1)
    return None if below is None or above is None else (below * above).sqrt()


@lru_cache(maxsize=1 << 12)
def _even(rho: Fraction, rate: Fraction, j: int) -> arb:
    """(1−γ)·T + γ·B of Lemma 1, rounded up."""
    lost = int(j * (3 + max(-log2(rho), 0) / 2))  # bits of the alternating sums: terms up to 2^j cancel to some x^(j/2)
    with precision(lost + _WORKING):
        on_a_line, triangle = _line(rho, j), _triangle(rho, j)
        return arb((ball(1 - rate) * triangle.max(on_a_line) + ball(rate) * on_a_line).upper())


def _line(rho: Fraction, j: int) -> arb:
    """B, enclosed."""
    u = ball(rho).exp()
    power, step, total = arb(1), arb(1), arb(0)
    for i in range(j + 1):  # power = u^(i(i−1)), step = u^(2i)
        total = total + (-1) ** i * comb(j, i) * power
        power, step = power * step, step * u**2
    return total


def _triangle(rho: Fraction, j: int) -> arb:
    """The sum for an equilateral triangle, enclosed."""
    u = ball(rho).exp()
    power, step, total = u ** (j * (j - 1)), u ** (1 - j), arb(0)
    for s in range(j + 1):  # power = u^(j(j−1) − s(j−s)), step = u^(2s + 1 − j)
        total = total + (-1) ** s * comb(j, s) * power
        power, step = power * step, step * u**2
    return total
