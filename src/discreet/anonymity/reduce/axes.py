"""Axes: where the values of a quasi-identifier lie, how wide a range of them is, and where it may be cut.

Numbers and times lie where they are, other values one step apart in the order of their code points; a missing value
lies an average step beyond the greatest. Ranges of them may be cut between any two values.

Where a ladder is given, values lie in an order that keeps those of every group together, at every level: only then does
a range of categories mean something. It is shown as the smallest group that holds it, so it is as wide as that group,
and it is cut only between that group's parts: any other cut may leave both halves with the same cell. `range_labels.py`
says how ranges are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.hierarchies.texts import is_number, present
from discreet.anonymity.reduce.averages import as_stored
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Axis:
    """One quasi-identifier as a line.

    Args:
        column: the quasi-identifier.
        ladder: its hierarchy; None if ranges of its values are released.
        place: code → place on the line, from 0.
        at: place → coordinate, ascending.
        grains: level × place → the number of the place's group along the line. Level 0 is the places themselves;
            with a ladder its other levels follow, and one on which everything is a group.
        widths: level × place → how wide that group is, as a share of the line: its values but one over all but one.

    Examples:
        >>> from discreet.anonymity import read
        >>> axis = axis_of(read({"age": [20, 25, 40]}).column("age"), None)
        >>> axis.spans(np.array([0], np.int32), np.array([1], np.int32)).tolist()
        [0.25]
    """

    column: Coded
    ladder: Ladder | None
    place: Codes
    at: Reals
    grains: Codes
    widths: Reals

    def spans(self, low: Codes, high: Codes) -> Reals:
        """How wide each range of places is, as a share of the line; 0 for a single place."""
        if self.ladder is not None:
            return self.widths[self.levels(low, high), low]
        width = float(self.at[-1] - self.at[0])
        return (self.at[high] - self.at[low]) / (width if width > 0 else 1.0)

    def levels(self, low: Codes, high: Codes) -> Whole:
        """The lowest level at which each range is within one group; for axes with a ladder."""
        level = np.zeros(len(low), dtype=np.int64)
        for rung in range(len(self.grains) - 1, -1, -1):
            level[self.grains[rung][low] == self.grains[rung][high]] = rung
        return level


def axes_of(columns: Sequence[Coded], ladders: Mapping[str, Ladder]) -> tuple[Axis, ...]:
    """The axes of some quasi-identifiers.

    Raises:
        InvalidArgument: a ladder belongs to none of them, or to other values.
    """
    unknown = set(ladders) - {column.name for column in columns}
    if unknown:
        raise InvalidArgument(f"{min(unknown)!r} has a ladder, but isn't among the quasi-identifiers")
    return tuple(axis_of(column, ladders.get(column.name)) for column in columns)


def axis_of(column: Coded, ladder: Ladder | None) -> Axis:
    """The axis of one quasi-identifier.

    Raises:
        InvalidArgument: the ladder has another number of values than the column.
    """
    steps: Codes = np.arange(column.size, dtype=np.int32)
    if ladder is not None and len(ladder.maps[0]) != column.size:
        raise InvalidArgument(f"the ladder of {column.name!r} was made for another column: its values don't agree")
    # Sorted by the highest level first: a group's values follow each other, within a group those of a subgroup, …
    maps: tuple[Codes, ...] = (steps,) if ladder is None else (*ladder.maps, np.zeros_like(steps))
    order = np.lexsort(maps)
    place = np.empty_like(steps)
    place[order] = steps
    grains = np.zeros((len(maps), column.size), dtype=np.int32)
    for level, groups in enumerate(maps):
        np.cumsum(groups[order][1:] != groups[order][:-1], out=grains[level, 1:])
    widths = np.stack([np.bincount(grain)[grain] - 1 for grain in grains]) / max(1, column.size - 1)
    at = coordinates(column) if ladder is None else steps.astype(np.float64)
    return Axis(column=column, ladder=ladder, place=place, at=at, grains=grains, widths=widths)


def coordinates(column: Coded) -> Reals:
    """Where each value lies: numbers and times where they are, others one step apart, a missing value beyond them."""
    import pyarrow as pa

    values = present(column)
    if len(values) <= 1 or not (is_number(values) or pa.types.is_temporal(values.type)):
        return np.arange(column.size, dtype=np.float64)
    at = np.asarray(as_stored(values).cast(pa.float64(), safe=False), dtype=np.float64)
    if not np.isfinite(at[-1] - at[0]):
        return np.arange(column.size, dtype=np.float64)  # infinitely far from all others: only the order is left
    if not column.has_missing:
        return at
    # One average step further; all are multiplied by the number of steps, so that whole numbers stay whole.
    return np.append(at * (len(at) - 1), at[-1] * len(at) - at[0])
