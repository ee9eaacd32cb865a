"""Intervals of quantiles, chosen beside a quantile.

An interval goes as far from the chosen value as one must go to have the quantile, by a second choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Self

from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for
from discreet.mechanisms.histogram import Contribution, Occupied, checked_size
from discreet.mechanisms.quantile import checked_fraction, spreads_of_ranks

_OTHERS = 4
"""All intervals before one weigh together at most this many times as much as it does: Σ (5/4)⁻ⁱ."""

_GROWTH = Fraction(2232, 10_000)
"""Slightly more than ln(5/4), so that each interval weighs at least 5/4 times what the one before it does."""

_FINE = 256
"""The bonus of one interval over another is cut into at least this many parts, so that it is a whole number."""

_FOR_NO_ROWS = 14
"""The bonus of saying that there are no rows, in intervals: it then weighs 19 times what all bins do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileInterval(Selects):
    """Chooses an interval of bins about one that was released, such that it holds a quantile of each group.

    Guarantee: what `selection` states, for the choices of all groups together. Whatever the data, the quantile lies in
    the interval with at least the stated confidence over the draw of the interval, for each released bin.

    The intervals I₀ ⊂ I₁ ⊂ … ⊂ Iₘ are public (see `nested`): the bin alone, then ever wider about it, then all bins.
    Let Aₖ be the sum of the counts below Iₖ, Bₖ that of the counts below it and in it, and N that of all. The *slack*
    of Iₖ is hₖ = min(qN − Aₖ, Bₖ − qN); a side that reaches the end of the bins counts for nothing. It never falls in
    k. PERCENTILE_CONT lies between the rows with the numbers q(N − 1) + 1, rounded down and up, and all kinds of
    quantile at or between these: so Iₖ holds it if hₖ is at least r = max(q, 1 − q) rows.

    *Score.* With a target T above r, Iₖ covers the slacks from hₖ₋₁ to hₖ, I₀ all up to h₀, and Iₘ all from hₘ₋₁ on.
    Its score is minus the distance of T to these, plus a bonus of k steps, each worth a factor of 5/4 or more.

    *Coverage.* Some Iₖ has distance 0. Those that don't hold the quantile have hₖ < r, so they come before it, and
    their distance is more than T − r. Together they weigh less than 4·e^(−rate·(T − r)) times what it does, as
    Σ (5/4)⁻ⁱ = 4. So one of them is chosen with probability below 1 − c if T − r ≥ ln(4c/(1 − c))/rate. ∎

    *Sensitivity.* Add a unit that weighs A below Iₖ, B below it or in it, and a in all. Then qN − Aₖ moves by qa − A,
    and Bₖ − qN by B − qa, both within ±θa for θ = max(q, 1 − q); hence so do their lesser, and the distances of T to
    what lies between two of those. At q = 0 or 1 the one that counts is Bₖ or N − Aₖ, and θ = 1. So two options spread
    by at most 2θa. Substitution of one unit for another, of weights a and r up to m, moves each by q(a − r) − (A − R)
    and its like, within ±m, as for `Quantile`: they spread by at most 2m.

    *No rows.* One more option says so: its distance is θN, which moves by as much at most, and its bonus is that of Iₘ
    and 14 steps. Of no rows it is chosen in 95 % of draws where the confidence is at least as much; in its place Iₘ is
    what is known.

    Args:
        fraction: q, from 0 to 1.
        size: how many bins there are, 1 to 2²⁰.
        contribution: of one unit, in steps of the counts.
        epsilon: what the choices of all groups cost together; above 0.
        confidence: that the quantile lies in the interval; in (0, 1).
        row: how many steps one row counts; 1 or more.

    Attributes:
        selection: how an interval is chosen; its scores are in steps of the counts.

    Raises:
        InvalidArgument: a number is out of range.

    Source: McSherry, Talwar (2007), Theorem 6, with weights that aren't alike; the intervals and the proof are ours.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> about = QuantileInterval.calibrate("0.5", 100, alone, epsilon=1, confidence="0.95")
        >>> about.nested(42)[about.choose({17: 400, 42: 1000, 99: 500}, 42)]
        (42, 42)
    """

    fraction: Fraction
    size: int
    contribution: Contribution
    epsilon: Fraction
    confidence: Fraction
    row: int = 1
    selection: Exponential = field(init=False)
    _scale: int = field(init=False, repr=False)
    _bonus: int = field(init=False, repr=False)
    _target: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the rate, and from it the target, before there is any data."""
        fraction, size = checked_fraction(self.fraction), checked_size(self.size)
        spread, total = spreads_of_ranks(fraction, self.contribution)
        selection = Exponential(positive(self.epsilon, "epsilon") / total, spread, total)
        confidence = probability(self.confidence, "confidence")
        step = _GROWTH / selection.rate
        scale = fraction.denominator * ceil(_FINE / (step * fraction.denominator))
        slack = self.row * max(fraction, 1 - fraction) + selection.radius(confidence, 1 + _OTHERS)
        for name, value in (
            ("fraction", fraction),
            ("size", size),
            ("confidence", confidence),
            ("selection", selection),
            ("_scale", scale),
            ("_bonus", ceil(step * scale)),
            ("_target", ceil(slack * scale)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def calibrate(  # noqa: PLR0913 — what `Quantile` has, and what an interval promises
        cls,
        fraction: Rationalizable,
        size: int,
        contribution: Contribution,
        epsilon: Rationalizable,
        *,
        confidence: Rationalizable,
        row: int = 1,
    ) -> Self:
        """The mechanism that is ε-DP, over all groups together; the arguments are as above.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(
            fraction=checked_fraction(fraction),
            size=size,
            contribution=contribution,
            epsilon=positive(epsilon, "epsilon"),
            confidence=probability(confidence, "confidence"),
            row=row,
        )

    @classmethod
    def for_rho(  # noqa: PLR0913 — as above
        cls,
        fraction: Rationalizable,
        size: int,
        contribution: Contribution,
        rho: Rationalizable,
        *,
        confidence: Rationalizable,
        row: int = 1,
    ) -> Self:
        """The mechanism that is ρ-zCDP, over all groups together; the arguments are as above.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread, total = spreads_of_ranks(checked_fraction(fraction), contribution)
        epsilon = epsilon_for(positive(rho, "rho"), spread / total)
        return cls.calibrate(fraction, size, contribution, epsilon, confidence=confidence, row=row)

    def nested(self, centre: int) -> tuple[tuple[int, int], ...]:
        """The intervals about a bin, from the narrowest to that of all bins; each by its first and its last bin.

        Examples:
            >>> alone = Contribution(each=1, total=1)
            >>> about = QuantileInterval.calibrate("0.5", 12, alone, epsilon=1, confidence="0.95")
            >>> about.nested(2)
            ((2, 2), (1, 3), (0, 4), (0, 5), (0, 6), (0, 8), (0, 10), (0, 11))
        """
        return nested(centre, self.size, self.fraction)

    def choose(self, bins: Mapping[int, int], centre: int) -> int:
        """The place of an interval among those about a bin; the place after the last of them for no rows.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.
            centre: the number of the bin.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        from discreet.noise import categorical

        occupied = Occupied.of(bins, self.size)
        slacks, near = self._slacks(occupied, centre), self._target
        before = [near, *slacks][:-1]
        distances = [max(above - near, near - slack, 0) for above, slack in zip(before, slacks, strict=True)]
        distances.append(max(slacks[-1] - near, 0) if slacks else 0)
        scores = [place * self._bonus - distance for place, distance in enumerate(distances)]
        weight = int(self._scale * max(self.fraction, 1 - self.fraction))
        scores.append((len(slacks) + _FOR_NO_ROWS) * self._bonus - weight * occupied.total)
        return categorical(scores, self.selection.rate / self._scale)

    def _slacks(self, occupied: Occupied, centre: int) -> list[int]:
        """The slacks of all intervals but that of all bins, times the scale."""
        import numpy as np

        intervals = self.nested(centre)[:-1]
        held = np.concatenate(([0], np.cumsum(occupied.counts)))
        below = held[np.searchsorted(occupied.numbers, [first for first, _ in intervals], side="left")].tolist()
        through = held[np.searchsorted(occupied.numbers, [last for _, last in intervals], side="right")].tolist()
        scale, at = self._scale, int(self._scale * self.fraction) * occupied.total
        return [
            min([at - scale * low] * (first > 0) + [scale * high - at] * (last < self.size - 1))
            for (first, last), low, high in zip(intervals, below, through, strict=True)
        ]


