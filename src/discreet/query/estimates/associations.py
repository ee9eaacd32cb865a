"""Associations: covariances and correlations, from noisy sums of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, cos, hypot, pi, sin, sqrt
from operator import add, mul
from typing import Self

from discreet.query.estimates.estimator import has_too_few
from discreet.query.estimates.intervals import explained
from discreet.query.estimates.linear import Slopes
from discreet.query.estimates.noise import Interval, Noises, Noisy, clip
from discreet.query.estimates.products import (
    FOR_MEANS,
    Box,
    OfPairs,
    Products,
    distance,
    greatest_factors,
    largest,
    of_covariance,
)

_FOR_ANGLE = 1 / 10
"""The part of the rest that keeps the ratio of spreads, as an angle, to an interval."""

_FOR_SIGN = 1 / 10
"""The part of the rest that goes into the sign of a covariance."""

_PIECE = 0.2
"""The greatest width of a piece of that interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association(OfPairs):
    """COVAR_POP, COVAR_SAMP or CORR.

    Args:
        least_rows: how many rows it needs: 1 for a covariance that divides by their number n, else 2.
        is_correlation: whether it is divided by both standard deviations.
    """

    least_rows: int
    is_correlation: bool

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The statistic of one group; None where the noise leaves nothing to divide by."""
        found = self.found(noisy, noises)
        if has_too_few(found.count, self.least_rows):
            return None
        value = found.covariance(*found.means)
        if not self.is_correlation:
            divisor = found.count if self._is_population else found.count - 1
            return clip(value / divisor, -self._greatest, self._greatest)
        spreads = [found.variance(which, mean) for which, mean in enumerate(found.means)]
        return clip(value / sqrt(spreads[0] * spreads[1]), -1.0, 1.0) if min(spreads) > 0 else None

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """How far the noise of each number moves the statistic, in a group of this many rows: about, from public facts.

        For means halfway to an end, spreads of a quarter of the ranges, and a correlation of 1 or −1, to which spreads
        matter most: while they may be 0 the correlation may be anything. The sign is the one at which the noise does
        more, because where terms cancel in this group they don't in another.
        """
        del noises
        one, other = self._halves
        moments: list[tuple[float, ...]] = [of_covariance(one / 2, other / 2)]
        size = float(rows)
        if self.is_correlation:
            size = one * other / 4 * rows
            squares = [2 * one * other / 4 / half**2 for half in (one, other)]
            moments = [(*moments[0], *(sign * each for each in squares)) for sign in (1, -1)]
        found = [[factor / size for factor in self.sums.factors(each)] for each in moments]
        factors = dict(zip(self.parts, max(found, key=lambda factors: hypot(*factors)), strict=True))
        return Slopes(factors, rows=rows, size=self._magnitude(rows), is_announced=not self.is_correlation)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All values that the noise could explain, whatever means go with them; in the words of `products`.

        *Covariance γ*, with D the divisor: c = γD exactly, so C − γD̂ is a combination of the noises. Were the means
        known, this would be Fieller's construction. They are kept to intervals that hold them but for a small part of
        the error, and γ is kept if any means within explain it: judged by the least that |C − γD̂| can be there, and
        the most that the noises can spread. Near the estimates C depends on the product of both means' errors alone,
        so in all but small groups little is lost.

        *Correlation ρ*: with an angle ψ for which cos²(ψ/2)·v = sin²(ψ/2)·w, of whatever units v and w are,
        sin ψ·c = ρ(cos²(ψ/2)·v + sin²(ψ/2)·w) exactly, so the same of C, V and W is a combination of the noises. Every
        ratio of spreads has its angle, none at all included, so the angle needs no end but what the noise says: it is
        kept to an interval likewise, by cos²(ψ/2)·V − sin²(ψ/2)·W. That is cut into pieces, and ρ is kept if any angle
        of any piece explains it, unless it has a sign that C alone says c hasn't. To first order nothing depends on the
        angle, so in large groups one piece is enough. Units in which V and W are near 1 are taken from what was
        released: another choice multiplies the combination at the true angle by a number, and its noise too.

        All errors add up to the one stated (Bonferroni), so the interval holds at least as often as said.
        """
        found = self.found(noisy, noises)
        outside = 1 - confidence
        box, outside = found.box(outside * FOR_MEANS), outside * (1 - FOR_MEANS)
        if not self.is_correlation:
            return self._covariance(found, box, outside)
        return _correlation(found, box, outside)

    def _covariance(self, found: Products, box: Box, outside: float) -> Interval:
        """The interval of a covariance."""
        everything = Interval(-self._greatest, self._greatest)
        divisor = found.count if self._is_population else found.count - 1
        only_count = self.sums.factors((1.0,))
        if divisor <= 0 or found.joint.beyond(only_count, divisor) >= outside:
            return everything
        span = found.span_of_covariance(box)

        def chance(value: float) -> float:
            reach = greatest_factors(
                self.sums.factors((count - value, *others))
                for count, *others in (of_covariance(one, other) for one, other in box.corners)
            )
            return found.joint.beyond(reach, distance(value * divisor, span))

        middle = clip(found.covariance(*found.means) / divisor, everything.lo, everything.hi)
        return explained(chance, outside, middle, everything.lo, everything.hi) or everything

    def _magnitude(self, rows: int) -> float:
        """The statistic in the group that `slopes` is about, with this many rows and a correlation of 1/2."""
        if self.is_correlation:
            return 0.5
        one, other = self._halves
        return one * other / 4 * (1 if self._is_population else rows / max(rows - 1, 1))

    @property
    def _halves(self) -> tuple[float, float]:
        """Half of each range, or 1 where it is a point."""
        first, second = ((ends.hi - ends.lo) / 2 or 1.0 for ends in (self.first, self.second))
        return first, second

    @property
    def _is_population(self) -> bool:
        """Whether the divisor is n rather than n − 1."""
        return self.least_rows == 1

    @property
    def _greatest(self) -> float:
        """No covariance is larger than the product of both spreads, and none of these than half of a range."""
        greatest = (self.first.hi - self.first.lo) * (self.second.hi - self.second.lo) / 4
        return greatest if self._is_population else 2 * greatest


