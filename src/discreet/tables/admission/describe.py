"""The columns that a source offers, by its schema alone."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.tables.kinds import is_text, kind_of
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.sources import Field, open_source

_DIGITS = 18
"""Integers of so many digits fit in 64 bits."""


def describe(source: Source, data: Mapping[str, object], ids: frozenset[str] = frozenset()) -> tuple[Column, ...]:
    """The columns that can be admitted, in the source's order: names, kinds, and whether NULL may occur.

    Nothing is guessed from cells: where a source has no types, all it holds is text.

    Args:
        source: where the table lies.
        data: tables in memory, by the location of their source.
        ids: the columns, in lower case, that tell units or linked rows apart. Integers that may be beyond 64 bits, and
            decimals with places, are read as texts there, so that nobody is left out for the size of a number.

    Raises:
        SourceMissing: the file or table isn't there.
        SourceUnsupported: it can't be read as a table.
    """
    with open_source(source, data) as opened:
        if not opened.has_schema:
            return ()  # each record names its own columns, so only what is declared is there
        return tuple(
            Column(name=each.name, kind=kind, nullable=not (each.required and _always_read(each)))
            for each in opened.fields
            if (kind := _kind(each, source, wide_is_text=each.name.casefold() in ids)) is not None
        )


def _always_read(field: Field) -> bool:
    """Whether no value of a field becomes NULL when it is cast, as a NaN does, or an integer out of range."""
    from pyarrow import types

    whole = types.is_integer(field.type) and not types.is_uint64(field.type)
    return not field.untyped and (whole or types.is_boolean(field.type) or is_text(field.type))


def _kind(field: Field, source: Source, *, wide_is_text: bool) -> Kind | None:
    """The kind of a field's values; None if discreet doesn't compute with such values."""
    from pyarrow import types

    if field.untyped and source.kind == "duckdb":  # an integer of 128 bits, which Arrow doesn't have
        return Kind.TEXT if wide_is_text else Kind.INTEGER
    if field.untyped:
        return Kind.TEXT
    is_decimal = types.is_decimal(field.type)
    wide = types.is_uint64(field.type) or (is_decimal and (field.type.scale or field.type.precision > _DIGITS))
    return Kind.TEXT if wide and wide_is_text else kind_of(field.type)
