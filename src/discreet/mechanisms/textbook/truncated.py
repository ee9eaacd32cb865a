"""Truncated Laplace noise: approximate differential privacy with an error that never exceeds a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.mechanisms.parameters import checked_scale, checked_sensitivity, delta_share, joint_delta
from discreet.privacy import ApproxDP, ApproxEvent, Sensitivity

if TYPE_CHECKING:
    from flint import arb

_DELTA_BITS = 64
"""How many binary digits a δ is stated with; rounded up."""


@dataclass(frozen=True, slots=True)
class TruncatedLaplace:
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
        """What a release does, for accounting."""
        return ApproxEvent(epsilon=self.sensitivity.l1 / self.scale, delta=self.delta)

    @property
    def loss(self) -> ApproxDP:
        """What a release is proved to give away at the most."""
        return ApproxDP(self.sensitivity.l1 / self.scale, self.delta)

    def release(self, values: Sequence[int]) -> list[int]:
        """The values with fresh noise, as Python integers, so nothing overflows."""
        from discreet.noise import truncated_laplace

        noise = truncated_laplace(self.scale, self.reach, size=len(values)).tolist()
        return [int(value) + int(error) for value, error in zip(values, noise, strict=True)]

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one coordinate, for pictures, audits and tests; the nearest float or one next to it."""
        from discreet.mechanisms.parameters import as_float

        if abs(n) > self.reach:
            return 0.0
        return as_float(lambda: _weight(self.scale, n) / _total(self.scale, self.reach))

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for one coordinate; above it where that can't be told.

        Beyond r lies the share 2(p^(r+1) − p^(reach+1)) / (1 + p − 2p^(reach+1)), which is solved for r.

        Args:
            confidence: in (0, 1).
        """
        from discreet.exact.ball import ball, fraction, precision

        chance = 1 - probability(confidence, "confidence")
        with precision(_BITS):
            inner = _power(self.scale, self.reach + 1) + ball(chance / 2) * _total(self.scale, self.reach)
            found = ceil(fraction((-ball(self.scale) * inner.log()).upper())) - 1
        return min(max(found, 0), self.reach)


_BITS = 512
"""Enough to see single integers at any scale."""


def _moving(sensitivity: Sensitivity) -> int:
    """How many coordinates can move at once: each takes at least 1 of ℓ1."""
    return min(sensitivity.l0, sensitivity.l1)


def _power(scale: Fraction, exponent: int) -> arb:
    """p^exponent."""
    from discreet.exact.ball import ball

    return ball(-exponent / scale).exp()


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
