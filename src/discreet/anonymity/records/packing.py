"""Several codes as one number, and back.

Codes c₁, …, c_q with sizes n₁, …, n_q pack into ((c₁·n₂ + c₂)·n₃ + …), which orders rows as the columns do, first
column first. Where that outgrows 62 bits, what was packed so far is replaced by its rank among the numbers that
occur, which keeps the order; there are no more ranks than rows, so packing can always go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.records.column import Codes, Whole
from discreet.anonymity.records.stored import Stored

Keys: TypeAlias = NDArray[np.signedinteger[Any]]
"""Packed numbers, in 32 or 64 bits."""
Packable: TypeAlias = Keys | Stored
"""What can be packed: codes or ranks, for all rows or for those that are asked for."""

_MOST = 1 << 62
"""Keys stay below this, so that neither a product nor a sum leaves 63 bits."""
_NARROW = 1 << 31
"""Keys below this fit into 32 bits: they are packed and sorted in half the time."""
_PART = 1 << 16
"""So many rows are packed at a time: their codes stay near the processor."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Packing:
    """How some columns are packed.

    Args:
        sizes: of each column, how many codes it has; at least 1.
        ranked: of each column, the numbers that are replaced by their ranks before it is packed; None if none are.
        columns: what is left to pack: the columns, or the last ranks and the columns behind them.
        span: all keys are below this.
    """

    sizes: tuple[int, ...]
    ranked: tuple[Whole | None, ...]
    columns: tuple[Packable, ...]
    span: int

    def keys(self, rows: slice = slice(None), *, wide: bool = False) -> Keys:
        """The keys of neighbouring rows.

        Args:
            rows: which; all if left out.
            wide: whether keys have 64 bits also where they would fit into 32.
        """
        start, stop, _ = rows.indices(len(self.columns[0]))
        narrow = self.span < _NARROW and not wide
        keys: Keys = np.empty(max(stop - start, 0), dtype=np.int32 if narrow else np.int64)
        sizes = self.sizes[len(self.sizes) - len(self.columns) + 1 :]
        for row in range(start, stop, _PART):
            part = slice(row, min(row + _PART, stop))
            packed = keys[row - start : part.stop - start]
            packed[:] = self.columns[0][part]
            for column, size in zip(self.columns[1:], sizes, strict=True):
                packed *= size
                packed += column[part]
        return keys

    def unpack(self, keys: Keys) -> Codes:
        """The codes of each key: keys × columns, of which each column is in one piece."""
        codes = np.empty((len(keys), len(self.sizes)), dtype=np.int32, order="F")
        rest = keys
        for place in range(len(self.sizes) - 1, 0, -1):
            both, rest = rest, rest // self.sizes[place]
            codes[:, place] = both - rest * self.sizes[place]
            before = self.ranked[place]
            if before is not None:
                rest = before[rest]
        codes[:, 0] = rest
        return codes


def packing_of(columns: Sequence[Packable], sizes: Sequence[int]) -> Packing:
    """How to pack columns. Rows are looked at here only if numbers have to be replaced by their ranks.

    Args:
        columns: one or more, of the same length, at most 2^31 rows; codes of column i are in [0, sizes[i]).
        sizes: at most 2^31 each; 0 where there are no rows.

    Examples:
        >>> packing = packing_of([np.array([1, 0], np.int32), np.array([2, 1], np.int32)], [2, 3])
        >>> packing.keys().tolist(), packing.unpack(packing.keys()).tolist()
        ([5, 1], [[1, 2], [0, 1]])
    """
    spans = tuple(max(size, 1) for size in sizes)
    left: list[Packable] = [columns[0]]
    ranked: list[Whole | None] = [None]
    span = spans[0]
    for place, (column, size) in enumerate(zip(columns[1:], spans[1:], strict=True), start=1):
        before = None
        if span * size > _MOST:
            first = Packing(sizes=spans[:place], ranked=tuple(ranked), columns=tuple(left), span=span)
            before, ranks = np.unique(first.keys(), return_inverse=True)
            left, span = [ranks], max(len(before), 1)
        left.append(column)
        ranked.append(before)
        span *= size
    return Packing(sizes=spans, ranked=tuple(ranked), columns=tuple(left), span=span)


def pack(columns: Sequence[Packable], sizes: Sequence[int]) -> tuple[Whole, Packing]:
    """One number per row, and how to read it: see `packing_of`."""
    packing = packing_of(columns, sizes)
    return packing.keys(wide=True), packing
