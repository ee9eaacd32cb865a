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

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name, string
from discreet.errors import SnapshotError, SourceUnsupported
from discreet.tables.admission.owned_rows import show_owned_rows
from discreet.tables.admission.snapshot import HeldTable, Snapshot
from discreet.tables.schema.dataset import owner_of
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Beyond:
    """The units above the ceiling and their rows beyond it, for the custodian alone.

    Args:
        units: how many had too many rows.
        rows: how many weren't admitted.
    """

    units: int = 0
    rows: int = 0

    def __add__(self, other: Beyond) -> Beyond:
        return Beyond(self.units + other.units, self.rows + other.rows)


def keep_within(
    held: Mapping[str, HeldTable], tables: Sequence[Table], account: Sequence[Table], folder: Path | None
) -> dict[str, tuple[HeldTable, Beyond]]:
    """The tables without what units have too many of.

    Args:
        held: as they were read, by name in lower case.
        tables: their declarations, the owners' among them.
        account: all tables of the account, whose links say whose a row is.
        folder: in which their files are staged.

    Raises:
        SourceUnsupported: a unit has too many rows in a table that stays in place.
        SnapshotError: the folder can't be written.
    """
    import duckdb

    found = {key: (each, Beyond()) for key, each in held.items()}
    owners = {table: owner for table in tables if (owner := owner_of(table, account)) is not None}
    # First those that say whose the rows of others are, in whichever order they are declared.
    for table, owner in sorted(owners.items(), key=lambda each: len(each[1].hops)):
        own = held[table.name.casefold()]
        if owner.unit.is_row or own.rows <= table.most_rows_per_unit:
            continue  # no unit has more rows than its table
        failed = False
        try:
            snapshot = Snapshot(tables={key: each for key, (each, _) in found.items()}, folder=folder)
            found[table.name.casefold()] = _kept(table, owner, snapshot)
        except (duckdb.Error, OSError):
            failed = True
        if failed:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise SnapshotError(
                f"the rows of each unit in table {table.name!r} can't be counted", hint="is the disk or memory full?"
            )
    return found


def _kept(table: Table, owner: Owner, snapshot: Snapshot) -> tuple[HeldTable, Beyond]:
    """One table without what units have too many of."""
    own = snapshot.tables[table.name.casefold()]
    kept = Path(snapshot.files(table)[0]).with_name("kept.parquet") if own.files else None
    with Session(in_row_order=True) as session:  # so that rows have the same numbers each time they are read
        unit = show_owned_rows(session, snapshot, table, owner, writes=[] if kept is None else [str(kept)])
        beyond = _find_beyond(session, unit, len(own.columns), table.most_rows_per_unit)
        if not beyond.rows:
            return own, beyond
        if own.places:
            raise SourceUnsupported(
                f"{beyond.units:,} units have more than most_rows_per_unit = {table.most_rows_per_unit:,} rows in "
                f"table {table.name!r}, and nothing can be left out of a table in place",
                hint="declare a higher number, or admit the table as a copy: leave in_place out",
            )
        names = ", ".join(f"c{number} AS {name(column)}" for number, column in enumerate(own.names.values()))
        rest = f"SELECT {names} FROM t0 ANTI JOIN beyond USING (number)"  # noqa: S608 — names are quoted
        if kept is None:
            return in_memory(session.arrow(rest), own), beyond
        session.execute(f"COPY ({rest}) TO {string(str(kept))} (FORMAT parquet)")
    file = Path(own.files[0]).with_name(kept.name)
    return replace(own, rows=own.rows - beyond.rows, files=(file.as_posix(),)), beyond


def _find_beyond(session: Session, unit: str, columns: int, most: int) -> Beyond:
    """Make the table of the numbers of those rows that are too many.

    Args:
        session: with the rows `t0`, and `owned`.
        unit: the columns of `owned` that tell units apart.
        columns: how many `t0` has.
        most: rows of a unit.
    """
    heavy = f"SELECT {unit} FROM owned GROUP BY ALL HAVING count(*) > {most}"  # noqa: S608 — a number and our own names
    session.execute(f"CREATE TEMP TABLE heavy AS {heavy}")
    ((units,),) = session.execute("SELECT count(*) FROM heavy")
    values = ", ".join(f"c{number}" for number in range(columns))
    # Of equal rows of several units, the same are left out for each.
    in_order = f"PARTITION BY {unit} ORDER BY hash({values}), {values}, number"
    session.execute(
        "CREATE TEMP TABLE beyond AS SELECT DISTINCT number FROM ("  # noqa: S608 — our own names
        f"SELECT number, row_number() OVER ({in_order}) AS place "
        f"FROM (FROM owned SEMI JOIN heavy USING ({unit})) JOIN t0 USING (number)) WHERE place > {most}"
    )
    ((rows,),) = session.execute("SELECT count(*) FROM beyond")
    return Beyond(units, rows)


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
    return replace(held, rows=table.num_rows, digest=digest, data=(table,))
