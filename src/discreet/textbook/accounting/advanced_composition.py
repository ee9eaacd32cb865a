"""Advanced composition: a lower ε for many releases fixed in advance, at the price of a δ.

It pays with δ for an ε that grows like the root of their number, or like that of Σεᵢ².
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.accounting.loss_arithmetic import LEAST_EPSILON, rounded_up
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ApproxDP, PureDP


def advanced(loss: PureDP | ApproxDP, times: int, slack: Rationalizable) -> ApproxDP:
    """The textbook's bound on k releases of one loss: ε′ = √(2k·ln(1/δ′))·ε + kε(e^ε − 1), and δ = kδ₀ + δ′.

    For comparison: `optimal` is never worse. Plain sums are stated where they are less.

    Args:
        loss: of each release, fixed in advance.
        times: k, how many; 1 or more.
        slack: δ′, in (0, 1).

    Raises:
        InvalidArgument: a parameter is out of range, or δ is 1 or more.

    Source: Dwork, Rothblum, Vadhan (2010), Theorem III.3; Dwork, Roth (2014), Theorem 3.20.

    Examples:
        >>> print(advanced(PureDP("0.1"), 100, 1e-6))
        ε = 6.30823, δ = 1e-06
    """
    from discreet.exact.ball import ball, enclose

    extra, own = probability(slack, "slack"), loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
    if times < 1:
        raise InvalidArgument(f"there must be one release or more, not {times}")
    epsilon = loss.epsilon
    if epsilon >= 1:  # e^ε − 1 is above 1, so the plain sum is less
        return ApproxDP(times * epsilon, times * own + extra)
    high = enclose(
        lambda: (-2 * times * ball(extra).log()).sqrt() * ball(epsilon) + times * ball(epsilon) * ball(epsilon).expm1(),
        bits=64,
    )[1]
    return ApproxDP(min(shorten(high, bits=53, round_up=True), times * epsilon), times * own + extra)


def heterogeneous(losses: Sequence[PureDP | ApproxDP], slack: Rationalizable) -> ApproxDP:
    """A bound on releases of different losses: ε = Σ εᵢ·tanh(εᵢ/2) + √(2·ln(1/δ′)·Σ εᵢ²), δ = 1 − (1 − δ′)Π(1 − δᵢ).

    Plain sums of ε are stated where they are less. Where this must be tight, use a privacy loss distribution.

    Proof. Each release is a post-processing of one that says which neighbour it is with probability δᵢ, and else is
    randomised response with odds e^εᵢ (Kairouz, Oh, Viswanath 2015, Theorem 2), whose privacy loss is ±εᵢ with mean
    εᵢ·tanh(εᵢ/2). By Hoeffding's inequality their sum exceeds its mean by t with probability at most
    e^(−t²/(2Σεᵢ²)), which is δ′; where it doesn't, and nothing was said outright, the ratio is at most e^ε. ∎

    Args:
        losses: of the releases, fixed in advance; one or more.
        slack: δ′, in (0, 1).

    Raises:
        InvalidArgument: there is no loss, or the slack is out of range.

    Source: Kairouz, Oh, Viswanath (2015), Theorem 3.5, the last of its three bounds.

    Examples:
        >>> print(heterogeneous([PureDP("0.1")] * 50 + [PureDP("0.05")] * 50, 1e-6))
        ε = 4.46792, δ = 1e-06
    """
    from discreet.exact.ball import ball, enclose

    if not losses:
        raise InvalidArgument("there must be a loss to compose")
    extra = probability(slack, "slack")
    epsilons = [loss.epsilon for loss in losses]
    counts = {epsilon: epsilons.count(epsilon) for epsilon in set(epsilons)}
    squares = sum((n * epsilon**2 for epsilon, n in counts.items()), start=Fraction(0))
    high = enclose(
        lambda: sum(
            (n * ball(epsilon) * (ball(epsilon) / 2).tanh() for epsilon, n in counts.items()),
            start=(-2 * ball(extra).log() * ball(squares)).sqrt(),
        ),
        bits=64,
    )[1]
    certain = 1 - extra
    for loss in losses:
        certain = 1 - rounded_up(1 - certain * (1 - (loss.delta if isinstance(loss, ApproxDP) else 0)))
    epsilon = max(min(shorten(high, bits=53, round_up=True), sum(epsilons, start=Fraction(0))), LEAST_EPSILON)
    return ApproxDP(epsilon, 1 - certain)
