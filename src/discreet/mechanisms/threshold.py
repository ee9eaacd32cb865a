"""Thresholds: which groups may be named at all, where their keys are secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact.rational import probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parameters import delta_share, short_enough
from discreet.privacy import SelectionEvent

Noise: TypeAlias = Laplace | Gaussian


@dataclass(frozen=True, slots=True)
class Threshold:
    """Releases a group only if its noisy count of units reaches a threshold.

    Guarantee: groups that are present in one neighbour and absent from the other pass, all together, with probability
    at most δ. The other groups cost what the noise costs. So the release with its noise is private but for an event of
    probability δ.

    Such a group holds nobody but the one unit, so its exact count is at most ℓ∞; it passes with probability at most
    p = Pr[noise ≥ τ − ℓ∞], and of l0 of them, whose noises are independent, any passes with probability
    1 − (1−p)^l0. τ is the least integer for which that is at most δ, under the discrete noise's exact distribution.

    Args:
        noise: which is added to each group's count; what is compared with the threshold must be this noisy count.
        l0: how many groups one unit can be in, so how many can be present in one neighbour only; 1 or more.
        linf: the most that one unit adds to a group's count, in the noise's steps; 1 or more.
        delta: in (0, 1). Above 1/2 it is used as 1/2.
        least: what the threshold is at least, in the noise's steps; higher ones are as private.

    Attributes:
        value: the threshold τ, in the noise's steps.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Korolova, Kenthapadi, Mishra, Ntoulas (2009), Section 4; Wilson et al. (2020), Section 3, for l0 groups.

    Examples:
        >>> from discreet.privacy import Sensitivity
        >>> noise = Laplace.calibrate(Sensitivity.scalar(1), epsilon=1)
        >>> Threshold(noise, l0=1, linf=1, delta=Fraction(1, 10**6)).value
        15
    """

    noise: Noise
    l0: int
    linf: int
    delta: Fraction
    least: int = 0
    value: int = field(init=False)

    def __post_init__(self) -> None:
        """Find the threshold before there is any data."""
        object.__setattr__(self, "delta", short_enough(probability(self.delta, "delta"), "delta"))
        for name in ("l0", "linf"):
            number = getattr(self, name)
            if type(number) is not int or number < 1:
                raise InvalidArgument(f"{name} must be a whole number of at least 1, not {number!r}")
        if type(self.least) is not int:
            raise InvalidArgument(f"least must be a whole number, not {self.least!r}")
        chance = delta_share(min(self.delta, Fraction(1, 2)), self.l0)
        object.__setattr__(self, "value", max(self.linf + self.noise.cutoff(chance), self.least))

    @property
    def event(self) -> SelectionEvent:
        """The event that accounting counts for a selection; the noise is an event of its own."""
        return SelectionEvent(delta=self.delta)

    def passes(self, noisy: int) -> bool:
        """Whether a group with this noisy count is released."""
        return noisy >= self.value
