"""Bounded Laplace noise, with answers that stay within public bounds; and truncated, with an error that does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.mechanisms.parameters import (
    GREATEST,
    AddsNoise,
    checked_scale,
    checked_sensitivity,
    delta_share,
    joint_delta,
    short_enough,
)
from discreet.privacy import ApproxDP, ApproxEvent, Sensitivity
from discreet.privacy.events import Pure

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray


_RESOLUTION = 1 << 24
"""The scale is found to this fraction of itself, and rounded up."""

_BITS = 512
"""Enough to see single integers at any scale."""


@dataclass(frozen=True, slots=True)
class BoundedLaplace(Pure):
    """Replaces each integer x of a vector by a y from low to high, with Pr[y] ∝ exp(−|y − x|/scale).

    An x outside the bounds is moved to the nearer one first. It is Laplace noise on the condition that the answer lies
    within the bounds, and that condition is likelier for some x than for others: at the scale Δ/ε it isn't ε-DP.

    Guarantee: ε-DP. Let p = exp(−1/scale), and C(x) be the sum of p^|y−x| over all y from low to high. For two values x
    and x + d, some y is likelier under the first by exp(d/scale)·C(x+d)/C(x), and none by more. (1−p)·C(x) is 1 + p −
    p^(x−low+1) − p^(high−x+1), which is concave and symmetric, so log C is too, and log C(x+d) − log C(x) is greatest
    at x = low. There it makes, with d/scale, a loss L(d) = d/scale + log(C(low+d)/C(low)). That rises with d, since
    p^(−d)·C(low+d) is a sum of powers of p none of whose exponents rises; and it is concave in d. So if k coordinates
    can move, and by ℓ1 in sum, they lose at most k·L(d) for d = min(ℓ∞, ⌈ℓ1/k⌉), and `scale` is the least for which
    that is at most ε, to 24 binary digits. It is below 2kd/ε, because C(low+d)/C(low) ≤ exp(d/scale).

    Args:
        low: the least answer.
        high: the greatest answer; above `low`, by at most 2⁶⁰.
        sensitivity: of the vector, in steps of the grid; above 0.
        epsilon: above 0.

    Attributes:
        scale: of the noise, in steps of the grid.

    Raises:
        InvalidArgument: a number is out of range, or the sensitivity is 0.

    Source: Holohan, Antonatos, Braghin, Mac Aonghusa (2020), "The bounded Laplace mechanism in differential privacy",
    its theorem on the scale that ε takes, for real numbers; for integers and vectors see the proof above.

    Examples:
        >>> share = BoundedLaplace.calibrate(0, 100, Sensitivity.scalar(10), epsilon=1)
        >>> round(float(share.scale), 3), share.radius(0.95), 0 <= share.release([99])[0] <= 100
        (15.747, 46, True)
    """

    low: int
    high: int
    sensitivity: Sensitivity
    epsilon: Fraction
    scale: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Find the scale before there is any data."""
        object.__setattr__(self, "epsilon", short_enough(positive(self.epsilon, "epsilon"), "epsilon"))
        if type(self.low) is not int or type(self.high) is not int or not 0 < self.high - self.low <= GREATEST:
            raise InvalidArgument("low and high must be whole numbers, high above low by at most 2⁶⁰")
        moving = min(checked_sensitivity(self.sensitivity).l0, self.sensitivity.l1)
        span = self.high - self.low
        move = min(self.sensitivity.linf, -(-self.sensitivity.l1 // moving), span)
        object.__setattr__(self, "scale", checked_scale(_least_scale(span, move, self.epsilon / moving), "scale"))

    @classmethod
    def calibrate(cls, low: int, high: int, sensitivity: Sensitivity, epsilon: Rationalizable) -> Self:
        """The mechanism that is ε-DP and, to 24 binary digits of its scale, no more.

        Args:
            low: the least answer.
            high: the greatest answer; above `low`, by at most 2⁶⁰.
            sensitivity: in steps of the grid.
            epsilon: above 0.

        Raises:
            InvalidArgument: a number is out of range, or the sensitivity is 0.
        """
        return cls(low, high, sensitivity, positive(epsilon, "epsilon"))

    def release(self, values: Sequence[int]) -> list[int]:
        """An answer from `low` to `high` in place of each value, drawn the same way for every value."""
        from discreet.noise import bounded_laplace

        clamped = [min(max(int(value), self.low), self.high) for value in values]
        return [value + bounded_laplace(self.scale, self.low - value, self.high - value) for value in clamped]

    def mass(self, n: int, at: int) -> float:
        """Pr[answer = at + n] for the exact value `at`, for pictures, audits and tests.

        Args:
            n: the error.
            at: the exact value, from `low` to `high`.

        Returns:
            The nearest float or one next to it.
        """
        from discreet.mechanisms.parameters import as_float

        if not self.low <= at <= self.high:
            raise InvalidArgument("the exact value must lie within the bounds")
        if not self.low <= at + n <= self.high:
            return 0.0
        span = self.high - self.low
        return as_float(
            lambda: (1 - _power(self.scale, 1)) * _power(self.scale, abs(n)) / _around(self.scale, span, at - self.low)
        )

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|answer − value| ≤ r] ≥ confidence whatever the value; above it if that can't be decided.

        Errors beyond r are likeliest for a value at an end, or for one in the middle. With W = high − low and
        t = p^(r+1) they have the probabilities (t − p^(W+1))/(1 − p^(W+1)) and, if r < W/2, at most
        2(t − p^(W/2+1))/(1 + p − 2p^(W/2+1)). For a value that is a from the nearer end and b from the other, put
        α = p^(a+1) and β = p^(b+1), whose product is constant. If a < r, the probability (t − β)/(1 + p − α − β) rises
        with α, which is greatest at the end. If a ≥ r, (2t − α − β)/(1 + p − α − β) falls with α + β, which is least at
        α = β.

        Args:
            confidence: in (0, 1).
        """
        from discreet.exact.ball import ball, fraction, precision

        chance, span = 1 - probability(confidence, "confidence"), self.high - self.low
        with precision(_BITS):
            end = ball(chance) + ball(1 - chance) * _power(self.scale, span + 1)
            middle = ball(chance / 2) * (1 + _power(self.scale, 1)) + ball(1 - chance) * _power(
                self.scale, Fraction(span, 2) + 1
            )
            found = ceil(fraction((-ball(self.scale) * end.min(middle).log()).upper())) - 1
        return min(max(found, 0), span)


def _power(scale: Fraction, exponent: int | Fraction) -> arb:
    """p^exponent."""
    from discreet.exact.ball import ball

    return ball(-exponent / scale).exp()


def _around(scale: Fraction, span: int, above: int) -> arb:
    """(1 − p)·C(x) for an x so far above the lower bound."""
    return 1 + _power(scale, 1) - _power(scale, above + 1) - _power(scale, span - above + 1)


@lru_cache(maxsize=1024)
def _least_scale(span: int, move: int, epsilon: Fraction) -> Fraction:
    """The least multiple of a step from move/ε to 2·move/ε for which L(move) ≤ ε is proved.

    Bisection rests on L falling with the scale; should it not somewhere, what is returned still was checked.
    """
    from discreet.exact.ball import ball, precision

    step = move / epsilon / _RESOLUTION
    low, high = _RESOLUTION - 1, 2 * _RESOLUTION
    with precision(_BITS):
        while high - low > 1:
            middle = (low + high) // 2
            scale = middle * step
            grown = (_around(scale, span, move) / _around(scale, span, 0)).log()
            low, high = (low, middle) if grown <= ball(epsilon - move / scale) else (middle, high)
    return high * step


_DELTA_BITS = 64
"""How many binary digits a δ is stated with; rounded up."""


@dataclass(frozen=True, slots=True)
class TruncatedLaplace(AddsNoise):
    """Adds noise Pr[n] ∝ exp(−|n|/scale), −reach ≤ n ≤ reach, to each integer of a vector.

    Guarantee: (ℓ1/scale, δ)-DP. For one coordinate that moves by Δ = ℓ∞ or less, an outcome is either possible for both
    neighbours, and then its probabilities differ by a factor of at most exp(Δ/scale); or for one only, and then it is
    among the outcomes of noise beyond reach − Δ. With p = exp(−1/scale) these have probability

        δ₁ = p^(reach−Δ+1)·(1 − p^Δ) / (1 + p − 2p^(reach+1)),

    and no smaller δ holds at ε = Δ/scale. Of k coordinates that can move, with independent noise, any has such an
    outcome with probability at most δ = 1 − (1−δ₁)^k.

    Args:
        scale: of the noise, in steps of the grid; from 2⁻¹⁰ to 2⁶⁰.
        reach: the greatest magnitude, at least ℓ∞.
        sensitivity: of the vector, in steps of the grid; above 0.

    Raises:
        InvalidArgument: a number is out of range, or the sensitivity is 0.

    Source: Geng, Ding, Guo, Kumar (2020), "Tight analysis of privacy and utility tradeoff in approximate differential
    privacy", its theorem on the privacy of truncated Laplace noise, for real numbers; for integers see the proof above.

    Examples:
        >>> count = TruncatedLaplace.calibrate(Sensitivity.scalar(1), epsilon=1, delta=1e-6)
        >>> count.reach, count.radius(0.95), float(round(count.delta * 10**6, 2))
        (14, 3, 0.38)
    """

    scale: Fraction
    reach: int
    sensitivity: Sensitivity

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "scale", checked_scale(positive(self.scale, "scale"), "scale"))
        if type(self.reach) is not int or self.reach < checked_sensitivity(self.sensitivity).linf:
            raise InvalidArgument("reach must be a whole number of at least the sensitivity of one coordinate")

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity, epsilon: Rationalizable, delta: Rationalizable) -> Self:
        """The mechanism of scale ℓ1/ε with the least reach for which δ is at most what is given.

        Args:
            sensitivity: in steps of the grid.
            epsilon: above 0.
            delta: in (0, 1). Above 1/2 it is used as 1/2.

        Raises:
            InvalidArgument: the scale would be out of range, or the sensitivity is 0.
        """
        scale = checked_scale(checked_sensitivity(sensitivity).l1 / positive(epsilon, "epsilon"), "scale")
        goal = min(probability(delta, "delta"), Fraction(1, 2))
        found = cls(scale, _least_reach(scale, sensitivity.linf, delta_share(goal, _moving(sensitivity))), sensitivity)
        while found.delta > goal:  # by a last digit at most
            found = cls(scale, found.reach + 1, sensitivity)
        return found

    @property
    def delta(self) -> Fraction:
        """The δ of a release at ε = ℓ1/scale, rounded up."""
        return _delta(self.scale, self.reach, self.sensitivity)

    @property
    def event(self) -> ApproxEvent:
        """The event that accounting counts for a release."""
        return ApproxEvent(epsilon=self.sensitivity.l1 / self.scale, delta=self.delta)

    @property
    def loss(self) -> ApproxDP:
        """The proved bound on what a release gives away."""
        return ApproxDP(self.sensitivity.l1 / self.scale, self.delta)

    def _noise(self, size: int) -> NDArray[Any]:
        """Fresh noise, one draw for each coordinate."""
        from discreet.noise import truncated_laplace

        return truncated_laplace(self.scale, self.reach, size=size)

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one coordinate, for pictures, audits and tests; the nearest float or one next to it."""
        from discreet.mechanisms.parameters import as_float

        if abs(n) > self.reach:
            return 0.0
        return as_float(lambda: _weight(self.scale, n) / _total(self.scale, self.reach))

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for one coordinate; above it if that can't be decided.

        Beyond r lies the share 2(p^(r+1) − p^(reach+1)) / (1 + p − 2p^(reach+1)), which is solved for r.

        Args:
            confidence: in (0, 1).
        """
        from discreet.exact.ball import ball, fraction, precision

        chance = 1 - probability(confidence, "confidence")
        with precision(_BITS):
            inner = _power(self.scale, self.reach + 1) + ball(chance / 2) * _total(self.scale, self.reach)
            found = ceil(fraction((-ball(self.scale) * inner.log()).upper())) - 1  # 0 or more: inner is below 1
        return min(found, self.reach)


def _moving(sensitivity: Sensitivity) -> int:
    """How many coordinates can move at once: each takes at least 1 of ℓ1."""
    return min(sensitivity.l0, sensitivity.l1)


def _weight(scale: Fraction, n: int) -> arb:
    """(1 − p)·p^|n|."""
    return (1 - _power(scale, 1)) * _power(scale, abs(n))


def _total(scale: Fraction, reach: int) -> arb:
    """1 + p − 2p^(reach+1), which is (1 − p) times the sum of all weights."""
    return 1 + _power(scale, 1) - 2 * _power(scale, reach + 1)


@lru_cache(maxsize=1024)
def _delta(scale: Fraction, reach: int, sensitivity: Sensitivity) -> Fraction:
    """δ, rounded up."""
    from discreet.exact.ball import fraction, precision

    with precision(_BITS):
        farthest = _power(scale, reach - sensitivity.linf + 1) * (1 - _power(scale, sensitivity.linf))
        share = fraction((farthest / _total(scale, reach)).upper())
    return shorten(joint_delta(share, _moving(sensitivity)), bits=_DELTA_BITS, round_up=True)


@lru_cache(maxsize=1024)
def _least_reach(scale: Fraction, linf: int, share: Fraction) -> int:
    """The least reach with δ₁ ≤ share: p^reach·(p^(1−Δ)·(1 − p^Δ)/share + 2p) ≤ 1 + p, solved in logarithms."""
    from discreet.exact.ball import ball, fraction, precision

    with precision(_BITS):
        near = ball((linf - 1) / scale) + (1 - _power(scale, linf)).log() - ball(share).log()
        whole = near + (2 * _power(scale, 1) * (-near).exp()).log1p() - _power(scale, 1).log1p()
        return max(ceil(fraction((ball(scale) * whole).upper())), linf)
