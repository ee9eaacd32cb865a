"""From pure differential privacy, and from a bounded range, to every other kind of loss."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import sqrt

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON, least, moderate
from discreet.errors import InvalidArgument
from discreet.exact import sqrt as root
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import FAR, NEAR, ApproxDP, ExponentialEvent, PureDP, PureEvent, RenyiDP, rho_of_range


def pure_to_zcdp(epsilon: Rationalizable) -> Fraction:
    """A ρ such that every ε-DP release is ρ-zCDP: the lesser of ε²/2 · (60 + ε²)/(60 + 6ε²) and ε.

    The least that holds for every ε-DP release is ε·tanh(ε/2), the limit of D_α/α for randomised response as α → 1.
    This is a rational that isn't below it, and at most 2 % above it (near ε = 4.6), up to ε = 3 at most 0.4 %. At small
    ε it is the familiar ε²/2 (Bun, Steinke 2016, Proposition 1.4), at ε = 1 8 % and at ε = 3 39 % less.

    Proof. The outputs of any ε-DP release on two neighbours are a post-processing of randomised response with odds
    e^ε (Kairouz, Oh, Viswanath 2015, Theorem 2), whose Rényi divergence is
    D_α = (g(ε/2 + (α−1)ε) − g(ε/2)) / (α−1) with g = ln cosh. Put h = α−1 and G(h) = h·(D_α − α·ε·tanh(ε/2)). Then
    G(0) = 0 and G′(h) = ε·(tanh((1+2h)·ε/2) − (1+2h)·tanh(ε/2)) ≤ 0, because tanh is concave on [0, ∞) and 0 at 0.
    So D_α ≤ α·ε·tanh(ε/2). Finally tanh x = x/(1 + x²/(3 + x²/(5 + …))) (Lambert), and cutting this fraction off
    behind the 5 raises it: tanh x ≤ x·(15 + x²)/(15 + 6x²). It is also at most 1.

    Args:
        epsilon: above 0.

    Examples:
        >>> float(pure_to_zcdp(Fraction(1, 10)))
        0.0049958374958374956
    """
    exact = positive(epsilon, "epsilon")
    square = exact**2
    return min(square / 2 * (60 + square) / (60 + 6 * square), exact)


def laplace_to_zcdp(scale: Rationalizable, shift: int) -> Fraction:
    """The least ρ such that discrete Laplace noise on an integer that moves by `shift` is ρ-zCDP; rounded up.

    With λ = 1/scale and ε = shift·λ it is ρ = ε − (1 − e^−ε)·λ/sinh λ: at a shift of 1 that of every ε-DP release,
    ε·tanh(ε/2), and less the more steps the number moves by; ε − 1 + e^−ε in the limit, which at ε = 1 is 20 % less.

    Proof. On neighbours 0 and v, noise that lands on n has the privacy loss L = λ(|n − v| − |n|): ±ε outside of the
    v − 1 numbers between, and λ(v − 2n) there. Put F(s) = Σ √(P(n)Q(n))·e^(sL), so that
    (α − 1)·D_α = ln F(α − 1/2) − ln F(1/2), as F(1/2) = F(−1/2) = 1. But for a factor that doesn't depend on s,
    F(s) = 2A·cosh(εs) + Σ e^(λ(v−2n)s), 0 < n < v, with A = 1/(1 − e^−λ). In z = e^(2λs), e^(εs)·F(s)·(z − 1) is
    z^v·(Az − B) − (A − Bz) with B = A − 1. As |A − Bz|² − |Az − B|² = (A² − B²)·(1 − |z|²), where that is 0, |z|^v is
    below 1 if |z| is above, and above 1 if it is below; so |z| = 1, and the zeros ±iy of F are imaginary. F is even and
    of order 1, so F(s) = F(0)·Π(1 + s²/y²) (Hadamard), and (ln F)′(s)/s = Σ 2/(y² + s²) falls in s > 0. From s = 1/2 on
    (ln F)′(s) is therefore at most 2s·(ln F)′(1/2) = 2s·ρ, since (ln F)′(1/2) is the limit of D_α as α → 1, the mean of
    L. Integrated: (α − 1)·D_α ≤ ((α − 1/2)² − 1/4)·ρ = α(α − 1)·ρ. The mean of L is λ(E|n − v| − E|n|), and
    E|n − v| − E|n| = v − (1 − e^−ε)/sinh λ.

    ρ is convex in the shift, and 0 at 0; so ρ/shift doesn't fall.

    Args:
        scale: of the noise, in steps of the grid; above 0.
        shift: how far the number moves, in steps; 1 or more.

    Examples:
        >>> round(float(laplace_to_zcdp(1, 1)), 4), round(float(laplace_to_zcdp(1000, 1000)), 4)
        (0.4621, 0.3679)
    """
    if shift < 1:
        raise InvalidArgument(f"a shift is 1 step or more, not {shift}")
    return _laplace_rho(positive(scale, "scale"), shift)


@lru_cache(maxsize=1024)
def _laplace_rho(scale: Fraction, shift: int) -> Fraction:
    """`laplace_to_zcdp` of exact arguments."""
    epsilon = shift / scale
    any_release = pure_to_zcdp(epsilon)
    if not NEAR < epsilon < FAR:
        return any_release
    from discreet.exact.ball import ball, fraction, precision

    with precision(BITS):
        rate = 1 / ball(scale)
        rho = ball(epsilon) + (-ball(epsilon)).expm1() * rate / rate.sinh()
        return min(any_release, shorten(fraction(rho.upper()), bits=BITS // 2, round_up=True))


def bounded_range_to_zcdp(epsilon: Rationalizable) -> Fraction:
    """The least ρ such that every release whose privacy loss has a range of ε is ρ-zCDP; rounded up.

    With x = ε/(1 − e^−ε) it is ρ = x − 1 − ln x: at small ε it is ε²/8, a quarter of what pure DP gives; at ε = 4 it is
    17 % less than ε²/8.

    The range is bounded by ε if for all neighbours x, x′ there is an a such that the privacy loss
    L(y) = ln(Pr[M(x) = y] / Pr[M(x′) = y]) of every outcome y lies in [a, a + ε]. The exponential mechanism is such:
    L(y) = rate·(u(x, y) − u(x′, y)) − ln(Z/Z′), where the second term is the same for all y.

    Proof. (α − 1)·D_α is at most w(α) − w(α − 1) − w(1) with w(t) = t·ln(sinh(tε/2)/(tε/2)), which is
    `bounded_range_to_renyi` written in another way. By sinh u = u·Π(1 + u²/(kπ)²), w is a sum of terms
    g(t) = t·ln(1 + bt²), b > 0. Each has g′(t) = G(t²) with G(s) = ln(1 + bs) + 2bs/(1 + bs), which is concave, and 0
    at 0. So with h = α − 1, g′(1 + h) − g′(h) = G(h² + (1 + 2h)) − G(h²) ≤ G(1 + 2h) ≤ (1 + 2h)·G(1), and integrated
    over h: g(1 + h) − g(h) − g(1) ≤ h(1 + h)·g′(1). In sum D_α ≤ α·w′(1), and w′(1) = x − 1 − ln x, the limit of the
    bound on D_α as α → 1.

    x is convex and above 1, and x − 1 − ln x convex and increasing there, so ρ is convex in ε, and 0 at 0; so ρ/ε
    doesn't fall.

    Args:
        epsilon: the range; above 0.

    Source: Durfee, Rogers (2019), Section 4, for bounded range; Cesar, Rogers (2021), the theorem that a range of ε is
    ε²/8-zCDP; the proof of the least ρ is above.

    Examples:
        >>> round(float(bounded_range_to_zcdp(1)), 4), round(float(bounded_range_to_zcdp(4)), 4)
        (0.1233, 1.6698)
    """
    return rho_of_range(positive(epsilon, "epsilon"))


def pure_to_renyi(epsilon: Rationalizable, alpha: Rationalizable) -> RenyiDP:
    """The least bound on D_α that holds for every ε-DP release; rounded up.

    D_α = ln((e^(αε) + e^((1−α)ε)) / (1 + e^ε)) / (α − 1), which is that of randomised response with odds e^ε; any
    other ε-DP release is a post-processing of it (Kairouz, Oh, Viswanath 2015, Theorem 2).

    Args:
        epsilon: above 0.
        alpha: above 1.

    Examples:
        >>> print(pure_to_renyi(1, 2))
        ε = 0.735326 of order 2
    """
    return _renyi(PureEvent(epsilon=PureDP(epsilon).epsilon), RenyiDP(alpha, 1))


def bounded_range_to_renyi(epsilon: Rationalizable, alpha: Rationalizable) -> RenyiDP:
    """The least bound on D_α that holds for every release whose privacy loss has a range of ε; rounded up.

    With c = (e^(αε) − 1)/(e^ε − 1) and u = c(α − 1)/(α(c − 1)), it is D_α = ln u + ln(c/α)/(α − 1). For the range see
    `bounded_range_to_zcdp`, for the proof `discreet.accounting.renyi_divergences`.

    Args:
        epsilon: the range; above 0.
        alpha: above 1.

    Examples:
        >>> print(bounded_range_to_renyi(1, 2))
        ε = 0.240229 of order 2
    """
    return _renyi(ExponentialEvent(epsilon=PureDP(epsilon).epsilon), RenyiDP(alpha, 1))


def _renyi(event: PureEvent | ExponentialEvent, order: RenyiDP) -> RenyiDP:
    """The divergence of an event."""
    from discreet.accounting.renyi_divergences import log_moment

    bound = log_moment(event, order.alpha) / (order.alpha - 1)
    return RenyiDP(order.alpha, shorten(bound, bits=BITS // 2, round_up=True))


def pure_to_gaussian(epsilon: Rationalizable) -> Fraction:
    """The least μ such that every ε-DP release is μ-GDP: Φ(μ/2) = e^ε/(1 + e^ε); rounded up.

    Proof. Of every ε-DP release the trade-off function is at least that of randomised response with odds e^ε, the
    lines from (0, 1) to (c, c) to (1, 0) with c = 1/(1 + e^ε). That of μ-GDP, G(a) = Φ(Φ⁻¹(1 − a) − μ), is convex,
    and 1 at 0 and 0 at 1, so it lies below these lines as soon as G(c) ≤ c, which says 2Φ⁻¹(1 − c) ≤ μ. From ε = 4096
    on μ = √(8ε) is stated, which is just above: Φ(−μ/2) ≤ e^(−μ²/8)/2 ≤ 1/(1 + e^ε).

    Args:
        epsilon: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.

    Source: Dong, Roth, Su (2019), Section 2, for both trade-off functions.

    Examples:
        >>> float(round(pure_to_gaussian(1), 4))
        1.232
    """
    return _mu(moderate(epsilon, "epsilon"))


@lru_cache(maxsize=1024)
def _mu(epsilon: Fraction) -> Fraction:
    """`pure_to_gaussian` of an exact argument."""
    from discreet.exact.ball import ball, precision

    if epsilon > FAR:
        return root(8 * epsilon, round_up=True)

    def passes(mu: Fraction) -> bool:
        far = ball(mu) / ball(8).sqrt()
        if epsilon < 1:  # both sides near 0, to full relative precision
            return bool(far.erf() >= (ball(epsilon) / 2).tanh())
        return bool(far.erfc() <= 2 / (1 + ball(epsilon).exp()))

    with precision(192):
        e = float(epsilon)
        return least(passes, start=Fraction(min(1.26 * e, sqrt(8 * e))), floor=Fraction(1, 2**101))


def lowered(loss: PureDP | ApproxDP, delta: Rationalizable) -> ApproxDP:
    """The least ε at which every release of this loss is (ε, δ)-DP, for a δ above its own; rounded up.

    It is ε′ = ln(e^ε − (1 + e^ε)·(δ′ − δ)/(1 − δ)), or next to 0 where that isn't above 1.

    Proof. Every (ε, δ)-DP release is a post-processing of: with probability δ say which neighbour it is, else
    randomised response with odds e^ε (Kairouz, Oh, Viswanath 2015, Theorem 2). The δ of that at ε′ ≤ ε is
    δ + (1 − δ)·(e^ε − e^ε′)/(1 + e^ε), by which δ′ is reached at the ε′ above, and at no smaller one.

    Args:
        loss: what is known.
        delta: the δ′ to state; at least the loss's own, below 1.

    Examples:
        >>> print(lowered(PureDP(1), "0.1"))
        ε = 0.852905, δ = 0.1
    """
    from discreet.exact.ball import ball, fraction, precision

    stated, own = probability(delta, "delta"), loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
    if stated == own:
        return ApproxDP(loss.epsilon, stated)
    with precision(BITS):
        share = ball((stated - own) / (1 - own))
        inner = 1 - share - share * ball(-loss.epsilon).exp()  # e^(ε′ − ε)
        least = fraction((ball(loss.epsilon) + inner.log()).upper()) if inner > 0 else LEAST_EPSILON
    return ApproxDP(min(shorten(max(least, LEAST_EPSILON), bits=53, round_up=True), loss.epsilon), stated)
