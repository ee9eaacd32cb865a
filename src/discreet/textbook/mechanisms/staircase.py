"""Staircase noise for integer vectors: less error than Laplace noise at a large ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import GREATEST, AddsNoise, checked_scale, checked_sensitivity
from discreet.privacy import PureDP, PureEvent, Sensitivity

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Staircase(AddsNoise):
    """Adds noise Pr[n] ∝ exp(−⌊(|n| + Δ − first)/Δ⌋/scale) to each integer of a vector, with Δ = ℓ∞.

    All magnitudes of a step are equally likely: 0 to first − 1 on the first step, Δ magnitudes on every other one.

    Guarantee: with k the number of coordinates that can move, (k/scale)-DP, exactly. If a coordinate moves by at most
    Δ, so does |n|; so the floor changes by at most 1, and the probability of any outcome by a factor of at most
    exp(1/scale). At Δ = 1 this is Laplace noise. For larger Δ, and one coordinate, a good `first` errs less than it,
    the more so the larger ε is: at ε = 5 and a large Δ less than half as much.

    Args:
        scale: 1/ε of one coordinate; from 2⁻¹⁰ to 2⁶⁰.
        sensitivity: of the vector, in steps of the grid; above 0, and ℓ∞ at most 2⁶⁰.
        first: how many magnitudes the first step holds, 1 to ℓ∞. Any choice is private.

    Raises:
        InvalidArgument: a number is out of range, or the sensitivity is 0.

    Source: Geng, Viswanath (2016), "The optimal noise-adding mechanism in differential privacy", whose section on
    integer-valued queries has these probabilities.

    Examples:
        >>> income = Staircase.calibrate(Sensitivity.scalar(1000), epsilon=5)
        >>> income.first, income.radius(0.95), print(income.loss)
        ε = 5
        (76, 472, None)
    """

    scale: Fraction
    sensitivity: Sensitivity
    first: int

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "scale", checked_scale(positive(self.scale, "scale"), "scale"))
        if checked_sensitivity(self.sensitivity).linf > GREATEST:
            raise InvalidArgument("the sensitivity is above 2⁶⁰ steps of the grid", hint="choose a coarser grid")
        if type(self.first) is not int or not 1 <= self.first <= self.sensitivity.linf:
            raise InvalidArgument("first must be a whole number from 1 to the sensitivity of one coordinate")

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity, epsilon: Rationalizable) -> Self:
        """The mechanism that is ε-DP and no more, with the first step that makes the mean of |noise| least.

        Args:
            sensitivity: in steps of the grid.
            epsilon: above 0.

        Raises:
            InvalidArgument: the scale would be out of range, or the sensitivity is 0.
        """
        scale = checked_scale(_moving(checked_sensitivity(sensitivity)) / positive(epsilon, "epsilon"), "scale")
        return cls(scale, sensitivity, best_first(scale, sensitivity.linf))

    @property
    def gamma(self) -> Fraction:
        """The share of the first step, first/Δ: the γ of the source."""
        return Fraction(self.first, self.sensitivity.linf)

    @property
    def event(self) -> PureEvent:
        """The event that accounting counts for a release."""
        return PureEvent(epsilon=_moving(self.sensitivity) / self.scale)

    @property
    def loss(self) -> PureDP:
        """The proved bound on what a release gives away."""
        return PureDP(_moving(self.sensitivity) / self.scale)

    def _noise(self, size: int) -> NDArray[Any]:
        """Fresh noise, one draw for each coordinate."""
        from discreet.noise import staircase

        return staircase(self.scale, self.sensitivity.linf, self.first, size=size)

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one coordinate, for pictures, audits and tests; the nearest float or one next to it."""
        from discreet.exact.ball import ball
        from discreet.mechanisms.parameters import as_float

        step = (abs(n) + self.sensitivity.linf - self.first) // self.sensitivity.linf
        return as_float(lambda: ball(-step / self.scale).exp() / self._beyond(0))

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for one coordinate; above it if that can't be decided.

        Args:
            confidence: in (0, 1).
        """
        from discreet.exact.ball import ball, precision

        chance = 1 - probability(confidence, "confidence")
        with precision(_bits(self.scale, self.sensitivity.linf)):
            allowed = ball(chance) * self._beyond(0)
            low, high = 0, self.first
            while not self._beyond(high) <= allowed:
                low, high = high, 2 * high
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self._beyond(middle) <= allowed else (middle, high)
        return high - 1

    def _beyond(self, magnitude: int) -> arb:
        """The weights of all n with |n| ≥ magnitude, where those on step j weigh e^(−j/scale)."""
        from discreet.exact.ball import ball

        width, first = self.sensitivity.linf, self.first
        if magnitude == 0:
            return self._beyond(1) + 1
        if magnitude < first:
            return 2 * (ball(first - magnitude) + width * _later(self.scale))
        step, place = divmod(magnitude + width - first, width)
        return 2 * ball(-step / self.scale).exp() * (width - place + width * _later(self.scale))


def _moving(sensitivity: Sensitivity) -> int:
    """How many coordinates can move at once: each takes at least 1 of ℓ1."""
    return min(sensitivity.l0, sensitivity.l1)


def _later(scale: Fraction) -> arb:
    """The sum of q^j over j ≥ 1, for q = e^(−1/scale)."""
    from discreet.exact.ball import ball

    return 1 / ball(1 / scale).expm1()


def _bits(scale: Fraction, width: int) -> int:
    """Enough to see single integers at any scale and width."""
    return 128 + 4 * (width.bit_length() + ceil(scale).bit_length())


@lru_cache(maxsize=1024)
def best_first(scale: Fraction, width: int) -> int:
    """The first step for which the mean of |noise| is least.

    With q = e^(−1/scale) and t = q/(1 − q), the weights sum to 2r + d, and times their magnitudes to r² + d·r + c, for
    r = first, d = 2tΔ − 1 and c = tΔ(Δ−1) + 2t²Δ². The mean is the ratio. A convex positive function over a linear one
    falls and then rises; the derivative is 0 at r = (√(4c − d²) − d)/2, if anywhere, and one of the two integers next
    to that is best. For Δ → ∞, r/Δ → 1/(1 + e^(1/(2·scale))). Any answer is private, so no proof of the rounding is
    needed.

    Args:
        scale: 1/ε of one coordinate.
        width: Δ, 1 or more.
    """
    from discreet.exact.ball import ball, fraction, precision

    with precision(_bits(scale, width)):
        later = _later(scale)
        d, c = 2 * later * width - 1, later * width * (width - 1) + 2 * (later * width) ** 2
        square = fraction(4 * c - d**2)
        low = int((fraction(ball(square).sqrt()) - fraction(d)) / 2) if square > 0 else 0
        low, high = (min(max(candidate, 1), width) for candidate in (low, low + 1))

        def mean(first: int) -> arb:
            return (first * (first + d) + c) / (2 * first + d)

        return low if mean(low) <= mean(high) else high
