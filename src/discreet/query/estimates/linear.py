"""Linear combinations of noisy measures, ratios of two, and slopes: how far noise moves what is made of measures.

`100.0 * SUM(a) / COUNT(*)`, `COUNT(*) - COUNT(x)` and `2 * AVG(x) + 1` are such combinations and ratios; for them the
joint law of the noise is known, and so is an interval that wastes nothing.

*Slopes* are known before there is an answer. A count or a sum moves by the noise itself, whatever the data. How far an
average, a variance or a ratio moves depends on the group. Errors of these are announced, and shares of an offer
weighed, for a reference group of `ROWS` rows, where the mean of what is added up lies at three quarters of its range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

from discreet.exact.rational import Rationalizable
from discreet.query.estimates.intervals import Joint, ratio_interval
from discreet.query.estimates.noise import Interval, Noises, Noisy, integer, scaled

ROWS = 1_000
"""The size of the reference group: errors of averages are announced for it, and shrink as the group grows."""

_NUDGE = 1_024
"""A moment is moved by one part in this many, up and down, to see how a statistic moves with it."""


@dataclass(frozen=True)
class Linear:
    """A constant plus measures, each with a factor.

    Args:
        factors: by measure, in the units of its values.
        constant: what is added.
    """

    factors: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, name: str) -> Self:
        """One number by itself."""
        return cls({name: Fraction(1)})

    @property
    def single(self) -> str | None:
        """The number that it is by itself; None if it is anything more."""
        if self.constant or list(self.factors.values()) != [1]:
            return None
        return next(iter(self.factors))

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
        return self._constant + sum([factor * scaled(name, noisy, noises) for name, factor in self.floats.items()])

    def exactly(self, noisy: Noisy, noises: Noises) -> Fraction:
        """The same without rounding."""
        found = (factor * noises[name].step * integer(name, noisy) for name, factor in self.factors.items())
        return sum(found, self.constant)

    def radius(self, noises: Noises, confidence: Rationalizable) -> float:
        """Within which distance of 0 its noise lies with this confidence, or slightly more."""
        return radius(self.floats, noises, confidence)

    @cached_property
    def floats(self) -> Mapping[str, float]:
        """The factors, rounded once for all groups."""
        return {name: float(factor) for name, factor in self.factors.items()}

    @cached_property
    def _constant(self) -> float:
        return float(self.constant)


_ONE = Linear(constant=Fraction(1))


@dataclass(frozen=True, slots=True)
class LinearRatio:
    """A ratio of two linear combinations.

    Args:
        numerator: what is divided.
        denominator: what it is divided by; 1 where there is none.
        ends: the least and the greatest value that it can have, where bounds tell.
    """

    numerator: Linear
    denominator: Linear = _ONE
    ends: tuple[Fraction, Fraction] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return names_in(self.numerator, self.denominator)

    @property
    def is_constant(self) -> bool:
        """Whether it holds no noise."""
        return not self.numerator.factors and not self.denominator.factors

    @property
    def is_linear(self) -> bool:
        """Whether nothing noisy is divided by."""
        return self.denominator == _ONE

    def affine(self, factor: Fraction, constant: Fraction = Fraction(0)) -> LinearRatio:
        """This times a factor, plus a constant."""
        ends = None if self.ends is None else sorted(factor * end + constant for end in self.ends)
        numerator = self.numerator.times(factor).plus(self.denominator.times(constant))
        return LinearRatio(numerator, self.denominator, None if ends is None else (ends[0], ends[1]))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval for the exact value: from the noise's own quantiles, or by Fieller's construction.

        Args:
            noisy: one group's released integers.
            noises: the mechanisms.
            confidence: in (0, 1).
        """
        names = self.parts
        if self.is_linear:
            middle, half = self.numerator.at(noisy, noises), self.numerator.radius(noises, confidence)
            return Interval(middle - half, middle + half)
        uppers, lowers = (
            [linear.floats.get(name, 0.0) for name in names] for linear in (self.numerator, self.denominator)
        )
        return ratio_interval(
            Joint.of([noises[name] for name in names]),
            (self.numerator.at(noisy, noises), uppers),
            (self.denominator.at(noisy, noises), lowers),
            confidence,
            lo=None if self.ends is None else float(self.ends[0]),
            hi=None if self.ends is None else float(self.ends[1]),
        )

    def is_defined(self, noisy: Noisy, noises: Noises, confidence: float) -> bool:
        """Whether the noise can't explain a denominator of 0; of one that is 0 it errs with 1 − confidence at most."""
        factors = self.denominator.floats
        joint = Joint.of([noises[name] for name in factors])
        reach = abs(self.denominator.at(noisy, noises))
        return bool(factors) and joint.beyond(list(factors.values()), reach) < 1 - confidence

    def slopes(self, noises: Noises, rows: int) -> Slopes | None:
        """Its own factors if it is linear; those of a ratio A/B are those of (A − tB)/B at its value t.

        None where the denominator is 0 in the reference group.
        """
        if self.is_linear:
            return Slopes(self.numerator.floats)
        group = {name: int(rows * noises[name].usual) for name in self.parts}
        top, bottom = self.numerator.at(group, noises), self.denominator.at(group, noises)
        if bottom == 0:
            return None
        value, above, below = top / bottom, self.numerator.factors, self.denominator.factors
        factors = {
            name: (float(above.get(name, 0)) - value * float(below.get(name, 0))) / bottom for name in self.parts
        }
        return Slopes(factors, rows=rows)


