"""The mode: the choice of the most frequent bins of a histogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
from discreet.mechanisms.histogram import Contribution, Occupied, checked_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode(Selects):
    """Chooses the fullest bins of each group's histogram, one after another, without replacement.

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
        """The most by which each chosen bin's count lies below the greatest of those left at that point.

        The confidence is that of all choices from one histogram together: each is given an equal part of the doubt.

        Args:
            confidence: in (0, 1); over the draws, whatever the data.

        Returns:
            In steps of the counts, rounded up.
        """
        doubt = 1 - probability(confidence, "confidence")
        return self.selection.radius(1 - doubt / self.most, self.size)


def _checked_most(most: int, size: int) -> int:
    """The number to choose, if there are enough."""
    if type(most) is not int or not 1 <= most <= size:
        raise InvalidArgument(f"most must be from 1 to {size}, the number of values, not {most!r}")
    return most


def _spreads_of_counts(most: int, contribution: Contribution) -> tuple[Fraction, Fraction]:
    """How far two counts can move against each other: in one selection, and in all of all groups."""
    one, together = contribution.spreads(added=Fraction(1), replaced=Fraction(2))
    return one, most * together


def _free(taken: NDArray[np.int64], place: int) -> int:
    """The number at this place among the numbers from 0 on that aren't taken.

    Examples:
        >>> import numpy as np
        >>> _free(np.array([0, 2, 3]), 1)
        4
    """
    import numpy as np

    free_below = taken - np.arange(len(taken))
    return place + int(np.searchsorted(free_below, place, side="right"))
