"""t-closeness: a class's sensitive values are distributed almost as the whole table's."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.hierarchies.hierarchy import Hierarchy
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models.comparing import at_most
from discreet.anonymity.models.counting import counts_of
from discreet.anonymity.models.distances import Distances, equal, hierarchical, ordered
from discreet.anonymity.models.model import highest
from discreet.anonymity.models.thresholds import attribute, real, shown
from discreet.anonymity.records.column import Mask, Reals
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable

_Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, slots=True)
class Closeness:
    """Every class's distribution of sensitive values is within t of the whole table's.

    The distance is the earth mover's: the least work that turns one distribution into the other, where moving all of
    it as far as can be is 1. Of a release, the whole table is what is released: rows that were left out don't count.
    Values that a class lacks do.

    Where units have several values in a class, a value's share is that of the units that have it, in the class and in
    the table. Shares then needn't add up to the same; what one has more in all is moved as far as can be. By the equal
    distance no value's share differs by more than t; the others let shares of values that are near differ by more.

    Args:
        t: from 0 to 1; 1 asks for nothing.
        sensitive: the sensitive attribute.
        distance: between two values. "equal": 1 if they differ. "ordered": how many places they are apart in the order
            of the values that occur (numbers by size, texts by code point, a missing value last), over the most there
            can be. "hierarchical": the level at which they first share a group, over the hierarchy's height.
        hierarchy: for the hierarchical distance only; a hierarchy of the attribute, or its ladder. One whose highest
            level is several groups is taken to have one more, which joins them. Whoever measures often binds it once
            and hands in the ladder.

    Raises:
        InvalidArgument: t is no such number, the distance is unknown, or a hierarchy is missing or not used.

    Source: Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity" (2007), the
    definition of t-closeness and the three distances.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"class": list("111222333"), "pay": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
        >>> found = frequencies_of(table, ["class"], "pay")
        >>> Closeness(0.2, "pay", distance="ordered").measure(found).round(3).tolist()
        [0.375, 0.167, 0.236]
    """

    t: Rationalizable
    sensitive: str
    distance: _Distance = "equal"
    hierarchy: Hierarchy | Ladder | None = None

    def __post_init__(self) -> None:
        """Read the threshold and check that the distance has what it needs."""
        object.__setattr__(self, "t", real(self.t, "t", most=1))
        attribute(self.sensitive)
        if self.distance not in get_args(_Distance):
            raise InvalidArgument(f"the distance must be one of {', '.join(get_args(_Distance))}")
        if (self.distance == "hierarchical") != (self.hierarchy is not None):
            raise InvalidArgument("a hierarchy goes with the hierarchical distance, and with no other")

    @property
    def grows(self) -> bool:
        """Whether t is 1: no distance is above it. Below that, rows with one value can move a class away."""
        return self._t == 1

    @property
    def merges(self) -> bool:
        """True.

        Proof. With the table's distribution fixed, the distance is convex: flows that turn two distributions into it
        mix to one that turns their mixture into it, at the same mixture of work. A union is a mixture of its parts.
        """
        return True

    @property
    def relative(self) -> bool:
        """True: with the shares of the whole table."""
        return True

    @property
    def _t(self) -> Fraction:
        """The threshold, as read."""
        return real(self.t, "t")

    def measure(self, frequencies: Frequencies) -> Reals:
        """Of each class, its distance from the whole table.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or the hierarchy doesn't fit it.
            SchemaMismatch: the hierarchy doesn't know a value.
        """
        return self._distances(frequencies).floats()

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or the hierarchy doesn't fit it.
            SchemaMismatch: the hierarchy doesn't know a value.
        """
        found = self._distances(frequencies)
        return at_most(found.work, found.whole, self._t)

    def reached(self, frequencies: Frequencies) -> float:
        """The t of the whole table; 0 of no classes.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or the hierarchy doesn't fit it.
            SchemaMismatch: the hierarchy doesn't know a value.
        """
        return highest(self.measure(frequencies))

    def _distances(self, frequencies: Frequencies) -> Distances:
        """The distances, as exact ratios."""
        counts = counts_of(frequencies, self.sensitive)
        if self.distance == "equal":
            return equal(counts)
        if self.distance == "ordered":
            return ordered(counts)
        return hierarchical(counts, self._ladder(frequencies))

    def _ladder(self, frequencies: Frequencies) -> Ladder:
        """The hierarchy, bound to the sensitive attribute.

        Raises:
            InvalidArgument: it is the ladder of another column.
        """
        column, given = frequencies.sensitive, self.hierarchy
        if column is None or given is None:
            raise InvalidArgument("the hierarchical distance needs a hierarchy and a sensitive attribute")
        ladder = given if isinstance(given, Ladder) else given.ladder(column)
        if len(ladder.maps[0]) != len(frequencies.totals):
            raise InvalidArgument(
                f"the ladder has {len(ladder.maps[0])} values, and {self.sensitive!r} has {len(frequencies.totals)}",
                hint="bind the hierarchy to the column of the whole table",
            )
        return ladder

    def __str__(self) -> str:
        """As "(t=0.2)-closeness of salary by ordered distance"."""
        return f"(t={shown(self._t)})-closeness of {self.sensitive} by {self.distance} distance"
