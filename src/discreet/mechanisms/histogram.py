"""Histograms that choices are made from, and what one unit can add to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.privacy import ADD_REMOVE, Adjacency

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MOST_BINS = 1 << 20
"""The most bins that a choice can be made from if none of them is empty."""

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


def checked_size(size: int) -> int:
    """The number of bins itself.

    Raises:
        InvalidArgument: it isn't from 1 to 2²⁰.
    """
    if type(size) is not int or not 1 <= size <= MOST_BINS:
        raise InvalidArgument(f"size must be from 1 to 2²⁰, not {size!r}", hint="choose a coarser grid")
    return size


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
