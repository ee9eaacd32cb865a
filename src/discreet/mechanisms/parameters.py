"""Parts that mechanisms share: adding noise, the scales it can have, parts of a δ, and probabilities as floats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.privacy import Sensitivity

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray


LEAST, GREATEST = Fraction(1, 2**10), Fraction(2**60)
"""The scales that the samplers of `discreet.noise` take, in steps of the grid."""

_MOST_BITS = 512
"""How long a numerator or denominator may be; an ε of hundreds of digits would make all later accounts slow."""


class AddsNoise(ABC):
    """A base for mechanisms that add integer noise, drawn afresh for each coordinate, to a vector of integers."""

    __slots__ = ()

    @abstractmethod
    def _noise(self, size: int) -> NDArray[Any]:
        """Fresh noise, one draw for each coordinate."""

    def release(self, values: Sequence[int]) -> list[int]:
        """The values with fresh noise, as Python integers, so nothing overflows."""
        noise = self._noise(len(values)).tolist()
        return [int(value) + int(error) for value, error in zip(values, noise, strict=True)]


class AddsUnboundedNoise(AddsNoise):
    """A base for mechanisms whose noise is symmetric about 0 and unbounded."""

    __slots__ = ()

    @abstractmethod
    def cutoff(self, chance: Fraction) -> int:
        """The least k with Pr[noise ≥ k] ≤ chance, for one coordinate."""

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for one coordinate.

        Args:
            confidence: in (0, 1).
        """
        return self.cutoff((1 - probability(confidence, "confidence")) / 2) - 1


def checked_scale(scale: Fraction, name: str) -> Fraction:
    """The scale itself, if noise of it can be drawn and accounted for.

    Raises:
        InvalidArgument: it is too small, too large, or written with too many digits.
    """
    if not LEAST <= scale <= GREATEST:
        problem, size = ("large", "above 2⁶⁰") if scale > GREATEST else ("small", "below 2⁻¹⁰")
        raise InvalidArgument(
            f"{name} is too {problem}: {size} steps of the grid",
            hint=f"the guarantee asked for is too {'strong' if problem == 'large' else 'weak'} for the sensitivity",
        )
    return short_enough(scale, name)


def short_enough(number: Fraction, name: str) -> Fraction:
    """The number itself, if accounts can carry its digits for good.

    Raises:
        InvalidArgument: it is written with too many.
    """
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise InvalidArgument(f"{name} has too many digits", hint="give epsilon, rho and delta with fewer digits")
    return number


def checked_sensitivity(sensitivity: Sensitivity) -> Sensitivity:
    """The sensitivity itself, if there is something to hide and some noise hides it.

    Raises:
        InvalidArgument: it is 0: the answer is the same for all neighbours, and a loss of 0 can't be stated; or it is
            beyond what the greatest scale protects.
    """
    if sensitivity.linf < 1:
        raise InvalidArgument("the sensitivity is 0, so there is nothing that noise could hide")
    if sensitivity.l2_squared > (GREATEST * 2**20) ** 2:
        raise InvalidArgument("the sensitivity is above 2⁸⁰ steps of the grid", hint="choose a coarser grid")
    return sensitivity


@lru_cache(maxsize=1024)
def delta_share(delta: Fraction, parts: int) -> Fraction:
    """The greatest p with 1 − (1−p)^parts ≤ δ, which is 1 − (1−δ)^(1/parts); rounded down.

    If each of `parts` coordinates, whose noises are independent, fails with probability at most p, then any of them
    fails with probability at most δ.

    Args:
        delta: in (0, 1).
        parts: 1 or more.

    Examples:
        >>> round(float(delta_share(Fraction(1, 1000), 10)), 9)
        0.000100045
    """
    if parts == 1:
        return delta
    from discreet.exact.ball import ball, fraction, precision

    with precision(128):
        return fraction((-((-ball(delta)).log1p() / parts).expm1()).lower())


def joint_delta(share: Fraction, parts: int) -> Fraction:
    """1 − (1−p)^parts, rounded up: the probability that any of that many coordinates fails if each does with p.

    Args:
        share: p, in (0, 1).
        parts: 1 or more.
    """
    if parts == 1:
        return share
    from discreet.exact.ball import ball, fraction, precision

    with precision(128):
        return fraction((-((-ball(share)).log1p() * parts).expm1()).upper())


_ACCURATE = 60
"""Bits that are right; a float has 53."""


def as_float(compute: Callable[[], arb], *, bits: int = 128) -> float:
    """A positive number that is computed in balls, as a float; 0 below the range of floats.

    Args:
        compute: evaluates it at the working precision; called again at higher ones until it is tight.
        bits: the precision to begin with.
    """
    from discreet.exact.ball import precision

    while True:
        with precision(bits):
            value = compute()
            if value.rel_accuracy_bits() >= _ACCURATE:
                return float(value)
        bits *= 2
