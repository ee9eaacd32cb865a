"""Intervals: how far noise, alone, in a combination or in a ratio, may carry an answer.

An interval is made by asking, of every value that the exact answer could have, whether the noise could explain what
was released if it were that one: with probability above 1 − confidence, nothing farther out is seen. Those that pass
are the interval, and the exact answer is among them with the stated confidence.

*Ratios.* Let A and B be a noisy numerator and denominator, X and Y their noises. At the exact ratio t, A − tB is
exactly X − tY, which has a known law; so the set of all t for which |A − tB| isn't too large for |X − tY| holds the
exact ratio with the stated confidence, whatever the exact numbers are. The same measure may stand in both.

Source: Fieller (1954), "Some problems in interval estimation", the equation of the limits of a ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import erfc, hypot, log, sqrt
from operator import mul
from statistics import NormalDist
from typing import Self

from discreet.mechanisms import Gaussian
from discreet.query.estimates import laplace_sums, many_laplaces
from discreet.query.estimates.noise import Interval, Noise

_FINE = 1e-6
"""The part of an interval's half width to which its ends are found; they are put on the outside."""

_FINEST = 1e-15
"""The part of itself to which an end is found at best: floats have no more digits."""

_TRIES = 200
"""More than any end takes: halving alone takes 30."""

_FEW = 5
"""Tails of more Laplace noises aren't told by partial fractions: equal scales would have to be kept far apart."""

_NEVER = 1e-300

