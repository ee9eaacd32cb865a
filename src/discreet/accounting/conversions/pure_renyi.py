"""From pure differential privacy, and from a bounded range, to Rényi differential privacy."""

from __future__ import annotations

from discreet.accounting.conversions.search import BITS
from discreet.exact.rational import Rationalizable
from discreet.exact.rounding import shorten
from discreet.privacy import ExponentialEvent, PureDP, PureEvent, RenyiDP


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
    `bounded_range_to_zcdp`, for the proof `discreet.accounting.renyi.divergences`.

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
    from discreet.accounting.renyi.divergences import log_moment

    bound = log_moment(event, order.alpha) / (order.alpha - 1)
    return RenyiDP(order.alpha, shorten(bound, bits=BITS // 2, round_up=True))
