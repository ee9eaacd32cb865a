"""Kinds of values that Arrow types are read as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.tables.schema.column import MOST_PLACES, Kind

if TYPE_CHECKING:
    import pyarrow as pa

_READABLE = {
    (Kind.INTEGER, Kind.REAL),
    (Kind.INTEGER, Kind.TEXT),
    (Kind.DATE, Kind.TIMESTAMP),
    (Kind.REAL, Kind.INTEGER),
}
"""A column of the first kind may be declared as the second: its values become such or NULL, and stay distinct."""


def kind_of(stored: pa.DataType) -> Kind | None:  # noqa: PLR0911 — one case for each kind
    """The kind that values of an Arrow type are read as; None if discreet doesn't compute with them.

    A decimal without places is an integer: that is how some databases write their ids.

    Examples:
        >>> import pyarrow as pa
        >>> kind_of(pa.decimal128(18, 0)), kind_of(pa.decimal128(18, 3)), kind_of(pa.binary())
        (<Kind.INTEGER: 'integer'>, <Kind.REAL: 'real'>, None)
    """
    from pyarrow import types

    if types.is_dictionary(stored):
        return kind_of(stored.value_type)
    if types.is_boolean(stored):
        return Kind.BOOLEAN
    if types.is_integer(stored) or (types.is_decimal(stored) and stored.scale <= 0):
        return Kind.INTEGER
    if types.is_floating(stored) or types.is_decimal(stored):
        return Kind.REAL
    if is_text(stored) or types.is_null(stored):  # a column that is nothing but NULL
        return Kind.TEXT
    if types.is_date(stored):
        return Kind.DATE
    return Kind.TIMESTAMP if types.is_timestamp(stored) else None


def places_of(stored: pa.DataType) -> int | None:
    """How many digits decimals of an Arrow type have behind the point; None of anything else, and of more than 18.

    Examples:
        >>> import pyarrow as pa
        >>> places_of(pa.decimal128(10, 2)), places_of(pa.decimal128(10, 0)), places_of(pa.float64())
        (2, None, None)
    """
    from pyarrow import types

    return stored.scale if types.is_decimal(stored) and 0 < stored.scale <= MOST_PLACES else None


def is_text(stored: pa.DataType) -> bool:
    """Whether values of an Arrow type are texts."""
    from pyarrow import types

    return bool(types.is_string(stored) or types.is_large_string(stored) or types.is_string_view(stored))


def readable_as(stored: pa.DataType, kind: Kind) -> bool:
    """Whether a column of an Arrow type may be declared to be of a kind.

    A decimal may be a text, digit by digit: what tells units apart mustn't be rounded. Reals may be whole numbers,
    which is what many programs make of these where one is missing.

    Examples:
        >>> import pyarrow as pa
        >>> readable_as(pa.float64(), Kind.INTEGER), readable_as(pa.int8(), Kind.DATE)
        (True, False)
        >>> readable_as(pa.decimal128(38, 2), Kind.TEXT)
        True
    """
    from pyarrow import types

    found = kind_of(stored)
    as_text = kind is Kind.TEXT and types.is_decimal(stored)
    return found is kind or (found, kind) in _READABLE or bool(as_text or types.is_null(stored))


def called(stored: pa.DataType) -> str:
    """An Arrow type's name for errors, without its parameters: the members of an enumeration are values.

    Of what Arrow doesn't have, it is the name that the source has for it.

    Examples:
        >>> import pyarrow as pa
        >>> called(pa.list_(pa.int64())), called(pa.timestamp("us", "UTC"))
        ('list', 'timestamp[us, tz=UTC]')
        >>> called(pa.opaque(pa.null(), "interval", "PostgreSQL"))
        'interval'
    """
    if getattr(stored, "extension_name", "") == "arrow.opaque":
        return str(stored.type_name)
    text = str(stored)
    return text if text.startswith(("timestamp", "decimal")) else text.partition("<")[0]
