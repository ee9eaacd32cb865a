"""Advanced and optimal composition: a lower ε of many releases fixed in advance, for a δ.

Advanced composition pays with δ for an ε that grows like the root of their number, or like that of Σεᵢ².

Optimal composition is the least that holds for k releases of which no more is known than one loss each:
every (ε, δ)-DP release is a post-processing of one that says which neighbour it is with probability δ, and else is
randomised response with odds e^ε. Composing k of those exactly gives, at any ε′ ≥ 0,

    δ′ = 1 − (1 − δ)^k·(1 − Σ_l C(k,l)·max(0, e^((k−l)ε) − e^(ε′ + lε)) / (1 + e^ε)^k).

At ε′ = (k − 2i)ε these are the pairs of the theorem; in between, where a bound is asked for at a given δ, the sum is
a − b·e^ε′ with the same terms, so that ε′ has a closed form there, too.

Source: Kairouz, Oh, Viswanath (2015), Theorem 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.accounting.loss_arithmetic import LEAST_EPSILON, rounded_up
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability, shorten
from discreet.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from flint import arb


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


# ── Optimal ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_BITS = 256
_FAR = 2**30
"""Of releases at a greater ε than this no more is stated than their plain sum."""

MOST = 100_000
"""How many releases are composed exactly; a sum of this many terms takes a second."""


def optimal(loss: PureDP | ApproxDP, times: int, delta: Rationalizable) -> ApproxDP:
    """The least ε at which any k releases of one loss are (ε, δ)-DP together; rounded up, and never 0.

    Args:
        loss: of each release, fixed in advance.
        times: k, how many; from 1 to 100,000.
        delta: for all of them; in (0, 1), and above 1 − (1 − δ₀)^k, where δ₀ is the loss's own.

    Raises:
        InvalidArgument: a parameter is out of range.

    Examples:
        >>> print(optimal(PureDP("0.1"), 100, 1e-6))
        ε = 4.77457, δ = 1e-06
    """
    target, many = probability(delta, "delta"), _count(times)
    return ApproxDP(min(_epsilon(loss, many, target), many * loss.epsilon), target)


def optimal_delta(loss: PureDP | ApproxDP, times: int, epsilon: Rationalizable) -> Fraction:
    """The least δ at which any k releases of one loss are (ε, δ)-DP together; rounded up.

    Args:
        loss: of each release, fixed in advance.
        times: k, how many; from 1 to 100,000.
        epsilon: for all of them; above 0.

    Raises:
        InvalidArgument: a parameter is out of range.

    Examples:
        >>> f"{float(optimal_delta(PureDP('0.1'), 100, 3)):.4g}"
        '0.001361'
    """
    return _delta(loss, _count(times), positive(epsilon, "epsilon"))


@lru_cache(maxsize=256)
def _epsilon(loss: PureDP | ApproxDP, times: int, delta: Fraction) -> Fraction:
    """`optimal` of exact arguments: the least ε′ at which no half-line of wins has too much.

    With A and B the probabilities of fewer than i lies on the two neighbours, A − e^ε′·B ≤ δ₁ must hold for every i.
    """
    from discreet.exact.ball import ball, fraction, precision

    with precision(_BITS):
        left = (ball(delta) - _rare(loss, times)) / (1 - _rare(loss, times))
        if not left > 0:
            raise InvalidArgument(f"delta must be above that of all {times} releases, not {float(delta):.3g}")
        if loss.epsilon > _FAR:
            return times * loss.epsilon
        ratio, one, other = ball(0), ball(0), ball(0)
        for here, there in _terms(loss.epsilon, times):
            one, other = one + here, other + there
            ratio = ratio.max((one - left) / other)
        least = fraction(ratio.upper().max(ball(1)).log().upper())
        return shorten(max(least, LEAST_EPSILON), bits=53, round_up=True)


@lru_cache(maxsize=256)
def _delta(loss: PureDP | ApproxDP, times: int, epsilon: Fraction) -> Fraction:
    """`optimal_delta` of exact arguments."""
    from discreet.exact.ball import ball, fraction, precision

    if loss.epsilon > _FAR and epsilon < times * loss.epsilon:
        return Fraction(1)
    with precision(_BITS):
        odds, found = ball(epsilon).exp(), ball(0)
        for lies, (here, there) in enumerate(_terms(loss.epsilon, times)):
            if (times - 2 * lies) * loss.epsilon <= epsilon:
                break
            found = found + here - odds * there
        high = fraction((_rare(loss, times) + (1 - _rare(loss, times)) * found).upper())
        return min(shorten(high, bits=53, round_up=True), Fraction(1)) if high > 0 else Fraction(0)


def _terms(epsilon: Fraction, times: int) -> Iterator[tuple[arb, arb]]:
    """The probabilities of 0, 1, 2, … lies among k answers, if lies are rare and if truths are."""
    from discreet.exact.ball import ball

    odds = ball(-epsilon).exp()
    truth = 1 / (1 + odds)
    one, other = truth**times, (odds * truth) ** times
    for lies in range(times + 1):
        yield one, other
        ways = ball(Fraction(times - lies, lies + 1))
        one, other = one * ways * odds, other * ways / odds


def _rare(loss: PureDP | ApproxDP, times: int) -> arb:
    """The probability that some release says outright which neighbour it is: 1 − (1 − δ)^k."""
    from discreet.exact.ball import ball

    return -(times * ball(-loss.delta).log1p()).expm1() if isinstance(loss, ApproxDP) else ball(0)


def _count(times: int) -> int:
    """How many releases."""
    if not 1 <= times <= MOST:
        raise InvalidArgument(f"times must be from 1 to {MOST:,}, not {times}")
    return times
