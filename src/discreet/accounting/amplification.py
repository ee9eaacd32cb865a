"""Amplification by sampling: the loss of a release about a secret random sample."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from flint import arb


def amplify_poisson(loss: PureDP | ApproxDP, rate: Rationalizable) -> PureDP | ApproxDP:
    """The loss if each unit is in the sample by itself with probability q: ε′ = ln(1 + q(e^ε − 1)), δ′ = qδ.

    It speaks of neighbours with and without a unit, and of nobody who learns who was in the sample.

    Args:
        loss: of what was done to the sample, about neighbouring samples.
        rate: q, in (0, 1).

    Source: Balle, Barthe, Gaboardi (2018), Theorem 8; for pure ε Li, Qardaji, Su (2012), Theorem 1.

    Examples:
        >>> print(amplify_poisson(ApproxDP(1, 1e-6), "0.01"))
        ε = 0.0170369, δ = 1e-08
    """
    return _amplified(loss, probability(rate, "rate"))


def amplify_without_replacement(loss: PureDP | ApproxDP, size: int, of: int) -> PureDP | ApproxDP:
    """The loss if the sample has `size` of `of` units, all such samples alike: as for Poisson, with q = size/of.

    It speaks of neighbours with one unit in the place of another, before and after sampling, and of nobody who learns
    who was in the sample.

    Args:
        loss: of what was done to the sample, about samples with one unit in the place of another.
        size: of the sample; 1 or more, below `of`.
        of: how many units there are; public.

    Source: Balle, Barthe, Gaboardi (2018), Theorem 9.

    Examples:
        >>> print(amplify_without_replacement(PureDP(1), 10, of=1000))
        ε = 0.0170369
    """
    return _amplified(loss, probability(Fraction(size, of), "the share that is sampled"))


def amplified(epsilon: Rationalizable, rate: Rationalizable) -> Fraction:
    """ln(1 + q(e^ε − 1)), rounded up; never above ε.

    Args:
        epsilon: above 0.
        rate: q, in (0, 1).
    """
    from discreet.exact.ball import ball, enclose

    whole, q = positive(epsilon, "epsilon"), probability(rate, "rate")

    def less() -> arb:
        return (ball(q) * ball(whole).expm1()).log1p()

    high = enclose(less, bits=BITS)[1]
    return min(shorten(max(high, LEAST_EPSILON), bits=BITS // 2, round_up=True), whole)


def _amplified(loss: PureDP | ApproxDP, rate: Fraction) -> PureDP | ApproxDP:
    """The amplified loss."""
    epsilon = amplified(loss.epsilon, rate)
    return ApproxDP(epsilon, rate * loss.delta) if isinstance(loss, ApproxDP) else PureDP(epsilon)
