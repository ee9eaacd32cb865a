"""Regressions: the line of least squares through pairs of values, from noisy sums of products.

Of the line y = α + βx, in the words of `products` but with y first and x second, β = c/w.

*α is a slope too.* Let x be counted from 0, and not from the middle of its bounds. By least squares y is α times the
constant 1 and β times x. Leave out the part of y and of 1 that x tells, as c and w leave out the means: with κ = s/r
and λ = p/r,

    α = (t − κp − λs + κλr) / (n − 2κs + κ²r),

where s is Σx, r is Σx², t is Σy and p is Σxy. That is c/w again, of sums in which n and r have changed places, and so
have t and p. One estimator serves both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot, inf
from operator import add

from discreet.query import ir
from discreet.query.estimates.associations import Association
from discreet.query.estimates.estimator import Estimator, has_too_few
from discreet.query.estimates.intervals import explained
from discreet.query.estimates.linear import Linear, Slopes
from discreet.query.estimates.noise import Interval, Noises, Noisy, clip
from discreet.query.estimates.products import (
    FOR_MEANS,
    Box,
    OfPairs,
    Products,
    distance,
    greatest_factors,
    of_covariance,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and the reference group that it goes through.

    Args:
        first: the mean of what comes first.
        second: the mean of what comes second.
        spread: w, for each row.
        coefficient: c/w.
    """

    first: float
    second: float
    spread: float
    coefficient: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient(OfPairs):
    """REGR_SLOPE or REGR_INTERCEPT: c/w.

    Args:
        rows: the number of pairs; of the squares in `sums` only the second is there, the first being 0.
        offset: what is added, since y was counted from it.
        size: what its error is compared with.
        usual: lines by which the offer is shared out; the one that noise moves most counts.
    """

    rows: Linear
    offset: float = 0.0
    size: float
    usual: tuple[Line, ...]

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The coefficient of one group; None where the noise leaves nothing to divide by."""
        found = self.found(noisy, noises)
        if has_too_few(self.rows.at(noisy, noises), 2) or found.count <= 0:
            return None
        spread = found.variance(1, found.means[1])
        return self.offset + found.covariance(*found.means) / spread if spread > 0 else None

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """All coefficients that the noise could explain, whatever means go with them.

        At the exact coefficient β, c − βw is 0, so C − βW is a combination of the noises. As for a covariance, means
        are kept to intervals that hold them but for a small part of the error, and β is kept if any means within
        explain it. All errors add up to the one stated (Bonferroni), so the interval holds at least as often as said.

        In the mean of what comes second C − βW is a parabola, and so is the factor of each noise. Between two points d
        apart a parabola leaves the line through them by d²/8 times its second derivative, which is added to factors.

        Where the noise could explain a w of 0, for any means within, the line may be as steep as it likes, and there is
        no interval.
        """
        found = self.found(noisy, noises)
        outside = 1 - confidence
        box, outside = found.box(outside * FOR_MEANS), outside * (1 - FOR_MEANS)
        if not box.is_bounded or found.count <= 0:
            return None
        least = found.span_of_variance(1, box.second).lo
        if least <= 0 or found.joint.beyond(self._reach(box, (0.0, 1.0)), least) >= outside:
            return None

        def chance(coefficient: float) -> float:
            reach = self._reach(box, (1.0, -coefficient))
            return found.joint.beyond(reach, distance(0.0, _span(found, box, coefficient)))

        middle = found.covariance(*found.means) / found.variance(1, found.means[1])
        ends = explained(chance, outside, middle, None, None)
        return None if ends is None else Interval(self.offset + ends.lo, self.offset + ends.hi)

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """About, from public facts; not announced, because it grows without bound as x is spread less."""
        del noises
        found = [
            [factor / (line.spread * rows) for factor in self._factors((line.first, line.second), 1, -line.coefficient)]
            for line in self.usual
        ]
        factors = dict(zip(self.parts, max(found, key=lambda factors: hypot(*factors)), strict=True))
        return Slopes(factors, rows=rows, size=self.size, is_announced=False)

    def ends(self, of: ir.Type) -> tuple[float, float]:
        """It has none, whatever bounds are declared: pairs that lie close together may be on a line of any slope."""
        del of
        return -inf, inf

    def _factors(self, means: tuple[float, float], of_c: float, of_w: float) -> list[float]:
        """The factor of each number in so much of C and of W, for given means."""
        one, other = means
        count, *others = of_covariance(one, other, of_c)
        first, second, product = others
        return self.sums.factors((count + of_w * other**2, first, second - 2 * of_w * other, product, 0.0, of_w))

    def _reach(self, box: Box, parts: tuple[float, float]) -> list[float]:
        """For each noise the size of its largest factor in so much of C and of W, for means of a box."""
        reach = greatest_factors(self._factors(means, *parts) for means in box.corners)
        return list(map(add, reach, self.sums.sizes((abs(parts[1]) * box.bends[1],))))


@dataclass(frozen=True, slots=True, kw_only=True)
class SumOfProducts(OfPairs):
    """REGR_SXX, REGR_SYY or REGR_SXY: c, where both may be the same value; it takes no squares."""

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The sum of one group; None where the noise leaves no rows."""
        found = self.found(noisy, noises)
        if has_too_few(found.count, 1):
            return None
        return clip(found.covariance(*found.means), self._least, inf)

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The sums for all means that the noise could explain, and as far about them as it reaches (Bonferroni)."""
        found = self.found(noisy, noises)
        outside = 1 - confidence
        box = found.box(outside * FOR_MEANS)
        reach = greatest_factors(self.sums.factors(of_covariance(*means)) for means in box.corners)
        half, span = found.joint.radius(reach, 1 - outside * (1 - FOR_MEANS)), found.span_of_covariance(box)
        return Interval(clip(span.lo - half, self._least, inf), clip(span.hi + half, self._least, inf))

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """For means halfway to an end: about, from public facts."""
        del noises
        one, other = ((ends.hi - ends.lo) / 2 for ends in (self.first, self.second))
        factors = self.sums.factors(of_covariance(one / 2, other / 2))
        return Slopes(dict(zip(self.parts, factors, strict=True)), rows=rows, size=rows * one * other / 4 or 1.0)

    def ends(self, of: ir.Type) -> tuple[float, float] | None:
        """Of squares 0 and infinity; other sums have none."""
        del of
        return (0.0, inf) if self._is_square else None

    @property
    def _is_square(self) -> bool:
        return self.sums.first == self.sums.second

    @property
    def _least(self) -> float:
        return 0.0 if self._is_square else -inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Determination(Estimator):
    """REGR_R2: which part of the spread of y the line explains, the square of the correlation.

    Args:
        correlation: of both.
    """

    correlation: Association

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return self.correlation.parts

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The part in one group; None where the noise leaves no spread."""
        found = self.correlation.estimate(noisy, noises)
        return None if found is None else found**2

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """The squares of all correlations that the noise could explain."""
        found = self.correlation.interval(noisy, noises, confidence)
        least = 0.0 if found.lo <= 0 <= found.hi else min(found.lo**2, found.hi**2)
        return Interval(least, max(found.lo**2, found.hi**2))

    def slopes(self, noises: Noises, rows: int) -> Slopes:
        """Those of a correlation of 1/2, whose square is 1/4 and moves as far as it does itself."""
        return replace(self.correlation.slopes(noises, rows), size=0.25)

    def ends(self, of: ir.Type) -> tuple[float, float]:
        """None and all of it."""
        del of
        return 0.0, 1.0


def _span(found: Products, box: Box, coefficient: float) -> Interval:
    """The least and greatest C − βW for means of a box.

    In the first mean it is a line, and a parabola in the second; where that turns, its derivative is 0.
    """
    ends, values = box.second, list[float]()
    for first in (box.first.lo, box.first.hi):
        seconds = [ends.lo, ends.hi]
        if coefficient:
            turns = (first - (found.totals[0] - 2 * coefficient * found.totals[1]) / found.count) / (2 * coefficient)
            seconds.append(clip(turns, ends.lo, ends.hi))
        values += [found.covariance(first, each) - coefficient * found.variance(1, each) for each in seconds]
    return Interval(min(values), max(values))
