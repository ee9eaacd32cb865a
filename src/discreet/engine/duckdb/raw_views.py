"""Raw views: the tables of a snapshot as `raw0, raw1, …`, and lists of keys beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import SQL_TYPES, name, parquet
from discreet.engine.interface import GREATEST, LEAST
from discreet.privacy import KeyValue
from discreet.tables import Column, Kind, Table
from discreet.tables.admission import Snapshot

_CODES = (("UTINYINT", 2**8), ("USMALLINT", 2**16), ("UINTEGER", 2**32))
_INT64 = range(LEAST, GREATEST + 1)


@dataclass(frozen=True, slots=True, repr=False)
class RawView:
    """An admitted table, readable in one session.

    Args:
        name: of the view with its rows.
        names: of its columns, by their names in lower case.
    """

    name: str
    names: Mapping[str, str]

    def column(self, column: Column) -> str:
        """A declared column, in SQL."""
        return name(self.names[column.name.casefold()])


RawViews: TypeAlias = Mapping[str, RawView]
"""By the lower-case name of the table."""


def raw_views_of(session: Session, tables: Sequence[Table], snapshot: Snapshot) -> RawViews:
    """Make tables of a snapshot readable in a session, and lock the session.

    Args:
        session: a fresh one.
        tables: that a question reads.
        snapshot: in which they are; with the files open that any of them lie in.
    """
    files = {table.name.casefold(): snapshot.files(table) for table in tables}
    session.lock(allowed=[file for each in files.values() for file in each])
    found = {}
    for number, (table, paths) in enumerate(files.items()):
        view, held = f"raw{number}", snapshot.tables[table]
        if paths:
            session.execute(f"CREATE TEMP VIEW {view} AS FROM {parquet(paths)}")
        else:
            session.register(view, held.data)
        found[table] = RawView(view, {column.name.casefold(): column.name for column in held.columns})
    return found


def without_rows(session: Session, tables: Sequence[Table]) -> RawViews:
    """The same tables without rows: a function of what is declared, for which no snapshot is opened.

    Args:
        session: that is locked, within a transaction.
        tables: that a question reads.
    """
    found = {}
    for number, table in enumerate(tables):
        view = f"raw{number}"
        columns = ", ".join(f"{name(column.name)} {SQL_TYPES[column.kind]}" for column in table.columns)
        session.execute(f"CREATE TEMP TABLE {view} ({columns})")
        found[table.name.casefold()] = RawView(view, {column.name.casefold(): column.name for column in table.columns})
    return found


def list_keys(session: Session, table: str, kind: Kind, values: Iterable[tuple[int, KeyValue]]) -> None:
    """Create a table of public values `v` and their numbers `i`. Values enter as parameters, not as SQL.

    Args:
        session: where.
        table: the new table's name.
        kind: of the values.
        values: each with its number; None for NULL.
    """
    # No column can hold an integer beyond 64 bits, so such a key has no rows.
    rows = [(number, value) for number, value in values if not isinstance(value, int) or value in _INT64]
    code = next(name for name, size in _CODES if all(number < size for number, _ in rows))
    session.execute(f"CREATE TEMP TABLE {table} (i {code}, v {SQL_TYPES[kind]})")
    if rows:
        numbers, keys = map(list, zip(*rows, strict=True))
        session.execute(f"INSERT INTO {table} SELECT unnest(?), unnest(?)", [numbers, keys])
