"""Halving: a range of people is cut in two by counts, again and again, until one person is alone in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Value, Whole
from discreet.anonymity.records import Records
from discreet.attacks.naming import shown
from discreet.attacks.rows.nearness import is_ordered, numbers
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.sql_conditions import where
from discreet.errors import InvalidArgument
from discreet.noise import uniform


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Axis:
    """A column along which ranges are halved, and what is publicly known of its values.

    Args:
        name: of the column.
        points: values that occur among people who aren't in the data, ascending.
        labels: the same as they are written.
    """

    name: str
    points: Reals
    labels: tuple[Value, ...]

    @classmethod
    def of(cls, column: Coded) -> Axis:
        """The axis of a column of numbers or times."""
        points = numbers(column)
        known = np.isfinite(points)
        labels = tuple(label for label, real in zip(column.labels(), known, strict=True) if real)
        return cls(name=column.name, points=points[known], labels=labels)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Box:
    """A predicate: a range of points on each axis.

    Args:
        axes: in the order in which they are halved.
        low: for each axis, the place of the first point in the range; 0 leaves it open.
        high: for each axis, the place after the last point in it; the number of points leaves it open.
    """

    axes: tuple[Axis, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @classmethod
    def all(cls, axes: Sequence[Axis]) -> Box:
        """The predicate that everyone meets."""
        return cls(axes=tuple(axes), low=(0,) * len(axes), high=tuple(len(axis.points) for axis in axes))

    def cut(self, axis: int, place: int) -> tuple[Box, Box]:
        """Cut an axis before the point at a place."""
        below = replace(self, high=(*self.high[:axis], place, *self.high[axis + 1 :]))
        above = replace(self, low=(*self.low[:axis], place, *self.low[axis + 1 :]))
        return below, above

    def holds(self, values: Sequence[Reals]) -> Mask:
        """Which rows meet it, given their values on each axis."""
        found = np.ones(len(values[0]), dtype=np.bool_)
        for axis, low, high, column in zip(self.axes, self.low, self.high, values, strict=True):
            if low > 0:
                found &= column >= axis.points[low]
            if high < len(axis.points):
                found &= column < axis.points[high]
        return found

    def condition(self) -> str:
        """The same in SQL."""
        parts = []
        for axis, low, high in zip(self.axes, self.low, self.high, strict=True):
            if low > 0:
                parts.append(_compared(axis, low, ">="))
            if high < len(axis.points):
                parts.append(_compared(axis, high, "<"))
        return " AND ".join(parts) or "TRUE"

    def __str__(self) -> str:
        parts = []
        for axis, low, high in zip(self.axes, self.low, self.high, strict=True):
            start = f"{shown(axis.labels[low])} ≤ " if low > 0 else ""
            end = f" < {shown(axis.labels[high])}" if high < len(axis.points) else ""
            if start or end:
                parts.append(f"{start}{axis.name}{end}")
        return ", ".join(parts) or "everyone"


def axes_of(fresh: Records, on: Sequence[str] | None = None) -> tuple[Axis, ...]:
    """The columns that can be halved, those with most values first.

    Args:
        fresh: people who aren't in the data.
        on: which columns; all of numbers or times if left out.

    Raises:
        InvalidArgument: there are none.
    """
    columns = [fresh.column(name) for name in (fresh.names if on is None else on)]
    axes = sorted((Axis.of(column) for column in columns if is_ordered(column)), key=lambda axis: -len(axis.points))
    axes = [axis for axis in axes if len(axis.points) > 1]
    if not axes:
        raise InvalidArgument("halving needs a column of numbers or times")
    return tuple(axes)


def halve(answers: Answering, fresh: Records, axes: Sequence[Axis], depth: int) -> Box:
    """Look for a small predicate with one person in it.

    Each step cuts the rest at the median of the people who aren't in the data, so that about half of the population is
    on either side, asks how many people are below the cut, and goes where there are some: below or above at random if
    both seem to hold someone, else to the larger side. A unit that isn't below is taken to be above; so a unit with
    rows on both sides is missed above, until it is counted there. What the budget no longer pays for is decided by a
    coin.

    Args:
        answers: what answers; its questions are charged.
        fresh: people who aren't in the data, and whom the attacker knows.
        axes: where to cut.
        depth: how often.
    """
    values = [numbers(fresh.column(axis.name))[fresh.column(axis.name).codes] for axis in axes]
    box = Box.all(axes)
    everybody = answers.count({}).value
    inside = float(fresh.counted if everybody is None else everybody)
    for _ in range(depth):
        found = _cut(box, values)
        if found is None:
            return box
        below, above = found
        answer = answers.aggregate(answers.counting, below.condition()).value
        low = inside / 2 if answer is None else float(answer)
        high = inside - low
        some = [low >= 0.5, high >= 0.5]  # noqa: PLR2004 — rounds to someone
        downwards = bool(uniform(2)) if some[0] == some[1] else some[0]
        if some == [False, False]:
            downwards = low > high
        box, inside = (below, low) if downwards else (above, high)
    return box


def _cut(box: Box, values: Sequence[Reals]) -> tuple[Box, Box] | None:
    """Cut the predicate at the median of who meets it, on the first axis that can be cut; None if none can."""
    held = box.holds(values)
    for place, (axis, column) in enumerate(zip(box.axes, values, strict=True)):
        low, high = box.low[place], box.high[place]
        if high - low <= 1:
            continue
        here: Whole = np.searchsorted(axis.points, column[held & np.isfinite(column)])
        middle = int(np.median(here)) if len(here) > 1 else (low + high) // 2
        return box.cut(place, min(max(middle, low + 1), high - 1))
    return None


def _compared(axis: Axis, place: int, sign: str) -> str:
    """A comparison in SQL: the condition that equals, with another sign."""
    name, _, value = where({axis.name: axis.labels[place]}).rpartition(" = ")  # numbers and times hold no such sign
    return f"{name} {sign} {value}"
