"""Columns as codes: each row holds the place of its value among the column's different values, which are in order.

A table of categories has a place for each row already, only in another order than that of the values. Places are turned
into codes where rows are looked at, so that one who counts rows needs no memory for each of them: at ten million rows,
getting hold of that memory takes longer than counting.
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

from discreet.errors import SchemaMismatch, SourceUnsupported

if TYPE_CHECKING:
    import pyarrow as pa


# ── Columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────

Places: TypeAlias = NDArray[np.integer[Any]]
"""Places in a dictionary, in as many bits as its chunk has."""
_RECODED = 1 << 16
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
"""What a cell can hold."""
_COUNTED = 1 << 20
"""So many rows are counted at a time, or as many as there are values."""


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


# ── From Arrow ────────────────────────────────────────────────────────────────────────────────────────────────────────

_PART = 1 << 16
"""So many rows are looked at, at a time, for the values that occur."""
_DECIMAL_BITS = 128
"""Arrow encodes no shorter decimals."""


def encode(name: str, column: pa.ChunkedArray | pa.Array) -> Coded:
    """A column as codes.

    NaN is a missing value, −0 is 0, and a date is a day, also where it is kept in milliseconds: equal to a person, they
    must not be told apart. Chunks may have dictionaries of their own. No code is copied here: see `Stored`.

    Raises:
        SourceUnsupported: it holds places that its dictionary lacks.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    plain = pa.chunked_array([_plain(chunk) for chunk in chunks or [pa.nulls(0, column.type)]])
    if not pa.types.is_dictionary(plain.type):
        # all chunks at once, which gives them one dictionary; as texts they might be more than one array can hold
        plain = pc.dictionary_encode(plain, null_encoding="encode")
    parts, listed = _parts(name, plain)
    used = np.zeros(len(listed), dtype=np.bool_)
    for places, own in parts:
        _mark(name, places, used[own])
    distinct, code = _ordered(listed, used)
    pieces = [Piece(places=places, codes=code[own]) for places, own in parts]
    missing = len(distinct) > 0 and not distinct[-1].is_valid
    return Coded(name=name, codes=_codes(pieces), values=distinct, has_missing=missing)


def _plain(array: pa.Array) -> pa.Array:
    """The column with NaN as missing and without views, which Arrow can't encode; or its dictionary likewise."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(array.indices, _plain(array.dictionary), safe=False)
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_float16(kind):
        array, kind = array.cast(pa.float32()), pa.float32()
    if pa.types.is_floating(kind):
        whole = pc.add(array, pa.scalar(0, kind))  # −0 + 0 is 0
        return pc.if_else(pc.is_nan(whole), pa.scalar(None, kind), whole)
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_date64(kind):  # a cast alone would take the noon before 1970 for the day after it
        return pc.floor_temporal(array.cast(pa.timestamp("ms")), unit="day").cast(pa.date32())
    short = pa.types.is_decimal(kind) and kind.bit_width < _DECIMAL_BITS
    return array.cast(pa.decimal128(kind.precision, kind.scale)) if short else array


def _parts(name: str, column: pa.ChunkedArray) -> tuple[list[tuple[Places, slice]], pa.ChunkedArray]:
    """The chunks of a dictionary-encoded column, and what they list: the values of a dictionary, then a missing one.

    Of each chunk there are the places of its rows, and where in the list its own values are. A missing value has the
    place behind them. Neighbours with the same dictionary share it.

    Raises:
        SourceUnsupported: a place is outside the dictionary.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts: list[tuple[Places, slice]] = []
    listed: list[pa.Array] = []
    start = end = 0
    for chunk in column.chunks:
        places, values = chunk.indices, chunk.dictionary
        if not listed or not values.equals(listed[-2]):
            listed += [values, pa.nulls(1, values.type)]
            start, end = end, end + len(values) + 1
        missing = places.null_count > 0
        if missing:
            low, high = pc.min_max(places).as_py().values()  # before the place behind the values is given to nulls
            _check_listed(name, low or 0, high or 0, max(len(values), 1))
            places = pc.fill_null(places.cast(pa.int32()), len(values))
        parts.append((np.asarray(places), slice(start, end if missing else end - 1)))
    return parts, pa.chunked_array(listed, column.type.value_type)


