"""Raw views: the tables of a snapshot, readable in a session of DuckDB that from then on reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from discreet.duckdb.session import Connection, Session
from discreet.duckdb.sql_text import name, parquet
from discreet.tables.admission.snapshot import Snapshot
from discreet.tables.schema.column import Column
from discreet.tables.schema.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, repr=False)
class RawView:
    """An admitted table, readable in one session.

    Args:
        sql: a relation with its rows.
        names: of its columns, by their names in lower case.
        is_noted: whether what admission noted stands beside each row, see `Notes`.
        rows: how many the table has, and so at least how many are here; None where one may be here for several units.
            Private.
    """

    sql: str
    names: Mapping[str, str]
    is_noted: bool = False
    rows: int | None = None

    def column(self, column: Column) -> str:
        """A declared column, in SQL."""
        return name(self.names[column.name.casefold()])


RawViews: TypeAlias = Mapping[str, RawView]
"""Raw views, by the lower-case names of their tables."""


class Part(NamedTuple):
    """A part of all units, with their rows in all private tables.

    Args:
        number: of it, from 0.
        among: how many there are: a power of two. A table in more parts has several of its files in each.
    """

    number: int
    among: int


def lock_to(session: Session, tables: Sequence[Table], snapshot: Snapshot, *, writes: Sequence[str] = ()) -> None:
    """Let a session read the files of these tables, and nothing else from here on.

    Args:
        session: a fresh one.
        tables: to be read.
        snapshot: in which they are; with the files open that any of them lie in.
        writes: the files that the session may write.
    """
    session.lock(allowed=[*(file for table in tables for file in snapshot.files(table)), *writes])


def raw_views_of(
    connection: Connection, tables: Sequence[Table], snapshot: Snapshot, part: Part | None = None
) -> RawViews:
    """Make tables of a snapshot readable.

    Args:
        connection: of a session that is locked to these tables.
        tables: to be read.
        snapshot: in which they are; with the files open that any of them lie in.
        part: whose rows of private tables are shown, with notes where there are any, and once for each unit of a row;
            None for all rows, each of them once, without notes.
    """
    found = {}
    for number, table in enumerate(tables):
        held = snapshot.tables[table.name.casefold()]
        first, among = (0, 1) if part is None or table.public else part
        files = snapshot.files(table, slice(first, None, among))
        is_noted = part is not None and held.notes is not None
        rows = parquet(files) if files else _registered(connection, number, held.data[first::among])
        repeats = held.notes is not None and held.notes.repeats
        rows = f"(FROM {rows} WHERE NOT again)" if repeats and not is_noted else rows
        found[table.name.casefold()] = RawView(rows, held.names, is_noted, None if repeats else held.rows)
    return found


def _registered(connection: Connection, number: int, data: Sequence[pa.Table]) -> str:
    """Arrow tables, readable as one relation."""
    names = [f"raw{number}_{place}" for place, _ in enumerate(data)]
    for each, table in zip(names, data, strict=True):
        connection.register(each, table)
    return f"({' UNION ALL '.join(f'FROM {each}' for each in names)})"
