"""Grouping rows by several columns of codes: one packed number per row, one sort.

Counting how many rows are alike needs sorted numbers and nothing else: rows are packed, sorted and counted a part at a
time, and no more than the different numbers of each part is kept. Telling also which rows are alike takes one sort of
all rows: a row's number and its place are put into one integer, so that sorting brings the place along, and the row's
class is found by looking at neighbours, not by a search for each row.

Codes c₁, …, c_q with sizes n₁, …, n_q pack into ((c₁·n₂ + c₂)·n₃ + …), which orders rows as the columns do, first
column first. Where that outgrows 62 bits, what was packed so far is replaced by its rank among the numbers that
occur, which keeps the order; there are no more ranks than rows, so packing can always go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Coded, Codes, Stored, Whole

Keys: TypeAlias = NDArray[np.signedinteger[Any]]
"""Packed numbers, in 32 or 64 bits."""
Packable: TypeAlias = Keys | Stored
"""Codes or ranks to pack, for all rows or for those that are asked for."""

_MOST = 1 << 62
"""Keys stay below this, so that neither a product nor a sum leaves 63 bits."""
_NARROW = 1 << 31
"""Keys below this fit into 32 bits: they are packed and sorted in half the time."""
_PACKED = 1 << 16
"""How many rows are packed at a time: their codes stay near the processor."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Packing:
    """How some columns are packed.

    Args:
        sizes: for each column, how many codes it has; at least 1.
        ranked: for each column, the numbers that are replaced by their ranks before it is packed; None if none are.
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
        for row in range(start, stop, _PACKED):
            part = slice(row, min(row + _PACKED, stop))
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


_CELLS = 4
"""The most cells per row of a table of all keys: up to that, counting in it beats sorting the keys."""
_TABLE = 1 << 22
"""The most cells of such a table."""
_CHUNK = 1 << 22
"""The most rows that are packed and counted at a time: memory for all of them would take longer to get."""
_PART = 1 << 16
"""How many rows are numbered at a time."""
_THREADS = 2
_BITS = 63


class Grouping:
    """The classes of rows that agree on some columns, in the order of the columns.

    They are counted when that is first asked for. `of_row` counts them on the way: ask for it first where it is wanted.

    Examples:
        >>> found = group([np.array([1, 0, 1], np.int32), np.array([0, 0, 0], np.int32)], [2, 1])
        >>> found.of_row().tolist(), found.counts.tolist(), found.tuples().tolist()
        ([1, 0, 1], [1, 2], [[0, 0], [1, 0]])
    """

    def __init__(self, columns: Sequence[Packable], sizes: Sequence[int], weights: Whole | None) -> None:
        """Decide how rows are packed; see `group`."""
        self._rows = len(columns[0])
        self._packing = packing_of(columns, sizes)
        self._weights = weights
        self._tally: _Tally | None = None

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self._counted().keys)

    @property
    def counts(self) -> Whole:
        """How many rows each class has, or what they weigh together."""
        return self._counted().counts

    def tuples(self) -> Codes:
        """The codes that the rows of each class share: classes × columns."""
        return self._packing.unpack(self._counted().keys)

    def of_row(self) -> Whole:
        """The class of each row, worked out at each call."""
        if self._is_dense:
            place = np.zeros(self._packing.span, dtype=np.int64)
            place[self._counted().keys] = np.arange(self.number)
            return place.take(self._packing.keys())
        ordered, rows = _ordered(self._packing.keys(wide=True), self._packing.span)
        starts = starts_of(ordered)
        if self._tally is None:
            counts = _lengths(starts, len(rows)) if self._weights is None else _sums(self._weights[rows], starts)
            self._tally = _Tally(keys=ordered[starts], counts=counts)
        classes = ordered  # the keys aren't needed any more, and other memory would take longer to get than to fill
        classes[:] = 0
        classes[starts[1:]] = 1
        np.cumsum(classes, out=classes)
        of_row = np.empty_like(classes)
        of_row[rows] = classes
        return of_row

    @property
    def _is_dense(self) -> bool:
        """Whether there are so few possible keys that rows are counted in a table of them."""
        return self._weights is None and self._packing.span <= min(_CELLS * self._rows, _TABLE)

    def _counted(self) -> _Tally:
        if self._tally is None:
            if self._weights is None:
                self._tally = self._added()
            else:
                self._tally = _merged(self._packing.keys(wide=True), self._weights, self._packing.span)
        return self._tally

    def _added(self) -> _Tally:
        """The counts of all chunks, added up."""
        if self._rows <= _CHUNK:
            return self._chunk(slice(None))
        chunks = _THREADS * ceil(self._rows / (_THREADS * _CHUNK))
        ends = [self._rows * number // chunks for number in range(chunks + 1)]
        with ThreadPoolExecutor(_THREADS) as pool:
            found = list(pool.map(self._chunk, map(slice, ends, ends[1:])))
        if not self._is_dense:
            keys = np.concatenate([each.keys for each in found], dtype=np.int64)
            return _merged(keys, np.concatenate([each.counts for each in found]), self._packing.span)
        table = np.zeros(self._packing.span, dtype=np.int64)
        for each in found:
            table[each.keys] += each.counts
        return _listed(table)

    def _chunk(self, rows: slice) -> _Tally:
        """The classes of neighbouring rows."""
        keys = self._packing.keys(rows)
        if self._is_dense:
            return _listed(np.bincount(keys, minlength=self._packing.span))
        keys.sort()
        starts = starts_of(keys)
        return _Tally(keys=keys[starts], counts=_lengths(starts, len(keys)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Tally:
    """The keys that occur, ascending, and how often each does."""

    keys: Keys
    counts: Whole


def group(columns: Sequence[Packable], sizes: Sequence[int], weights: Whole | None = None) -> Grouping:
    """Group rows by columns of codes.

    Args:
        columns: one or more, of the same length; codes of column i are in [0, sizes[i]).
        sizes: how many codes each column has.
        weights: how often each row counts; once if left out.

    Returns:
        The classes, ordered by the first column, then by the second, and so on.
    """
    return Grouping(columns, sizes, weights)


def grouped(columns: Sequence[Coded]) -> Grouping:
    """Group the rows of a table by one or more of its columns.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"sex": ["F", "M", "F"], "age": [40, 25, 40]})
        >>> found = grouped([table.column("sex"), table.column("age")])
        >>> found.counts.tolist(), found.tuples().tolist()
        ([2, 1], [[0, 1], [1, 0]])
    """
    return group([column.stored for column in columns], [column.size for column in columns])


def starts_of(ordered: Keys) -> Whole:
    """Where in an ordered list a new number begins."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(ordered[1:] != ordered[:-1])
    starts = np.zeros(len(changes) + 1, dtype=np.int64)
    np.add(changes, 1, out=starts[1:])
    return starts


