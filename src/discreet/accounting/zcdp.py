"""Between zCDP and (ε, δ); from zCDP to Rényi differential privacy, and from Gaussian differential privacy to zCDP."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import log1p, sqrt

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON, LEAST_LOG_DELTA, log_of, minimise, moderate
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ZCDP, ApproxDP, Loss, PureDP, RenyiDP


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
    """What ρ-zCDP says at one order: D_α ≤ αρ, by its definition (Bun, Steinke 2016, Definition 1.1).

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