@lru_cache(maxsize=1 << 10)
def nested(centre: int, size: int, fraction: Fraction) -> tuple[tuple[int, int], ...]:
    """Intervals of bins about one of them, each within the next, up to all bins; see `QuantileInterval.nested`.

    They reach 0, 1, 2, 3, 4, 6, 8, 12, 16, … bins away on both sides, as far as there are bins. Those of the least
    value all begin with the first bin, and end before the chosen one, too, as many bins away; those of the greatest
    likewise at the other end: of one row that is farther out nothing can be known.

    Args:
        centre: the number of the bin.
        size: how many bins there are.
        fraction: of the quantile.

    Examples:
        >>> nested(2, 6, Fraction(0))
        ((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5))
    """
    if fraction == 1:
        return tuple(
            (size - 1 - last, size - 1 - first) for first, last in nested(size - 1 - centre, size, Fraction(0))
        )
    away = [0, 1, *(step << power for power in range(size.bit_length()) for step in (2, 3))]
    if fraction:
        found = [(max(centre - each, 0), min(centre + each, size - 1)) for each in away]
    else:
        below = [centre - each for each in reversed(away[1:]) if each <= centre]
        found = [(0, last) for last in (*below, *(min(centre + each, size - 1) for each in away))]
    return tuple(dict.fromkeys(found))