SMALLEST = 2.0**-50
"""Intervals of a greater confidence than 1 − 2⁻⁵⁰ aren't given."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Independent noises of one family, for combinations of them.

    They are discrete; their continuous namesakes are used here, and half a step of each grid is added. But for the
    rounding of floats, that errs on the wide side.

    *Proof.* Let Y be a noise in steps, X its namesake with the density g, and c(k) = Pr[Y = k] / Pr[|X − k| < 1/2]. Let
    Z have the density c(k)·g(t), k being the whole number next to t. Then Z rounded has the law of Y, so it may stand
    for Y, and |Y − Z| ≤ 1/2. Now c(k) doesn't grow with |k|. For Gaussian noise it is 1/∫ cosh(ks/σ²)·e^(−s²/2σ²) ds
    over |s| ≤ 1/2, but for a factor. For Laplace noise, with x = 1/(2·scale), it is 1/cosh x for all k but 0, where it
    is tanh x/(1 − e^(−x)), which isn't less, because sinh x ≥ x ≥ 1 − e^(−x). So Z, like X, is symmetric and unimodal,
    and as the ratio of their densities doesn't grow with |t|, |Z| is stochastically at most |X|. That holds of sums of
    independent ones with any factors f (Birnbaum 1948). So Pr[|Σ fY| > r + Σ|f|/2] ≤ Pr[|Σ fZ| > r] ≤ Pr[|Σ fX| > r]. ∎
    What is itself a sum of several noises has a namesake of which the same holds; see `discrete_sums`.

    Args:
        terms: what each noise is the sum of: scales, or sigmas, in the units of its measure, each with how many there
            are of it.
        slacks: by how much each may lie further out than its namesake, in the same units.
        is_gaussian: which family.
    """

    terms: tuple[tuple[tuple[float, int], ...], ...]
    slacks: tuple[float, ...]
    is_gaussian: bool

    @classmethod
    def of(cls, noises: Sequence[Noise]) -> Self:
        """Those of some measures."""
        gaussian = [isinstance(noise.mechanism, Gaussian) for noise in noises]
        if any(gaussian) and not all(gaussian):
            raise TypeError("a plan's noises are of one family")
        return cls(tuple(map(_terms, noises)), tuple(map(_slack, noises)), any(gaussian))

    @property
    def sizes(self) -> tuple[float, ...]:
        """The scale, or sigma, of each noise: that of one as wide, where it is a sum of several."""
        return tuple(hypot(*(size * sqrt(number) for size, number in each)) for each in self.terms)

    def beyond(self, factors: Sequence[float], distance: float) -> float:
        """The probability that Σ factor·noise lies at least so far from 0, or slightly more.

        Args:
            factors: one for each noise.
            distance: in units of the combination.
        """
        room = distance - self._slack(factors)
        if not self.is_gaussian:
            return self._laplace_tail(factors, room)
        sigma = self._sigma(factors)
        return 1.0 if room <= 0 else erfc(room / (sigma * sqrt(2))) if sigma else 0.0

    def radius(self, factors: Sequence[float], confidence: float) -> float:
        """Within which distance of 0 Σ factor·noise lies with this confidence, or slightly more."""
        if self.is_gaussian:
            return self._slack(factors) + NormalDist().inv_cdf((1 + confidence) / 2) * self._sigma(factors)
        if self._is_plain(factors):
            return self._slack(factors) + laplace_sums.radius(self._sizes(factors), 1 - confidence)
        scales, numbers = self._summed(factors)
        return self._slack(factors) + (
            many_laplaces.repeated_radius(scales, numbers, 1 - confidence) if scales else 0.0
        )

    def _sigma(self, factors: Sequence[float]) -> float:
        """The sigma of a sum of Gaussian noises."""
        return hypot(*map(mul, factors, self.sizes))

    def _laplace_tail(self, factors: Sequence[float], distance: float) -> float:
        """The probability that a sum of Laplace noises lies at least so far from 0, or slightly more."""
        if self._is_plain(factors):
            return laplace_sums.tail(self._sizes(factors), distance)
        scales, numbers = self._summed(factors)
        return many_laplaces.repeated_tail(scales, numbers, distance) if scales else float(distance <= 0)

    def _is_plain(self, factors: Sequence[float]) -> bool:
        """Whether there are few noises, and each is one of its mechanism and no sum of several."""
        few = sum(1 for factor in factors if factor) <= _FEW
        return few and all(len(each) == 1 and each[0][1] == 1 for each in self.terms)

    def _sizes(self, factors: Sequence[float]) -> list[float]:
        """The scales of plain noises, each times its factor."""
        return [factor * each[0][0] for factor, each in zip(factors, self.terms, strict=True)]

    def _summed(self, factors: Sequence[float]) -> tuple[tuple[float, ...], tuple[int, ...]]:
        """The scales that count, each with how many noises have it."""
        found: dict[float, int] = {}
        for factor, each in zip(factors, self.terms, strict=True):
            for size, number in each:
                if scale := abs(factor * size):
                    found[scale] = found.get(scale, 0) + number
        return tuple(found), tuple(found.values())

    def _slack(self, factors: Sequence[float]) -> float:
        """How much further out Σ factor·noise may lie than the same sum of its namesakes."""
        return float(sum(map(mul, map(abs, factors), self.slacks)))


def explained(
    chance: Callable[[float], float], outside: float, middle: float, lo: float | None, hi: float | None
) -> Interval | None:
    """The values that the noise could explain, about one that it explains best.

    Where `middle` isn't explained, no value in the range is, and the interval is that one point: this happens with
    less than the probability that was to be left outside.

    Args:
        chance: of seeing nothing farther out, by value.
        outside: which chance is too small.
        middle: in the range.
        lo: end of the range; None for no end.
        hi: end of the range; None for no end.

    Returns:
        The interval; None if it has no end on one side.
    """

    def doubt(value: float) -> float:
        return log(max(chance(value), _NEVER) / outside)

    at_middle = doubt(middle)
    if at_middle < 0:
        return Interval(middle, middle)
    low = _end(doubt, middle, at_middle, lo, -1)
    high = _end(doubt, middle, at_middle, hi, 1)
    return None if low is None or high is None else Interval(low, high)


def _terms(noise: Noise) -> tuple[tuple[float, int], ...]:
    """The scales or sigmas of a noise; of a sum of several, those of noises that reach as far (see `discrete_sums`)."""
    step, mechanism = float(noise.step), noise.mechanism
    if noise.is_sum and noise.number == 1:
        return ((step * float(mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale), 1),)
    return tuple((step * each.size, each.number) for each in noise.held)


