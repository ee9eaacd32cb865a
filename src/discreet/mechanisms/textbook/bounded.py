"""Bounded Laplace noise: pure differential privacy with answers that stay within public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import GREATEST, checked_scale, checked_sensitivity, short_enough
from discreet.privacy import Sensitivity
from discreet.privacy.events import Pure

if TYPE_CHECKING:
    from flint import arb

_RESOLUTION = 1 << 24
"""The scale is found to this fraction of itself, and rounded up."""

_BITS = 512
"""Enough to see single integers at any scale."""


@dataclass(frozen=True, slots=True)
class BoundedLaplace(Pure):
    """Replaces each integer x of a vector by a y from low to high, with Pr[y] ∝ exp(−|y − x|/scale).

    An x outside the bounds is moved to the nearer one first. It is Laplace noise on the condition that the answer lies
    within the bounds, and that condition is likelier for some x than for others: at the scale Δ/ε it isn't ε-DP.

    Guarantee: ε-DP. Let p = exp(−1/scale), and C(x) be the sum of p^|y−x| over all y from low to high. Of two values x
    and x + d, some y is likelier under the first by exp(d/scale)·C(x+d)/C(x), and none by more. (1−p)·C(x) is
    1 + p − p^(x−low+1) − p^(high−x+1), which is concave and symmetric, so log C is too, and log C(x+d) − log C(x) is
    greatest at x = low. There it makes, with d/scale, a loss L(d) = d/scale + log(C(low+d)/C(low)). That rises with d,
    since p^(−d)·C(low+d) is a sum of powers of p none of whose exponents rises; and it is concave in d. So if k
    coordinates can move, and by ℓ1 in sum, they lose at most k·L(d) for d = min(ℓ∞, ⌈ℓ1/k⌉), and `scale` is the least
    for which that is at most ε, to 24 binary digits. It is below 2kd/ε, because C(low+d)/C(low) ≤ exp(d/scale).

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
        """An answer from `low` to `high` in the place of each value; drawn the same way wherever that lies."""
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
        """The least r with Pr[|answer − value| ≤ r] ≥ confidence whatever the value; above it where that can't be told.

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
