"""Validation: whether a source can be admitted, by its schema alone.

Which columns it offers, and whether those that are declared can be read so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.duckdb.session import Session
from discreet.errors import InvalidArgument, SchemaMismatch, SourceUnsupported
from discreet.hints import Hint
from discreet.tables.arrow_kinds import called, is_text, kind_of, places_of, readable_as
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource, open_source

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 18
"""Every integer of this many digits fits in 64 bits."""


def describe(source: Source, data: Mapping[str, object], ids: frozenset[str] = frozenset()) -> tuple[Column, ...]:
    """The columns that can be admitted, in the source's order: names, kinds, and whether NULL may occur.

    Nothing is guessed from cells: where a source has no types, all it holds is text.

    Args:
        source: where the table lies.
        data: tables in memory, by the location of their source.
        ids: the columns, in lower case, that tell units or linked rows apart. Integers that may be beyond 64 bits, and
            decimals with places, are read as texts there, so that nobody is left out for the size of a number; reals
            as whole numbers, which they are where one was missing.

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
            if (kind := _kind(each, identifies=each.name.casefold() in ids)) is not None
        )


def absence(source: Source, data: Mapping[str, object], name: str) -> SchemaMismatch | None:
    """Why a column that is declared can't be used, where its table seems to have it; None if it hasn't.

    Args:
        source: where the table lies.
        data: tables in memory, by the location of their source.
        name: of the column.
    """
    from discreet.tables.sources.frames import is_index

    if is_index(data.get(source.location), name):
        return SchemaMismatch(f"{name!r} is the table's index, not a column", hint="reset_index() makes it one")
    with open_source(source, data) as opened:
        there = next((each for each in opened.fields if each.name.casefold() == name.casefold()), None)
    if there is None or _kind(there, identifies=False) is not None:
        return None
    return SchemaMismatch(
        f"column {name!r} holds {called(there.type)}, which can't be read",
        hint=there.fix or "convert it to texts, numbers or times, or leave it out",
    )


def _always_read(field: Field) -> bool:
    """Whether no value of a field becomes NULL when it is cast, as a NaN does, or an integer out of range."""
    from pyarrow import types

    whole = types.is_integer(field.type) and not types.is_uint64(field.type)
    return not field.untyped and (whole or types.is_boolean(field.type) or is_text(field.type))


def _kind(field: Field, *, identifies: bool) -> Kind | None:
    """The kind of a field's values; None if discreet doesn't compute with such values."""
    from pyarrow import types

    if field.number is not None:
        return Kind.TEXT if identifies else field.number
    if field.untyped:
        return Kind.TEXT
    is_decimal = types.is_decimal(field.type)
    wide = types.is_uint64(field.type) or (is_decimal and (field.type.scale or field.type.precision > _DIGITS))
    if types.is_floating(field.type) and identifies:
        return Kind.INTEGER
    return Kind.TEXT if wide and identifies else kind_of(field.type)


def check_schema(table: Table, fields: Sequence[Field], identifying: frozenset[str] = frozenset()) -> dict[str, Field]:
    """The source's fields of the declared columns, by lower-case name.

    Args:
        table: as declared.
        fields: of its source.
        identifying: the columns, in lower case, that tell units or linked rows apart.

    Raises:
        SchemaMismatch: a declared column is missing, has a type that can't be read as the declared kind, or holds
            instants without a zone to tell them in; or it identifies, and the source takes two texts for one unit that
            would be two here.
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
        if not there.untyped and not (readable_as(there.type, column.kind) or _has_form(there.type, column)):
            kind = kind_of(there.type)
            raise SchemaMismatch(
                f"column {column.name!r} is declared as {column.kind}, but holds {called(there.type)}",
                hint=f"declare it as {kind}" if kind else there.fix or "discreet doesn't compute with such values",
            )
        if column.form and not (there.untyped or _has_form(there.type, column)):
            raise SchemaMismatch(
                f"column {column.name!r} holds {called(there.type)}, to which no written form applies",
                hint=f"leave {' and '.join(column.form)} out",
            )
        if there.merges and column.name.casefold() in identifying:
            raise SchemaMismatch(
                f"column {column.name!r} says whose rows are whose, and its source compares it by {there.merges}: what "
                "is one unit there would be several here",
                hint=f"name another column; or give each unit one spelling in a view, such as {there.fix}",
            )
        if getattr(there.type, "tz", None) is not None and column.time_zone is None:
            raise SchemaMismatch(
                f"column {column.name!r} holds points in time, whose day and hour depend on the time zone",
                hint=Hint.of("name the time zone: {time_zone}", time_zone="Europe/Paris").in_file(),
            )
    return {column.name.casefold(): found[column.name.casefold()] for column in table.columns}


def _has_form(stored: pa.DataType, column: Column) -> bool:
    """Whether a column's declared form is one of values of an Arrow type: texts, or numbers that count time."""
    from pyarrow import types

    stored = stored.value_type if types.is_dictionary(stored) else stored
    counts = column.epoch is not None and kind_of(stored) in (Kind.INTEGER, Kind.REAL)
    return counts or bool(column.form and is_text(stored))


def check_zones(session: Session, tables: Iterable[Table]) -> None:
    """Refuse time zones that a session doesn't know.

    Raises:
        InvalidArgument: a column is declared to be told in one.
    """
    for column in (column for table in tables for column in table.columns):
        known = "SELECT 1 FROM pg_timezone_names() WHERE name = ?"
        if column.time_zone is not None and not session.execute(known, [column.time_zone]):
            raise InvalidArgument(
                f"column {column.name!r} has an unknown time zone: {column.time_zone!r}",
                hint='a name of the IANA database, such as "Europe/Paris", or "UTC"',
            )


def check_unchanged(sources: Sequence[OpenSource]) -> None:
    """Refuse sources that aren't what they were when they were opened."""
    for source in sources:
        if not source.is_unchanged():
            raise changed(source.location)


def changed(location: str) -> SourceUnsupported:
    """The error for a source that doesn't hold still."""
    return SourceUnsupported(
        f"{location!r} was changed while it was being read", hint="admit it again when it is complete"
    )
