"""A question, asked of one part of a snapshot: all that comes before its last queries, which say what the part has."""

from __future__ import annotations

from dataclasses import replace

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.aggregation import SOURCE_ROWS, Statements
from discreet.engine.duckdb.contribution_limits import limit_contributions
from discreet.engine.duckdb.contributions import Compiled, make_contributions, make_key_lists, most_rows, rows_in
from discreet.engine.duckdb.scan_views import make_scan_view, scan_rows
from discreet.engine.relation_compiler import brings_together
from discreet.tables.admission import Part, RawViews, Snapshot, raw_views_of


def set_up_part(connection: Connection, compiled: Compiled, snapshot: Snapshot, number: int) -> Statements:
    """Ask a question of one part, up to the statements that say what it has; within a transaction, which is begun.

    Args:
        connection: of a session that is locked to the question's tables.
        compiled: the question.
        snapshot: with the files open that its tables lie in.
        number: of the part.
    """
    reading = compiled.reading
    part = Part(number, reading.parts) if reading.ids else None
    raw = raw_views_of(connection, compiled.tables, snapshot, part)
    connection.execute("BEGIN TRANSACTION")
    return set_up(connection, compiled, raw)


def set_up(connection: Connection, compiled: Compiled, raw: RawViews) -> Statements:
    """Do all that comes before a question's last queries, within a transaction, and say which these are."""
    exact, views, rows = compiled.exact, compiled.views, compiled.rows
    keep = brings_together(exact.source)
    narrowed = () if keep else tuple(scan.name for scan in views if scan.unit and not scan.is_coded)
    make_key_lists(connection, exact)
    if narrowed or rows is None:  # scans are looked at one by one
        for scan in views:
            make_scan_view(connection, scan, raw)
    else:
        scans = (f"{scan.name} AS NOT MATERIALIZED ({scan_rows(connection, scan, raw)})" for scan in views)
        rows = f"WITH {', '.join(scans)} FROM ({rows})"
    shape = make_contributions(connection, exact, compiled.shape, views, keep=keep, rows=rows)
    most = rows_in(connection, SOURCE_ROWS) if keep else most_rows(connection, exact, views, raw)
    statements = limit_contributions(replace(shape, rows=most, scans=narrowed))
    for statement in statements.setup:
        connection.execute(statement)
    return statements
