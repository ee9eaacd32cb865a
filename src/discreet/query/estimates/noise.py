"""The noise of each number that is released, the mechanism of each choice, and how far sums of noises reach.

*Laplace.* Let Y be discrete Laplace noise with p = e^(−h), h = 1/scale, V uniform on [−1/2, 1/2], and X continuous
Laplace noise with the rate h′ = 2·tanh(h/2), which is at most h. Then |Y + V| is stochastically at most |X|:

- Pr[|Y + V| > t] is linear between the points k − 1/2. At 1/2 it is 1 − h′/2 ≤ e^(−h′/2), and from each point to the
  next it shrinks by p ≤ e^(−h′); so at the points it is at most e^(−h′t). On [0, 1/2] it is 1 − h′t ≤ e^(−h′t).
- Between two points it is enough to look at the first two. There it is q(1 − θ(1−p)), with q = 2p/(1+p) and θ from 0
  to 1, and e^(−h′(1/2+θ)) minus that is convex in θ, and least where its derivative vanishes, at θ = h/h′ − 1/2. There
  it is p − q(1 − θ(1−p)), which is at least 0 if θ ≥ 1/2, that is, if h ≥ h′.

Both are symmetric and unimodal, so the order is kept when independent copies are added up (Birnbaum 1948), and adding
further uniforms to a symmetric unimodal sum makes no interval about 0 likelier (Anderson 1955). So for n copies and a
whole r, Pr[|ΣY| ≤ r] = Pr[|ΣY + V| ≤ r + 1/2] ≥ Pr[|ΣX| ≤ r + 1/2]. The price is one part in 12·scale² of the scale.

*Gaussian.* The sum of n discrete Gaussians has the law of one with variance nσ², times a theta function over the
cosets of a lattice. By Poisson's formula that differs from a constant by sums of e^(−2π²σ²|w|²) over the dual lattice,
where |w|² ≥ 1/2: for σ ≥ 4 by less than 10⁻⁶⁰ of it. So the sum is one discrete Gaussian, with σ√n rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, tanh
from typing import TypeAlias

from discreet.exact.rational import Rationalizable, probability
from discreet.mechanisms import Gaussian, Laplace, Mode, Quantile, QuantileInterval
from discreet.mechanisms.parameters import GREATEST
from discreet.privacy import Event, Sensitivity
from discreet.query import ir
from discreet.query.estimates import laplace_sums

Mechanism: TypeAlias = Laplace | Gaussian

LEAST_SIGMA = 4
"""Narrower Gaussians aren't added up here: their sums are no Gaussians."""

_BITS = 40
"""σ√n is rounded up to so many binary digits behind the point."""

_ROUNDED = 1 + 1e-9
"""Far more than the rounding of floats in a radius."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A measure with the mechanism that releases it.

    Args:
        measure: what the engine adds up, in steps of a grid; or several sums that are released together.
        mechanism: calibrated in the same steps.
        number: how many independent noises of the mechanism it holds: more than one only where released groups were
            added up afterwards.

    Attributes:
        step: the size of one step of the grid.
    """

    measure: ir.Measure | ir.Vector
    mechanism: Mechanism
    number: int = 1
    step: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out the step once: intervals ask for it for every group."""
        grid = self.measure.grid if isinstance(self.measure, ir.Sum | ir.Histogram | ir.Vector) else 0
        object.__setattr__(self, "step", Fraction(2) ** grid)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the measure, in steps."""
        return self.mechanism.sensitivity

    @property
    def numbers(self) -> tuple[Noise, ...]:
        """That of each number that is released: of a vector's sums, which have independent noises, or itself."""
        sums = ir.sums_of(self.measure)
        return (self,) if sums == (self.measure,) else tuple(replace(self, measure=each) for each in sums)

    def radius(self, confidence: Rationalizable) -> Fraction:
        """Within which distance of 0 it lies with this confidence, in the units of the measure's values.

        Args:
            confidence: in (0, 1).
        """
        return self.step * noise_radius(self.mechanism, self.number, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What is to be chosen from a histogram: a quantile, or the fullest bins.

    Args:
        name: what the choice is released under; unique among those of measures too.
        histogram: the name of the measure.
        fraction: of a quantile; None for the fullest bins.
        most: how many bins are chosen, if it isn't a quantile.
    """

    name: str
    histogram: str
    fraction: Fraction | None = None
    most: int = 1

    @property
    def around(self) -> str:
        """What the interval about a quantile is released under."""
        return f"{self.name} around"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A pick with the mechanism that makes it.

    Args:
        pick: what is chosen.
        measure: what it is chosen from.
        mechanism: that chooses, calibrated in steps of the histogram's counts.
        about: for a quantile: what chooses the interval about the chosen bin, which tells how good it is.
    """

    pick: Pick
    measure: ir.Histogram
    mechanism: Quantile | Mode
    about: QuantileInterval | None = None

    @property
    def step(self) -> Fraction:
        """How many rows one step of the counts is."""
        return Fraction(2) ** self.measure.grid

    def reach(self, confidence: Fraction) -> float:
        """By how many rows the choice is off, at most, with this confidence."""
        radius = self.mechanism.rank_radius if isinstance(self.mechanism, Quantile) else self.mechanism.radius
        return float(self.step * radius(confidence))

    @property
    def events(self) -> tuple[Event, ...]:
        """What is done to the data, for accounting."""
        chosen: Event = self.mechanism.event
        return (chosen,) if self.about is None else (chosen, self.about.event)


def can_be_summed(mechanism: Laplace | Gaussian, number: int) -> bool:
    """Whether the reach of a sum of so many such noises is known."""
    if isinstance(mechanism, Laplace):
        return True
    return mechanism.sigma >= LEAST_SIGMA and number * mechanism.sigma**2 < GREATEST**2


def dominating_scale(scale: Fraction) -> float:
    """The scale of the continuous Laplace noise whose sums reach at least as far as those of the discrete one.

    Examples:
        >>> round(dominating_scale(Fraction(10)), 5)
        10.00833
    """
    return 1 / (2 * tanh(1 / (2 * float(scale))))


@lru_cache(maxsize=1024, typed=True)  # all groups have the same; a float is read otherwise than an equal fraction
def noise_radius(mechanism: Laplace | Gaussian, number: int, confidence: Rationalizable) -> int:
    """An r with Pr[|sum of so many independent noises| ≤ r] ≥ confidence, in steps: the least, or next to it.

    Args:
        mechanism: that made each of the noises.
        number: how many; 1 or more.
        confidence: in (0, 1).

    Examples:
        >>> from discreet.privacy import Sensitivity
        >>> one = Laplace(Fraction(10), Sensitivity.scalar(1))
        >>> [noise_radius(one, number, 0.95) for number in (1, 2, 100)]
        [30, 41, 278]
    """
    exact = probability(confidence, "confidence")
    if number == 1:
        return mechanism.radius(exact)
    if isinstance(mechanism, Gaussian):
        return Gaussian(_root_above(number * mechanism.sigma**2), mechanism.sensitivity).radius(exact)
    return _laplace_radius(mechanism.scale, number, float(1 - exact))


@lru_cache(maxsize=1024)
def _laplace_radius(scale: Fraction, number: int, outside: float) -> int:
    """The same for Laplace noise."""
    reach = laplace_sums.repeated_radius((dominating_scale(scale),), (number,), outside) * _ROUNDED
    return max(ceil(reach - 0.5), 0)


def _root_above(square: Fraction) -> Fraction:
    """√square, rounded up."""
    return Fraction(isqrt(square.numerator * 4**_BITS // square.denominator) + 1, 2**_BITS)
