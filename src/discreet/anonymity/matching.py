"""Matching: the values of one table's column, found among another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa
from discreet.anonymity.columns import Coded, Codes

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of each."""

_NARROW = 32
"""Bits of the shorter times."""


def places_of(column: Coded, other: Coded) -> Codes:
    """For each value of another table's column, the code that it has here; −1 if it has none.

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
    """The kind of a column's values, in a word or two; empty if all are missing."""
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
