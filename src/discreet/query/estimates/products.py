"""Sums of products: noisy covariances and variances of one group, times its number of rows, and how noise moves them.

Write N for the noisy count, S and T for the noisy sums of x and y (about the middles of their bounds), P for that of
xy, Q and R for those of x² and y²; small letters for the exact ones. With μ = s/n and ν = t/n, the exact means,

    c = p − νs − μt + μνn,   v = q − 2μs + μ²n,   w = r − 2νt + ν²n

are n times the exact covariance and variances. C, V and W stand for the same made of noisy sums: so C − c, V − v and
W − w are combinations of the noises, with factors that are known but for μ and ν.

Each of N, S, T, P, Q and R is a measure, or a combination of cells, into which each row is put in parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isfinite
from operator import mul
from typing import TypeAlias

from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.intervals import Joint, ratio_interval
from discreet.query.estimates.linear import Linear, names_in
from discreet.query.estimates.noise import Interval, Noises, Noisy, clip

Moments: TypeAlias = Sequence[float]
"""Factors of n, s, t, p, q and r, in this order; those of the last two may be missing."""


FOR_MEANS = 1 / 10
"""The part of the error that goes into keeping means to intervals."""


@dataclass(frozen=True, kw_only=True)
class Sums:
    """The sums that an association rests on, over the rows that have both values.

    Args:
        count: of these rows.
        first: Σx.
        second: Σy.
        product: Σxy.
        squares: Σx² and Σy²; none for covariances.
    """

    count: Linear
    first: Linear
    second: Linear
    product: Linear
    squares: tuple[Linear, ...] = ()

    @property
    def moments(self) -> tuple[Linear, ...]:
        """All of them, in the order of `Moments`."""
        return self.count, self.first, self.second, self.product, *self.squares

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All numbers, each once: one may be in several of these, as in CORR(x, x)."""
        return names_in(*self.moments)

    def factors(self, moments: Moments) -> list[float]:
        """The factor of each number in a combination of moments."""
        return [sum(map(mul, row, moments)) for row in self._rows]

    def sizes(self, moments: Moments) -> list[float]:
        """The same, where none of them takes off what another adds; of moments with factors of 0 or more."""
        return [sum(map(mul, row, moments)) for row in self._sizes]

    @cached_property
    def _rows(self) -> tuple[tuple[float, ...], ...]:
        """For each number its factor in each moment."""
        return tuple(tuple(each.floats.get(name, 0.0) for each in self.moments) for name in self.names)

    @cached_property
    def _sizes(self) -> tuple[tuple[float, ...], ...]:
        """The sizes of these."""
        return tuple(tuple(map(abs, row)) for row in self._rows)


@dataclass(frozen=True, slots=True)
class Box:
    """Where both means lie, but for a small part of the error.

    Args:
        first: an interval of μ.
        second: an interval of ν.
    """

    first: Interval
    second: Interval

    @property
    def corners(self) -> Iterator[tuple[float, float]]:
        """All four of them: where what is linear in each mean is greatest."""
        return product((self.first.lo, self.first.hi), (self.second.lo, self.second.hi))

    @property
    def is_bounded(self) -> bool:
        """Whether the noise leaves both means with two ends."""
        return all(isfinite(end) for ends in (self.first, self.second) for end in (ends.lo, ends.hi))

    @property
    def bends(self) -> tuple[float, float]:
        """How far each mean's square may lie below the line between its ends."""
        first, second = ((ends.hi - ends.lo) ** 2 / 4 for ends in (self.first, self.second))
        return first, second


