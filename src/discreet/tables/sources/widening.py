"""Widening: values of one type as those of a wider one, which has all of them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_WIDER = frozenset(
    {
        *(("int8", wider) for wider in ("int16", "int32", "int64", "double")),
        *(("int16", wider) for wider in ("int32", "int64", "double")),
        *(("int32", wider) for wider in ("int64", "double")),
        ("float", "double"),
        ("date32[day]", "timestamp[us]"),
    }
)
"""Types and wider ones; a double has all whole numbers of 32 bits."""
_DIGITS = {"int8": 3, "int16": 5, "int32": 10, "int64": 19}
"""Digits of whole numbers."""
_MANY = 1_000
_MOST = 2**63 - 1
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000


def is_wider(into: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a type has all values of another, or at least all that can occur: times may be beyond its ends.

    Times with a zone are points in time, and those without one are taken for points in UTC where such are wanted. The
    other way round they aren't: which wall clock would show them isn't said. Nanoseconds are cut off.

    Args:
        into: the type that may be wider, of those that sources hand out.
        kind: the other, of those, too.

    Examples:
        >>> is_wider(pa.int64(), pa.int32()), is_wider(pa.int32(), pa.int64())
        (True, False)
        >>> is_wider(pa.decimal128(12, 2), pa.int32()), is_wider(pa.decimal128(11, 2), pa.int32())
        (True, False)
    """
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    into = into.value_type if types.is_dictionary(into) else into
    if kind == into:
        return True
    if types.is_decimal(into):
        scale = kind.scale if types.is_decimal(kind) else 0
        whole = kind.precision - scale if types.is_decimal(kind) else _DIGITS.get(str(kind), _MANY)
        return bool(scale <= into.scale and whole <= into.precision - into.scale)
    if types.is_timestamp(into) and types.is_timestamp(kind):
        return bool(into.unit == "us" and (into.tz is not None or kind.tz is None))
    return (str(kind), str(into)) in _WIDER


def widened(array: pa.Array, into: pa.DataType) -> tuple[pa.Array, int]:
    """Values of a type as those of a wider one, and how many are NULL because they are beyond its ends.

    Guarantee: no value makes it raise.

    Args:
        array: as it is handed out.
        into: for which `is_wider` holds.

    Examples:
        >>> widened(pa.array([1, None], pa.int8()), pa.decimal128(5, 1))[0].to_pylist()
        [Decimal('1.0'), None]
        >>> widened(pa.array([0, 2**62]).view(pa.timestamp("ms")), pa.timestamp("us"))
        (<pyarrow.lib.TimestampArray object at 0x...>
        [
          1970-01-01 00:00:00.000000,
          null
        ], 1)
    """
    kind = array.type
    if kind == into:
        return array, 0
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(into):
        return widened(pc.take(array.dictionary, array.indices), into)
    if not pa.types.is_timestamp(into):
        return array.cast(into), 0
    ticks = array.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date32(kind) else array.cast(pa.int64())
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pc.divide(ticks, 1_000).cast(into), 0
    each = _DAY if pa.types.is_date32(kind) else _MICROSECONDS[kind.unit]
    fits = pc.less_equal(pc.abs(pc.if_else(pc.equal(ticks, -_MOST - 1), _MOST, ticks)), _MOST // each)
    made = pc.multiply(pc.if_else(fits, ticks, pa.scalar(None, pa.int64())), each).cast(into)
    return made, made.null_count - array.null_count