def _mark(name: str, places: Places, used: Mask) -> None:
    """Mark the places that some row has: categories may list others, and what none has is no value.

    Rows are looked at until all places between the least and the greatest are found, which are mostly all there are.

    Raises:
        SourceUnsupported: a place is outside the list.
    """
    if not len(places):
        return
    low, high = int(places.min()), int(places.max())
    _check_listed(name, low, high, len(used))
    between = used[low : high + 1]
    for start in range(0, len(places), _PART):
        if between.all():
            break
        used[places[start : start + _PART]] = True


def _check_listed(name: str, low: int, high: int, size: int) -> None:
    """Refuse places outside a list.

    Raises:
        SourceUnsupported: there are some.
    """
    if low < 0 or high >= size:
        raise SourceUnsupported(f"the column {name!r} is damaged: a row has a category that isn't listed")


def _codes(pieces: Sequence[Piece]) -> Codes | Stored:
    """The codes of all rows; where a single piece has them as they are to be, without a table to look them up in."""
    if len(pieces) == 1:
        places, codes = pieces[0].places, pieces[0].codes
        if places.itemsize == codes.itemsize and np.array_equal(codes, np.arange(len(codes))):
            return places.view(np.int32)
    return Stored(pieces)


def _ordered(listed: pa.ChunkedArray, used: Mask) -> tuple[pa.Array, Codes]:
    """The different values in order, and of each listed value its place among them; −1 if it isn't used."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = np.full(len(listed), -1, dtype=np.int32)
    if not used.any():
        return pa.nulls(0, listed.type), place
    once = pc.dictionary_encode(listed.filter(pa.array(used)), null_encoding="encode").combine_chunks()
    different = once.dictionary
    sortable = different.cast(pa.int8()) if pa.types.is_boolean(different.type) else different
    order = np.asarray(pc.sort_indices(sortable)).astype(np.int64)  # Arrow puts a missing value last
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    place[used] = rank[np.asarray(once.indices)]
    return different.take(order), place


# ── The codes of another table ────────────────────────────────────────────────────────────────────────────────────────

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of each."""
_NARROW = 32
"""Bits of the shorter times."""


def places_of(column: Coded, other: Coded) -> Codes:
    """Of each value of another table's column, the code that it has here; −1 if it has none.

    Whole and other numbers are compared by size, times by the instant, whatever unit or time zone they are kept in;
    texts letter by letter. A missing value is the same as a missing value.

    Raises:
        SchemaMismatch: one holds numbers and the other texts, say: no value would match, and a population would seem
            to have nobody.

    Examples:
        >>> from discreet.anonymity import read
        >>> here, there = read({"age": [40, 41]}), read({"age": [41.0, 42.0]})
        >>> places_of(here.column("age"), there.column("age")).tolist()
        [1, -1]
    """
    mine, theirs = _kind(column), _kind(other)
    if mine and theirs and mine != theirs:
        raise SchemaMismatch(
            f"the column {column.name!r} holds {mine} in the one table and {theirs} in the other",
            hint="store it alike in both: ZIP codes as texts, say, so that leading zeros stay",
        )
    code = {key: place for place, key in enumerate(_keys(column.values))}
    return np.array([code.get(key, -1) for key in _keys(other.values)], dtype=np.int32)


def _kind(column: Coded) -> str:
    """What a column holds, in a word or two; nothing if it has only missing values."""
    import pyarrow as pa

    if column.size == column.has_missing:
        return ""
    types, kind = pa.types, column.values.type
    if types.is_timestamp(kind):
        return "timestamps" if kind.tz is None else "timestamps with a time zone"
    kinds = {
        "truth values": types.is_boolean,
        "dates": types.is_date,
        "texts": lambda held: types.is_string(held) or types.is_large_string(held),
    }
    return next((name for name, is_it in kinds.items() if is_it(kind)), "numbers")


def _keys(values: pa.Array) -> list[object]:
    """A key for each value, equal for equal values.

    Python's times won't do: in the hour that comes twice in autumn, two instants are equal if they are in one time
    zone, and one instant isn't equal to itself if it is in two.
    """
    import pyarrow as pa

    kind = values.type
    if not pa.types.is_temporal(kind):
        return list(values.to_pylist())
    stored = values.view(pa.int32() if kind.bit_width == _NARROW else pa.int64()).to_pylist()
    unit = 1 if pa.types.is_date(kind) else _UNITS[kind.unit]
    return [None if time is None else time * unit for time in stored]