@dataclass(frozen=True, eq=False)
class Products:
    """The released numbers of one group.

    Args:
        sums: the measures.
        noisy: their values.
        noises: and their noises.
        ranges: the least and greatest mean of x, and of y, from the middles about which sums are taken; infinite where
            nothing bounds it.
    """

    sums: Sums
    noisy: Noisy
    noises: Noises
    ranges: tuple[Interval, Interval]

    @cached_property
    def joint(self) -> Joint:
        """The noises, in the order of names."""
        return Joint.of([self.noises[name] for name in self.sums.names])

    @cached_property
    def count(self) -> float:
        """N."""
        return self.sums.count.at(self.noisy, self.noises)

    @cached_property
    def totals(self) -> tuple[float, float]:
        """S and T."""
        return self.sums.first.at(self.noisy, self.noises), self.sums.second.at(self.noisy, self.noises)

    @cached_property
    def product(self) -> float:
        """P."""
        return self.sums.product.at(self.noisy, self.noises)

    @cached_property
    def squares(self) -> tuple[float, ...]:
        """Q and R."""
        return tuple(each.at(self.noisy, self.noises) for each in self.sums.squares)

    @property
    def means(self) -> tuple[float, float]:
        """The noisy means, within their ranges; the count must be above 0."""
        first, second = (
            clip(total / self.count, ends.lo, ends.hi) for total, ends in zip(self.totals, self.ranges, strict=True)
        )
        return first, second

    def covariance(self, first: float, second: float) -> float:
        """C, for given means."""
        one, other = self.totals
        return self.product - second * one - first * other + first * second * self.count

    def variance(self, which: int, mean: float) -> float:
        """V or W, for a given mean."""
        return self.squares[which] - 2 * mean * self.totals[which] + mean**2 * self.count

    def span_of_variance(self, which: int, mean: Interval) -> Interval:
        """The least and greatest V or W for means of an interval: a parabola in the mean, with its foot at S/N."""
        means = [mean.lo, mean.hi]
        if self.count:
            means.append(clip(self.totals[which] / self.count, mean.lo, mean.hi))
        values = [self.variance(which, each) for each in means]
        return Interval(min(values), max(values))

    def span_of_covariance(self, box: Box) -> Interval:
        """The least and greatest C for means of a box: it is linear in each of them, so they are at corners."""
        values = [self.covariance(first, second) for first, second in box.corners]
        return Interval(min(values), max(values))

    def box(self, outside: float) -> Box:
        """Intervals of both means, each of which misses with a part of the error."""
        first, second = (self._mean(which, 1 - outside / 2) for which in (0, 1))
        return Box(first, second)

    def _mean(self, which: int, confidence: float) -> Interval:
        """An interval of one mean."""
        ends, total = self.ranges[which], (float(not which), float(which))
        above = self.totals[which], self.sums.factors((0.0, *total))
        below = self.count, self.sums.factors((1.0,))
        lo, hi = (end if isfinite(end) else None for end in (ends.lo, ends.hi))
        return ratio_interval(self.joint, above, below, confidence, lo=lo, hi=hi) or ends


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPairs(Estimator):
    """What is estimated from the sums of two values and of their products.

    Args:
        sums: what it is made of.
        first: the least and greatest mean of what comes first, from the middle about which sums are taken; infinite
            where nothing bounds it.
        second: the same of what comes second.
    """

    sums: Sums
    first: Interval
    second: Interval

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return self.sums.names

    def found(self, noisy: Noisy, noises: Noises) -> Products:
        """The released numbers of one group."""
        return Products(self.sums, noisy, noises, (self.first, self.second))


def of_covariance(one: float, other: float, factor: float = 1.0) -> tuple[float, float, float, float]:
    """C as a combination of moments, times a factor, for given means."""
    return factor * one * other, -factor * other, -factor * one, factor


def greatest_factors(all_factors: Iterable[list[float]]) -> list[float]:
    """For each noise the size of its largest factor: nothing in between reaches farther out."""
    return [max(map(abs, each)) for each in zip(*all_factors, strict=True)]


def largest(span: Interval) -> float:
    """The greatest size of a number in an interval."""
    return max(abs(span.lo), abs(span.hi))


def distance(value: float, span: Interval) -> float:
    """How far a value lies outside of an interval."""
    return max(span.lo - value, value - span.hi, 0.0)
