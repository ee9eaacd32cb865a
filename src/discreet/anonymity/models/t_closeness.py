"""t-closeness: a class's sensitive values are distributed almost as the whole table's.

With n units of a value among the s of a class, and T among the N of the table, shares differ by (n·N − T·s)/(s·N). All
three distances are sums of such differences, so that only the numerators need adding up. Values that a class lacks are
summed over without being looked at, so the effort depends on the pairs that occur, not on classes × values.

Where units have several values, the shares of a class may add up to more or less than those of the table. The surplus
of one over the other comes from, or goes to, a place at the distance 1 from every value; and as no two distributions
are farther apart than that, distances end at 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Reals
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.grouping import starts_of
from discreet.anonymity.hierarchies.ladder import Hierarchy, Ladder
from discreet.anonymity.models.counting import Counts, Exact, at_most, counts_of
from discreet.anonymity.models.model import AgainstTable, attribute, real, shown
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable

_ROOM = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Distances:
    """Distances of classes, as ratios.

    Args:
        work: for each class, the numerator.
        whole: for each class, the denominator, which is no less.
    """

    work: Exact
    whole: Exact

    def floats(self) -> Reals:
        """The distances, rounded."""
        return np.asarray(self.work / self.whole, dtype=np.float64)


def equal(counts: Counts) -> Distances:
    """How much too often a class has its values, or too seldom if that is more."""
    return _ended(_unlike(counts), counts.sizes * counts.whole)


def hierarchical(counts: Counts, ladder: Ladder) -> Distances:
    """The mean of the equal distances between groups, over the levels below the highest; it ends at 1, they needn't.

    Proof. In a tree whose leaves all have the depth H, the distance level/H is the length of the path between two
    leaves if each edge is 1/(2H) long. All that a subtree has too much or too little passes the edge above it, and
    moving no more than that is enough. So the work is Σ |difference|/(2H) over all groups below the root, and half the
    differences of one level are its equal distance. Li et al. pair what is left over at each inner node instead, which
    is the same sum. Mass from outside reaches the root by an edge that is ½ long, and so every leaf at the distance 1:
    it adds half of itself, as it does at each level.
    """
    height = max(ladder.height + (ladder.groups(ladder.height) > 1), 1)

    def work(part: Counts) -> Exact:
        """The numerators of a part of the classes."""
        total = _unlike(part)
        for level in range(1, height):
            part = _grouped(part, ladder.between(level - 1, level))
            total = total + _unlike(part)
        return total

    return _in_parts(counts, height, work)


def ordered(counts: Counts) -> Distances:
    """The mean of |cumulative difference| over all but the last value: Σᵢ |N·Cᵢ − s·Dᵢ| / (s·N·(m − 1)).

    Cᵢ and Dᵢ are how many units of the class and of the table have one of the first i of the m values that the table
    has. The surplus of either in total is taken to come to the last value from outside.
    """
    there = counts.totals > 0
    if not there.all():  # a value that only rows have that were left out
        place = np.cumsum(there) - 1
        counts = replace(counts, values=place[counts.values].astype(np.int32), totals=counts.totals[there])
    steps = max(len(counts.totals) - 1, 1)

    def work(part: Counts) -> Exact:
        """The numerators of a part of the classes."""
        moved: Exact = _moved(part) + steps * np.abs(_surplus(part))
        return moved

    return _in_parts(counts, steps, work)


def _unlike(counts: Counts) -> Exact:
    """For each class, Σ max(0, n·N − T·s) over its values, or Σ max(0, T·s − n·N) if that is more.

    Unless units have several values, differences add up to 0, so that both are half the sum of all. Neither is above
    2^62, as no count exceeds 2^31.
    """
    have, due = counts.gains()
    over: Exact = counts.sums(np.maximum(have - due, 0))
    return over + np.maximum(-_surplus(counts), 0)


def _in_parts(counts: Counts, steps: int, work: Callable[[Counts], Exact]) -> Distances:
    """Add up in 64 bits where no sum can exceed it, else in Python's whole numbers.

    With as many pairs as units, no sum exceeds s·N·steps. Else four times the larger of the pairs of the class times N
    and s times the pairs of the table is above every sum of one step.
    """
    most, whole = counts.sizes, counts.whole
    if counts.uneven:
        most, whole = 4 * np.maximum(most, counts.sums(counts.counts)), counts.held
    wide = most > _ROOM // max(whole * steps, 1)
    if not wide.any():
        return _ended(work(counts), counts.sizes * (counts.whole * steps))
    found = np.empty(len(wide), dtype=object)
    for part, kind in ((wide, object), (~wide, np.int64)):
        if part.any():
            found[part] = work(counts.only(part, kind))
    return _ended(found, counts.sizes.astype(object) * (counts.whole * steps))


def _ended(work: Exact, whole: Exact) -> Distances:
    """Distances that end at 1."""
    return Distances(work=np.minimum(work, whole), whole=whole)


def _surplus(counts: Counts) -> Exact:
    """For each class, how much more its values have than those of the table: 0 unless units have several."""
    if not counts.uneven:
        return np.zeros_like(counts.sizes)
    more: Exact = counts.sums(counts.counts) * counts.whole - counts.sizes * counts.held
    return more


def _grouped(counts: Counts, groups: Codes) -> Counts:
    """The counts of groups of values.

    Args:
        counts: of values.
        groups: value → the group that it is in.
    """
    number = int(groups.max(initial=0)) + 1
    keys = counts.spread(np.arange(len(counts.sizes))) * number + groups[counts.values]
    order = np.argsort(keys, kind="stable")
    first = starts_of(keys[order])
    kept = keys[order][first]
    starts = starts_of(kept // number)
    return Counts(
        sizes=counts.sizes,
        starts=starts,
        lengths=np.diff(np.append(starts, len(kept))),
        values=(kept % number).astype(np.int32),
        counts=np.add.reduceat(counts.counts[order], first),
        totals=np.bincount(groups, weights=counts.totals, minlength=number).astype(np.int64),
        whole=counts.whole,
    )


def _moved(counts: Counts) -> Exact:
    """For each class, Σᵢ |N·Cᵢ − s·Dᵢ| over all but the last value.

    Between two values that a class has, Cᵢ stays what it is and Dᵢ rises, so the difference changes its sign once, at
    a place that is searched for; on either side of it the sum follows from sums of Dᵢ, known for all i in advance.
    """
    last = max(len(counts.totals) - 1, 0)
    below = np.cumsum(counts.totals)  # Dᵢ: at most 2^31
    prefix = np.concatenate(([0], np.cumsum(below)))  # Σ of the first Dᵢ: at most m·2^31, below 2^62
    sizes, low = counts.spread(counts.sizes), counts.values.astype(np.int64)
    high = np.empty_like(low)
    high[:-1] = low[1:]
    high[counts.starts + counts.lengths - 1] = last
    reached = np.cumsum(counts.counts)
    before = reached[counts.starts] - counts.counts[counts.starts]
    have = (reached - counts.spread(before)) * counts.whole  # N·Cᵢ from this value up to the next
    turn = np.searchsorted(below, (have // sizes).astype(np.int64), side="right")
    turn = np.clip(turn, low, high)
    over = have * (2 * turn - low - high)
    under = sizes * (prefix[low] + prefix[high] - 2 * prefix[turn])
    moved: Exact = counts.sums(over + under) + counts.sizes * prefix[low[counts.starts]]
    return moved


_Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, slots=True)
class Closeness(AgainstTable):
    """Every class's distribution of sensitive values is within t of the whole table's.

    The distance is the earth mover's: the least work that turns one distribution into the other, where moving all of it
    as far as can be is 1. For a release, the whole table means the released one: rows that were left out don't count.
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
            level is several groups is taken to have one more, which joins them. Those who measure often bind it once
            and hands in the ladder.

    Raises:
        InvalidArgument: t is no such number, the distance is unknown, or a hierarchy is missing or not used.

    Source: Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity" (2007), the
    definition of t-closeness and the three distances.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
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
    def _t(self) -> Fraction:
        """The threshold, as read."""
        return real(self.t, "t")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, its distance from the whole table.

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