def _listed(table: Whole) -> _Tally:
    """The tally of a table of all possible keys."""
    keys = np.flatnonzero(table)
    return _Tally(keys=keys, counts=table[keys])


def _lengths(starts: Whole, number: int) -> Whole:
    """How many numbers there are from each start to the next."""
    return np.diff(starts, append=number)


def _merged(keys: Whole, weights: Whole, span: int) -> _Tally:
    """Add up the weights of equal keys, which are overwritten."""
    ordered, rows = _ordered(keys, span)
    starts = starts_of(ordered)
    return _Tally(keys=ordered[starts], counts=_sums(weights[rows], starts))


def _sums(weights: Whole, starts: Whole) -> Whole:
    """Add up weights from each start to the next."""
    return np.add.reduceat(weights, starts) if len(starts) else weights


def _ordered(keys: Whole, span: int) -> tuple[Whole, Whole]:
    """The keys in ascending order, where they were, and the row that each came from."""
    bits = max(len(keys) - 1, 1).bit_length()
    if span.bit_length() + bits > _BITS:
        rows = np.argsort(keys)
        return keys[rows], rows
    keys <<= bits
    for start in range(0, len(keys), _PART):
        part = keys[start : start + _PART]
        part |= np.arange(start, start + len(part))
    keys.sort()
    rows = keys & ((1 << bits) - 1)
    keys >>= bits
    return keys, rows


def distinct(numbers: Whole) -> Whole:
    """The different numbers, ascending.

    Examples:
        >>> distinct(np.array([3, 1, 3])).tolist()
        [1, 3]
    """
    ordered = np.sort(numbers)
    return ordered[starts_of(ordered)]
