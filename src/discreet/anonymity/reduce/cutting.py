"""Mondrian's cuts: classes in two, all at once, each at the median of its rows along an axis of its own.

Strict: values that are equal stay together. Of the cuts between two values the most balanced is taken, the one whose
smaller half is largest; of two that are alike, the lower. Where only the size of a class counts, that is the one cut to
try: if any cut leaves k rows on both sides, this does.

Relaxed: exactly half of the rows go to either side, the middle one of an odd number to the lower. Rows that tie along
the axis are ordered by their other quasi-identifiers. Those that agree on all of them and straddle the middle are dealt
to both sides evenly, in the order of their sensitive values: what is common among them stays common in both halves.
Filling up one half first would make classes with one sensitive value out of nothing.

The rows of such a point agree on the quasi-identifiers and on the models' sensitive attributes; they may differ in
other columns. They are put in the order of those and dealt to the classes evenly, like cards to hands of different
sizes: whatever is common among them is common in each class, and the outcome doesn't depend on the order in which rows
came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.grouping import pack, starts_of
from discreet.anonymity.reduce.axes import Axis
from discreet.anonymity.reduce.points import Front, Judge, Members, Points, everything, front_of

# ── Until no cut is allowed ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Partition:
    """The classes that no allowed cut was found for.

    Args:
        members: their points. After strict cuts each point is in one class.
        low: axis × class → the least place of its points.
        high: axis × class → the greatest.
    """

    members: Members
    low: Codes
    high: Codes


def partition(points: Points, axes: Sequence[Axis], judge: Judge, *, relaxed: bool) -> Partition:
    """Cut until no cut is allowed.

    In each round every class is cut along the widest of its axes that it hasn't tried; of equally wide ones, along the
    first. If both halves meet the models they take its place, else the axis is tried. A class without an axis left is
    done. Where only sizes count, equal values stay together and any two values may be parted, the parts of a class
    needn't try what the class tried: a cut of a part has fewer rows on either side than the same cut of the whole.

    Args:
        points: at least one, which meet the models all together.
        axes: along which they are cut.
        judge: of halves.
        relaxed: whether equal values may come apart.

    Source: LeFevre, DeWitt, Ramakrishnan (2006), "Mondrian Multidimensional K-Anonymity": the greedy algorithm, with
    strict or relaxed partitioning.
    """
    cut = relaxed_halves if relaxed else strict_halves
    front = front_of(everything(points), points, np.zeros((len(axes), 1), dtype=np.bool_))
    lasting = np.array([[judge.only_counts and not relaxed and axis.ladder is None] for axis in axes])
    done: list[Front] = []
    while front.members.number:
        spans = front.spans(axes)
        axis = spans.argmax(axis=0)
        open_ = (spans.max(axis=0) > 0) & (front.members.totals >= max(2, 2 * judge.fewest))
        done.append(front.only(~open_))
        front, axis = front.only(open_), axis[open_]
        if not front.members.number:
            break
        halves = cut(front.members, points, along(front, axes, axis))
        fine: Mask = np.logical_and.reduce(judge.met(halves).reshape(-1, 2), axis=1)
        tried = np.repeat(front.tried[:, fine], 2, axis=1)
        tried &= lasting
        parts = front_of(halves.only(np.repeat(fine, 2)), points, tried)
        front = _again(front.only(~fine), axis[~fine]).beside(parts)
    return _joined(done)


def _again(front: Front, axis: Whole) -> Front:
    """Classes with one more axis that was tried in vain."""
    tried = front.tried.copy()
    tried[axis, np.arange(front.members.number)] = True
    return replace(front, tried=tried)


def _joined(fronts: Sequence[Front]) -> Partition:
    """All classes that are done, as one partition."""
    members = [front.members for front in fronts]
    ends = np.cumsum([len(each.points) for each in members])
    starts = [each.starts[:-1] + end - len(each.points) for each, end in zip(members, ends, strict=True)]
    return Partition(
        members=Members(
            points=np.concatenate([each.points for each in members]),
            rows=np.concatenate([each.rows for each in members]),
            starts=np.append(np.concatenate(starts), ends[-1]),
        ),
        low=np.concatenate([front.low for front in fronts], axis=1),
        high=np.concatenate([front.high for front in fronts], axis=1),
    )


# ── One cut of each class ─────────────────────────────────────────────────────────────────────────────────────────────

_BITS = 63


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Along:
    """Where each class is to be cut.

    Args:
        axis: of each class, the number of its axis.
        level: of each class, the level of groups that a cut must keep whole; 0 for the values themselves.
        axes: all axes.
    """

    axis: Whole
    level: Whole
    axes: Sequence[Axis]

    def places(self, members: Members, points: Points) -> Codes:
        """Of each entry, the place of its group along the axis of its class."""
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
        keys: of each entry, a number that grows with the class, then with the place; equal for equal places.
        passed: how many rows there are up to and with each entry.
        before: of each class, how many rows there are before it.
        totals: of each class, its rows.
    """

    members: Members
    keys: Whole
    passed: Whole
    before: Whole
    totals: Whole

    def middle(self) -> Whole:
        """Of each class, the entry that holds its median row, the lower one of two."""
        return np.searchsorted(self.passed, self.before + (self.totals + 1) // 2)


def strict_halves(members: Members, points: Points, along: Along) -> Members:
    """Both halves of each class, one after the other, equal values together.

    Args:
        members: the classes.
        points: what they are made of.
        along: of each class, an axis on which it has two places or more, and the grain to cut between.

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
        along: of each class, an axis on which it has two places or more, and the grain to order by.

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


# ── Back to rows ──────────────────────────────────────────────────────────────────────────────────────────────────────


def classes_of_rows(members: Members, of_row: Whole, number: int, others: Sequence[Coded]) -> Whole:
    """The class of each row.

    Args:
        members: the classes, and how many rows of each point they take.
        of_row: of each row, its point.
        number: how many points there are.
        others: the columns that points don't tell apart.
    """
    owners = members.owners()
    of_point = np.zeros(number, dtype=np.int64)
    of_point[members.points] = owners
    found = of_point[of_row]
    split = np.bincount(members.points, minlength=number) > 1
    if not split.any():
        return found
    rows = np.flatnonzero(split[of_row])
    rows = rows[np.lexsort((_ranks(others, rows), of_row[rows]))]
    parts = split[members.points]
    found[rows] = _dealt(members.points[parts], owners[parts], members.rows[parts])
    return found


def _ranks(others: Sequence[Coded], rows: Whole) -> Whole:
    """A number for each row that orders rows as their other columns do."""
    if not others:
        return np.zeros(len(rows), dtype=np.int64)
    return pack([column.codes[rows] for column in others], [column.size for column in others])[0]


def _dealt(points: Whole, owners: Whole, counts: Whole) -> Whole:
    """The classes of the rows of each point, point by point: card j of a hand of c is due at (2j + 1)/(2c).

    Args:
        points: of each hand, which point it takes rows from.
        owners: of each hand, its class.
        counts: of each hand, how many rows it takes.
    """
    hand = np.repeat(np.arange(len(points)), counts)
    card = np.arange(len(hand)) - np.repeat(np.cumsum(counts) - counts, counts)
    due = (2 * card + 1) / (2 * counts[hand])
    return owners[hand][np.lexsort((owners[hand], due, points[hand]))]
