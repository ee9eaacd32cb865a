"""Parts: one unit's rows of all tables lie together, in the files of one number, and in the order of units.

So a question is computed part by part, and integers are added up. The hash of a unit's id chooses its part, whatever
the period. Beside each row stands what questions would find out each time, see `Notes`. A row of several units stands
once in the part of each. One whose links lead to nobody stands at the end of the first, without a code or a size.

Which part that is, which code, and which order, decides no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name, parquet
from discreet.errors import SnapshotError
from discreet.tables.admission.snapshot import HeldTable, Notes, digest_of
from discreet.tables.admission.staging import (
    LARGE,
    PIECES,
    ROWS,
    Piece,
    Staging,
    chosen,
    copy_in_pieces,
    pieces_in,
    place,
)
from discreet.tables.admission.unit_ceiling import Beyond, keep_within
from discreet.tables.schema.dataset import owner_of
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table

MOST = 4_096
"""There are never more parts."""
_READ_AGAIN = 4
"""A piece that holds rows of more parts than this is cut before they are written; else it is read for each."""


def number_of_parts(rows: int) -> int:
    """How many parts tables lie in: a power of two.

    Args:
        rows: of the largest of them.

    Examples:
        >>> [number_of_parts(rows) for rows in (0, 2_000_000, 2_000_001, 10_000_000, 10**12)]
        [1, 1, 2, 8, 4096]
    """
    return 1 if rows <= LARGE else min(MOST, 1 << (-(-rows // ROWS) - 1).bit_length())


def is_copied(table: Table) -> bool:
    """Whether an admission writes the rows of a table into files."""
    return table.source.kind != "memory" and not table.source.in_place


def stagings_of(tables: Sequence[Table], account: Sequence[Table], folder: Path) -> dict[str, Staging]:
    """Where tables are written while they are read, by lower-case name.

    Args:
        tables: that are copied together.
        account: all tables of the account.
        folder: in which.
    """
    found = {}
    for number, table in enumerate(tables):
        unit = _owner_within(table, tables, account)
        each_is_unit = not table.public and table.unit is not None and table.unit.is_row
        found[table.name.casefold()] = Staging(folder / str(number), unit, in_runs=each_is_unit)
    return found


def _owner_within(table: Table, tables: Sequence[Table], account: Sequence[Table]) -> Owner | None:
    """The owner of a table that can lie in parts by its units: all that its links lead through is copied with it.

    What another admission copies, or copied, may say otherwise whose a row is.
    """
    owner = owner_of(table, account)
    if owner is None or owner.unit.is_row:
        return None
    copied = {each.name.casefold() for each in tables}
    return owner if all(hop.table.name.casefold() in copied for hop in owner.hops) else None


def notes_of(table: Table, owner: Owner, *, repeats: bool = False) -> Notes:
    """What is noted beside the rows of a table, and how it was found."""
    import duckdb

    return Notes(owner=owner.words(table), parted_by=f"duckdb {duckdb.__version__} hash", repeats=repeats)


def settled_first(tables: Sequence[Table], account: Sequence[Table], stagings: Mapping[str, Staging]) -> list[Table]:
    """The tables from which what units have too much of is left out before any table is put into parts.

    These are those that don't lie in parts by their units, and those that say whose the rows of others are.

    Args:
        tables: that are admitted together.
        account: all tables of the account.
        stagings: of those that are copied.
    """
    owners = [owner for owner in (owner_of(table, account) for table in tables) if owner is not None]
    through = {hop.table.name.casefold() for owner in owners for hop in owner.hops}
    by_unit = {key for key, staging in stagings.items() if staging.owner is not None}
    return [table for table in tables if table.name.casefold() not in by_unit - through]


def in_parts(
    session: Session,
    held: Mapping[str, tuple[HeldTable, Beyond]],
    stagings: Mapping[str, Staging],
    tables: Sequence[Table],
    parts: int | None,
) -> dict[str, tuple[HeldTable, Beyond]]:
    """The tables as the snapshot has them, without what units have too many of.

    Args:
        session: that may read and write where tables were staged.
        held: as they lie there, by lower-case name, and what was left out so far.
        stagings: where that is.
        tables: all of the account.
        parts: how many there will be; None for as many as their rows need.

    Raises:
        SnapshotError: they can't be written.
    """
    import duckdb

    owned = [held[key][0].rows for key, staging in stagings.items() if staging.owner is not None]
    count = parts or number_of_parts(max(owned, default=0))
    found = dict(held)
    for table in tables:
        key = table.name.casefold()
        if key not in stagings:
            continue
        staging, (own, beyond) = stagings[key], held[key]
        failed = False
        try:
            files = staging.paths(own)
            if staging.owner is not None:
                staged = {every: each for every, (each, _) in held.items()}
                files, own, later = _ByUnit(session, table, staging, staged, staging.owner).written(tables, count)
                beyond = Beyond(beyond.units + later.units, beyond.rows + later.rows)
            elif staging.in_runs and parts is not None:
                files = _by_row(session, table, staging, files, parts)
            found[key] = _settled(own, staging, files), beyond
        except (duckdb.Error, OSError):
            failed = True
        if failed:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise SnapshotError(f"the snapshot of table {table.name!r} can't be written", hint="is the disk full?")
    return found


def _settled(own: HeldTable, staging: Staging, files: Sequence[Path]) -> HeldTable:
    """A table whose files are moved to where they stay."""
    several = len(files) > 1
    names = tuple(f"{staging.folder.name}{f'-{part:04d}' if several else ''}.parquet" for part in range(len(files)))
    stay = [staging.snapshot / each for each in names]
    for file, final in zip(files, stay, strict=True):
        file.chmod(0o600)
        file.replace(final)
    return replace(own, files=names, digest=digest_of(list(map(str, stay))))


def _by_row(session: Session, table: Table, staging: Staging, files: Sequence[Path], parts: int) -> list[Path]:
    """A table whose rows are units, dealt out by a hash of what they hold."""
    own = [f"c{number}" for number in range(len(table.columns))]
    named = ", ".join(f"{own[number]} AS {name(column.name)}" for number, column in enumerate(table.columns))
    rows, chosen_by = f"{_read(files)} AS r({', '.join(own)})", f"hash({', '.join(own)}) % {parts}"
    return [
        staging.part(session, f"SELECT {named} FROM {rows} WHERE {chosen_by} = {part}", part)  # noqa: S608 — quoted
        for part in range(parts)
    ]


@dataclass(slots=True)
class _ByUnit:
    """A table whose rows lie by unit.

    Args:
        session: that may read and write where it was staged.
        table: as declared.
        staging: of the table.
        held: what was staged, by lower-case name.
        owner: of its rows.
    """

    session: Session
    table: Table
    staging: Staging
    held: dict[str, HeldTable]
    owner: Owner

    def written(self, account: Sequence[Table], parts: int) -> tuple[list[Path], HeldTable, Beyond]:
        """The files of its parts in order, the table, and what was left out of it.

        Args:
            account: all tables of the account.
            parts: how many.
        """
        key, repeats, before = self.table.name.casefold(), False, Beyond()
        if self.owner.hops:
            repeats = self._show_owned()
            if repeats:  # a row of several units is beyond the ceiling if it is so for any, whatever its part
                self.held[key], before = keep_within(self.held, [self.table], account, self.staging.snapshot)[key]
                repeats = self._show_owned()
        notes = notes_of(self.table, self.owner, repeats=repeats)
        files, units, left_out = [], 0, 0
        for part, rows in enumerate(self._parts(parts)):
            self._show_codes(rows)
            found = self._beyond()
            units, left_out = units + found.units, left_out + found.rows
            query = self._query(rows, notes, is_cut=found.rows > 0)
            files.append(self.staging.part(self.session, query, part))
        notes = replace(notes, unique=self._unique(account, files))
        own = replace(self.held[key], rows=self.held[key].rows - left_out, notes=notes)
        return files, own, Beyond(before.units + units, before.rows + left_out)

    def _unique(self, account: Sequence[Table], files: Sequence[Path]) -> tuple[str, ...]:
        """The columns that say which row is meant, by a link or as an id, that hold no value twice in any part."""
        key = self.table.name.casefold()
        entered = {link.to.casefold() for each in account for link in each.links if link.table.casefold() == key}
        if not self.owner.hops and self.owner.unit.column is not None:
            entered.add(self.owner.unit.column.casefold())
        return tuple(
            each for each in sorted(entered) if not any(self._is_twice(place(self.table, each), file) for file in files)
        )

    def _is_twice(self, column: str, file: Path) -> bool:
        """Whether a file has a value twice in a column."""
        values = f"SELECT 1 FROM {_read([file])} WHERE {column} IS NOT NULL"  # noqa: S608 — our own names
        return bool(self.session.execute(f"{values} GROUP BY {column} HAVING count(*) > 1 LIMIT 1"))

    @property
    def _unit(self) -> list[str]:
        """The SQL of what tells the units of rows apart."""
        if self.owner.hops:
            return ["u0"] if self.owner.unit.at is None else ["u0", "u1"]
        return _told(self.owner, self.table)

    def _parts(self, parts: int) -> Iterator[str]:
        """The rows of each part, in SQL."""
        files, ids = self.staging.paths(self.held[self.table.name.casefold()]), self._unit[0]
        rows = "owned" if self.owner.hops else _read(files)
        if parts == 1:
            yield rows
            return
        pieces = self._cut("FROM owned", min(parts, PIECES)) if self.owner.hops else self.staging.pieces(files)
        pieces = self._cut_further(pieces, parts)
        for part in range(parts):
            own = [piece for piece in pieces if piece.number % parts == part % piece.of]
            found = f"FROM {_read([file for piece in own for file in piece.files])}" if own else f"FROM {rows} LIMIT 0"
            exactly = f" WHERE {chosen(ids, parts)} = {part}" if any(piece.of < parts for piece in own) else ""
            yield f"({found}{exactly})"

    def _cut_further(self, pieces: Sequence[Piece], parts: int) -> list[Piece]:
        """Pieces of which each holds rows of few parts."""
        found = []
        for piece in pieces:
            if piece.of * _READ_AGAIN >= parts:
                found.append(piece)
            else:
                smaller = self._cut(f"FROM {_read(piece.files)}", min(parts, piece.of * PIECES))
                found += self._cut_further(smaller, parts)
        return found

    def _cut(self, query: str, of: int) -> list[Piece]:
        """Rows, cut into as many pieces."""
        folder = Path(mkdtemp(prefix="cut-", dir=self.staging.folder))
        self.session.execute(copy_in_pieces(query, self._unit[0], of, folder))
        return pieces_in(folder, of)

    def _show_owned(self) -> bool:
        """Make the rows readable as `owned`, once for each owner, with `u0` and, of a period, `u1`.

        Returns:
            Whether a row has several: all but one of its copies are `again`.
        """
        first, *others = hops = self.owner.hops
        way = f"{self._staged(first.table)} AS h0"
        for number, (before, hop) in enumerate(zip(hops, others, strict=False), start=1):
            link = f"h{number - 1}.{place(before.table, hop.column)} = h{number}.{place(hop.table, hop.to)}"
            way += f" JOIN {self._staged(hop.table)} AS h{number} ON {link}"
        unit = _told(self.owner, hops[-1].table, f"h{len(others)}.")
        told = ", ".join(f"{sql} AS {called}" for sql, called in zip(unit, self._unit, strict=True))
        units = ", ".join(self._unit)
        self.session.execute(
            "CREATE OR REPLACE TEMP TABLE ways AS "  # noqa: S608 — our own names
            f"SELECT *, row_number() OVER (PARTITION BY link ORDER BY hash(u0), {units}) > 1 AS again "
            f"FROM (SELECT DISTINCT h0.{place(first.table, first.to)} AS link, {told} FROM {way})"
        )
        rows = f"{self._staged(self.table)} AS r"
        same = f"r.{place(self.table, first.column)} = w.link"
        self.session.execute(
            f"CREATE OR REPLACE TEMP VIEW owned AS SELECT r.*, {units}, coalesce(again, false) AS again "  # noqa: S608 — our own names
            f"FROM {rows} LEFT JOIN ways AS w ON {same}"
        )
        several = f"FROM {rows} SEMI JOIN (FROM ways WHERE again) AS w ON {same}"
        ((repeats,),) = self.session.execute(f"SELECT count(*) > 0 FROM ({several})")  # noqa: S608 — our own names
        return bool(repeats)

    def _show_codes(self, rows: str) -> None:
        """Make the units of a part readable as `codes`, with the rows that were `found` of each, and those that stay.

        Args:
            rows: of the part.
        """
        keys = [f"k{number}" for number in range(len(self._unit))]
        told = ", ".join(f"{sql} AS {key}" for sql, key in zip(self._unit, keys, strict=True))
        self.session.execute(
            "CREATE OR REPLACE TEMP TABLE codes AS SELECT *, "  # noqa: S608 — our own names
            f"CAST(row_number() OVER (ORDER BY size, hash(k0), {', '.join(keys)}) - 1 AS UINTEGER) AS code FROM ("
            f"SELECT *, CAST(least(found, {self.table.most_rows_per_unit}) AS UINTEGER) AS size FROM ("
            f"SELECT {told}, count(*) AS found FROM {rows} WHERE {self._unit[0]} IS NOT NULL GROUP BY ALL))"
        )

    def _beyond(self) -> Beyond:
        """What the units of a part have too much of."""
        ((units, rows),) = self.session.execute(
            "SELECT count(*), coalesce(sum(found - size), 0) FROM codes WHERE found > size"
        )
        return Beyond(units, int(rows))

    def _query(self, rows: str, notes: Notes, *, is_cut: bool) -> str:
        """The rows of a part as they lie in its file.

        Args:
            rows: of the part.
            notes: beside them.
            is_cut: whether units have too many: by a hash of them, as the ceiling on units has it, some stay.
        """
        own = [f"c{number}" for number in range(len(self.table.columns))]
        columns = [
            *own,
            *(self._unit if self.owner.hops else []),
            "code",
            "size",
            *(["again"] if notes.repeats else []),
        ]
        same = " AND ".join(f"{sql} = k{number}" for number, sql in enumerate(self._unit))
        some = "LEFT " if self.owner.hops else ""  # some rows may be nobody's
        query = f"SELECT {', '.join(columns)} FROM {rows} {some}JOIN codes ON {same}"  # noqa: S608 — our own names
        if is_cut:
            place_of = f"row_number() OVER (PARTITION BY code ORDER BY hash({', '.join(own)}), {', '.join(own)})"
            query = (
                f"{query} WHERE found IS NOT DISTINCT FROM size UNION ALL "
                f"({query} WHERE found > size QUALIFY {place_of} <= {self.table.most_rows_per_unit})"
            )
        return f"FROM ({query}) ORDER BY code NULLS LAST"

    def _staged(self, table: Table) -> str:
        """The rows of a table, in SQL, as they were staged."""
        return _read(self.staging.paths(self.held[table.name.casefold()]))


def _told(owner: Owner, table: Table, rows: str = "") -> list[str]:
    """The SQL of what tells units apart: the id, and of a period when it begins.

    Args:
        owner: whose unit it is.
        table: that has its columns.
        rows: what comes before their names.
    """
    ids = f"{rows}{place(table, owner.unit.column or '')}"
    if owner.unit.at is None:
        return [ids]
    return [ids, f"date_trunc('{owner.unit.per}', CAST({rows}{place(table, owner.unit.at)} AS TIMESTAMP))"]


def _read(files: Sequence[Path]) -> str:
    """The rows of files, in SQL."""
    return parquet(list(map(str, files)))
