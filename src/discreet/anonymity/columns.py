"""Columns as codes: each row holds the place of its value among the column's different values, which are in order.

A table of categories has a place for each row already, only in another order than that of the values. Places are turned
into codes only where rows are looked at, so that counting takes no memory for each row: at ten million rows, getting
hold of that memory takes longer than counting.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Places: TypeAlias = NDArray[np.integer[Any]]
"""Places in a dictionary, in as many bits as its chunk has."""

_RECODED = 1 << 16
"""How many rows are recoded at a time: what is made on the way stays near the processor."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Piece:
    """A chunk of a column.

    Args:
        places: row → place in the chunk's dictionary.
        codes: place in the dictionary → code.
    """

    places: Places
    codes: NDArray[np.int32]


class Stored:
    """The codes of a column, worked out for the rows that are asked for.

    Args:
        pieces: the column's chunks, in the order of rows.

    Examples:
        >>> first = Piece(places=np.array([1, 0, 1], np.uint8), codes=np.array([7, 5], np.int32))
        >>> stored = Stored([first, Piece(places=np.array([0, 0], np.uint8), codes=np.array([6], np.int32))])
        >>> len(stored), stored[:].tolist(), stored[2:4].tolist()
        (5, [5, 7, 5, 6, 6], [5, 6])
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = tuple(pieces)
        self._ends = list(accumulate(len(piece.places) for piece in pieces))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, rows: slice) -> NDArray[np.int32]:
        """The codes of neighbouring rows.

        Raises:
            IndexError: a place is in no dictionary.
        """
        row, stop, _ = rows.indices(len(self))
        found = np.empty(max(stop - row, 0), dtype=np.int32)
        first = row
        while row < stop:
            number = bisect_right(self._ends, row)
            piece, end = self._pieces[number], self._ends[number]
            upto = min(stop, end, row + _RECODED)
            begin = end - len(piece.places)
            places = piece.places[row - begin : upto - begin].astype(np.intp, copy=False)
            found[row - first : upto - first] = piece.codes.take(places)
            row = upto
        return found


Codes: TypeAlias = NDArray[np.int32]
"""Places in a list of values."""

Whole: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

Value: TypeAlias = str | int | float | bool | Decimal | date | datetime | None
"""A cell's value."""

_COUNTED = 1 << 20
"""How many rows are counted at a time, unless there are more values than that."""


class Coded:
    """A column, dictionary-encoded in the order of its values.

    Args:
        name: of the column.
        codes: row → place in `values`; worked out when that is first asked for, if the source stores others.
        values: the different values, each of which occurs: numbers by size, texts by code point, times by time, and
            a missing value last.
        has_missing: whether the last of `values` is a missing one.

    Examples:
        >>> from discreet.anonymity import read
        >>> age = read({"age": [40, None, 25, 40]}).column("age")
        >>> age.codes.tolist(), age.labels(), age.counts().tolist()
        ([1, 2, 0, 1], (25, 40, None), [1, 2, 1])
    """

    __slots__ = ("_codes", "has_missing", "name", "values")

    def __init__(self, *, name: str, codes: Codes | Stored, values: pa.Array, has_missing: bool) -> None:
        self.name = name
        self.values = values
        self.has_missing = has_missing
        self._codes = codes

    @property
    def codes(self) -> Codes:
        """Row → place in `values`."""
        if not isinstance(self._codes, np.ndarray):
            self._codes = self._codes[:]
        return self._codes

    @property
    def stored(self) -> Codes | Stored:
        """The same, to be looked at a few neighbouring rows at a time: without memory for all of them."""
        return self._codes

    @property
    def rows(self) -> int:
        """How many rows the column has."""
        return len(self._codes)

    @property
    def size(self) -> int:
        """How many different values it has."""
        return len(self.values)

    def labels(self) -> tuple[Value, ...]:
        """The different values as Python has them; times that it can't hold, beyond the year 9999 say, as texts."""
        try:
            held = self.values.to_pylist()
        except (ValueError, OverflowError):  # whose messages would quote the value
            held = self.values.cast("string").to_pylist()
        return tuple(cast("list[Value]", held))

    def counts(self) -> Whole:
        """How many rows have each value."""
        counts = np.zeros(self.size, dtype=np.int64)
        part = max(_COUNTED, self.size)
        for start in range(0, self.rows, part):
            counts += np.bincount(self._codes[start : start + part], minlength=self.size)
        return counts

    def take(self, rows: Whole) -> Coded:
        """The column of these rows only, with the values that are left."""
        return self.recoded(self.codes[rows])

    def recoded(self, codes: Codes) -> Coded:
        """A column with other codes of these values, without the values that no row has."""
        used = np.zeros(self.size, dtype=np.bool_)
        used[codes] = True
        if used.all():
            return Coded(name=self.name, codes=codes, values=self.values, has_missing=self.has_missing)
        place = (np.cumsum(used) - 1).astype(np.int32)
        kept = self.values.take(np.flatnonzero(used))
        missing = self.has_missing and bool(used[-1])
        return Coded(name=self.name, codes=place[codes], values=kept, has_missing=missing)