@dataclass(frozen=True, slots=True)
class Slopes:
    """How an output moves with the noise of the measures it rests on.

    Args:
        factors: what one unit of noise in each measure moves it by, in units of the measure's values.
        rows: the size of the group for which this holds; None if it holds for all.
        size: of an aggregate, what its error is compared with when an offer is shared out; above 0.
        is_announced: whether the error may be told in advance, and a width promised. Not of what grows without bound
            as deviations shrink, nor of what isn't a number: there slopes only share out the offer.
    """

    factors: Mapping[str, float]
    rows: int | None = None
    size: float = 1.0
    is_announced: bool = True

    def radius(self, noises: Noises, confidence: float) -> float:
        """Half the width of the output's interval, to first order.

        Args:
            noises: by measure.
            confidence: in (0, 1).
        """
        return radius(self.factors, noises, confidence)


def radius(factors: Mapping[str, float], noises: Noises, confidence: Rationalizable) -> float:
    """Within which distance of 0 the noise of a combination lies with this confidence, or slightly more.

    Args:
        factors: of the numbers, in units of their values.
        noises: by number.
        confidence: in (0, 1).
    """
    names = [name for name, factor in factors.items() if factor]
    if not names:
        return 0.0
    if len(names) == 1:
        return abs(factors[names[0]]) * float(noises[names[0]].radius(confidence))
    joint = Joint.of([noises[name] for name in names])
    return joint.radius([factors[name] for name in names], float(confidence))


def by_differences(statistic: Callable[[Sequence[float]], float | None], point: Sequence[float]) -> list[float] | None:
    """The derivatives of a smooth statistic by its moments, by central differences; None where it isn't defined.

    An estimator has to ask for this: what jumps, such as a truth, looks as if it didn't move.

    Args:
        statistic: of a group's moments.
        point: the moments of the reference group.
    """
    found = []
    for place, value in enumerate(point):
        step = max(abs(value), 1.0) / _NUDGE
        above, below = (statistic([*point[:place], value + move, *point[place + 1 :]]) for move in (step, -step))
        if above is None or below is None:
            return None
        found.append((above - below) / (2 * step))
    return found


def names_in(*linears: Linear) -> tuple[str, ...]:
    """The numbers of combinations, each once."""
    return tuple(dict.fromkeys(name for linear in linears for name in linear.factors))


def combined(linears: Sequence[Linear], weights: Sequence[float]) -> dict[str, float]:
    """The factor of each number in a weighted sum of combinations."""
    factors: dict[str, float] = {}
    for linear, weight in zip(linears, weights, strict=True):
        for name, factor in linear.floats.items():
            factors[name] = factors.get(name, 0.0) + weight * factor
    return factors
