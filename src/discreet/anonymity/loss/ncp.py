"""The normalised certainty penalty: how wide the released cells are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.columns import ColumnMeter, Left, column_meter, levels_of
from discreet.anonymity.loss.loss import Sets
from discreet.anonymity.records.column import Coded, Whole

_GRID = 1 << 30
"""Widths that aren't small integers are taken to this part of the range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NCP:
    """The mean width of the cells of a release, from 0 (values as they were) to 1 (nothing is said).

    A cell that stands for m of the M values that occur in its column has the width (m − 1)/(M − 1). In a column of
    numbers, dates or times it is the distance of the greatest and the least value that the cell stands for, divided by
    that of the column; a cell that may be missing or a number says nothing, and has width 1. A row's penalty is the
    mean over its quasi-identifiers, that of a row left out is 1, and the penalty of a release is the mean over rows.

    Distances are exact where the range is at most 2^30 of the column's unit; else they are taken to 2^-30 of the range.

    Source: Xu et al. (2006), "Utility-Based Anonymization Using Local Recoding", the definition of the normalized
    certainty penalty; (m − 1)/(M − 1) instead of m/M for categories, so that a value as it was costs nothing.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [20, 21, 40]}).column("age")
        >>> ladder = Ladder(
        ...     name="age", maps=(np.arange(3, dtype=np.int32), np.array([0, 0, 1], np.int32)),
        ...     labels=(("20", "21", "40"), ("20–29", "40–49")),
        ... )
        >>> meter = NCP().meter([ages], [ladder], [ages.counts()], 1)
        >>> meter.shown(meter.floor((1,)))  # two of three rows have width 1/20
        Fraction(1, 30)
    """

    @property
    def name(self) -> str:
        """What it is called."""
        return "ncp"

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,  # noqa: ARG002 — for class sizes
    ) -> ColumnMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        return column_meter(columns, ladders, counts, self._levels)

    def _levels(self, column: Coded, ladder: Ladder) -> list[Left]:
        """What each group of a column still says, level by level."""
        return [self.left(column, level) for level in levels_of(ladder)]

    def left(self, column: Coded, sets: Sets) -> Left:
        """What each set of values still says: 1 − its width, in parts of the range."""
        number = sets.sums(np.ones(column.size, dtype=np.int64))
        places = _places(column)
        if places is None:
            unit = max(column.size - 1, 1)
            return Left(parts=unit - (number - 1), unit=unit)
        unit = max(int(places.max(initial=0)), 1)
        low, high = sets.ends()
        width = places[high] - places[low]
        if column.has_missing:
            absent = np.zeros(column.size, dtype=np.int64)
            absent[-1] = 1
            width = np.where(sets.sums(absent) == 0, width, np.where(number == 1, 0, unit))
        return Left(parts=unit - width, unit=unit)


def _places(column: Coded) -> Whole | None:
    """Where each value lies in its column's range, from 0; None if values have no distances.

    A missing value is given the place 0.
    """
    import pyarrow as pa

    kind = column.values.type
    values = column.values.drop_null()
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        if not len(numbers) or not np.isfinite(numbers).all():
            return None
        places = _gridded(numbers)
    elif (
        pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind)
    ):
        places = _exact(_whole(values))
    else:
        return None
    return np.append(places, 0) if column.has_missing else places


def _whole(values: object) -> list[int]:
    """Numbers, dates and times as integers of the column's unit."""
    import pyarrow as pa

    array: pa.Array = values
    kind = array.type
    if pa.types.is_decimal(kind):
        return [int(value.scaleb(kind.scale)) for value in array.to_pylist()]
    if pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    return list(array.to_pylist())


def _exact(values: list[int]) -> Whole:
    """Places of integers: their distance from the least one, on a grid if the range is large."""
    if not values:
        return np.zeros(0, dtype=np.int64)
    least, span = values[0], values[-1] - values[0]
    if span <= _GRID:
        return np.array([value - least for value in values], dtype=np.int64)
    return np.array([(value - least) * _GRID // span for value in values], dtype=np.int64)


def _gridded(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Whole:
    """Places of floats: exact if they are integers, else on a grid. Either way their order is kept."""
    least, span = float(numbers[0]), float(numbers[-1]) - float(numbers[0])
    if (numbers == np.rint(numbers)).all() and span <= _GRID:
        return (numbers - least).astype(np.int64)
    # Halves can't overflow where the range itself would.
    return np.rint((numbers / 2 - least / 2) / (float(numbers[-1]) / 2 - least / 2) * _GRID).astype(np.int64)
