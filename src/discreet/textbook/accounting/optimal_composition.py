"""Optimal composition: the least ε of k releases fixed in advance, if only each one's loss is known.

Every (ε, δ)-DP release is a post-processing of one that says which neighbour it is with probability δ, and else is
randomised response with odds e^ε. Composing k of those exactly gives, at any ε′ ≥ 0,

    δ′ = 1 − (1 − δ)^k·(1 − Σ_l C(k,l)·max(0, e^((k−l)ε) − e^(ε′ + lε)) / (1 + e^ε)^k).

At ε′ = (k − 2i)ε these are the pairs of the theorem; in between, where a bound is asked for at a given δ, the sum is
a − b·e^ε′ with the same terms, so that ε′ has a closed form there, too.

Source: Kairouz, Oh, Viswanath (2015), Theorem 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.accounting.loss_arithmetic import LEAST_EPSILON
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from flint import arb


_BITS = 256
_FAR = 2**30
"""For releases at a greater ε than this, only the plain sum is stated."""

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
    if not 1 <= times <= MOST:
        raise InvalidArgument(f"times must be from 1 to {MOST:,}, not {times}")
    return times