def _slack(noise: Noise) -> float:
    """Half a step for each sum of noises, times its factor; and what rounding adds."""
    return float(noise.step) * (sum(abs(each.factor) for each in noise.held) / 2 + float(noise.rounded))


def _end(
    doubt: Callable[[float], float], inside: float, at_inside: float, limit: float | None, side: int
) -> float | None:
    """Where `doubt` turns negative on one side; the limit if it doesn't before; None if there is no limit then."""
    if limit is not None:
        at_limit = doubt(limit)
        return limit if at_limit >= 0 else _edge(doubt, (inside, at_inside), (limit, at_limit))
    step = max(abs(inside), 1.0) * 1e-3
    for _ in range(_TRIES):
        outside = inside + side * step
        at_outside = doubt(outside)
        if at_outside < 0:
            return _edge(doubt, (inside, at_inside), (outside, at_outside))
        inside, at_inside, step = outside, at_outside, 2 * step
    return None


def _edge(doubt: Callable[[float], float], inside: tuple[float, float], outside: tuple[float, float]) -> float:
    """Where `doubt` turns negative between two points, found by regula falsi (Illinois variant), on the outside.

    Args:
        doubt: at least 0 inside, below 0 outside.
        inside: a point and its value.
        outside: a point and its value.
    """
    (near, over), (far, under) = inside, outside
    last = 0
    for _ in range(_TRIES):
        fine = max(_FINE * abs(far - inside[0]), _FINEST * abs(far))
        width = abs(far - near)
        if width <= fine:
            break
        share = min(max(over / (over - under), fine / width / 2), 1 - fine / width / 2)
        middle = near + share * (far - near)
        value = doubt(middle)
        if value >= 0:
            near, over = middle, value
            under, last = (under / 2 if last > 0 else under), 1
        else:
            far, under = middle, value
            over, last = (over / 2 if last < 0 else over), -1
    return far


def ratio_interval(  # noqa: PLR0913 — a numerator, a denominator, and what is known
    joint: Joint,
    above: tuple[float, Sequence[float]],
    below: tuple[float, Sequence[float]],
    confidence: float,
    *,
    lo: float | None = None,
    hi: float | None = None,
    moved: Callable[[float | None], tuple[float, float]] | None = None,
) -> Interval | None:
    """An interval that holds the ratio of two exact numbers with at least this confidence.

    The chance is exact but for the noise's discreteness; the interval is the hull of Fieller's set within the range.

    Args:
        joint: the noises.
        above: the noisy numerator, and the factor of each noise in it.
        below: the noisy denominator, and the factor of each noise in it.
        confidence: in (0, 1).
        lo: least value the ratio can have; None if there is none.
        hi: greatest value the ratio can have; None if there is none.
        moved: between which numbers numerator − ratio · denominator may be more than what the noise was added to, or
            the denominator itself, of None; 0 is always among them. None where it is what the noise was added to.

    Returns:
        The interval; None if the denominator may be 0, as far as the noise tells, and the range has no ends.
    """
    (top, uppers), (bottom, lowers) = above, below
    outside = 1 - confidence

    def chance(ratio: float) -> float:
        factors = [upper - ratio * lower for upper, lower in zip(uppers, lowers, strict=True)]
        return joint.beyond(factors, gap(top - ratio * bottom, ratio))

    def gap(noisy: float, ratio: float | None) -> float:
        """How much the noise must explain."""
        low, high = (0.0, 0.0) if moved is None else moved(ratio)
        return max(noisy + low, -(noisy + high), 0.0)

    may_be_zero = any(lowers) and joint.beyond(lowers, gap(bottom, None)) >= outside
    if bottom == 0 or (may_be_zero and (lo is None or hi is None)):
        return None if lo is None or hi is None else Interval(lo, hi)
    middle = top / bottom
    middle = middle if lo is None else max(middle, lo)
    middle = middle if hi is None else min(middle, hi)
    if may_be_zero and lo is not None and hi is not None and chance(middle) < outside:
        return Interval(lo, hi)
    return explained(chance, outside, middle, lo, hi)
