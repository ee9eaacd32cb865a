"""Checking a source against what is declared of its table, before anything is charged."""

from __future__ import annotations

from discreet.engine.door import TEXT_CELLS
from discreet.engine.entrance import make_door
from discreet.engine.kinds import called, kind_of, readable_as
from discreet.engine.reader import Snapshot
from discreet.engine.session import Session
from discreet.engine.usage import Door, position
from discreet.errors import SchemaMismatch
from discreet.tables import Table


def check_schema(table: Table, opened: Snapshot) -> None:
    """Compare the declared columns with the source's schema; no row is read.

    Raises:
        SchemaMismatch: a declared column is missing, or has a type that can't be read as the declared kind.
    """
    found = {name.casefold(): sql_type for name, sql_type in opened.types.items()}
    for column in table.columns:
        sql_type = found.get(column.name.casefold())
        if sql_type is None:
            listed = "" if table.source.kind == "csv" else f"it has {', '.join(opened.types)}"
            raise SchemaMismatch(
                f"{table.source.location!r} has no column {column.name!r}",
                hint=listed or "does its first line name the columns?",  # if it doesn't, it is a row: not quoted
            )
        if sql_type != TEXT_CELLS and not readable_as(sql_type, column.kind):
            kind = kind_of(sql_type)
            raise SchemaMismatch(
                f"column {column.name!r} is declared as {column.kind}, but holds {called(sql_type)}",
                hint=f"declare it as {kind}" if kind else "discreet doesn't compute with such values",
            )


def check_unique(session: Session, table: Table, opened: Snapshot) -> None:
    """Check that what a public table declares as unique holds no value twice; NULL may occur often.

    Values count as the door lets them in: two that bounds move to one end are one.

    Raises:
        SchemaMismatch: a value occurs twice.
    """
    places = {position(name, table): name for name in table.unique}
    door = Door(number=0, table=table, owner=None, checked=tuple(sorted(places)))
    make_door(session, door, {table.source: opened})
    for place, name in places.items():
        twice = f"SELECT c{place} FROM {door.name} WHERE c{place} IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT 1"
        if session.execute(f"SELECT 1 FROM ({twice})"):
            raise SchemaMismatch(
                f"column {name!r} of table {table.name!r} is declared as unique, but a value occurs in it twice",
                hint="values beyond a column's bounds count as its ends; leave it out of unique, or mend the table",
            )
