"""Raw views: the tables of a snapshot, readable in a session of DuckDB that from then on reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name, parquet
from discreet.tables.admission.snapshot import Snapshot
from discreet.tables.schema.column import Column
from discreet.tables.schema.table import Table


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
"""Raw views, by the lower-case names of their tables."""


def raw_views_of(
    session: Session, tables: Sequence[Table], snapshot: Snapshot, *, writes: Sequence[str] = ()
) -> RawViews:
    """Lock a session to tables of a snapshot, and make them readable there as views `raw0, raw1, …`.

    Args:
        session: a fresh one.
        tables: to be read; their order numbers the views.
        snapshot: in which they are; with the files open that any of them lie in.
        writes: the files that the session may write.
    """
    files = {table.name.casefold(): snapshot.files(table) for table in tables}
    session.lock(allowed=[*(file for each in files.values() for file in each), *writes])
    found = {}
    for number, (table, paths) in enumerate(files.items()):
        view, held = f"raw{number}", snapshot.tables[table]
        if paths:
            session.execute(f"CREATE TEMP VIEW {view} AS FROM {parquet(paths)}")
        else:
            session.register(view, held.data)
        found[table] = RawView(view, {column.name.casefold(): column.name for column in held.columns})
    return found
