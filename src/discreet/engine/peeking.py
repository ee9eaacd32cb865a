"""Peeking: what the custodian's `init` may read off a table. All of it is private."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engine.door import kept, read
from discreet.engine.reader import Snapshot
from discreet.engine.session import Session
from discreet.tables import Column, Kind, Peek, Seen

MOST_VALUES = 1_000
"""Different values that are listed; a column with more has no list."""


def peek(session: Session, opened: Snapshot, columns: Sequence[Column]) -> Peek:
    """The least and greatest value of each column that has an order, and its different values if they are few.

    Args:
        session: with the raw rows in it.
        opened: the source.
        columns: to look at, with the kinds their values are to be read as.
    """
    return Peek(columns={column.name: _seen(session, opened, column) for column in columns})


def _seen(session: Session, opened: Snapshot, column: Column) -> Seen:
    """What is in one column, read as rows come through the door."""
    plain = Column(name=column.name, kind=column.kind)
    cast = read(plain, column.name, opened.types[column.name])
    values = f"SELECT {kept(plain, 'v')} AS v FROM (SELECT {cast} AS v FROM {opened.view})"
    ordered = column.kind.is_number or column.kind.is_time
    lo, hi = session.execute(f"SELECT min(v), max(v) FROM ({values})")[0] if ordered else (None, None)
    listed = None
    if column.kind in {Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE}:
        found = session.execute(f"SELECT DISTINCT v FROM ({values}) ORDER BY v LIMIT {MOST_VALUES + 1}")
        listed = tuple(row[0] for row in found) if len(found) <= MOST_VALUES else None
    return Seen(lo=lo, hi=hi, values=listed)
