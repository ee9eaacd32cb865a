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

from discreet.errors import SnapshotError, SourceUnsupported
from discreet.tables.admission.snapshot import HeldTable, digest_of
from discreet.tables.schema.dataset import owner_of
from discreet.tables.schema.table import Owner, Table
from discreet.tables.session import Session, name, parquet, string

if TYPE_CHECKING:
    import pyarrow as pa


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
        read = {
            each.name.casefold(): held[each.name.casefold()] for each in (table, *(hop.table for hop in owner.hops))
        }
        files = {key: _files(each, folder) for key, each in read.items()}
        session.lock(allowed=[path for paths in files.values() for path in paths] + ([str(kept)] if kept else []))
        for number, (key, each) in enumerate(read.items()):
            if not files[key]:
                session.register(f"raw{number}", each.data)
            source = parquet(files[key]) if files[key] else f"raw{number}"
            session.execute(f"CREATE TEMP VIEW t{number} AS {_numbered(each, source)}")
        beyond = _find_beyond(session, table, owner, read)
        if not beyond.rows:
            return own, beyond
        if own.places:
            raise SourceUnsupported(
                f"{beyond.units:,} units have more than most_rows_per_unit = {table.most_rows_per_unit:,} rows in "
                f"table {table.name!r}, and nothing can be left out of a table in place",
                hint="declare a higher number, or admit it as a copy: leave in_place out",
            )
        names = ", ".join(f"c{number} AS {name(column.name)}" for number, column in enumerate(own.columns))
        rest = f"SELECT {names} FROM t0 ANTI JOIN beyond USING (number)"  # noqa: S608 — names are quoted
        if kept is None:
            return in_memory(session.arrow(rest), own), beyond
        session.execute(f"COPY ({rest}) TO {string(str(kept))} (FORMAT parquet)")
    path = kept.with_name(own.file or "")
    kept.chmod(0o600)
    kept.replace(path)
    return replace(own, rows=own.rows - beyond.rows, digest=digest_of(path)), beyond


def _numbered(held: HeldTable, source: str) -> str:
    """The SQL of a table's rows under names of ours: its columns `c0, c1, …`, and the `number` of each row."""
    columns = ", ".join(f"{name(column.name)} AS c{number}" for number, column in enumerate(held.columns))
    return f"SELECT {columns}, row_number() OVER () AS number FROM {source}"  # noqa: S608 — names are quoted


def _find_beyond(session: Session, table: Table, owner: Owner, read: Mapping[str, HeldTable]) -> Beyond:
    """Make the table of the numbers of those rows that are too many.

    Args:
        session: with the tables `t0, t1, …` that were read.
        table: whose rows.
        owner: how their units are found.
        read: the tables by name, in that order.
    """
    unit = ", ".join(f"u{number}" for number in range(1 if owner.unit.at is None else 2))
    session.execute(f"CREATE TEMP VIEW owned AS {_owned(table, owner, read)}")
    most = table.most_rows_per_unit
    heavy = f"SELECT {unit} FROM owned GROUP BY ALL HAVING count(*) > {most}"  # noqa: S608 — a number and our own names
    session.execute(f"CREATE TEMP TABLE heavy AS {heavy}")
    ((units,),) = session.execute("SELECT count(*) FROM heavy")
    columns = ", ".join(f"c{number}" for number in range(len(read[table.name.casefold()].columns)))
    in_order = f"PARTITION BY {unit} ORDER BY hash({columns}), {columns}"
    session.execute(
        "CREATE TEMP TABLE beyond AS SELECT DISTINCT number FROM ("  # noqa: S608 — our own names
        f"SELECT number, row_number() OVER ({in_order}) AS place "
        f"FROM (FROM owned SEMI JOIN heavy USING ({unit})) JOIN t0 USING (number)) WHERE place > {most}"
    )
    ((rows,),) = session.execute("SELECT count(*) FROM beyond")
    return Beyond(units, rows)


def _owned(table: Table, owner: Owner, read: Mapping[str, HeldTable]) -> str:
    """The SQL of each row's number with each of its units, `u0` and, of a period, `u1`."""
    last, held, joins = "h0", read[table.name.casefold()], ["t0 AS h0"]
    for number, hop in enumerate(owner.hops, start=1):
        key = hop.table.name.casefold()
        entered = read[key]
        link = f"{last}.{_place(held, hop.column)} = h{number}.{_place(entered, hop.to)}"
        joins.append(f"JOIN t{list(read).index(key)} AS h{number} ON {link}")
        last, held = f"h{number}", entered
    unit = [f"{last}.{_place(held, owner.unit.column or '')} AS u0"]
    if owner.unit.at is not None:
        at = f"CAST({last}.{_place(held, owner.unit.at)} AS TIMESTAMP)"
        unit.append(f"date_trunc('{owner.unit.per}', {at}) AS u1")
    return f"SELECT DISTINCT h0.number, {', '.join(unit)} FROM {' '.join(joins)}"  # noqa: S608 — our own names


def _place(held: HeldTable, column: str) -> str:
    """What a column is called in our view of its table."""
    return f"c{[each.name.casefold() for each in held.columns].index(column.casefold())}"


def _files(held: HeldTable, folder: Path | None) -> list[str]:
    """The files of a table; none if it is in memory."""
    if held.file is not None and folder is not None:
        return [str(folder / held.file)]
    return [place.path for place in held.places]


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
