"""Estimators: how aggregates come from released numbers, of which each has its noise.

An estimator says which numbers it uses, what its aggregate is in one group, and which values the noise leaves possible.
The simplest, a count or a sum, is here; `means`, `associations` and `choices` have the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, floor, sqrt
from typing import Protocol, TypeAlias

from discreet.exact.rational import Rationalizable, probability
from discreet.mechanisms import Gaussian
from discreet.privacy import KeyValue, Sensitivity
from discreet.query import ir
from discreet.query.estimates.noise_tails import Mechanism, summed_radius


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

    @property
    def deviation(self) -> float:
        """Its standard deviation, in the units of the measure's values.

        Discrete Laplace noise of scale b has variance 2 p/(1 − p)² with p = exp(−1/b) (Inusah & Kozubowski 2006). That
        of a discrete Gaussian is at most sigma², and less by a factor that no float64 can tell once sigma is above 2
        (Canonne, Kamath & Steinke 2020, Corollary 9).
        """
        if isinstance(self.mechanism, Gaussian):
            return float(self.step * self.mechanism.sigma) * sqrt(self.number)
        rate = 1 / float(self.mechanism.scale)
        return float(self.step) * sqrt(2 * self.number * exp(-rate)) / -expm1(-rate)

    def radius(self, confidence: Rationalizable) -> Fraction:
        """Within which distance of 0 it lies with this confidence, in the units of the measure's values.

        Args:
            confidence: in (0, 1).
        """
        return self.step * noise_radius(self.mechanism, self.number, confidence)


@lru_cache(maxsize=1024, typed=True)  # all groups have the same; a float is read otherwise than an equal fraction
def noise_radius(mechanism: Mechanism, number: int, confidence: Rationalizable) -> int:
    """An r with Pr[|sum of so many independent noises| ≤ r] ≥ confidence, in steps: the least, or next to it.

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
"""What was released of one group, by name: a noisy integer for each measure, the number of a bin (or several) for each
choice."""

Noises: TypeAlias = Mapping[str, Noise]

Value: TypeAlias = KeyValue | float | list[KeyValue]
"""What an estimate can be."""


class Estimator(Protocol):
    """How one aggregate is estimated from what was released."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the released integers that are used."""
        ...

    def estimate(self, noisy: Noisy, noises: Noises) -> Value:
        """The statistic of one group; None where a noisy count leaves nothing to divide by."""
        ...

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval that holds the statistic with at least this confidence, over the noise; None if there is none."""
        ...


def integer(name: str, noisy: Noisy) -> int:
    """One released integer."""
    value = noisy[name]
    if not isinstance(value, int):
        raise TypeError("this was released as a list")
    return value


def scaled(name: str, noisy: Noisy, noises: Noises) -> float:
    """A noisy measure in the units of its values."""
    return float(noises[name].step * integer(name, noisy))


def is_empty(rows: str | None, noisy: Noisy, noises: Noises) -> bool:
    """Whether a noisy count leaves no row; nothing says so where there is none.

    Args:
        rows: the measure that counts them.
        noisy: one group's released integers.
        noises: the mechanisms.
    """
    return rows is not None and rows in noisy and has_too_few(scaled(rows, noisy, noises), ir.Statistic.MODE)


_OF_TWO = {ir.Statistic.VAR_SAMP, ir.Statistic.STDDEV_SAMP, ir.Statistic.COVAR_SAMP, ir.Statistic.CORR}


def has_too_few(count: float | Fraction, statistic: ir.Statistic) -> bool:
    """Whether a statistic is NULL, as in SQL, of a group of which a noisy count says that it has so many rows.

    It needs two rows if it is of a sample, or a correlation, and one if it is anything else that is divided by a count
    or chosen. Counts and sums are never NULL: no count goes with them, and so they add up over groups, as a NULL
    wouldn't. SQL's SUM is NULL over no rows; here it is 0 and its noise.

    Args:
        count: noisy, of the rows that the statistic is over; where limits weigh rows down, rounded as it is shown.
        statistic: not a count or a sum.

    Examples:
        >>> [has_too_few(count, ir.Statistic.VAR_SAMP) for count in (1.0, 2.0)]
        [True, False]
    """
    return round(count) < (2 if statistic in _OF_TWO else 1)


def clip(value: float, lo: float, hi: float) -> float:
    """The value, moved into [lo, hi]."""
    return min(max(value, lo), hi)


@dataclass(frozen=True, slots=True)
class Linear:
    """A constant plus measures, each with a factor.

    Args:
        factors: by measure, in the units of its values.
        constant: what is added.
    """

    factors: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> Linear:
        """All of it times a number."""
        return Linear({name: factor * one for name, one in self.factors.items()}, factor * self.constant)

    def plus(self, other: Linear) -> Linear:
        """The sum of two; factors that cancel are left out."""
        names = dict.fromkeys((*self.factors, *other.factors))
        sums = {name: self.factors.get(name, Fraction(0)) + other.factors.get(name, Fraction(0)) for name in names}
        return Linear({name: one for name, one in sums.items() if one}, self.constant + other.constant)

    def at(self, noisy: Noisy, noises: Noises) -> float:
        """Its value for one group."""
        return float(self.constant) + sum(
            float(factor) * scaled(name, noisy, noises) for name, factor in self.factors.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A count, or a sum.

    Args:
        measure: that is counted or added up.
        whole: whether it is a whole number.
    """

    measure: str
    whole: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The measure."""
        return (self.measure,)

    def estimate(self, noisy: Noisy, noises: Noises) -> int | float:
        """The noisy total itself."""
        value = noises[self.measure].step * integer(self.measure, noisy)
        return round(value) if self.whole else float(value)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The noise's own quantiles about it: exact but for rounding outwards to whole numbers."""
        noise = noises[self.measure]
        half = float(noise.radius(confidence))
        value = float(noise.step * integer(self.measure, noisy))
        lo, hi = value - half, value + half
        return Interval(floor(lo), ceil(hi)) if self.whole else Interval(lo, hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfNoRows:
    """An aggregate over no rows, as public facts prove: it is known exactly, and nothing is released for it.

    Args:
        is_count: whether it counts, and so is 0; anything else is NULL, as in SQL.
    """

    is_count: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """None."""
        return ()

    def estimate(self, _noisy: Noisy, _noises: Noises) -> int | None:
        """0 or NULL."""
        return 0 if self.is_count else None

    def interval(self, _noisy: Noisy, _noises: Noises, _confidence: float) -> Interval | None:
        """The count itself: it has no noise."""
        return Interval(0, 0) if self.is_count else None
