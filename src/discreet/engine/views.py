"""The views `raw0, raw1, …`: the tables of a snapshot, readable in a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.tables import Column, Table
from discreet.tables.admission import Snapshot
from discreet.tables.kinds import SQL_TYPES
from discreet.tables.session import Session
from discreet.tables.sql_text import name, parquet


@dataclass(frozen=True, slots=True, repr=False)
class View:
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


Views: TypeAlias = Mapping[str, View]
"""By the lower-case name of the table."""


def views_of(session: Session, tables: Sequence[Table], snapshot: Snapshot) -> Views:
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
        found[table] = View(view, {column.name.casefold(): column.name for column in held.columns})
    return found


def without_rows(session: Session, tables: Sequence[Table]) -> Views:
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
        found[table.name.casefold()] = View(view, {column.name.casefold(): column.name for column in table.columns})
    return found
