"""Mondrian's partition: classes are cut until no cut is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Whole
from discreet.anonymity.reduce.axes import Axis
from discreet.anonymity.reduce.cutting import along, relaxed_halves, strict_halves
from discreet.anonymity.reduce.front import Front, Members, everything, front_of
from discreet.anonymity.reduce.judge import Judge
from discreet.anonymity.reduce.points import Points


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
