"""Earth mover's distances between each class and the whole table, as exact ratios of whole numbers.

With n units of a value among the s of a class, and T among the N of the table, shares differ by (n·N − T·s)/(s·N). All
three distances are sums of such differences, so that only the numerators need adding up. Values that a class lacks are
summed over without being looked at, so the effort depends on the pairs that occur, not on classes × values.

Where units have several values, the shares of a class may add up to more or less than those of the table. What the one
has more than the other comes from, or goes to, a place at the distance 1 from every value; and as no two distributions
are farther apart than that, distances end at 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models.counting import Counts, Exact
from discreet.anonymity.records.column import Codes, Reals
from discreet.anonymity.records.grouping import starts_of

_ROOM = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Distances:
    """Distances of classes, as ratios.

    Args:
        work: of each class, the numerator.
        whole: of each class, the denominator, which is no less.
    """

    work: Exact
    whole: Exact

    def floats(self) -> Reals:
        """The distances, rounded."""
        return np.asarray(self.work / self.whole, dtype=np.float64)


def equal(counts: Counts) -> Distances:
    """What a class has too much of its values, or what it has too little if that is more."""
    return _ended(_unlike(counts), counts.sizes * counts.whole)


def hierarchical(counts: Counts, ladder: Ladder) -> Distances:
    """The mean of the equal distances between groups, over the levels below the highest; it ends at 1, they needn't.

    Proof. In a tree whose leaves all have the depth H, the distance level/H is the length of the path between two
    leaves if each edge is 1/(2H) long. All that a subtree has too much or too little passes the edge above it, and
    moving no more than that is enough. So the work is Σ |difference|/(2H) over all groups below the root, and
    half the differences of one level are its equal distance. Li et al. pair what is left over at each inner node
    instead, which is the same sum. What comes from outside reaches the root by an edge that is ½ long, and so every
    leaf at the distance 1: it adds half of itself, as it does at each level.
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
    has. What either has more in all is taken to come to the last value from outside.
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
    """Of each class, Σ max(0, n·N − T·s) over its values, or Σ max(0, T·s − n·N) if that is more.

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
    if counts.several:
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
    """Of each class, how much more its values have than those of the table: 0 unless units have several."""
    if not counts.several:
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
    """Of each class, Σᵢ |N·Cᵢ − s·Dᵢ| over all but the last value.

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
