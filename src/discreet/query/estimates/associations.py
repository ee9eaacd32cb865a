"""Associations: covariances and correlations, from noisy sums of products."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from discreet.query import ir
from discreet.query.estimates.estimators import Noises, Noisy, clip
from discreet.query.estimates.intervals import Interval, explained
from discreet.query.estimates.products import Box, Products, Sums, distance, greatest_factors

_FOR_OTHERS = 1 / 20
"""Which part of the error goes into keeping what isn't asked for, means and a ratio of spreads, to intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """COVAR_POP, COVAR_SAMP or CORR.

    Args:
        statistic: which one.
        sums: the measures.
        first: the least and greatest x, from the middle about which sums are taken.
        second: the same of y.
    """

    statistic: ir.Statistic
    sums: Sums
    first: Interval
    second: Interval

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return self.sums.names

    def estimate(self, noisy: Noisy, noises: Noises) -> float | None:
        """The statistic of one group; None where the noise leaves nothing to divide by."""
        found = self._found(noisy, noises)
        if found.count < 1:
            return None
        value = found.covariance(*found.means)
        if self.statistic is not ir.Statistic.CORR:
            divisor = found.count if self._is_population else max(found.count - 1, found.count / 2)
            return clip(value / divisor, -self._greatest, self._greatest)
        spreads = [found.variance(which, mean) for which, mean in enumerate(found.means)]
        return clip(value / sqrt(spreads[0] * spreads[1]), -1.0, 1.0) if min(spreads) > 0 else None

    def slopes(self, rows: int) -> dict[str, float]:
        """How far the noise of each measure moves the statistic, in a group of so many rows: about, from public facts.

        For means halfway to an end, spreads of a quarter of the ranges, and a correlation of 1/2; where two terms might
        cancel, they are taken not to, because in another group they won't.
        """
        one, other = ((ends.hi - ends.lo) / 2 or 1.0 for ends in (self.first, self.second))
        terms = [
            (self.sums.product, 1.0),
            (self.sums.first, other / 2),
            (self.sums.second, one / 2),
            (self.sums.count, one * other / 4),
        ]
        size = 1.0
        if self.statistic is ir.Statistic.CORR:
            size = one * other / 4
            terms += [(name, size / half**2) for name, half in zip(self.sums.squares, (one, other), strict=True)]
        found = dict.fromkeys(self.parts, 0.0)
        for name, factor in terms:
            found[name] += factor / size / rows
        return found

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval:
        """All values that the noise could explain, whatever means go with them; in the words of `products`.

        *Covariance γ*, with D the divisor: c = γD exactly, so C − γD̂ is a combination of the noises. Were the means
        known, this would be Fieller's construction. They are kept to intervals that hold them but for a small part of
        the error, and γ is kept if any means within explain it: judged by the least that |C − γD̂| can be there, and
        the most that the noises can spread. Near the estimates C depends on the product of both means' errors alone,
        so in all but small groups little is lost.

        *Correlation ρ*: with λ = √(w/v), the ratio of spreads, 2c = ρ(λv + w/λ) exactly, so 2C − ρ(λV + W/λ) is a
        combination of the noises. To first order it doesn't depend on λ either, which is kept to an interval likewise:
        the root of that of w/v.

        All errors add up to the one stated (Bonferroni), so the interval holds at least as often as said.
        """
        found = self._found(noisy, noises)
        outside = 1 - confidence
        box = found.box(outside * _FOR_OTHERS / 2)
        if self.statistic is not ir.Statistic.CORR:
            return self._covariance(found, box, outside * (1 - _FOR_OTHERS / 2))
        spreads = _ratio_of_spreads(found, box, outside * _FOR_OTHERS / 2)
        if spreads is None:
            return Interval(-1.0, 1.0)
        return _correlation(found, box, spreads, outside * (1 - _FOR_OTHERS))

    def _found(self, noisy: Noisy, noises: Noises) -> Products:
        """What was released of one group."""
        return Products(self.sums, noisy, noises, (self.first, self.second))

    def _covariance(self, found: Products, box: Box, outside: float) -> Interval:
        """The interval of a covariance."""
        everything = Interval(-self._greatest, self._greatest)
        divisor = found.count if self._is_population else found.count - 1
        only_count = found.factors((self.sums.count, 1.0))
        if divisor <= 0 or found.joint.beyond(only_count, divisor) >= outside:
            return everything
        span = found.span_of_covariance(box)

        def chance(value: float) -> float:
            reach = greatest_factors(
                found.factors(*_of_covariance(self.sums, one, other), (self.sums.count, -value))
                for one, other in box.corners
            )
            return found.joint.beyond(reach, distance(value * divisor, span))

        middle = clip(found.covariance(*found.means) / divisor, everything.lo, everything.hi)
        return explained(chance, outside, middle, everything.lo, everything.hi) or everything

    @property
    def _is_population(self) -> bool:
        """Whether the divisor is n rather than n − 1."""
        return self.statistic is ir.Statistic.COVAR_POP

    @property
    def _greatest(self) -> float:
        """No covariance is larger than the product of both spreads, and none of these than half of a range."""
        greatest = (self.first.hi - self.first.lo) * (self.second.hi - self.second.lo) / 4
        return greatest if self._is_population else 2 * greatest


def _of_covariance(sums: Sums, one: float, other: float, factor: float = 1.0) -> tuple[tuple[str, float], ...]:
    """The factors of the noises in C, times a factor, for given means."""
    return (
        (sums.product, factor),
        (sums.first, -factor * other),
        (sums.second, -factor * one),
        (sums.count, factor * one * other),
    )


def _of_variance(sums: Sums, which: int, mean: float, factor: float) -> tuple[tuple[str, float], ...]:
    """The factors of the noises in V or W, times a factor, for a given mean."""
    name = (sums.first, sums.second)[which]
    return (sums.squares[which], factor), (name, -2 * factor * mean), (sums.count, factor * mean**2)


def _ratio_of_spreads(found: Products, box: Box, outside: float) -> Interval | None:
    """An interval of λ = √(w/v); None if the noise leaves it without one.

    w − λ²v = 0 exactly, so W − λ²V is a combination of the noises.
    """
    first, second = _spans(found, box)
    if first.lo <= 0 or second.lo <= 0:
        return None

    def chance(ratio: float) -> float:
        reach = greatest_factors(
            found.factors(*_of_variance(found.sums, 1, other, 1.0), *_of_variance(found.sums, 0, one, -ratio))
            for one, other in box.feet
        )
        span = Interval(second.lo - ratio * first.hi, second.hi - ratio * first.lo)
        return found.joint.beyond(reach, distance(0.0, span))

    squared = explained(chance, outside, (second.lo + second.hi) / (first.lo + first.hi), 0.0, None)
    return None if squared is None or squared.lo <= 0 else Interval(sqrt(squared.lo), sqrt(squared.hi))


def _correlation(found: Products, box: Box, spreads: Interval, outside: float) -> Interval:
    """The interval of a correlation, with means in a box and a ratio of spreads in an interval."""
    both = found.span_of_covariance(box)
    total = _weighted(*_spans(found, box), spreads)

    def chance(value: float) -> float:
        ends = value * total.lo, value * total.hi
        span = Interval(2 * both.lo - max(ends), 2 * both.hi - min(ends))
        return found.joint.beyond(_reach(found, box, spreads, value), distance(0.0, span))

    middle = clip((both.lo + both.hi) / (total.lo + total.hi) * 2, -1.0, 1.0)
    return explained(chance, outside, middle, -1.0, 1.0) or Interval(-1.0, 1.0)


def _reach(found: Products, box: Box, spreads: Interval, value: float) -> list[float]:
    """For each noise the size of its largest factor in 2C − ρ(λV + W/λ).

    All are linear in μ, ν, and λ or 1/λ, and so largest at corners; but for the count's, 2μν − ρ(λμ² + ν²/λ). Between
    two points d apart, a function of one variable exceeds what it is at the ends by at most d²/8 times the greatest
    size of its second derivative, and that is added for each of the three.
    """
    sums = found.sums
    factors = greatest_factors(
        found.factors(
            *_of_covariance(sums, one, other, 2.0),
            *_of_variance(sums, 0, one, -value * ratio),
            *_of_variance(sums, 1, other, -value / ratio),
        )
        for one, other in box.corners
        for ratio in (spreads.lo, spreads.hi)
    )
    one, other, ratio = (ends.hi - ends.lo for ends in (box.first, box.second, spreads))
    farthest = max(abs(box.second.lo), abs(box.second.hi))
    curved = spreads.hi * one**2 + other**2 / spreads.lo + farthest**2 * ratio**2 / spreads.lo**3
    return [
        factor + abs(value) * curved / 4 * (name == sums.count)
        for name, factor in zip(sums.names, factors, strict=True)
    ]


def _spans(found: Products, box: Box) -> tuple[Interval, Interval]:
    """The least and greatest V, and W, for means of a box."""
    return found.span_of_variance(0, box.first), found.span_of_variance(1, box.second)


def _weighted(first: Interval, second: Interval, spreads: Interval) -> Interval:
    """The least and greatest λV + W/λ: it grows with V and W, and is convex in λ with its foot at √(W/V)."""
    foot = clip(sqrt(second.lo / first.lo), spreads.lo, spreads.hi)
    most = max(ratio * first.hi + second.hi / ratio for ratio in (spreads.lo, spreads.hi))
    return Interval(foot * first.lo + second.lo / foot, most)
