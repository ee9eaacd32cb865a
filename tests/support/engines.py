"""Engines over tables that are admitted into memory, or that are taken for admitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from discreet.engine.duckdb import DuckDB
from discreet.tables import Table
from discreet.tables.admission import HeldColumn, HeldTable, Snapshot, admit, identifying

NOTHING: Mapping[str, object] = MappingProxyType({})


def engine_over(tables: Sequence[Table], data: Mapping[str, object] = NOTHING, **settings: Any) -> DuckDB:
    """DuckDB over tables, admitted into memory.

    Args:
        tables: as declared.
        data: those in memory, by the location of their source.
        settings: of the engine.
    """
    return DuckDB(admit(tables, data, None), **settings)


def engine_as_if_admitted(tables: Sequence[Table], data: Mapping[str, Any], **settings: Any) -> DuckDB:
    """DuckDB over Arrow tables that are taken for admitted: see `as_if_admitted`.

    Args:
        tables: as declared.
        data: by the location of their source.
        settings: of the engine.
    """
    return DuckDB(as_if_admitted(tables, data), **settings)


def as_if_admitted(tables: Sequence[Table], data: Mapping[str, Any]) -> Snapshot:
    """A snapshot of Arrow tables that hold values of the declared kinds already, without the time that admission takes.

    Args:
        tables: as declared.
        data: by the location of their source.
    """
    held = {}
    for table in tables:
        ids = identifying(table, tables)
        columns = tuple(HeldColumn.of(column, ids) for column in table.columns)
        rows = data[table.source.location]
        held[table.name.casefold()] = HeldTable(columns=columns, rows=rows.num_rows, digest="", data=rows)
    return Snapshot(tables=held)


def admitted(table: Table, data: object = None) -> dict[str, list[Any]]:
    """The columns of a table as they were admitted, each with its values.

    Args:
        table: as declared, and linked to no other.
        data: the table, if its source is in memory.
    """
    held = admit([table], {table.source.location: data}, None).tables[table.name.casefold()]
    assert held.data is not None
    found: dict[str, list[Any]] = held.data.to_pydict()
    return found
