"""Public tables: what they hold, and whether columns that are declared as unique are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.scan_views import make_scan_view
from discreet.engine.scan_view import ScanView, position
from discreet.errors import SchemaMismatch
from discreet.query.ir import MOST_VALUES
from discreet.tables import Kind, Table
from discreet.tables.admission import RawViews


def check_unique(session: Connection, table: Table, raw: RawViews) -> None:
    """Check that no value occurs twice in columns that a public table declares as unique."""
    places = {position(each, table): each for each in table.unique}
    scan = ScanView(number=0, table=table, owner=None, checked=tuple(sorted(places)))
    make_scan_view(session, scan, raw)
    for place, column in places.items():
        twice = f"SELECT c{place} FROM {scan.name} WHERE c{place} IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT 1"
        if session.execute(f"SELECT 1 FROM ({twice})"):
            raise SchemaMismatch(
                f"column {column!r} of table {table.name!r} is declared as unique, but a value occurs in it twice",
                hint="values beyond a column's bounds count as its ends; leave it out of unique, or fix the table",
            )


def held_in(session: Connection, table: Table, raw: RawViews) -> Table:
    """A public table with what it holds."""
    places = range(len(table.columns))
    scan = ScanView(number=0, table=table, owner=None, checked=tuple(places))
    make_scan_view(session, scan, raw)
    rows = _different(session, scan, places)
    values = [
        None if column.kind in {Kind.REAL, Kind.TIMESTAMP} else tuple(v for (v,) in _different(session, scan, [place]))
        for place, column in enumerate(table.columns)
    ]
    repeats = [_most_equal(session, scan, place) for place in places]
    columns = zip(table.columns, values, repeats, strict=True)
    return replace(
        table,
        columns=tuple(replace(each, values=held, repeats=equal) for each, held, equal in columns),
        rows=rows if len(rows) <= MOST_VALUES else None,
        size=int(session.execute(f"SELECT count(*) FROM {scan.name}")[0][0]),
    )


def _most_equal(session: Connection, scan: ScanView, place: int) -> int:
    """The number of rows that have a column's commonest value, NULL aside."""
    counts = f"SELECT count(*) AS n FROM {scan.name} WHERE c{place} IS NOT NULL GROUP BY c{place}"
    ((most,),) = session.execute(f"SELECT coalesce(max(n), 0) FROM ({counts})")
    return int(most)


def _different(session: Connection, scan: ScanView, places: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    """The different rows of some columns, in order; one more than `MOST_VALUES`, if there are more."""
    names = ", ".join(f"c{place}" for place in places)
    some = f"SELECT DISTINCT {names} FROM {scan.name} LIMIT {MOST_VALUES + 1}"
    order = ", ".join(f"{number} NULLS LAST" for number, _ in enumerate(places, start=1))
    return tuple(session.execute(f"FROM ({some}) ORDER BY {order}"))
