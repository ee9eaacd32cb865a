"""Mondrian's cuts: classes in two, all at once, each at the median of its rows along an axis of its own.

Strict: values that are equal stay together. Among the cuts between two values the most balanced is taken, whose smaller
half is largest; between two alike, the lower. Where only the size of a class counts, that is the one cut to try: if any
cut leaves k rows on both sides, this does.

Relaxed: exactly half of the rows go to either side, the middle one of an odd number to the lower. Rows that tie along
the axis are ordered by their other quasi-identifiers. Those that agree on all of them and straddle the middle are dealt
to both sides evenly, in the order of their sensitive values: what is common among them stays common in both halves.
Filling up one half first would make classes with one sensitive value out of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Codes, Whole
from discreet.anonymity.grouping import starts_of
from discreet.anonymity.reduce.axes import Axis
from discreet.anonymity.reduce.front import Front, Members
from discreet.anonymity.reduce.points import Points

_BITS = 63


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Along:
    """Where to cut each class.

    Args:
        axis: for each class, the number of its axis.
        level: for each class, the level of groups that a cut must keep whole; 0 for the values themselves.
        axes: all axes.
    """

    axis: Whole
    level: Whole
    axes: Sequence[Axis]

    def places(self, members: Members, points: Points) -> Codes:
        """For each entry, the place of its group along the axis of its class."""
        number, lengths = points.number, members.lengths
        found: Codes = points.places.ravel()[np.repeat(self.axis * number, lengths) + members.points]
        if not self.level.any():
            return found
        found = found.astype(np.int32)  # may have been narrower
        level, axis = np.repeat(self.level, lengths), np.repeat(self.axis, lengths)
        for one in np.unique(self.axis[self.level > 0]).tolist():
            entries = np.flatnonzero((axis == one) & (level > 0))
            found[entries] = self.axes[one].grains[level[entries], found[entries]]
        return found


def along(front: Front, axes: Sequence[Axis], axis: Whole) -> Along:
    """Cuts of each class along an axis on which it has two places or more; with a ladder, between the group's parts."""
    level = np.zeros(len(axis), dtype=np.int64)
    for one, line in enumerate(axes):
        if line.ladder is not None:
            mine = np.flatnonzero(axis == one)
            level[mine] = line.levels(front.low[one, mine], front.high[one, mine]) - 1
    return Along(axis=axis, level=level, axes=axes)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Ordered:
    """Classes whose entries are in order along the axis of the class.

    Args:
        members: the classes.
        keys: for each entry, a number that grows with the class, then with the place; equal for equal places.
        passed: how many rows there are up to and with each entry.
        before: for each class, how many rows there are before it.
        totals: for each class, its rows.
    """

    members: Members
    keys: Whole
    passed: Whole
    before: Whole
    totals: Whole

    def middle(self) -> Whole:
        """For each class, the entry that holds its median row, the lower one of two."""
        return np.searchsorted(self.passed, self.before + (self.totals + 1) // 2)


def strict_halves(members: Members, points: Points, along: Along) -> Members:
    """Both halves of each class, one after the other, equal values together.

    Args:
        members: the classes.
        points: what they are made of.
        along: for each class, an axis on which it has two places or more, and the grain to cut between.

    Returns:
        Twice as many classes: 2i and 2i + 1 are the halves of class i. Neither is without points.
    """
    ordered = _ordered(members, points, along.places(members, points), by_point=False)
    begins, ends = members.starts[:-1], members.starts[1:]
    runs = np.append(starts_of(ordered.keys), len(ordered.keys))
    run = np.searchsorted(runs, ordered.middle(), side="right") - 1
    lower, upper = runs[run], runs[run + 1]
    cut = np.where(_balance(ordered, upper, ends) > _balance(ordered, lower, begins), upper, lower)
    starts = np.append(np.stack((begins, cut), axis=1).ravel(), members.starts[-1])
    return Members(points=ordered.members.points, rows=ordered.members.rows, starts=starts)


def relaxed_halves(members: Members, points: Points, along: Along) -> Members:
    """Both halves of each class, one after the other, with the same number of rows or one more in the lower.

    Args:
        members: the classes; each has two rows or more.
        points: what they are made of, in lexicographic order.
        along: for each class, an axis on which it has two places or more, and the grain to order by.

    Returns:
        Twice as many classes: 2i and 2i + 1 are the halves of class i. A point that straddles the middle is in both.
    """
    ordered = _ordered(members, points, along.places(members, points), by_point=True)
    entries, owners = ordered.members, members.owners()
    # Points with the same quasi-identifiers follow each other; among them the rows are dealt evenly.
    runs = np.append(starts_of(owners * (points.number + 1) + points.tuples[entries.points]), len(entries.points))
    run = np.searchsorted(runs, ordered.middle(), side="right") - 1
    ahead = ordered.passed[runs[run]] - entries.rows[runs[run]]  # rows before the run, over all classes
    size = ordered.passed[runs[run + 1] - 1] - ahead
    lower = ordered.before + (ordered.totals + 1) // 2 - ahead  # how many of the run go to the lower half
    ahead, size, lower = ahead[owners], size[owners], lower[owners]
    upto = np.clip(ordered.passed - ahead, 0, size)
    since = np.clip(ordered.passed - entries.rows - ahead, 0, size)
    left = upto * lower // size - since * lower // size
    left += np.minimum(entries.rows, np.maximum(0, ahead - (ordered.passed - entries.rows)))  # before the run: all
    return _divided(entries, owners, left)


def _divided(entries: Members, owners: Whole, left: Whole) -> Members:
    """The halves, given how many rows of each entry go to the lower one."""
    lower, upper = np.flatnonzero(left > 0), np.flatnonzero(left < entries.rows)
    half = np.concatenate((2 * owners[lower], 2 * owners[upper] + 1))
    order = np.argsort(half, kind="stable")
    lengths = np.bincount(half, minlength=2 * entries.number)
    return Members(
        points=entries.points[np.concatenate((lower, upper))[order]],
        rows=np.concatenate((left[lower], (entries.rows - left)[upper]))[order],
        starts=np.concatenate(([0], np.cumsum(lengths))),
    )


def _balance(ordered: _Ordered, cut: Whole, forbidden: Whole) -> Whole:
    """How many rows the smaller half has if a class is cut before this entry; −1 where a half would have no point."""
    left = ordered.passed[cut - 1] - ordered.before  # cut − 1 may wrap around at the first entry, which is forbidden
    return np.where(cut == forbidden, -1, np.minimum(left, ordered.totals - left))


def _ordered(members: Members, points: Points, along: Codes, *, by_point: bool) -> _Ordered:
    """Each class in order along its axis; ties in the order of the points, or in any order."""
    number = points.number
    span = int(along.max()) + 1
    keys = members.owners() * span
    keys += along
    order = _order(keys, members.number * span, members.points if by_point else None, number)
    rows = members.rows[order]
    passed = np.cumsum(rows)
    before = np.concatenate(([0], passed[members.starts[1:-1] - 1]))
    totals = passed[members.starts[1:] - 1] - before
    moved = Members(points=members.points[order], rows=rows, starts=members.starts)
    return _Ordered(members=moved, keys=keys[order], passed=passed, before=before, totals=totals)


def _order(keys: Whole, span: int, ties: Whole | None, number: int) -> Whole:
    """The order of entries by key, then by tie-breaker; equal keys in any order if there is none."""
    bits = max(len(keys) - 1, number - 1, 1).bit_length()
    if span.bit_length() + bits > _BITS:  # more than one number can hold
        return np.argsort(keys) if ties is None else np.lexsort((ties, keys))
    packed = keys << bits
    if ties is not None:
        packed |= ties
        return np.argsort(packed)
    packed |= np.arange(len(keys))
    packed.sort()  # several times faster than argsort, and the places come along
    packed &= (1 << bits) - 1
    return packed
