"""Concentrated differential privacy: what ρ says in other terms, and the ρ of pure, Laplace and Gaussian releases."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import log1p, sqrt

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON, LEAST_LOG_DELTA, log_of, minimise, moderate
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import FAR, NEAR, ZCDP, ApproxDP, Loss, PureDP, RenyiDP, rho_of_range


def zcdp_to_epsilon(rho: Rationalizable, delta: Rationalizable) -> Fraction:
    """An ε such that every ρ-zCDP release is (ε, δ)-DP; rounded up.

    The least over α > 1 of αρ + ln(1/(αδ))/(α−1) + ln(1 − 1/α). Every α gives a valid ε, so a poor search for the
    best could only cost utility; the value at the α found is enclosed by a ball, and its upper end is returned.

    Args:
        rho: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        delta: in (0, 1).

    Source: Canonne, Kamath, Steinke (2020), Proposition 12 and Corollary 13, solved for ε.

    Examples:
        >>> float(round(zcdp_to_epsilon(rho=0.1, delta=1e-6), 3))
        2.142
    """
    return _epsilon(moderate(rho, "rho"), probability(delta, "delta"))


def zcdp_to_delta(rho: Rationalizable, epsilon: Rationalizable) -> Fraction:
    """A δ such that every ρ-zCDP release is (ε, δ)-DP; rounded up, and 1 if there is no better.

    The least over α > 1 of exp((α−1)(αρ − ε)) / (α−1) · (1 − 1/α)^α.

    Args:
        rho: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        epsilon: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.

    Source: Canonne, Kamath, Steinke (2020), Corollary 13.

    Examples:
        >>> f"{float(zcdp_to_delta(rho=0.1, epsilon=2)):.3g}"
        '4.33e-06'
    """
    return _delta(moderate(rho, "rho"), moderate(epsilon, "epsilon"))


def rho_for(epsilon: Rationalizable, delta: Rationalizable) -> Fraction:
    """The greatest ρ found such that every ρ-zCDP release is (ε, δ)-DP; rounded down.

    The same inequality as in `zcdp_to_epsilon`, solved for ρ: the greatest over α > 1 of
    (ε − ln(1/(αδ))/(α−1) − ln(1 − 1/α)) / α. Every α gives a valid ρ.

    Args:
        epsilon: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        delta: in (0, 1).

    Source: Canonne, Kamath, Steinke (2020), Proposition 12 and Corollary 13.

    Examples:
        >>> float(round(rho_for(epsilon=1, delta=1e-6), 4))
        0.0244
    """
    return _rho(moderate(epsilon, "epsilon"), probability(delta, "delta"))


@lru_cache(maxsize=1024)
def _epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """`zcdp_to_epsilon` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    r, surprise = float(rho), -log_of(delta)
    excess = minimise(lambda h: (1 + h) * r + (surprise - log1p(h)) / h - log1p(1 / h), around=sqrt(surprise / r))
    with precision(BITS):
        h = ball(excess)
        epsilon = (1 + h) * ball(rho) - ((1 + h) * ball(delta)).log() / h - (1 / h).log1p()
        return shorten(max(fraction(epsilon.upper()), LEAST_EPSILON), bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """`zcdp_to_delta` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    r, e = float(rho), float(epsilon)
    excess = minimise(lambda h: h * ((1 + h) * r - e - log1p(1 / h)) - log1p(h), around=max((e - r) / (2 * r), 1e-3))
    with precision(BITS):
        h = ball(excess)
        log_delta = h * ((1 + h) * ball(rho) - ball(epsilon) - (1 / h).log1p()) - h.log1p()
        if not log_delta < 0:
            return Fraction(1)
        delta = ball(max(fraction(log_delta.upper()), LEAST_LOG_DELTA)).exp()
        return shorten(fraction(delta.upper()), bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """`rho_for` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    e, surprise = float(epsilon), max(-log_of(delta), 2.0**-64)
    guess = e / (sqrt(e + surprise) + sqrt(surprise))
    excess = minimise(
        lambda h: -(e + (log1p(h) - surprise) / h + log1p(1 / h)) / (1 + h), around=sqrt(surprise) / guess
    )
    with precision(BITS):
        h = ball(excess)
        rho = (ball(epsilon) + ((1 + h) * ball(delta)).log() / h + (1 / h).log1p()) / (1 + h)
        if not rho > 0:
            raise ArithmeticError("no positive rho was found for this epsilon and delta")
        return shorten(fraction(rho.lower()), bits=40, round_up=False)


def zcdp_to_renyi(rho: Rationalizable, alpha: Rationalizable) -> RenyiDP:
    """The Rényi loss at one order: D_α ≤ αρ, by the definition of zCDP (Bun, Steinke 2016, Definition 1.1).

    Examples:
        >>> print(zcdp_to_renyi("0.1", 5))
        ε = 0.5 of order 5
    """
    order = positive(alpha, "alpha")
    return RenyiDP(order, order * positive(rho, "rho"))


def gaussian_to_zcdp(mu: Rationalizable) -> Fraction:
    """The ρ such that every μ-GDP release is ρ-zCDP, and no smaller one for all of them: ρ = μ²/2.

    Proof. A μ-GDP release is a post-processing of a draw from N(0, 1) or N(μ, 1) (Dong, Roth, Su 2019, Theorem 2.10,
    after Blackwell), whose Rényi divergence of order α is αμ²/2, either way around.

    Examples:
        >>> gaussian_to_zcdp(1)
        Fraction(1, 2)
    """
    return positive(mu, "mu") ** 2 / 2


def to_approx(loss: Loss, delta: Rationalizable) -> ApproxDP:
    """The same release's loss as (ε, δ), to compare what is stated in different terms.

    Args:
        loss: any loss.
        delta: the δ to state; above the loss's own δ if that is in zCDP, and at least it otherwise.

    Raises:
        InvalidArgument: δ is too small for this loss.

    Examples:
        >>> print(to_approx(ZCDP("0.1"), 1e-6))
        ε = 2.14194, δ = 1e-06
    """
    target = probability(delta, "delta")
    if isinstance(loss, PureDP):
        return ApproxDP(loss.epsilon, target)
    if target < loss.delta or (isinstance(loss, ZCDP) and target == loss.delta):
        raise InvalidArgument(f"delta must be above {float(loss.delta):.3g}, the loss's own, not {delta}")
    if isinstance(loss, ApproxDP):
        return ApproxDP(loss.epsilon, target)
    return ApproxDP(zcdp_to_epsilon(loss.rho, target - loss.delta), target)


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

    Proof. On neighbours 0 and v, noise that lands on n has the privacy loss L = λ(|n − v| − |n|): ±ε outside the v − 1
    numbers between, and λ(v − 2n) there. Put F(s) = Σ √(P(n)Q(n))·e^(sL), so that (α − 1)·D_α = ln F(α − 1/2) − ln
    F(1/2), as F(1/2) = F(−1/2) = 1. But for a factor that doesn't depend on s, F(s) = 2A·cosh(εs) + Σ e^(λ(v−2n)s), 0 <
    n < v, with A = 1/(1 − e^−λ). In z = e^(2λs), e^(εs)·F(s)·(z − 1) is z^v·(Az − B) − (A − Bz) with B = A − 1. As |A −
    Bz|² − |Az − B|² = (A² − B²)·(1 − |z|²), where that is 0, |z|^v is below 1 if |z| is above, and above 1 if it is
    below; so |z| = 1, and the zeros ±iy of F are imaginary. F is even and of order 1, so F(s) = F(0)·Π(1 + s²/y²)
    (Hadamard), and (ln F)′(s)/s = Σ 2/(y² + s²) falls in s > 0. From s = 1/2 on (ln F)′(s) is therefore at most 2s·(ln
    F)′(1/2) = 2s·ρ, since (ln F)′(1/2) is the limit of D_α as α → 1, the mean of L. Integrated: (α − 1)·D_α ≤ ((α −
    1/2)² − 1/4)·ρ = α(α − 1)·ρ. The mean of L is λ(E|n − v| − E|n|), and E|n − v| − E|n| = v − (1 − e^−ε)/sinh λ.

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