def _of_variances(means: tuple[float, float], one: float, other: float) -> tuple[float, ...]:
    """These parts of V and of W as a combination of moments, for given means."""
    first, second = means
    return one * first**2 + other * second**2, -2 * one * first, -2 * other * second, 0.0, one, other


@dataclass(frozen=True, eq=False)
class _Angles:
    """The combinations of noise that a correlation and its angle are judged by, in units in which V and W are near 1.

    Args:
        found: what was released.
        box: of the means.
        units: of c, v and w.
        spans: the least and greatest C, V and W for means of the box, in these units.
    """

    found: Products
    box: Box
    units: tuple[float, float, float]
    spans: tuple[Interval, Interval, Interval]

    @classmethod
    def of(cls, found: Products, box: Box) -> Self | None:
        """The combinations of a group; None where the noise leaves no rows, or no variance."""
        if found.count <= 0:
            return None
        one, other = (found.variance(which, mean) for which, mean in enumerate(found.means))
        if min(one, other) <= 0:
            return None
        both, first, second = (
            Interval(span.lo / unit, span.hi / unit)
            for span, unit in (
                (found.span_of_covariance(box), sqrt(one * other)),
                (found.span_of_variance(0, box.first), one),
                (found.span_of_variance(1, box.second), other),
            )
        )
        return cls(found, box, (sqrt(one * other), one, other), (both, first, second))

    def chance_of_angle(self, angle: float) -> float:
        """The chance of seeing nothing farther out than was seen, if this is the angle."""
        _, first, second = self.spans
        one, other = (1 + cos(angle)) / 2, (1 - cos(angle)) / 2
        span = Interval(one * first.lo - other * second.hi, one * first.hi - other * second.lo)
        bends = zip((one, other), self.units[1:], self.box.bends, strict=True)
        more = self.found.sums.sizes((sum(of * bend / unit for of, unit, bend in bends),))
        reach = greatest_factors(
            [one * first - other * second for first, second in zip(*each, strict=True)] for _, *each in self.corners
        )
        return self.found.joint.beyond(list(map(add, reach, more)), distance(0.0, span))

    def chances(self, piece: Interval) -> Callable[[float], float]:
        """An upper bound on the same, by the correlation, for angles of a piece.

        Between two points d apart, a function of one variable exceeds what it is at the ends by at most d²/8 times the
        greatest size of its second derivative. That is added for the angle, and for the means, of which squares are in
        the count's factor alone.
        """
        both, first, second = self.spans
        angles = [(sin(angle), (1 + cos(angle)) / 2, (1 - cos(angle)) / 2) for angle in (piece.lo, piece.hi)]
        bend, reach, joint = (piece.hi - piece.lo) ** 2 / 8, self._reaches(piece), self.found.joint
        spread = largest(first) + largest(second)

        def chance(value: float) -> float:
            ends = [(one, -value * other, -value * third) for one, other, third in angles]
            curved = bend * (largest(both) + abs(value) / 2 * spread)
            low = min(_least(each, self.spans) for each in ends) - curved
            high = -min(_least([-of for of in each], self.spans) for each in ends) + curved
            return joint.beyond(reach(value), distance(0.0, Interval(low, high)))

        return chance

    def signs(self, outside: float) -> Interval:
        """From −1 to 0 or from 0 to 1 where the noise can't explain a covariance of the other sign; else both."""
        reach, both = greatest_factors(each for each, _, _ in self.corners), self.spans[0]
        if self.found.joint.beyond(reach, distance(0.0, both)) / 2 >= outside:
            return Interval(-1.0, 1.0)
        return Interval(0.0, 1.0) if both.lo > 0 else Interval(-1.0, 0.0)

    def widened(self, before: Interval | None, piece: Interval, outside: float) -> Interval | None:
        """The correlations that pieces explain, with those that one more explains."""
        chance = self.chances(piece)
        both = self.found.covariance(*self.found.means) / self.units[0]
        middle = clip(sin((piece.lo + piece.hi) / 2) * both, -1.0, 1.0)
        if chance(middle) < outside:
            return before
        if before is not None and before.lo <= middle <= before.hi:
            ends = [end for end in (before.lo, before.hi) if abs(end) < 1]
            if all(chance(end) < outside for end in ends):
                return before
        found = explained(chance, outside, middle, -1.0, 1.0)
        if found is None or before is None:
            return found
        return Interval(min(before.lo, found.lo), max(before.hi, found.hi))

    def _reaches(self, piece: Interval) -> Callable[[float], list[float]]:
        """For each noise the size of its largest factor, for means of the box and angles of a piece, by correlation.

        Factors are linear in the correlation, and what is added for the bend in its size: so both are worked out once.
        """
        sums, bend, units = self.found.sums, (piece.hi - piece.lo) ** 2 / 8, [1 / unit for unit in self.units]
        fixed, grows = list[list[float]](), list[list[float]]()
        for angle in (piece.lo, piece.hi):
            size, one, other = sin(angle), (1 + cos(angle)) / 2, (1 - cos(angle)) / 2
            for both, first, second in self.corners:
                fixed.append([size * factor for factor in both])
                grows.append([-one * of - other * another for of, another in zip(first, second, strict=True)])
        one, other = largest(self.box.first), largest(self.box.second)
        bent = sums.sizes(list(map(abs, of_covariance(one, other, bend * units[0]))))
        count, *others = map(abs, _of_variances((one, other), bend * units[1] / 2, bend * units[2] / 2))
        bends = sums.sizes((count + sum(map(mul, units[1:], self.box.bends)), *others))
        columns = list(zip(zip(*fixed, strict=True), zip(*grows, strict=True), bent, bends, strict=True))

        def reach(value: float) -> list[float]:
            size = abs(value)
            return [
                max([abs(start + value * growth) for start, growth in zip(starts, growths, strict=True)])
                + least
                + size * more
                for starts, growths, least, more in columns
            ]

        return reach

    @cached_property
    def corners(self) -> list[tuple[list[float], list[float], list[float]]]:
        """For the means at each corner of the box, the factor of each noise in C, V and W, in their units."""
        both, first, second = (1 / unit for unit in self.units)
        sums = self.found.sums
        return [
            (
                sums.factors(of_covariance(*means, both)),
                sums.factors(_of_variances(means, first, 0.0)),
                sums.factors(_of_variances(means, 0.0, second)),
            )
            for means in self.box.corners
        ]


