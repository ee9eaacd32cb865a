"""Histograms that choices are made from, what one unit can add to them, and the choice of their most frequent bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for
from discreet.privacy import ADD_REMOVE, Adjacency

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MOST_BINS = 1 << 20
"""As many as can be chosen from if none of them is empty."""

_FITS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Occupied:
    """The bins that hold something, in order.

    Args:
        numbers: of the bins.
        counts: int64 if that holds their sum, else Python integers; above 0.
        total: their sum.
    """

    numbers: NDArray[np.int64]
    counts: NDArray[Any]
    total: int

    @classmethod
    def of(cls, bins: Mapping[int, int], size: int) -> Self:
        """Read counts by the numbers of their bins, which are below `size`; bins that aren't named are empty.

        Raises:
            InvalidArgument: a bin isn't one of the histogram's, or a count is below 0. It says no more, because more
                might be private.
        """
        import numpy as np

        counts = list(bins.values())
        if bins and not (min(bins) >= 0 and max(bins) < size and min(counts) >= 0):
            raise InvalidArgument("a histogram has counts of at least 0, in bins from 0 to size − 1")
        total = sum(counts)
        numbers = np.fromiter(bins, dtype=np.int64, count=len(bins))
        values = np.array(counts, dtype=np.int64 if total < _FITS else object)
        order = np.argsort(numbers)
        order = order[values[order] > 0]
        return cls(numbers[order], values[order], total)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """All bins in order, in runs that cover the same ranks: the bins that hold something, between runs of empty ones.

    Args:
        firsts: the number of each run's first bin.
        lengths: how many bins a run has; an empty one has 0 where two bins that hold something are neighbours.
        below: how much all earlier runs hold.
        through: the same with the run itself.
        total: how much all runs hold.
    """

    firsts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    below: NDArray[Any]
    through: NDArray[Any]
    total: int

    @classmethod
    def of(cls, bins: Mapping[int, int], size: int) -> Self:
        """Read a histogram of `size` bins.

        Raises:
            InvalidArgument: it isn't one.

        Examples:
            >>> runs = Runs.of({2: 5}, 10)
            >>> runs.firsts.tolist(), runs.lengths.tolist(), runs.below.tolist(), runs.through.tolist()
            ([0, 2, 3], [2, 1, 7], [0, 0, 5], [0, 5, 5])
        """
        import numpy as np

        occupied = Occupied.of(bins, size)
        reached = np.concatenate((np.zeros(1, dtype=occupied.counts.dtype), np.cumsum(occupied.counts)))
        gaps = np.concatenate(([0], occupied.numbers + 1))
        lengths = np.concatenate((occupied.numbers, [size])) - gaps
        return cls(
            firsts=_alternating(gaps, occupied.numbers),
            lengths=_alternating(lengths, np.ones(len(occupied.numbers), dtype=np.int64)),
            below=_alternating(reached, reached[:-1]),
            through=_alternating(reached, reached[1:]),
            total=occupied.total,
        )

    def distances(self, scale: int, target: int) -> NDArray[Any]:
        """How far a rank lies from the ranks that each run covers, all of them times a scale.

        Args:
            scale: 1 or more.
            target: the rank, times the scale; from 0 to scale times the total.
        """
        import numpy as np

        exact = np.int64 if scale * max(self.total, 1) < _FITS else object  # a scale must fit where nothing is counted
        below, through = self.below.astype(exact) * scale, self.through.astype(exact) * scale
        distances: NDArray[Any] = np.maximum(np.maximum(below - target, target - through), 0)
        return distances


def checked_size(size: int) -> int:
    """The number of bins itself.

    Raises:
        InvalidArgument: it isn't from 1 to 2²⁰.
    """
    if type(size) is not int or not 1 <= size <= MOST_BINS:
        raise InvalidArgument(f"size must be from 1 to 2²⁰, not {size!r}", hint="choose a coarser grid")
    return size


def _alternating(outer: NDArray[Any], inner: NDArray[Any]) -> NDArray[Any]:
    """One array that takes turns between two, of which the first has one element more."""
    import numpy as np

    both = np.empty(len(outer) + len(inner), dtype=outer.dtype)
    both[0::2], both[1::2] = outer, inner
    return both


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """The most that one unit's rows add to the counts of the histograms of one answer, one histogram per group.

    Args:
        each: to all counts of one group together, in steps of the counts; 1 or more.
        total: to all counts of all groups together; at least `each`.
        groups: how many groups are answered, if that is public; None if it isn't known. Under substitution one group
            alone costs less than any two, between which a unit may move.
        adjacency: how neighbours differ: by one such unit, or by two, of which one has the place of the other.

    Raises:
        InvalidArgument: a number is out of range.

    Examples:
        >>> visits = Contribution(each=10, total=50)  # at most 5 groups of 10 rows each
        >>> visits.spreads(added=Fraction(1), replaced=Fraction(2))
        (Fraction(10, 1), Fraction(50, 1))
    """

    each: int
    total: int
    groups: int | None = None
    adjacency: Adjacency = ADD_REMOVE

    def __post_init__(self) -> None:
        """Check before there is any data."""
        known = (self.each, self.total) if self.groups is None else (self.each, self.total, self.groups)
        if any(type(number) is not int or number < 1 for number in known):
            raise InvalidArgument("what a unit can contribute must be whole numbers of at least 1")
        if self.total < self.each:
            raise InvalidArgument("a unit can't contribute less to all groups than to one of them")

    def spreads(self, *, added: Fraction, replaced: Fraction) -> tuple[Fraction, Fraction]:
        """How far two options can move against each other, in one group's list and in all lists added up.

        Proof. Let a unit weigh aᵍ in group g, so aᵍ ≤ each and Σaᵍ ≤ total. Adding or removing it spreads list g by
        added·aᵍ, which is at most added·each, and added·total in sum. Substituting one unit for another is removing the
        one and adding the other: in sum, at most 2·added·total. In one list it is at most replaced·each. The sum can't
        exceed the number of lists times that either.

        Args:
            added: the spread within a list, per step that a unit weighs in it, when the unit is added or removed.
            replaced: the same, per step that the heavier of two weighs, when one is put in the other's place.
        """
        if self.adjacency is ADD_REMOVE:
            one, together = added * self.each, added * self.total
        else:
            one, together = replaced * self.each, 2 * added * self.total
        return one, together if self.groups is None else min(together, self.groups * one)


# ── The most frequent values ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode(Selects):
    """Chooses the bins of each group's histogram that hold most, one after another, without putting back.

    Guarantee: what `selection` states, for all choices of all groups together.

    A bin's score is its count. A unit of weight a moves each count by 0 to a, all in the direction in which it is
    added or removed; so two of them spread by at most a. If a unit of weight a takes the place of one of weight r, one
    count may gain a and another lose r: they spread by at most a + r. Each of `most` selections is from the bins that
    are left, a list that follows from what was released before it, and spreads no further; so all of them cost `most`
    times what one does (peeling).

    Args:
        most: how many bins are chosen from each histogram; 1 or more, at most `size`.
        size: how many bins a histogram has, 1 to 2²⁰.
        contribution: of one unit, in steps of the counts.
        epsilon: what all choices of all groups cost together; above 0.

    Attributes:
        selection: how one bin is chosen; its scores are in steps of the counts.

    Raises:
        InvalidArgument: a number is out of range.

    Source: McSherry, Talwar (2007), Theorem 6; Durfee, Rogers (2019), Section 4, for peeling.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> Mode.calibrate(2, 50, alone, epsilon=1).choose({17: 1000, 30: 500, 31: 10})
        (17, 30)
    """

    most: int
    size: int
    contribution: Contribution
    epsilon: Fraction
    selection: Exponential = field(init=False)

    def __post_init__(self) -> None:
        """Find the rate before there is any data."""
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        spread, total = _spreads_of_counts(_checked_most(self.most, checked_size(self.size)), self.contribution)
        object.__setattr__(self, "selection", Exponential(self.epsilon / total, spread, total))

    @classmethod
    def calibrate(cls, most: int, size: int, contribution: Contribution, epsilon: Rationalizable) -> Self:
        """The mechanism that is ε-DP, over all choices of all groups together.

        Args:
            most: how many bins are chosen from each histogram; 1 or more, at most `size`.
            size: how many bins a histogram has, 1 to 2²⁰.
            contribution: of one unit, in steps of the counts.
            epsilon: above 0.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(most=most, size=size, contribution=contribution, epsilon=positive(epsilon, "epsilon"))

    @classmethod
    def for_rho(cls, most: int, size: int, contribution: Contribution, rho: Rationalizable) -> Self:
        """The mechanism that is ρ-zCDP, over all choices of all groups together; the arguments are as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread, total = _spreads_of_counts(_checked_most(most, checked_size(size)), contribution)
        return cls.calibrate(most, size, contribution, epsilon_for(positive(rho, "rho"), spread / total))

    def choose(self, bins: Mapping[int, int]) -> tuple[int, ...]:
        """The numbers of the bins chosen for one group, in the order in which they were chosen.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        import numpy as np

        from discreet.noise import uniform

        occupied = Occupied.of(bins, self.size)
        named = len(occupied.numbers)
        scores = np.concatenate((occupied.counts, np.zeros(1, dtype=occupied.counts.dtype)))  # last, all empty bins
        weights = np.append(np.ones(named, dtype=np.int64), self.size - named)
        chosen: list[int] = []
        taken = occupied.numbers
        for _ in range(self.most):
            place = self.selection.choose(scores, weights)
            among = uniform(int(weights[place]))  # drawn for a bin that holds something too: all take the same time
            weights[place] -= 1
            if place < named:
                chosen.append(int(occupied.numbers[place]))
            else:
                chosen.append(_free(taken, among))
                taken = np.sort(np.append(taken, chosen[-1]))
        return tuple(chosen)

    def radius(self, confidence: Rationalizable) -> Fraction:
        """How far the count of each bin chosen lies below the greatest of those left at that point, at most.

        The confidence is that of all choices from one histogram together: each is given an equal part of the doubt.

        Args:
            confidence: in (0, 1); over the draws, whatever the data.

        Returns:
            In steps of the counts, rounded up.
        """
        doubt = 1 - probability(confidence, "confidence")
        return self.selection.radius(1 - doubt / self.most, self.size)


def _checked_most(most: int, size: int) -> int:
    """How many are chosen, if there are enough."""
    if type(most) is not int or not 1 <= most <= size:
        raise InvalidArgument(f"most must be from 1 to {size}, the number of values, not {most!r}")
    return most


def _spreads_of_counts(most: int, contribution: Contribution) -> tuple[Fraction, Fraction]:
    """How far two counts can move against each other: in one selection, and in all of all groups."""
    one, together = contribution.spreads(added=Fraction(1), replaced=Fraction(2))
    return one, most * together


def _free(taken: NDArray[np.int64], place: int) -> int:
    """The number at this place among those, from 0 on, that aren't taken.

    Examples:
        >>> import numpy as np
        >>> _free(np.array([0, 2, 3]), 1)
        4
    """
    import numpy as np

    free_below = taken - np.arange(len(taken))
    return place + int(np.searchsorted(free_below, place, side="right"))
