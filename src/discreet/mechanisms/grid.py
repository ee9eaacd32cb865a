"""Grids: real numbers as integers, on a power-of-two grid that doesn't depend on them.

A value x becomes ⌊x/g + 1/2⌋ steps of size g. This commutes with moving x by whole steps, so two values at most Δ apart
are at most ⌈Δ/g⌉ steps apart: with n = ⌈Δ/g⌉, ⌊a + n⌋ = ⌊a⌋ + n bounds the one from the other. (Rounding halves to even
would not do: 1/2 and 3/2 become 0 and 2.) In d coordinates each moves by less than one step more than its real value:

- ℓ1: Σ⌈Δⱼ/g⌉ < Δ1/g + d, so at most ⌈Δ1/g⌉ + d − 1 steps; which for d = 1 is ⌈Δ/g⌉ again.
- ℓ2: by the triangle inequality at most Δ2/g + √d; which for d = 1 is bettered by ⌈Δ/g⌉.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt

from discreet.errors import InvalidArgument
from discreet.exact.rational import positive
from discreet.privacy import Sensitivity

_FINE_BITS, _WIDE_BITS = 20, 50
"""A grid is finer than noise and sensitivity by 20 bits or more, unless the noise would then pass 2⁵⁰ steps."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All multiples of a step.

    Args:
        step: a power of two, such as 1/1024, 1 or 8.

    Raises:
        InvalidArgument: the step isn't a power of two.

    Examples:
        >>> Grid("0.125").steps_of(Fraction(1, 3))
        3
    """

    step: Fraction

    def __post_init__(self) -> None:
        """Check the step: other grids have points that floats can't hold."""
        step = positive(self.step, "grid")
        if min(step.numerator, step.denominator) != 1 or (step.numerator * step.denominator).bit_count() != 1:
            raise InvalidArgument(f"grid must be a power of two, not {self.step}", hint="0.125, 1 and 1024 are")
        object.__setattr__(self, "step", step)

    @classmethod
    def fitting(cls, sensitivity: Fraction, scale: Fraction, coordinates: int) -> Grid:
        """A grid so fine that rounding costs next to nothing, chosen from public numbers only.

        Args:
            sensitivity: how far the values can move together; above 0.
            scale: about how large the noise will be; above 0.
            coordinates: how many values there are; 1 or more.
        """
        fine = _power_below(min(sensitivity, scale) / coordinates) - _FINE_BITS
        return cls(Fraction(2) ** max(fine, _power_below(scale) - _WIDE_BITS))

    def steps_of(self, value: Fraction) -> int:
        """The nearest grid point, in steps; the upper one of two."""
        return floor(value / self.step + Fraction(1, 2))

    def l1(self, sensitivity: Fraction, coordinates: int) -> Sensitivity:
        """The sensitivity in steps of values that move by at most `sensitivity` in sum."""
        l1 = ceil(sensitivity / self.step) + coordinates - 1
        return _by_l1(l1, coordinates)

    def l2(self, sensitivity: Fraction, coordinates: int) -> Sensitivity:
        """The sensitivity in steps of values that move by at most `sensitivity` in the Euclidean norm."""
        if coordinates == 1:
            return Sensitivity.scalar(ceil(sensitivity / self.step))
        return _by_l2((sensitivity / self.step + isqrt(coordinates - 1) + 1) ** 2, coordinates)


def whole_l1(sensitivity: Fraction, coordinates: int) -> Sensitivity:
    """The sensitivity of integers that move by at most `sensitivity` in sum: by a whole number, so by its floor."""
    return _by_l1(floor(sensitivity), coordinates)


def whole_l2(sensitivity: Fraction, coordinates: int) -> Sensitivity:
    """The sensitivity of integers that move by at most `sensitivity` in the Euclidean norm."""
    return _by_l2(sensitivity**2, coordinates)


def _by_l1(l1: int, coordinates: int) -> Sensitivity:
    """All norms, for integers that move by at most `l1` in sum."""
    return Sensitivity(l0=min(coordinates, l1), linf=l1, l1=l1, l2_squared=Fraction(l1**2))


def _by_l2(l2_squared: Fraction, coordinates: int) -> Sensitivity:
    """All norms, for integers that move by at most the root of `l2_squared`.

    Squares of integers add up to an integer, which is at least their sum. ℓ1 ≤ √d·ℓ2 by Cauchy and Schwarz, and
    ℓ2² ≤ ℓ1·ℓ∞ by Hölder.
    """
    square = floor(l2_squared)
    linf = isqrt(square)
    l1 = min(coordinates * linf, isqrt(coordinates * square), square)
    return Sensitivity(l0=min(coordinates, square), linf=linf, l1=l1, l2_squared=Fraction(min(square, l1 * linf)))


def _power_below(number: Fraction) -> int:
    """An exponent e with 2^e ≤ number < 2^(e+2)."""
    return number.numerator.bit_length() - number.denominator.bit_length() - 1
