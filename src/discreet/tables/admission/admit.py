"""Admission: reading sources once, row by row, into a snapshot.

It is the custodian's act, and what it finds out is for the custodian alone. A row is left out if it can't say whose it
is; a value that can't be read as its column's kind is NULL. Neither depends on any other row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.duckdb.session import Session
from discreet.errors import InvalidArgument, SnapshotChanged, SnapshotError, SourceUnsupported
from discreet.tables.admission.completeness import report_of
from discreet.tables.admission.parts import in_parts, is_copied, settled_first, stagings_of
from discreet.tables.admission.reading import Progress, Reading, prepare
from discreet.tables.admission.scan import Scan
from discreet.tables.admission.snapshot import HeldTable, Snapshot
from discreet.tables.admission.unit_ceiling import keep_within
from discreet.tables.admission.validation import changed, check_unchanged
from discreet.tables.schema.dataset import required
from discreet.tables.schema.owner import identifying
from discreet.tables.schema.table import Table
from discreet.tables.sources import OpenSource, at_one_moment, open_source
from discreet.tables.sources.in_place import held_open, places_of


def admit(  # noqa: PLR0913 — the keywords are for callers of several kinds
    tables: Sequence[Table],
    data: Mapping[str, object],
    folder: Path | None,
    *,
    among: Sequence[Table] = (),
    progress: Progress = lambda _table, _rows: None,
    parts: int | None = None,
) -> Snapshot:
    """Read tables of an account into a snapshot, which isn't saved yet.

    Args:
        tables: that are admitted together.
        data: those in memory, by the location of their source.
        folder: for the others; None if there are none.
        among: all tables of the account, where these aren't all: their links say what identifies rows.
        progress: called with how far it is.
        parts: how many the private tables lie in, a power of two; None for as many as their rows need. Tests and
            measurements say it: no answer depends on it.

    Raises:
        SourceError: a source can't be read, or not as it is declared; or it was changed while it was read.
        SnapshotError: the folder can't be written.
        InvalidArgument: a table has more rows than its declared ceiling.
    """
    account = among or tables
    held, report = {}, {}
    for table in tables:
        if table.source.in_place:
            held[table.name.casefold()], report[table.name] = _scanned(table, account, progress)
    copied = [] if folder is None else [table for table in tables if is_copied(table)]
    loaded = [table for table in tables if not table.source.in_place and table not in copied]
    with ExitStack() as used:
        staged = Path(used.enter_context(staging_folder(folder))) if folder is not None and copied else None
        stagings = {} if staged is None else stagings_of(copied, account, staged)
        with ExitStack() as opened:
            opened.enter_context(at_one_moment())
            files: list[OpenSource] = []
            for group, within in ((loaded, opened), (copied, used)):
                if not group:
                    continue
                # Those in memory keep the order of their rows, so that equal ones have equal digests; it decides no
                # more.
                session = within.enter_context(Session(in_row_order=group is loaded))
                prepare(session, group, folders=[] if staged is None or group is loaded else [staged])
                for number, table in enumerate(group):
                    reading = Reading(
                        f"source{number}", table, identifying(table, account), required(table, account), progress
                    )
                    source = open_source(table.source, data)
                    if table.source.kind != "memory":
                        files.append(opened.enter_context(source))
                    held[table.name.casefold()] = reading.into(session, stagings.get(table.name.casefold()), source)
                    check_unchanged([source])
                    report[table.name] = reading.report(session, source, partial(open_source, table.source, data))
            check_unchanged(files)  # one that changed while others were read is of another time than these
        settled = keep_within(held, settled_first(tables, account, stagings), account, folder)
        if copied:
            settled = in_parts(session, settled, stagings, account, parts)
    for table in tables:
        held[table.name.casefold()], beyond = settled[table.name.casefold()]
        rows = held[table.name.casefold()].rows
        report[table.name] |= {"rows": rows, "beyond_most_rows_per_unit": asdict(beyond)}
    snapshot = Snapshot(tables=held, folder=folder, report=report)
    check_ceiling(tables, snapshot)
    return snapshot


def check_ceiling(tables: Sequence[Table], snapshot: Snapshot) -> None:
    """Refuse more rows than were declared.

    Raises:
        InvalidArgument: a table has more than its ceiling.
    """
    for table in tables:
        if snapshot.tables[table.name.casefold()].rows > table.row_ceiling:
            raise InvalidArgument(
                f"table {table.name!r} has more rows than row_ceiling = {table.row_ceiling} says",
                hint="declare a number that it will never exceed",
            )


def staging_folder(folder: Path) -> TemporaryDirectory[str]:
    """A folder that is gone when the snapshot is written, or isn't.

    Args:
        folder: of the snapshot, in which it is made.

    Raises:
        SnapshotError: it can't be.
    """
    try:
        return TemporaryDirectory(prefix="staged-", dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        problem = error.strerror
    raise SnapshotError(f"no snapshot can be written in {str(folder)!r}: {problem}", hint="is the disk full?")


def _scanned(table: Table, tables: Sequence[Table], progress: Progress) -> tuple[HeldTable, dict[str, Any]]:
    """A table that stays in place, and what is reported of it: nothing was left out."""
    import duckdb

    places = places_of(table.source.location)
    scan = Scan(table, identifying(table, tables), required(table, tables), progress)
    problem = SourceUnsupported(
        f"DuckDB can't read table {table.name!r} in place: it is damaged",
        hint="admit it as a copy: leave in_place out",
    )
    try:
        with held_open(places) as opened, Session() as session, open_source(table.source) as source:
            # Footers are on trial, so nothing may be concluded from what they say.
            session.execute("SET disabled_optimizers = 'statistics_propagation'")
            prepare(session, [table], files=[place.path for place in opened])
            held = scan.admitted(session, source, places, opened)
    except SnapshotChanged:
        problem = changed(table.source.location)
    except duckdb.Error:
        pass
    else:
        return held, report_of(rows=held.rows)
    raise problem  # outside the handler, so that no words that may quote a row are chained to it
