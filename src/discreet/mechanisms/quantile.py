"""Quantiles: a bin and an interval about it, chosen together from a histogram by one exponential mechanism.

A quantile is a value of a public grid whose rank is near the one asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability, rational
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for
from discreet.mechanisms.histogram import Contribution, Occupied
from discreet.mechanisms.parameters import short_enough

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_BINS = 1 << 16
"""The most bins: with rows in all of them, there are as many options as can be drawn from."""

_SURE = Fraction(19, 20)

_FITS = 1 << 60

_POINTS = 40
"""If one bin in this many holds something, all bins are listed: that is quicker than to sort where they differ."""

_FEW_LEVELS = 1 << 20
"""Below this many scores, options of the same one are counted first, which is quicker; the law is the same."""

_FOR_NO_ROWS = 20
"""How many times what the interval of all bins weighs about each bin it weighs to say that there are no rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Selects):
    """Chooses a bin of each group's histogram, by how near its ranks are to the quantile's, and an interval about it.

    Guarantee: what `selection` states, for the choices of all groups together. Whatever the data, the quantile lies in
    the interval with at least the stated confidence over the draw.

    *The bin.* Let L and H be the sums of the counts strictly below bin b, and at or below it, and N the sum of all. Bin
    b covers the ranks from L to H (an empty one the point L = H), so that all bins together cover [0, N]. Its distance
    d(b) = max(0, L − τ, τ − H) is that of its ranks to the target τ = q·N. Some bin always has d = 0.

    *The interval.* About each bin b lie public intervals I₀ ⊂ I₁ ⊂ … ⊂ Iₘ, from the bin alone to all bins, see
    `nested`. With A the sum of the counts below Iₖ and B that of those below it and in it, its *slack* is
    hₖ = min(qN − A, B − qN); a side that reaches the end of the bins counts for nothing. It never falls in k.
    PERCENTILE_CONT lies between the rows with the numbers q(N − 1) + 1, rounded down and up, and all kinds of quantile
    at or between these: so Iₖ holds it if hₖ is at least r = max(q, 1 − q) rows. With a target T above r, Iₖ covers the
    slacks from hₖ₋₁ to hₖ, I₀ all up to h₀, and Iₘ all from hₘ₋₁ on; e(b, k) is the distance of T to what it covers.

    *Score.* An option is a bin with an interval about it, and its score is −max(d(b), e(b, k)). Some option has score
    0: a bin with d = 0, and the first interval about it with a slack of T or more. Let λ be the rate and n·m the number
    of options, m for each bin.

    *Coverage.* An option whose interval doesn't hold the quantile has hₖ < r, so e is more than T − r. All of them
    together weigh at most n·m·e^(−λ(T − r)) times what the one of score 0 does, so one of them is chosen with
    probability below 1 − c if that is at most (1 − c)/c. T is set for half of it.

    *Ranks.* An option with d(b) > R weighs at most e^(−λR). If its interval lies on one side of a bin b* with d = 0,
    its slack is at most 0, so it weighs at most e^(−λT): all such options, at most half of (1 − c)/c. Those whose
    intervals hold b* are few, V = Σₖ min(n, 2wₖ + 1) if Iₖ reaches wₖ bins to both sides. So b is off by more than R
    with probability below 1 − c if V·e^(−λR) is at most the other half.

    *The ends.* At q = 0 the bins below the least value have d = 0 as well as the bin that holds it, since no rows lie
    between them; so one of them, at random, would be the answer. There the bin's target is moved inwards by a public
    number of steps, `inset`: τ = min(inset, N/2), and N less that at q = 1. MIN and MAX are quantiles near the ends.

    *No rows.* One more option says so, at a distance of θN for θ = max(q, 1 − q). It weighs 20 times what one interval
    of all bins does about each bin, so of no rows it is chosen in 95 % of draws; there Iₘ is what is known.

    *Sensitivity.* Add a unit that weighs A below b, A′ at or below it, and a in all, so 0 ≤ A ≤ A′ ≤ a. Then τ moves by
    θ′a, with θ′ = q inside, in [0, 1/2] at q = 0 and in [1/2, 1] at q = 1. So L − τ moves by A − θ′a, within ±θa, and
    τ − H by θ′a − A′ likewise; hence d moves within ±θa. So do qN − A and B − qN, their lesser, and the distance of T
    to what lies between two of those; so does θN, and so does the greater of any of these. Two options spread by at
    most 2θa, which is reached by a unit whose rows are all at one end. Now substitute a unit of weight a for one of
    weight r, both at most m. The number of rows moves by a − r, so τ by θ′(a − r), and the same sums give L − τ a move
    from −θ′a − (1−θ′)r to (1−θ′)a + θ′r, within [−m, m], and all the others likewise: two options spread by at most 2m.

    *Many groups.* Both are linear in what a unit weighs in the group, so the spreads of all groups add up as
    `Contribution` says. At q = 1/2 the spread is what the unit weighs: a median costs no more than a count.

    *Why together.* Chosen one after the other, each would have a share of ε. The greater of two distances spreads no
    further than one of them, so both have all of it; the price is the number of options, which counts by its logarithm.

    Args:
        fraction: q, from 0 to 1.
        size: how many bins the grid has, 1 to 2¹⁶.
        contribution: of one unit, in steps of the counts.
        epsilon: what the choices of all groups cost together; above 0.
        confidence: that the quantile lies in the interval; in (0, 1).
        row: how many steps one row counts; 1 or more.

    Attributes:
        selection: how an option is chosen; its scores are in steps of the counts.

    Raises:
        InvalidArgument: a number is out of range.

    Source: McSherry, Talwar (2007), Theorem 6; Smith (2011), Algorithm 2, for the bin alone; that an interval is chosen
    with it, and the proofs, are ours.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> median = Quantile.calibrate("0.5", 100, alone, epsilon=1)
        >>> bin_, place = median.choose({17: 1000, 42: 1000, 99: 500})
        >>> bin_, nested(bin_, 100, median.fraction)[place]
        (42, (42, 42))
    """

    fraction: Fraction
    size: int
    contribution: Contribution
    epsilon: Fraction
    confidence: Fraction = _SURE
    row: int = 1
    selection: Exponential = field(init=False)

    def __post_init__(self) -> None:
        """Find the rate before there is any data."""
        if type(self.size) is not int or not 1 <= self.size <= MOST_BINS:
            raise InvalidArgument(f"size must be from 1 to 2¹⁶, not {self.size!r}", hint="choose a coarser grid")
        object.__setattr__(self, "fraction", checked_fraction(self.fraction))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "confidence", probability(self.confidence, "confidence"))
        spread, total = spreads_of_ranks(self.fraction, self.contribution)
        object.__setattr__(self, "selection", Exponential(self.epsilon / total, spread, total))

    @classmethod
    def calibrate(  # noqa: PLR0913 — what is chosen, what it costs, and what its interval promises
        cls,
        fraction: Rationalizable,
        size: int,
        contribution: Contribution,
        epsilon: Rationalizable,
        *,
        confidence: Rationalizable = _SURE,
        row: int = 1,
    ) -> Self:
        """The mechanism that is ε-DP, over all groups together; the arguments are as above.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(
            fraction=rational(fraction, "fraction"),
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
        confidence: Rationalizable = _SURE,
        row: int = 1,
    ) -> Self:
        """The mechanism that is ρ-zCDP, over all groups together; the arguments are as above.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread, total = spreads_of_ranks(checked_fraction(fraction), contribution)
        epsilon = epsilon_for(positive(rho, "rho"), spread / total)
        return cls.calibrate(fraction, size, contribution, epsilon, confidence=confidence, row=row)

    @property
    def inset(self) -> int:
        """How many steps the target is inside of the end that was asked for; 0 unless q is 0 or 1.

        So many that of a group with at least twice as many rows, the bins beyond the end are chosen, all together, with
        probability at most 1/20. Of a smaller one the target is its middle, and they are chosen more often.
        """
        return 0 if 0 < self.fraction < 1 else floor(self.selection.radius(_SURE, self._options + 1)) + 1

    @property
    def slack(self) -> Fraction:
        """T, how many steps the chosen interval is to reach beyond the quantile's rank on either side."""
        sure = self.selection.radius(self.confidence, 2 * self._options + 1)
        return self.row * max(self.fraction, 1 - self.fraction) + sure

    def choose(self, bins: Mapping[int, int]) -> tuple[int, int]:
        """The number of the bin chosen for one group, and the place of the interval among those `nested` about it.

        The place after the last of them is that of no rows.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        import numpy as np

        if self.fraction == 1:
            bins = {self.size - 1 - number: count for number, count in bins.items()}
        ranks = self._ranks(Occupied.of(bins, self.size))
        runs = list(self._runs(ranks))
        starts, lengths, distances = (np.concatenate(column) for column in zip(*runs, strict=True))
        run, among = self._drawn(distances, lengths, ranks.all_rows)
        if run is None:
            centre = among % self.size
            return centre, len(nested(centre, self.size, self.fraction))
        centre = int(starts[run]) + among
        step = self._steps[int(np.searchsorted(np.cumsum([len(each) for each, *_ in runs]), run, side="right"))]
        interval = (max(centre - step, 0) if self._is_inside else 0), min(centre + step, self.size - 1)
        if self.fraction == 1:
            centre, interval = self.size - 1 - centre, (self.size - 1 - interval[1], self.size - 1 - interval[0])
        return centre, nested(centre, self.size, self.fraction).index(interval)

    def _drawn(self, distances: NDArray[Any], lengths: Numbers, all_rows: int) -> tuple[int | None, int]:
        """A run of options by its place, and how far into it; None for no rows.

        Args:
            distances: of each run's options, times the scale.
            lengths: how many options a run has.
            all_rows: the distance of no rows.
        """
        import numpy as np

        from discreet.noise import categorical, uniform

        levels, weights = distances, lengths
        if counts_levels := int(distances.max()) < _FEW_LEVELS:
            weights = np.bincount(distances.astype(np.int64), weights=lengths).astype(np.int64)
            levels = np.arange(len(weights))
        weights = np.append(weights, _FOR_NO_ROWS * self.size)
        level = categorical(np.append(-levels, -all_rows), self.selection.rate / self._scale, weights=weights)
        among = uniform(int(weights[level]))
        if level == len(levels):
            return None, among
        if not counts_levels:
            return level, among
        alike = np.flatnonzero(distances == level)
        ends = np.cumsum(lengths[alike])
        place = int(np.searchsorted(ends, among, side="right"))
        return int(alike[place]), among - int(ends[place]) + int(lengths[alike[place]])

    def rank_radius(self, confidence: Rationalizable) -> Fraction:
        """How far q·N lies from the ranks that the chosen bin covers, at most, with this confidence; for one group.

        Args:
            confidence: in (0, 1); over the draw, whatever the data.

        Returns:
            In steps of the counts, rounded up.
        """
        sure = probability(confidence, "confidence")
        any_option = self.selection.radius(sure, self._options + 1)
        left = (1 - sure) / sure - (1 - self.confidence) / self.confidence / 2
        if self.inset or left <= 0:
            return any_option + self.inset
        about = sum(min(self.size, 2 * reach + 1) for reach in self._steps)
        return min(any_option, self.selection.radius(1 / (1 + left), about + 1))

    @property
    def _is_inside(self) -> bool:
        """Whether the quantile has rows on both sides."""
        return 0 < self.fraction < 1

    @property
    def _steps(self) -> tuple[int, ...]:
        """How far from a bin its intervals end: on both sides, or for an extreme on one."""
        return _reaches(self.size) if self._is_inside else _ends(self.size)

    @property
    def _options(self) -> int:
        """How many bins with an interval there are, at most."""
        return self.size * len(self._steps)

    @property
    def _scale(self) -> int:
        """The ranks of all targets are whole multiples of one step over this."""
        return self.fraction.denominator if self._is_inside else 2

    def _ranks(self, occupied: Occupied) -> _Ranks:
        """The ranks of one group, with what is looked for among them."""
        import numpy as np

        scale, total = self._scale, occupied.total
        wanted, inside = ceil(scale * self.slack), min(Fraction(self.inset), Fraction(total, 2))
        exact = np.int64 if scale * max(total, 1) + wanted < _FITS else object
        numbers, counts = occupied.numbers, occupied.counts
        is_dense = len(numbers) * _POINTS >= self.size
        if is_dense:
            counts = np.zeros(self.size, dtype=occupied.counts.dtype)
            counts[numbers], numbers = occupied.counts, np.arange(self.size)
        held = np.concatenate((np.zeros(1, dtype=exact), np.cumsum(counts).astype(exact) * scale))
        rank = int(scale * self.fraction) * total if self._is_inside else 0
        return _Ranks(
            numbers=numbers,
            held=held,
            size=self.size,
            rank=rank,
            target=rank if self._is_inside else int(scale * inside),
            wanted=wanted,
            all_rows=int(scale * max(self.fraction, 1 - self.fraction)) * total,
            is_inside=self._is_inside,
        )

    def _runs(self, ranks: _Ranks) -> Iterator[tuple[Numbers, Numbers, NDArray[Any]]]:
        """For each step, runs of bins whose options score alike: first bins, lengths, and how far off."""
        import numpy as np

        narrower: NDArray[Any] | None = None
        for before, step in zip((None, *self._steps[:-1]), self._steps, strict=True):
            numbers = ranks.changes([each for each in (before, step) if each is not None])
            slack = ranks.slack(numbers, step)
            distance = np.maximum(ranks.distance(numbers), ranks.wanted - slack)
            is_option = numbers + step >= 0
            if before is not None:
                if narrower is None or not ranks.is_dense:
                    narrower = ranks.slack(numbers, before)
                narrower[numbers + before < 0] = 0  # there is none
                distance = np.maximum(distance, narrower - ranks.wanted)
                is_option &= narrower < ranks.far  # what holds all bins already isn't made wider
            yield numbers[is_option], np.diff(numbers, append=self.size)[is_option], distance[is_option]
            narrower = slack


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Ranks:
    """The ranks that one group's rows have, all of them times a scale, and what is looked for among them.

    Args:
        numbers: of the bins that hold something, in order.
        held: how much is in none of them, in the first, in the first two, …
        size: how many bins there are.
        rank: of the quantile.
        target: of the bin.
        wanted: the slack of its interval.
        all_rows: how far off it is to say that there are none.
        is_inside: whether intervals have two ends.
    """

    numbers: Numbers
    held: NDArray[Any]
    size: int
    rank: int
    target: int
    wanted: int
    all_rows: int
    is_inside: bool

    @property
    def far(self) -> int:
        """More than any slack is: that of all bins."""
        return int(self.held[-1]) + self.wanted + 1

    def distance(self, at: Numbers) -> NDArray[Any]:
        """How far the target lies from the ranks of some bins; at least 0."""
        import numpy as np

        sides = np.maximum(self._below(at, 0) - self.target, self.target - self._below(at, 1))
        found: NDArray[Any] = np.maximum(sides, 0)
        return found

    def slack(self, at: Numbers, step: int) -> NDArray[Any]:
        """How much of the rank the intervals of a step about some bins hold."""
        import numpy as np

        right: NDArray[Any] = self._below(at, step + 1) - self.rank
        right[at >= self.size - 1 - step] = self.far
        if not self.is_inside:
            return right
        left = self.rank - self._below(at, -step)
        left[at <= step] = self.far
        lesser: NDArray[Any] = np.minimum(left, right)
        return lesser

    def changes(self, steps: Sequence[int]) -> Numbers:
        """The bins from which on the distance, or the slack of one of some steps, may be another."""
        import numpy as np

        if self.is_dense:
            return self.numbers
        found = [np.zeros(1, dtype=np.int64), self.numbers, self.numbers + 1]
        for step in steps:
            found += [self.numbers - step, np.array([-step, self.size - 1 - step])]
            found += [self.numbers + step + 1, np.array([step + 1])] if self.is_inside else []
        return np.unique(np.clip(np.concatenate(found), 0, self.size - 1))

    @property
    def is_dense(self) -> bool:
        """Whether all bins are listed."""
        return len(self.numbers) == self.size

    def _below(self, at: Numbers, beyond: int) -> NDArray[Any]:
        """How much is in the bins before each of some, that many bins beyond it."""
        import numpy as np

        if not self.is_dense:
            sought: NDArray[Any] = self.held[np.searchsorted(self.numbers, at + beyond)]
            return sought
        found: NDArray[Any] = np.empty(self.size, dtype=self.held.dtype)
        some = min(abs(beyond), self.size)
        if beyond >= 0:
            found[: self.size - some], found[self.size - some :] = self.held[some : self.size], self.held[-1]
        else:
            found[some:], found[:some] = self.held[: self.size - some], 0
        return found


@lru_cache(maxsize=1 << 10)
def nested(centre: int, size: int, fraction: Fraction) -> tuple[tuple[int, int], ...]:
    """Intervals of bins about one of them, each within the next, up to all bins; see `Quantile`.

    They reach 0, 1, 2, 3, 4, 6, 8, 12, 16, … bins away on both sides, and from a third of all bins on, powers of two.
    Those of the least value all begin with the first bin, and end 0, 1, 2, 4, 8, … bins beyond the chosen one, or 1, 4,
    16, … before it; those of the greatest likewise at the other end: of one row that is farther out nothing can be
    known.

    Args:
        centre: the number of the bin.
        size: how many bins there are.
        fraction: of the quantile.

    Examples:
        >>> nested(2, 12, Fraction(1, 2))
        ((2, 2), (1, 3), (0, 4), (0, 5), (0, 6), (0, 10), (0, 11))
        >>> nested(2, 6, Fraction(0))
        ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5))
    """
    if fraction == 1:
        return tuple(
            (size - 1 - last, size - 1 - first) for first, last in nested(size - 1 - centre, size, Fraction(0))
        )
    if fraction:
        found = [(max(centre - step, 0), min(centre + step, size - 1)) for step in _reaches(size)]
    else:
        found = [(0, min(centre + step, size - 1)) for step in _ends(size) if centre + step >= 0]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1 << 10)
def _reaches(size: int) -> tuple[int, ...]:
    """How far intervals with two ends go, in bins; at most 31 for the greatest size, so that all options can be drawn.

    With the last of them, all bins are within reach of any.
    """
    powers = [1 << power for power in range((size - 1).bit_length() + 1)] if size > 1 else []
    return tuple(sorted({0, *powers, *(3 * power for power in powers if 9 * power < size)}))


@lru_cache(maxsize=1 << 10)
def _ends(size: int) -> tuple[int, ...]:
    """How far beyond a bin intervals with one end go, or before it where it is below 0; at most 26."""
    beyond = [each for each in _reaches(size) if each.bit_count() == 1]
    return (*(-each for each in reversed(beyond) if each.bit_length() % 2), 0, *beyond)


def checked_fraction(fraction: Rationalizable) -> Fraction:
    """The fraction, exactly."""
    number = short_enough(rational(fraction, "fraction"), "fraction")
    if not 0 <= number <= 1:
        raise InvalidArgument(f"fraction must be from 0 to 1, not {fraction}", hint="0.5 is the median")
    return number


def spreads_of_ranks(fraction: Fraction, contribution: Contribution) -> tuple[Fraction, Fraction]:
    """How far the scores of two options can move against each other: in one group, and in all."""
    return contribution.spreads(added=2 * max(fraction, 1 - fraction), replaced=Fraction(2))
