"""Conversions between losses, each rounded so that the result still holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p, sqrt

from discreet.errors import InvalidArgument
from discreet.exact.digits import shorten
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.privacy import ZCDP, ApproxDP, Loss, PureDP

_BITS = 128
"""Working precision: conversions lose a few bits, and results keep 53 at most."""

_LEAST, _MOST = Fraction(1, 2**100), Fraction(2**100)
_LEAST_EPSILON = Fraction(1, 2**64)
_LEAST_LOG_DELTA = Fraction(-700)
"""No bound smaller than e^−700 is stated: nobody needs it, and its digits would fill pages."""


def pure_to_zcdp(epsilon: Rationalizable) -> Fraction:
    """A ρ such that every ε-DP release is ρ-zCDP: ρ = ε²/2 · (60 + ε²)/(60 + 6ε²).

    It is ε·tanh(ε/2), the best possible, rounded up to a rational; at small ε it is the familiar ε²/2 (Bun, Steinke
    2016, Proposition 1.4), at ε = 1 8 % and at ε = 3 39 % less.

    Proof. The outputs of any ε-DP release on two neighbours are a post-processing of randomised response with odds
    e^ε (Kairouz, Oh, Viswanath 2015, Theorem 2), whose Rényi divergence is
    D_α = (g(ε/2 + (α−1)ε) − g(ε/2)) / (α−1) with g = ln cosh. Put h = α−1 and G(h) = h·(D_α − α·ε·tanh(ε/2)). Then
    G(0) = 0 and G′(h) = ε·(tanh((1+2h)·ε/2) − (1+2h)·tanh(ε/2)) ≤ 0, because tanh is concave on [0, ∞) and 0 at 0.
    So D_α ≤ α·ε·tanh(ε/2). Finally tanh x = x/(1 + x²/(3 + x²/(5 + …))) (Lambert), and cutting this fraction off
    behind the 5 raises it: tanh x ≤ x·(15 + x²)/(15 + 6x²).

    Args:
        epsilon: above 0.

    Examples:
        >>> float(pure_to_zcdp(Fraction(1, 10)))
        0.0049958374958374956
    """
    square = positive(epsilon, "epsilon") ** 2
    return square / 2 * (60 + square) / (60 + 6 * square)


def bounded_range_to_zcdp(epsilon: Rationalizable) -> Fraction:
    """A ρ such that every release whose privacy loss has a range of ε is ρ-zCDP: ρ = ε²/8, a quarter of pure DP's.

    The range is bounded by ε if for all neighbours x, x′ there is an a such that the privacy loss
    L(y) = ln(Pr[M(x) = y] / Pr[M(x′) = y]) of every outcome y lies in [a, a + ε]. The exponential mechanism is such:
    L(y) = rate·(u(x, y) − u(x′, y)) − ln(Z/Z′), where the second term is the same for all y.

    Proof. Let K(t) = ln E[e^(tL)] over y from M(x′), so that K(0) = K(1) = 0 and D_α(M(x) ‖ M(x′)) = K(α)/(α − 1).
    K″(t) is the variance of L under a law tilted by e^(tL), and L lies in an interval of length ε, so K″ ≤ ε²/4
    (Popoviciu). Hence K(t) − ε²/8·t(t − 1) is concave, and 0 at 0 and at 1, so at most 0 beyond: D_α ≤ α·ε²/8. Also,
    E[e^L] = 1 puts 0 into [a, a + ε]; so |L| ≤ ε, which is ε-DP.

    Args:
        epsilon: the range; above 0.

    Source: Durfee, Rogers (2019), Section 4, for bounded range; Cesar, Rogers (2021), for its concentrated loss.

    Examples:
        >>> bounded_range_to_zcdp(1)
        Fraction(1, 8)
    """
    return positive(epsilon, "epsilon") ** 2 / 8


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
    return _epsilon(_moderate(rho, "rho"), probability(delta, "delta"))


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
    return _delta(_moderate(rho, "rho"), _moderate(epsilon, "epsilon"))


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
    return _rho(_moderate(epsilon, "epsilon"), probability(delta, "delta"))


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


@lru_cache(maxsize=1024)
def _epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """`zcdp_to_epsilon` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    r, surprise = float(rho), -_log(delta)
    excess = _minimise(lambda h: (1 + h) * r + (surprise - log1p(h)) / h - log1p(1 / h), around=sqrt(surprise / r))
    with precision(_BITS):
        h = ball(excess)
        epsilon = (1 + h) * ball(rho) - ((1 + h) * ball(delta)).log() / h - (1 / h).log1p()
        return shorten(max(fraction(epsilon.upper()), _LEAST_EPSILON), bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """`zcdp_to_delta` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    r, e = float(rho), float(epsilon)
    excess = _minimise(lambda h: h * ((1 + h) * r - e - log1p(1 / h)) - log1p(h), around=max((e - r) / (2 * r), 1e-3))
    with precision(_BITS):
        h = ball(excess)
        log_delta = h * ((1 + h) * ball(rho) - ball(epsilon) - (1 / h).log1p()) - h.log1p()
        if not log_delta < 0:
            return Fraction(1)
        delta = ball(max(fraction(log_delta.upper()), _LEAST_LOG_DELTA)).exp()
        return shorten(fraction(delta.upper()), bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """`rho_for` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    e, surprise = float(epsilon), -_log(delta)
    guess = e / (sqrt(e + surprise) + sqrt(surprise))
    excess = _minimise(
        lambda h: -(e + (log1p(h) - surprise) / h + log1p(1 / h)) / (1 + h), around=sqrt(surprise) / guess
    )
    with precision(_BITS):
        h = ball(excess)
        rho = (ball(epsilon) + ((1 + h) * ball(delta)).log() / h + (1 / h).log1p()) / (1 + h)
        if not rho > 0:
            raise ArithmeticError("no positive rho was found for this epsilon and delta")
        return shorten(fraction(rho.lower()), bits=40, round_up=False)


def _moderate(value: Rationalizable, name: str) -> Fraction:
    """Read a positive number that floats can search with; beyond, it protects nothing or reveals nothing."""
    number = positive(value, name)
    if not _LEAST <= number <= _MOST:
        raise InvalidArgument(f"{name} must lie between 2⁻¹⁰⁰ and 2¹⁰⁰, not {value}")
    return number


def _log(number: Fraction) -> float:
    """The natural logarithm of a positive rational, however small or near 1."""
    if number > Fraction(1, 2):
        return log1p(float(number - 1))
    return log(number.numerator) - log(number.denominator)


def _minimise(value: Callable[[float], float], around: float) -> Fraction:
    """Golden-section search for the least `value(h)`, h from e^−20 to e^20 times `around`.

    What it returns needn't be the minimum: callers are sound at any h > 0.
    """
    golden = (sqrt(5) - 1) / 2
    low, high = log(around) - 20, log(around) + 20
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(exp(left)) < value(exp(right)):
            high = right
        else:
            low = left
    return Fraction(exp((low + high) / 2))
