"""The ceiling on a unit's rows: of a unit that has more than `most_rows_per_unit` in a table, the rest isn't admitted.

Without one, a unit could be the whole table: then nothing bounds how far one unit moves the time of a question, nor
how much limits cut off. Which rows stay is decided by a hash of these rows, so it is the unit's own affair. A row that
links lead to several units counts for each of them, and is left out if it is beyond the ceiling of any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.entropy import fresh_bytes
from discreet.errors import SnapshotError, SourceUnsupported
from discreet.tables.admission.snapshot import HeldTable, digest_of
from discreet.tables.schema.dataset import owner_of
from discreet.tables.schema.table import Owner, Table
from discreet.tables.session import Session, name, parquet, string

if TYPE_CHECKING:
    import pyarrow as pa

_ROW = f"row {fresh_bytes(16).hex()}"
"""The column that numbers rows: another one each time, so that no table has a column of that name."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """What was left out of a table: for the custodian alone.

    Args:
        units: how many had too many rows.
        rows: how many weren't admitted.
    """

    units: int = 0
    rows: int = 0


def keep_within(
    held: Mapping[str, HeldTable], tables: Sequence[Table], account: Sequence[Table], folder: Path | None
) -> dict[str, tuple[HeldTable, Beyond]]:
    """The tables without what units have too many of.

    Args:
        held: as they were read, by name in lower case.
        tables: their declarations, the owners' among them.
        account: all tables of the account, whose links say whose a row is.
        folder: in which their files are.

    Raises:
        SourceUnsupported: a unit has too many rows in a table that stays in place.
        SnapshotError: the folder can't be written.
    """
    import duckdb

    found = {key: (each, Beyond()) for key, each in held.items()}
    for table in tables:
        owner = owner_of(table, account)
        if owner is None or owner.unit.is_row:
            continue
        failed = False
        try:
            found[table.name.casefold()] = _kept(table, owner, {key: each for key, (each, _) in found.items()}, folder)
        except (duckdb.Error, OSError):
            failed = True
        if failed:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise SnapshotError(
                f"the rows of each unit in table {table.name!r} can't be counted", hint="is the disk or memory full?"
            )
    return found


def _kept(table: Table, owner: Owner, held: Mapping[str, HeldTable], folder: Path | None) -> tuple[HeldTable, Beyond]:
    """One table without what units have too many of."""
    own = held[table.name.casefold()]
    kept = None if own.file is None or folder is None else folder / f"kept-{own.file}"
    with Session(in_row_order=True) as session:  # so that rows have the same numbers each time they are read
        read = {each.name.casefold(): each for each in (table, *(hop.table for hop in owner.hops))}
        files = {key: _files(held[key], folder) for key in read}
        session.lock(allowed=[path for paths in files.values() for path in paths] + ([str(kept)] if kept else []))
        for number, key in enumerate(read):
            if files[key]:
                numbered = f"SELECT *, row_number() OVER () AS {name(_ROW)} FROM {parquet(files[key])}"  # noqa: S608 — quoted
                session.execute(f"CREATE TEMP VIEW t{number} AS {numbered}")
            else:
                session.register(f"t{number}", _numbered(held[key]))
        beyond = _find_beyond(session, table, owner, list(read))
        if not beyond.rows:
            return own, beyond
        if own.places:
            raise SourceUnsupported(
                f"{beyond.units:,} units have more than most_rows_per_unit = {table.most_rows_per_unit:,} rows in "
                f"table {table.name!r}, and nothing can be left out of a table in place",
                hint="declare a higher number, or admit it as a copy: leave in_place out",
            )
        rest = f"SELECT * EXCLUDE {name(_ROW)} FROM t0 ANTI JOIN beyond USING ({name(_ROW)})"  # noqa: S608 — our own names
        if kept is None:
            return in_memory(session.arrow(rest), own), beyond
        session.execute(f"COPY ({rest}) TO {string(str(kept))} (FORMAT parquet)")
    path = kept.with_name(own.file or "")
    kept.chmod(0o600)
    kept.replace(path)
    return replace(own, rows=own.rows - beyond.rows, digest=digest_of(path)), beyond


def _find_beyond(session: Session, table: Table, owner: Owner, read: Sequence[str]) -> Beyond:
    """Make the table of the numbers of those rows that are too many.

    Args:
        session: with the tables `t0, t1, …` that were read.
        table: whose rows.
        owner: how their units are found.
        read: the names of the tables, in that order.
    """
    ids = [f"u{number}" for number in range(1 if owner.unit.at is None else 2)]
    unit = ", ".join(ids)
    session.execute(f"CREATE TEMP VIEW owned AS {_owned(owner, read)}")
    most = table.most_rows_per_unit
    heavy = f"SELECT {unit} FROM owned GROUP BY ALL HAVING count(*) > {most}"  # noqa: S608 — a number and our own names
    session.execute(f"CREATE TEMP TABLE heavy AS {heavy}")
    ((units,),) = session.execute("SELECT count(*) FROM heavy")
    columns = ", ".join(f"t0.{name(column.name)}" for column in table.columns)
    whose = ", ".join(f"busy.{column}" for column in ids)
    in_order = f"PARTITION BY {whose} ORDER BY hash({columns}), {columns}"
    session.execute(
        f"CREATE TEMP TABLE beyond AS SELECT DISTINCT {name(_ROW)} FROM ("  # noqa: S608 — names are quoted
        f"SELECT t0.{name(_ROW)}, row_number() OVER ({in_order}) AS place "
        f"FROM (FROM owned SEMI JOIN heavy USING ({unit})) AS busy JOIN t0 USING ({name(_ROW)})) WHERE place > {most}"
    )
    ((rows,),) = session.execute("SELECT count(*) FROM beyond")
    return Beyond(units, rows)


def _owned(owner: Owner, read: Sequence[str]) -> str:
    """The SQL of each row's number with each of its units, `u0` and, of a period, `u1`."""
    last, joins = "h0", ["t0 AS h0"]
    for number, hop in enumerate(owner.hops, start=1):
        table = f"t{read.index(hop.table.name.casefold())}"
        joins.append(f"JOIN {table} AS h{number} ON {last}.{name(hop.column)} = h{number}.{name(hop.to)}")
        last = f"h{number}"
    unit = [f"{last}.{name(owner.unit.column or '')} AS u0"]
    if owner.unit.at is not None:
        unit.append(f"date_trunc('{owner.unit.per}', CAST({last}.{name(owner.unit.at)} AS TIMESTAMP)) AS u1")
    return f"SELECT DISTINCT h0.{name(_ROW)}, {', '.join(unit)} FROM {' '.join(joins)}"  # noqa: S608 — names are quoted


def _files(held: HeldTable, folder: Path | None) -> list[str]:
    """The files of a table; none if it is in memory."""
    if held.file is not None and folder is not None:
        return [str(folder / held.file)]
    return [place.path for place in held.places]


def _numbered(held: HeldTable) -> pa.Table:
    """A table in memory with a number for each row."""
    import pyarrow as pa

    if held.data is None:
        raise TypeError("a table lies in memory or in files")
    return held.data.append_column(_ROW, pa.array(range(held.rows), pa.int64()))


def in_memory(table: pa.Table, held: HeldTable) -> HeldTable:
    """A table in memory as our own; equal rows in one order have equal digests.

    Args:
        table: its rows.
        held: what else is known of it.
    """
    import pyarrow as pa

    table = table.combine_chunks().replace_schema_metadata(None)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    digest = hashlib.sha256(sink.getvalue()).hexdigest()
    return replace(held, rows=table.num_rows, digest=digest, data=table)
