"""Noise: what was released of a group, and how far the noise in each number reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, floor, hypot, sqrt
from typing import TypeAlias

from discreet.exact.rational import Rationalizable, probability
from discreet.mechanisms import Gaussian
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates.discrete_sums import Addend, combined_radius, summed_radius
from discreet.query.estimates.discrete_tails import Mechanism


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval.

    Args:
        lo: the lower end.
        hi: the upper end.
    """

    lo: float
    hi: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A measure with the mechanism that releases it.

    Args:
        measure: what the engine adds up, in steps of a grid; or several sums that are released together.
        mechanism: calibrated in the same steps.
        number: how many independent noises of the mechanism it holds: more than one only where released groups were
            added up afterwards.
        part: of a cell, which part of the reference group's rows is in it; None of anything else.
        addends: what it holds instead, where it was put together of several tables; none where it wasn't.
        rounded: by how many steps it may be off besides, since groups that add up are shown in whole numbers.

    Attributes:
        step: the size of one step of the grid.
    """

    measure: ir.Measured
    mechanism: Mechanism
    number: int = 1
    part: Fraction | None = None
    addends: tuple[Addend, ...] = ()
    rounded: Fraction = Fraction(0)
    step: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out the step once: intervals ask for it for every group."""
        grid = self.measure.grid if isinstance(self.measure, ir.Sum | ir.Histogram | ir.Vector | ir.Room) else 0
        object.__setattr__(self, "step", Fraction(2) ** grid)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the measure, in steps."""
        return self.mechanism.sensitivity

    @property
    def numbers(self) -> tuple[Noise, ...]:
        """The noise of each number that is released: those of a vector, which are independent, or itself."""
        if not isinstance(self.measure, ir.Vector):
            return (self,)
        parts = zip(self.measure.numbers, self.measure.parts, strict=True)
        return tuple(replace(self, measure=each, part=part) for each, part in parts)

    @property
    def usual(self) -> int | Fraction:
        """The amount that a row of the reference group adds, in steps: three quarters of the way to the most."""
        if self.part is not None:
            return self.part / self.step
        return Fraction(self.measure.lo + 3 * self.measure.hi, 4) if isinstance(self.measure, ir.Sum) else 1

    @property
    def held(self) -> tuple[Addend, ...]:
        """The independent noises that it is the sum of."""
        return self.addends or (Addend(self.mechanism, 1.0, self.number),)

    @property
    def is_sum(self) -> bool:
        """Whether it is plainly a sum of noises of one mechanism, or one of them."""
        return not self.addends and not self.rounded

    @property
    def deviation(self) -> float:
        """Its standard deviation, in the units of the measure's values, without what rounding adds.

        Discrete Laplace noise of scale b has variance 2 p/(1 − p)² with p = exp(−1/b) (Inusah & Kozubowski 2006). That
        of a discrete Gaussian is at most sigma², and less by a factor that no float64 can tell once sigma is above 2
        (Canonne, Kamath & Steinke 2020, Corollary 9).
        """
        return float(self.step) * hypot(*(each.factor * sqrt(each.number) * _deviation(each) for each in self.held))

    def radius(self, confidence: Rationalizable) -> Fraction:
        """Within which distance of 0 it lies with this confidence, in the units of the measure's values.

        Args:
            confidence: in (0, 1).
        """
        if self.is_sum:
            return self.step * noise_radius(self.mechanism, self.number, confidence)
        # What is shown is a whole number of steps, like what is exact.
        reach = combined_radius(self.held, float(1 - probability(confidence, "confidence")))
        return self.step * floor(reach + float(self.rounded))


def _deviation(addend: Addend) -> float:
    """The standard deviation of one noise, in steps."""
    mechanism = addend.mechanism
    if isinstance(mechanism, Gaussian):
        return float(mechanism.sigma)
    rate = 1 / float(mechanism.scale)
    return sqrt(2 * exp(-rate)) / -expm1(-rate)


@lru_cache(maxsize=1024, typed=True)  # all groups have the same; a float is read otherwise than an equal fraction
def noise_radius(mechanism: Mechanism, number: int, confidence: Rationalizable) -> int:
    """An r with Pr[|sum of `count` independent noises| ≤ r] ≥ confidence, in steps: the least, or next to it.

    Args:
        mechanism: that made each of the noises.
        number: how many; 1 or more.
        confidence: in (0, 1).

    Examples:
        >>> from discreet.mechanisms import Laplace
        >>> from discreet.privacy import Sensitivity
        >>> one = Laplace(Fraction(10), Sensitivity.scalar(1))
        >>> [noise_radius(one, number, 0.95) for number in (1, 2, 100)]
        [30, 41, 278]
    """
    exact = probability(confidence, "confidence")
    return mechanism.radius(exact) if number == 1 else summed_radius(mechanism, number, exact)


Noisy: TypeAlias = Mapping[str, int | tuple[int, ...]]
"""The released numbers of one group, by name: a noisy integer for each measure, the number of a bin (or several) for
each choice."""

Noises: TypeAlias = Mapping[str, Noise]


def integer(name: str, noisy: Noisy) -> int:
    """One released integer."""
    value = noisy[name]
    if not isinstance(value, int):
        raise TypeError("this was released as a list")
    return value


def scaled(name: str, noisy: Noisy, noises: Noises) -> float:
    """A noisy measure in the units of its values."""
    return float(noises[name].step * integer(name, noisy))


def clip(value: float, lo: float, hi: float) -> float:
    """The value, moved into [lo, hi]."""
    return min(max(value, lo), hi)
