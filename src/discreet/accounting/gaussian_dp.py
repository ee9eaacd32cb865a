"""Gaussian differential privacy: the μ of events and of pure releases, and between μ and (ε, δ).

μ says how hard it is to tell neighbours apart, as the distance of two normals.

*Theorem.* Discrete Gaussian noise of σ ≥ 1 on a vector of integers that moves by ℓ2 is μ-GDP with

    μ = ℓ2·d,  d² = 6·(1 − √(1 − 1/(3σ²))),  so d is 1/σ but for a factor of about 1 + 1/(24σ²).

Continuous noise has d = 1/σ. Discrete noise doesn't: at σ = 1 and a move of 1, its total variation is 0.399, and that
of two unit normals 1 apart 0.383.

*Proof.* Let Y be the noise on one integer, b_k = Φ⁻¹(Pr[Y < k]), and call d_k = b_{k+1} − b_k the width of k. The best
tests of Y against Y + v are the half-lines {≥ k}; they miss with probability Pr[Y < k − v] = Φ(b_{k−v}), where G_μ(a) =
Φ(Φ⁻¹(1 − a) − μ), at the a = Pr[Y ≥ k] of their false alarms, is Φ(b_k − μ). G is convex and the trade-off of Y and Y +
v is made of chords between such points, so it lies above G as soon as b_k − b_{k−v} ≤ μ for all k. A sum of v widths is
at most v·sup d_k. Coordinates are independent, and μ² adds up (Dong, Roth, Su 2019, Corollary 3.3), so it remains to
bound the widths.

Let d be the greatest width, of the k whose cell has its centre at m, and A(x) the normal probability of [x − d/2, x +
d/2]. The cells beside it are no wider, so Pr[Y = k ± 1] ≤ A(m ± d), while Pr[Y = k] = A(m). As Pr[Y = k−1]·Pr[Y = k+1]
= e^(−1/σ²)·Pr[Y = k]², so e^(−1/σ²) ≤ A(m + d)·A(m − d)/A(m)². Write A(x) = φ(x)·C(x), C(x) = ∫ e^(−xt − t²/2) dt over
[−d/2, d/2]. The φs make e^(−d²). The second derivative of ln C is the variance of a log-concave law on an interval of
length d. Such a law is less spread, in convex order, than the exponential law on that interval with the same mean (the
logarithm of their ratio is concave, so their difference changes sign twice), whose variance, (d²/4)(1/x² − 1/sinh² x),
is at most d²/12. So C(m + d)·C(m − d) ≤ C(m)²·e^(d⁴/12), and together 1/σ² ≥ d²(1 − d²/12). That holds up to the lesser
root, which is the theorem's, or from the other on, which is at least 6.

Widths of √6 or more are out: Pr[Y = 0] < 0.4 makes d_0 < 1.05. For k ≥ 1 let Q = 1 − Φ and T = Pr[Y ≥ k]. Q's hazard
increases, so Pr[Y ≥ k+1]/T = Q(b_k + d_k)/Q(b_k) ≤ e^(−d_k b_k − d_k²/2); it is at least e/(1 + e) for e =
e^(−(2k+1)/2σ²); and b_k ≥ (k−1)/σ, as T ≤ Q((k−1)/σ) by comparison with the integral. So d_k²/2 + d_k(k−1)/σ ≤
(2k+1)/2σ² + ln 2, which √6 breaks for σ ≥ 1. The same inequality with b_k ≥ (k−½)/σ, which holds where e^(−y²/2σ²) is
convex, and e → 0, shows that d_k tends to at most 1/σ, less than the root: so if no width is greatest, all are below
it. Negative k are mirror images. ∎
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import log, sqrt
from typing import TYPE_CHECKING

from discreet.accounting.loss_arithmetic import (
    BITS,
    LEAST_EPSILON,
    LEAST_LOG_DELTA,
    greatest,
    least,
    log_of,
    moderate,
    root,
    rounded_up,
    total,
)
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact import exp
from discreet.exact import sqrt as rational_sqrt
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import (
    FAR,
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianDP,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)

if TYPE_CHECKING:
    from flint import arb


_LEAST_SIGMA = 1


def gaussian_mu(sigma: Rationalizable, l2_squared: Rationalizable = 1) -> Fraction:
    """The μ of discrete Gaussian noise on integers that move by ℓ2 together; by the theorem above, rounded up.

    Args:
        sigma: of the noise, in steps of the grid; 1 or more.
        l2_squared: square of the ℓ2 sensitivity, in steps squared; above 0.

    Raises:
        InvalidArgument: σ is less than 1, for which the theorem isn't proved.

    Examples:
        >>> float(gaussian_mu(10)), float(gaussian_mu(1))
        (0.10004172755018324, 1.0492952465505807)
    """
    noise, squared = positive(sigma, "sigma"), positive(l2_squared, "l2_squared")
    if noise < _LEAST_SIGMA:
        raise InvalidArgument(f"a μ is proved for noise of sigma 1 or more, not {sigma}", hint="use a finer grid")
    from discreet.exact.ball import ball, enclose

    square = enclose(lambda: 2 / (ball(noise**2) * (1 + (1 - 1 / (3 * ball(noise**2))).sqrt())), bits=128)[1]
    return root(square * squared)


def gaussian_loss_of(event: Event) -> GaussianDP:
    """The μ-GDP of an event; rounded up.

    - Gaussian: by the theorem above if it is discrete; ℓ2/σ if it is continuous.
    - Pure: by `pure_to_gaussian`, p for short.
    - Laplace: a coordinate that moves by v is (v/scale)-DP. The sum of p(v/scale)² over coordinates is greatest when as
      few as possible move, as p(x)²/x increases: (ℓ1/ℓ∞)·p(ℓ∞/scale)². *Proof.* With t = p/2, x = ln(Φ(t)/Φ(−t)), and
      t²/x increases if 2x − t·x′ does, which is 0 at 0. Its derivative is x′·(1 − t·(φ/Φ(−t) − φ/Φ(t) − t)), and Mills'
      ratio has φ/Φ(−t) < t + 1/t. ∎ Choices by the exponential mechanism likewise, with their ε in place of ℓ1/scale.
    - Sampled: as if nothing had been sampled.
    - Composed: μ² adds up, also if each event was chosen after the answers before it; see `GaussianSum`.

    Raises:
        LossNotAccepted: the event has a δ, for which no μ holds; or there is nothing to state a loss of.

    Examples:
        >>> print(gaussian_loss_of(GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))))
        μ = 0.100042
    """
    square = _squared(event)
    if not square:
        raise LossNotAccepted("an event without noise has no loss that could be stated")
    return GaussianDP(root(square))


def _squared(event: Event) -> Fraction:
    """μ², rounded up."""
    match event:
        case GaussianEvent(sigma=sigma, l2_squared=l2_squared, continuous=continuous):
            return rounded_up(l2_squared / sigma**2) if continuous else gaussian_mu(sigma, l2_squared) ** 2
        case LaplaceEvent(scale=scale, l1=l1, linf=linf):
            return Fraction(l1, linf or l1) * pure_to_gaussian((linf or l1) / scale) ** 2
        case ExponentialEvent(epsilon=epsilon, each=each):
            return epsilon / (each or epsilon) * pure_to_gaussian(each or epsilon) ** 2
        case PureEvent(epsilon=epsilon):
            return pure_to_gaussian(epsilon) ** 2
        case SampledEvent(event=part):
            return _squared(part)
        case ComposedEvent(events=events):
            return total(map(_squared, events))
        case SelectionEvent() | ApproxEvent():
            raise LossNotAccepted("with probability δ anything may come out, so there is no μ")


def gaussian_to_delta(mu: Rationalizable, epsilon: Rationalizable) -> Fraction:
    """The δ at which every μ-GDP release is (ε, δ)-DP, and no smaller one for all of them; rounded up.

    δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2).

    Args:
        mu: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        epsilon: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.

    Source: Dong, Roth, Su (2019), Corollary 2.13; Balle, Wang (2018), Theorem 8.

    Examples:
        >>> f"{float(gaussian_to_delta(mu=1, epsilon=1)):.6g}"
        '0.126937'
    """
    return _delta(moderate(mu, "mu"), moderate(epsilon, "epsilon"))


def gaussian_to_epsilon(mu: Rationalizable, delta: Rationalizable) -> Fraction:
    """The least ε at which every μ-GDP release is (ε, δ)-DP; rounded up, and never 0.

    The equation of `gaussian_to_delta`, solved for ε by bisection; the result is proved to be large enough.

    Args:
        mu: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        delta: in (0, 1).

    Source: Dong, Roth, Su (2019), Corollary 2.13.

    Examples:
        >>> float(round(gaussian_to_epsilon(mu=1, delta=1e-6), 4))
        4.8866
    """
    return _epsilon(moderate(mu, "mu"), probability(delta, "delta"))


def mu_for(epsilon: Rationalizable, delta: Rationalizable) -> Fraction:
    """The greatest μ such that every μ-GDP release is (ε, δ)-DP; rounded down.

    Args:
        epsilon: above 0, from 2⁻¹⁰⁰ to 2¹⁰⁰.
        delta: in (0, 1).

    Source: Dong, Roth, Su (2019), Corollary 2.13.

    Examples:
        >>> float(round(mu_for(epsilon=1, delta=1e-6), 4))
        0.2367
    """
    return _greatest_mu(moderate(epsilon, "epsilon"), probability(delta, "delta"))


@lru_cache(maxsize=1024)
def _delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """`gaussian_to_delta` of exact arguments."""
    from discreet.exact.ball import enclose

    least_delta = exp(LEAST_LOG_DELTA, round_up=True)
    near = epsilon / mu - mu / 2
    if near > 0 and near**2 > -2 * LEAST_LOG_DELTA:  # Φ(−x) ≤ e^(−x²/2)
        return least_delta
    if near < 0 and near**2 > -2 * LEAST_LOG_DELTA:
        return Fraction(1)
    return min(shorten(enclose(lambda: _ball(mu, epsilon), bits=64)[1], bits=53, round_up=True), Fraction(1))


@lru_cache(maxsize=1024)
def _epsilon(mu: Fraction, delta: Fraction) -> Fraction:
    """`gaussian_to_epsilon` of exact arguments."""
    from discreet.exact.ball import ball, precision

    # Enough bits to see the difference of two tails that are μ apart, however small or great it is.
    with precision(BITS + 4 * abs(round(log(mu.numerator) - log(mu.denominator)))):
        target, surprise, m = ball(delta), -log_of(delta), float(mu)
        guess = m * m / 2 + m * sqrt(2 * surprise)
        found = least(lambda epsilon: _at_most(mu, epsilon, target), start=Fraction(guess), floor=LEAST_EPSILON)
    return shorten(found, bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _greatest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """`mu_for` of exact arguments."""
    from discreet.exact.ball import ball, precision

    e, surprise = float(epsilon), -log_of(delta)
    guess = Fraction(sqrt(2 * e + 2 * surprise) - sqrt(2 * surprise) + 2.0**-200)
    with precision(4 * BITS):
        target = ball(delta)
        found = greatest(lambda mu: _at_most(mu, epsilon, target), start=guess, ceiling=Fraction(2**101))
    return shorten(found, bits=40, round_up=False)


def _ball(mu: Fraction, epsilon: Fraction) -> arb:
    """An enclosure of δ(ε), at the working precision."""
    from discreet.exact.ball import ball

    root, ratio = ball(2).sqrt(), ball(epsilon / mu)
    near, far = (ratio - ball(mu) / 2) / root, (ratio + ball(mu) / 2) / root
    return (near.erfc() - ball(epsilon).exp() * far.erfc()) / 2


def _at_most(mu: Fraction, epsilon: Fraction, target: arb) -> bool:
    """Whether δ(ε) is proved to be at most the target: from both of its terms, or the first alone where e^ε is huge."""
    from discreet.exact.ball import ball

    near = ball(epsilon / mu - mu / 2) / ball(2).sqrt()
    return bool(near.erfc() / 2 <= target) or bool(_ball(mu, epsilon) <= target)


def pure_to_gaussian(epsilon: Rationalizable) -> Fraction:
    """The least μ such that every ε-DP release is μ-GDP: Φ(μ/2) = e^ε/(1 + e^ε); rounded up.

    Proof. The trade-off function of every ε-DP release is at least that of randomised response with odds e^ε, the lines
    from (0, 1) to (c, c) to (1, 0) with c = 1/(1 + e^ε). That of μ-GDP, G(a) = Φ(Φ⁻¹(1 − a) − μ), is convex, and 1 at 0
    and 0 at 1, so it lies below these lines as soon as G(c) ≤ c, which says 2Φ⁻¹(1 − c) ≤ μ. From ε = 4096 on μ = √(8ε)
    is stated, which is just above: Φ(−μ/2) ≤ e^(−μ²/8)/2 ≤ 1/(1 + e^ε).

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
        return rational_sqrt(8 * epsilon, round_up=True)

    def passes(mu: Fraction) -> bool:
        far = ball(mu) / ball(8).sqrt()
        if epsilon < 1:  # both sides near 0, to full relative precision
            return bool(far.erf() >= (ball(epsilon) / 2).tanh())
        return bool(far.erfc() <= 2 / (1 + ball(epsilon).exp()))

    with precision(192):
        e = float(epsilon)
        return least(passes, start=Fraction(min(1.26 * e, sqrt(8 * e))), floor=Fraction(1, 2**101))
