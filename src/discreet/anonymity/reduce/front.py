"""The front: all classes of points that Mondrian has cut so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Reals, Whole
from discreet.anonymity.reduce.axes import Axis
from discreet.anonymity.reduce.points import Points


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Which points are in which class, and with how many rows.

    Args:
        points: numbers of points, class after class; relaxed cuts put one point into several classes.
        rows: how many rows of each are meant.
        starts: class i has those from `starts[i]` to `starts[i + 1]`, at least one; one entry more than there are
            classes.
    """

    points: Whole
    rows: Whole
    starts: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> Whole:
        """How many points each class has."""
        return np.diff(self.starts)

    @property
    def totals(self) -> Whole:
        """How many rows each class has."""
        return summed(self.rows, self.starts)

    def owners(self) -> Whole:
        """For each entry, the class."""
        return np.repeat(np.arange(self.number), self.lengths)

    def only(self, kept: Mask) -> Members:
        """Some of the classes."""
        lengths = self.lengths
        entries = np.repeat(kept, lengths)
        return Members(
            points=self.points[entries],
            rows=self.rows[entries],
            starts=np.concatenate(([0], np.cumsum(lengths[kept]))),
        )

    def beside(self, others: Members) -> Members:
        """These classes, then the others."""
        return Members(
            points=np.concatenate((self.points, others.points)),
            rows=np.concatenate((self.rows, others.rows)),
            starts=np.concatenate((self.starts, others.starts[1:] + self.starts[-1])),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Front:
    """Classes that may still be cut.

    Args:
        members: their points.
        low: axis × class → the least place of its points.
        high: axis × class → the greatest.
        tried: axis × class → whether its cut isn't allowed.
    """

    members: Members
    low: Codes
    high: Codes
    tried: Mask

    def only(self, kept: Mask) -> Front:
        """Some of the classes."""
        return Front(
            members=self.members.only(kept), low=self.low[:, kept], high=self.high[:, kept], tried=self.tried[:, kept]
        )

    def beside(self, others: Front) -> Front:
        """These classes, then the others."""
        return Front(
            members=self.members.beside(others.members),
            low=np.concatenate((self.low, others.low), axis=1),
            high=np.concatenate((self.high, others.high), axis=1),
            tried=np.concatenate((self.tried, others.tried), axis=1),
        )

    def spans(self, axes: Sequence[Axis]) -> Reals:
        """Axis × class → its width as a share of the axis; 0 where the cut was tried."""
        spans = np.empty(self.low.shape, dtype=np.float64)
        for number, axis in enumerate(axes):
            spans[number] = axis.spans(self.low[number], self.high[number])
        spans[self.tried] = 0.0
        return spans


def front_of(members: Members, points: Points, tried: Mask) -> Front:
    """Classes with the ranges that their points span."""
    shape = (len(points.places), members.number)
    low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    begins = members.starts[:-1]
    for number, places in enumerate(points.places):
        here = places[members.points]
        low[number], high[number] = np.minimum.reduceat(here, begins), np.maximum.reduceat(here, begins)
    return Front(members=members, low=low, high=high, tried=tried)


def everything(points: Points) -> Members:
    """All points as one class."""
    starts = np.array([0, points.number], dtype=np.int64)
    return Members(points=np.arange(points.number), rows=points.rows, starts=starts)


def summed(counts: Whole, starts: Whole) -> Whole:
    """The sums of the stretches that begin at `starts` and end before the next; none is empty."""
    return np.add.reduceat(counts, starts[:-1]) if len(starts) > 1 else np.zeros(0, dtype=np.int64)
