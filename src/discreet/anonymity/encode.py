"""Encoding: from Arrow's values to columns of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import SourceUnsupported

if TYPE_CHECKING:
    import pyarrow as pa
from discreet.anonymity.columns import Coded, Codes, Mask, Piece, Places, Stored

_PART = 1 << 16
"""How many rows are looked at, at a time, for the values that occur."""

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

    Each chunk has the places of its rows, and where in the list its own values are. A missing value has the place
    behind them. Neighbours with the same dictionary share it.

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
