"""Between Gaussian differential privacy and (ε, δ)."""

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
)
from discreet.exact import exp
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten

if TYPE_CHECKING:
    from flint import arb


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

    The equation of `gaussian_to_delta`, solved for ε by bisection; what is returned is proved to be large enough.

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

    with precision(_bits(mu)):
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


def _bits(mu: Fraction) -> int:
    """Enough to see the difference of two tails that are μ apart, however small or great it is."""
    return BITS + 4 * abs(round(log(mu.numerator) - log(mu.denominator)))
