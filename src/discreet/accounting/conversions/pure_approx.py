"""Between ε and δ where nothing else is known: a smaller ε at the price of more δ."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.conversions.search import BITS, LEAST_EPSILON
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ApproxDP, PureDP


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
