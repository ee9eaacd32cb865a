"""Quantiles, and intervals of them: choices from histograms by the exponential mechanism.

A quantile is a value of a public grid whose rank is near the one asked for. An interval goes as far from a value that
was chosen as one must go to have the quantile, by a second choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability, rational
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for
from discreet.mechanisms.histogram import Contribution, Occupied, Runs, checked_size
from discreet.mechanisms.parameters import short_enough

_SURE = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Selects):
    """Chooses a bin of each group's histogram, by how near the ranks of its rows are to the quantile's.

    Guarantee: what `selection` states, for the choices of all groups together.

    Let L and H be the sums of the counts strictly below bin b, and at or below it, and N the sum of all. Bin b covers
    the ranks from L to H (an empty one the point L = H), so that all bins together cover [0, N]. Its score is −d, with
    d(b) = max(0, L − τ, τ − H), the distance from b's ranks to the target τ = q·N. Some bin always has d = 0.

    *The ends.* At q = 0 the bins below the least value have d = 0 as well as the bin that holds it, since no rows lie
    between them; so one of them, at random, would be the answer. There the target is moved inwards by a public number
    of steps, `inset`: τ = min(inset, N/2), and N less that at q = 1. MIN and MAX are quantiles near the ends.

    *Sensitivity.* Add a unit that weighs A below b, A′ at or below it, and a in all, so 0 ≤ A ≤ A′ ≤ a. Then τ moves by
    θa, with θ = q inside, θ in [0, 1/2] at q = 0 and in [1/2, 1] at q = 1. So L − τ moves by A − θa, in [−θa, (1−θ)a],
    and τ − H by θa − A′, in [−(1−θ)a, θa]; hence d by at most max(θ, 1−θ)·a. Two bins spread by at most twice that:
    2·max(q, 1−q)·a, which is reached by a unit whose rows are all at one end. Now substitute a unit of weight a for one
    of weight r, both at most m. The number of rows moves by a − r, so τ by θ(a − r), and the same sums give L − τ a
    move from −θa − (1−θ)r to (1−θ)a + θr, within [−m, m], and τ − H likewise: two bins spread by at most 2m.

    *Many groups.* Both are linear in what a unit weighs in the group, so the spreads of all groups add up as
    `Contribution` says. At q = 1/2 the spread is what the unit weighs: a median costs no more than a count.

    Args:
        fraction: q, from 0 to 1.
        size: how many bins the grid has, 1 to 2²⁰.
        contribution: of one unit, in steps of the counts.
        epsilon: what the choices of all groups cost together; above 0.

    Attributes:
        selection: how a bin is chosen; its scores are in steps of the counts.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Smith (2011), Algorithm 2; what it costs with ties, units of many rows and many groups has the proof above.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> median = Quantile.calibrate("0.5", 100, alone, epsilon=1)
        >>> median.choose({17: 1000, 42: 1000, 99: 500})
        42
    """

    fraction: Fraction
    size: int
    contribution: Contribution
    epsilon: Fraction
    selection: Exponential = field(init=False)

    def __post_init__(self) -> None:
        """Find the rate before there is any data."""
        checked_size(self.size)
        object.__setattr__(self, "fraction", checked_fraction(self.fraction))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        spread, total = spreads_of_ranks(self.fraction, self.contribution)
        object.__setattr__(self, "selection", Exponential(self.epsilon / total, spread, total))

    @classmethod
    def calibrate(
        cls, fraction: Rationalizable, size: int, contribution: Contribution, epsilon: Rationalizable
    ) -> Self:
        """The mechanism that is ε-DP, over all groups together.

        Args:
            fraction: q, from 0 to 1.
            size: how many bins the grid has, 1 to 2²⁰.
            contribution: of one unit, in steps of the counts.
            epsilon: above 0.

        Raises:
            InvalidArgument: a number is out of range.
        """
        exact = positive(epsilon, "epsilon")
        return cls(fraction=rational(fraction, "fraction"), size=size, contribution=contribution, epsilon=exact)

    @classmethod
    def for_rho(cls, fraction: Rationalizable, size: int, contribution: Contribution, rho: Rationalizable) -> Self:
        """The mechanism that is ρ-zCDP, over all groups together; the arguments are as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread, total = spreads_of_ranks(checked_fraction(fraction), contribution)
        return cls.calibrate(fraction, size, contribution, epsilon_for(positive(rho, "rho"), spread / total))

    @property
    def inset(self) -> int:
        """By how many steps the target is inside of the end it was asked for; 0 unless q is 0 or 1.

        So many that of a group with at least twice as many rows, the bins beyond the end are chosen, all together, with
        probability at most 1/20. Of a smaller one the target is its middle, and they are chosen more often.
        """
        return 0 if 0 < self.fraction < 1 else floor(self.selection.radius(_SURE, self.size)) + 1

    def choose(self, bins: Mapping[int, int]) -> int:
        """The number of the bin chosen for one group.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        from discreet.noise import categorical, uniform

        runs = Runs.of(bins, self.size)
        scale = 2 if self.inset else self.fraction.denominator
        scores = -runs.distances(scale, int(scale * self._target(runs.total)))
        place = categorical(scores, self.selection.rate / scale, weights=runs.lengths)
        return int(runs.firsts[place]) + uniform(int(runs.lengths[place]))

    def rank_radius(self, confidence: Rationalizable) -> Fraction:
        """How far q·N lies from the ranks that the chosen bin covers, at most, with this confidence; for one group.

        Args:
            confidence: in (0, 1); over the draw, whatever the data.

        Returns:
            In steps of the counts, rounded up.
        """
        return self.selection.radius(confidence, self.size) + self.inset

    def _target(self, total: int) -> Fraction:
        """τ, the rank that is looked for among so many; a whole multiple of 1/2 or of one over q's denominator."""
        if not self.inset:
            return self.fraction * total
        inside = min(Fraction(self.inset), Fraction(total, 2))
        return total - inside if self.fraction else inside


def checked_fraction(fraction: Rationalizable) -> Fraction:
    """The fraction, exactly."""
    number = short_enough(rational(fraction, "fraction"), "fraction")
    if not 0 <= number <= 1:
        raise InvalidArgument(f"fraction must be from 0 to 1, not {fraction}", hint="0.5 is the median")
    return number


def spreads_of_ranks(fraction: Fraction, contribution: Contribution) -> tuple[Fraction, Fraction]:
    """How far the scores of two bins can move against each other: in one group, and in all."""
    return contribution.spreads(added=2 * max(fraction, 1 - fraction), replaced=Fraction(2))


# ── Intervals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


_OTHERS = 4
"""All intervals before one weigh at most so many times as much as it does: Σ (5/4)⁻ⁱ."""

_GROWTH = Fraction(2232, 10_000)
"""Slightly more than ln(5/4), so that each interval weighs at least 5/4 times what the one before it does."""

_FINE = 256
"""Into so many parts, at least, the bonus of one interval over another is cut, to be a whole number."""

_FOR_NO_ROWS = 14
"""By so many intervals more is the bonus of saying that there are no rows: it weighs 19 times what all bins do."""


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
