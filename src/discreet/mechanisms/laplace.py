"""Laplace noise for integer vectors: the additive noise of pure differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.exact.rational import Rationalizable, positive
from discreet.mechanisms.parameters import AddsUnboundedNoise, as_float, checked_scale, checked_sensitivity
from discreet.privacy import LaplaceEvent, PureDP, Sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Laplace(AddsUnboundedNoise):
    """Adds discrete Laplace noise, Pr[n] ∝ exp(−|n|/scale), to each integer of a vector.

    Also called the geometric mechanism: its noise is the difference of two geometric numbers, Pr[n] = (1−p)/(1+p)·p^|n|
    with p = e^(−1/scale).

    Guarantee: (ℓ1/scale)-DP, exactly, for integers of any size. Values move on the grid of all integers, whatever the
    data, so no low-order bits tell neighbours apart.

    Args:
        scale: of the noise, in steps of the grid; from 2⁻¹⁰ to 2⁶⁰.
        sensitivity: of the vector, in steps of the grid; above 0.

    Raises:
        InvalidArgument: the scale is out of range, or the sensitivity is 0.

    Source: Dwork, McSherry, Nissim, Smith (2006), Proposition 1; Ghosh, Roughgarden, Sundararajan (2009), the
    definition of the geometric mechanism, for the discrete form.

    Examples:
        >>> count = Laplace.calibrate(Sensitivity.scalar(1), epsilon="0.1")
        >>> count.scale, print(count.loss), count.radius(0.95)
        ε = 0.1
        (Fraction(10, 1), None, 30)
    """

    scale: Fraction
    sensitivity: Sensitivity

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "scale", checked_scale(positive(self.scale, "scale"), "scale"))
        checked_sensitivity(self.sensitivity)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity, epsilon: Rationalizable) -> Self:
        """The mechanism that is ε-DP and no more: scale = ℓ1/ε exactly.

        Args:
            sensitivity: in steps of the grid.
            epsilon: above 0.

        Raises:
            InvalidArgument: the scale would be out of range, or the sensitivity is 0.
        """
        return cls(checked_sensitivity(sensitivity).l1 / positive(epsilon, "epsilon"), sensitivity)

    @property
    def event(self) -> LaplaceEvent:
        """The event that accounting counts for a release."""
        return LaplaceEvent(scale=self.scale, l1=self.sensitivity.l1, linf=self.sensitivity.linf)

    @property
    def loss(self) -> PureDP:
        """The proved bound on what a release gives away."""
        return PureDP(self.sensitivity.l1 / self.scale)

    def _noise(self, size: int) -> NDArray[Any]:
        """Fresh noise, one draw for each coordinate."""
        from discreet.noise import discrete_laplace

        return discrete_laplace(self.scale, size=size)

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one coordinate, for pictures, audits and tests; the nearest float or one next to it.

        Examples:
            >>> Laplace(Fraction(1), Sensitivity.scalar(1)).mass(0)
            0.46211715726000974
        """
        from discreet.mechanisms.tails import laplace_pmf

        return as_float(lambda: laplace_pmf(self.scale, n))

    def cutoff(self, chance: Fraction) -> int:
        """The least k with Pr[noise ≥ k] ≤ chance, for one coordinate.

        Args:
            chance: above 0, at most 1/2; so k is at least 1.
        """
        return _laplace_cutoff(self.scale, chance)


@lru_cache(maxsize=1024)
def _laplace_cutoff(scale: Fraction, chance: Fraction) -> int:
    """`Laplace.cutoff`, by solving the tail's closed form for k.

    With p = e^(−1/scale), Pr[noise ≥ k] is p^k/(1+p) for k ≥ 1. The solution is never an integer (p is transcendental,
    and would be a root of a polynomial), so enough precision tells its ceiling; should it not, the ceiling of the
    ball's upper end is returned, which is above.
    """
    from discreet.exact.ball import ball, fraction, precision

    low = high = 0
    for bits in (128, 256, 1024):
        with precision(bits):
            root = -ball(scale) * (ball(chance) * (1 + ball(-1 / scale).exp())).log()
            low, high = ceil(fraction(root.lower())), ceil(fraction(root.upper()))
        if low == high:
            break
    return max(high, 1)
