"""Sums of products: noisy covariances and variances of one group, times its number of rows, and how noise moves them.

Write N for the noisy count, S and T for the noisy sums of x and y (about the middles of their bounds), P for that of
xy, Q and R for those of x² and y²; small letters for the exact ones. With μ = s/n and ν = t/n, the exact means,

    c = p − νs − μt + μνn,   v = q − 2μs + μ²n,   w = r − 2νt + ν²n

are n times the exact covariance and variances. C, V and W stand for the same made of noisy sums: so C − c, V − v and
W − w are combinations of the noises, with factors that are known but for μ and ν.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from discreet.query.estimates.estimators import Noises, Noisy, clip, scaled
from discreet.query.estimates.intervals import Interval, Joint, ratio_interval

Factors = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The measures that an association rests on, of the rows that have both values.

    Args:
        count: of these rows.
        first: Σx.
        second: Σy.
        product: Σxy.
        squares: Σx² and Σy²; none for covariances.
    """

    count: str
    first: str
    second: str
    product: str
    squares: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once: one measure may be several of these, as in CORR(x, x)."""
        return tuple(dict.fromkeys((self.count, self.first, self.second, self.product, *self.squares)))


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
    def feet(self) -> Iterator[tuple[float, float]]:
        """The corners, and where a mean is 0 if it can be: where what is linear in each mean's square is greatest."""
        first, second = ((ends.lo, ends.hi, clip(0.0, ends.lo, ends.hi)) for ends in (self.first, self.second))
        return product(first, second)


@dataclass(frozen=True, eq=False)
class Products:
    """What was released of one group.

    Args:
        sums: the measures.
        noisy: their values.
        noises: and their noises.
        ranges: the least and greatest x, and y, from the middles about which sums are taken.
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
    def _names(self) -> tuple[str, ...]:
        """The measures, each once."""
        return self.sums.names

    @property
    def count(self) -> float:
        """N."""
        return self.of(self.sums.count)

    def of(self, name: str) -> float:
        """A noisy measure in the units of its values."""
        return scaled(name, self.noisy, self.noises)

    @property
    def means(self) -> tuple[float, float]:
        """The noisy means, within their ranges; the count must be above 0."""
        names = self.sums.first, self.sums.second
        first, second = (
            clip(self.of(name) / self.count, ends.lo, ends.hi) for name, ends in zip(names, self.ranges, strict=True)
        )
        return first, second

    def covariance(self, first: float, second: float) -> float:
        """C, for given means."""
        sums = self.sums
        return (
            self.of(sums.product)
            - second * self.of(sums.first)
            - first * self.of(sums.second)
            + first * second * self.count
        )

    def variance(self, which: int, mean: float) -> float:
        """V or W, for a given mean."""
        name = (self.sums.first, self.sums.second)[which]
        return self.of(self.sums.squares[which]) - 2 * mean * self.of(name) + mean**2 * self.count

    def span_of_variance(self, which: int, mean: Interval) -> Interval:
        """The least and greatest V or W for means of an interval: a parabola in the mean, with its foot at S/N."""
        name = (self.sums.first, self.sums.second)[which]
        means = [mean.lo, mean.hi]
        if self.count:
            means.append(clip(self.of(name) / self.count, mean.lo, mean.hi))
        values = [self.variance(which, each) for each in means]
        return Interval(min(values), max(values))

    def span_of_covariance(self, box: Box) -> Interval:
        """The least and greatest C for means of a box: it is linear in each of them, so they are at corners."""
        values = [self.covariance(first, second) for first, second in box.corners]
        return Interval(min(values), max(values))

    def box(self, outside: float) -> Box:
        """Intervals of both means, each of which misses with a part of the error."""
        names = self.sums.first, self.sums.second
        first, second = (self._mean(name, ends, 1 - outside / 2) for name, ends in zip(names, self.ranges, strict=True))
        return Box(first, second)

    def _mean(self, name: str, ends: Interval, confidence: float) -> Interval:
        """An interval of one mean."""
        above, below = (self.of(name), self.factors((name, 1.0))), (self.count, self.factors((self.sums.count, 1.0)))
        return ratio_interval(self.joint, above, below, confidence, lo=ends.lo, hi=ends.hi) or ends

    def factors(self, *terms: tuple[str, float]) -> list[float]:
        """The factor of each noise in a combination; those of one measure are added up."""
        found = dict.fromkeys(self._names, 0.0)
        for name, factor in terms:
            found[name] += factor
        return list(found.values())


def greatest_factors(all_factors: Iterable[list[float]]) -> list[float]:
    """For each noise the size of its largest factor: nothing in between reaches farther out."""
    return [max(map(abs, each)) for each in zip(*all_factors, strict=True)]


def largest(span: Interval) -> float:
    """The greatest size of a number in an interval."""
    return max(abs(span.lo), abs(span.hi))


def distance(value: float, span: Interval) -> float:
    """How far a value lies outside of an interval."""
    return max(span.lo - value, value - span.hi, 0.0)
