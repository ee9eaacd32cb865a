"""The columns of a source that can be admitted: those that it offers, by its schema alone, and those declared of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import SchemaMismatch
from discreet.hints import Hint
from discreet.tables.kinds import called, is_text, kind_of, places_of, readable_as
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Column, Kind, Table
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
            Column(
                name=each.name,
                kind=kind,
                nullable=not (each.required and _always_read(each)),
                places=places_of(each.type) if kind is Kind.REAL else None,
            )
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


def check_schema(table: Table, fields: Sequence[Field]) -> dict[str, Field]:
    """The source's fields of the declared columns, by lower-case name.

    Raises:
        SchemaMismatch: a declared column is missing, has a type that can't be read as the declared kind, or holds
            instants without a zone to tell them in.
    """
    found = {each.name.casefold(): each for each in fields}
    for column in table.columns:
        there = found.get(column.name.casefold())
        if there is None:
            listed = f"it has {', '.join(each.name for each in fields)}"
            raise SchemaMismatch(
                f"{table.source.location!r} has no column {column.name!r}",
                # Where a file's first line is its schema, it may be a row, so it isn't quoted.
                hint="does its first line name the columns?" if table.source.kind == "csv" else listed,
            )
        if not there.untyped and not readable_as(there.type, column.kind):
            kind = kind_of(there.type)
            raise SchemaMismatch(
                f"column {column.name!r} is declared as {column.kind}, but holds {called(there.type)}",
                hint=f"declare it as {kind}" if kind else "discreet doesn't compute with such values",
            )
        if getattr(there.type, "tz", None) is not None and column.time_zone is None:
            raise SchemaMismatch(
                f"column {column.name!r} holds points in time, which are another day and hour in each time zone",
                hint=Hint.of("say in which they are to be told: {time_zone}", time_zone="Europe/Paris").in_file(),
            )
    return {column.name.casefold(): found[column.name.casefold()] for column in table.columns}
