"""Codes as a source stores them: chunk by chunk, in places of the chunk's own dictionary.

A table of categories has a place for each row already, only in another order than that of the values. Places are turned
into codes where rows are looked at, so that whoever counts rows needs no memory for each of them: at ten million rows,
getting hold of that memory takes longer than counting.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.integer[Any]]
"""Places in a dictionary, in as many bits as its chunk has."""

_PART = 1 << 16
"""So many rows are recoded at a time: what is made on the way stays near the processor."""


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
        """Note where each piece ends."""
        self._pieces = tuple(pieces)
        self._ends = list(accumulate(len(piece.places) for piece in pieces))

    def __len__(self) -> int:
        """How many rows there are."""
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
            upto = min(stop, end, row + _PART)
            begin = end - len(piece.places)
            places = piece.places[row - begin : upto - begin].astype(np.intp, copy=False)
            found[row - first : upto - first] = piece.codes.take(places)
            row = upto
        return found