def _least(factors: Sequence[float], spans: Sequence[Interval]) -> float:
    """The least of a combination of what lies within intervals."""
    return sum(of * (span.lo if of >= 0 else span.hi) for of, span in zip(factors, spans, strict=True))


def _correlation(found: Products, box: Box, outside: float) -> Interval:
    """The interval of a correlation, with means in a box; the angle is searched from the middle outwards."""
    angles = _Angles.of(found, box)
    if angles is None:
        return Interval(-1.0, 1.0)
    signs = angles.signs(outside * _FOR_SIGN)
    kept = explained(angles.chance_of_angle, outside * _FOR_ANGLE, pi / 2, 0.0, pi) or Interval(0.0, pi)
    rest = outside * (1 - _FOR_SIGN - _FOR_ANGLE)
    number = max(ceil((kept.hi - kept.lo) / _PIECE), 1)
    edges = [kept.lo + (kept.hi - kept.lo) * place / number for place in range(number + 1)]
    whole: Interval | None = None
    for piece in sorted(map(Interval, edges, edges[1:]), key=lambda piece: abs(piece.lo + piece.hi - pi)):
        whole = angles.widened(whole, piece, rest)
    whole = whole or Interval(-1.0, 1.0)
    return Interval(clip(whole.lo, signs.lo, signs.hi), clip(whole.hi, signs.lo, signs.hi))
