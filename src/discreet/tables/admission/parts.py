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
from discreet.duckdb.sql_text import name, string
from discreet.errors import SnapshotError
from discreet.tables.admission.one_part import OnePart, own_columns, read, show_owned, told, unit_columns
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
        unit = owner_within(table, tables, account)
        each_is_unit = not table.public and table.unit is not None and table.unit.is_row
        found[table.name.casefold()] = Staging(folder / str(number), unit, in_runs=each_is_unit)
    return found


def owner_within(table: Table, tables: Sequence[Table], account: Sequence[Table]) -> Owner | None:
    """The owner of a table that can lie in parts by its units: all that its links lead through is copied with it.

    What another admission copies, or copied, may say otherwise whose a row is.
    """
    owner = owner_of(table, account)
    if owner is None or owner.unit.is_row:
        return None
    copied = {each.name.casefold() for each in tables}
    return owner if all(hop.table.name.casefold() in copied for hop in owner.hops) else None


def notes_of(table: Table, owner: Owner) -> Notes:
    """What is noted beside the rows of a table, and how it was found."""
    import duckdb

    return Notes(owner=owner.words(table), parted_by=f"duckdb {duckdb.__version__} hash")


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
                beyond += later
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
    names = settled(files, staging.snapshot, staging.folder.name)
    return replace(own, files=names, digest=digest_of([str(staging.snapshot / each) for each in names]))


def settled(files: Sequence[Path], folder: Path, called: str) -> tuple[str, ...]:
    """The names of the files of a table's parts, once they are moved to where they stay.

    Args:
        files: as they were written, on the same file system.
        folder: of the snapshot.
        called: what tells the table from others.
    """
    several = len(files) > 1
    names = tuple(f"{called}{f'-{part:04d}' if several else ''}.parquet" for part in range(len(files)))
    for file, final in zip(files, names, strict=True):
        file.chmod(0o600)
        file.replace(folder / final)
    return names


def noted(  # noqa: PLR0913 — what became of parts
    held: HeldTable,
    table: Table,
    owner: Owner,
    unique: Sequence[frozenset[str]],
    beyond: Beyond,
    *,
    repeats: bool,
) -> HeldTable:
    """A table with what is noted beside the rows of its parts.

    Args:
        held: as it was read.
        table: as declared.
        owner: of its rows.
        unique: of each part, the columns that hold no value twice.
        beyond: what was left out when its parts were written.
        repeats: whether a row of several units stands there once for each.
    """
    notes = replace(notes_of(table, owner), repeats=repeats, unique=tuple(sorted(frozenset.intersection(*unique))))
    return replace(held, rows=held.rows - beyond.rows, notes=notes)


def _by_row(session: Session, table: Table, staging: Staging, files: Sequence[Path], parts: int) -> list[Path]:
    """A table whose rows are units, dealt out by a hash of what they hold."""
    own = own_columns(table)
    named = ", ".join(f"{own[number]} AS {name(column.name)}" for number, column in enumerate(table.columns))
    rows, chosen_by = f"{read(files)} AS r({', '.join(own)})", f"hash({', '.join(own)}) % {parts}"
    found = [staging.part(part) for part in range(parts)]
    for part, file in enumerate(found):
        own_rows = f"SELECT {named} FROM {rows} WHERE {chosen_by} = {part}"  # noqa: S608 — names are quoted
        session.execute(f"COPY ({own_rows}) TO {string(str(file))} (FORMAT parquet)")
    return found


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
        one = OnePart(self.session, self.table, self.owner, repeats)
        files, beyond, unique = [], [before], []
        for part, rows in enumerate(self._parts(parts)):
            files.append(self.staging.part(part))
            beyond.append(one.write(rows, files[-1]))
            unique.append(one.unique(account, files[-1]))
        own = noted(self.held[key], self.table, self.owner, unique, sum(beyond[1:], Beyond()), repeats=repeats)
        return files, own, sum(beyond, Beyond())

    def _parts(self, parts: int) -> Iterator[str]:
        """The rows of each part, in SQL."""
        files, ids = self.staging.paths(self.held[self.table.name.casefold()]), unit_columns(self.table, self.owner)[0]
        rows = "owned" if self.owner.hops else read(files)
        if parts == 1:
            yield rows
            return
        pieces = self._cut("FROM owned", min(parts, PIECES)) if self.owner.hops else self.staging.pieces(files)
        pieces = self._cut_further(pieces, parts)
        for part in range(parts):
            own = [piece for piece in pieces if piece.number % parts == part % piece.of]
            found = f"FROM {read([file for piece in own for file in piece.files])}" if own else f"FROM {rows} LIMIT 0"
            exactly = f" WHERE {chosen(ids, parts)} = {part}" if any(piece.of < parts for piece in own) else ""
            yield f"({found}{exactly})"

    def _cut_further(self, pieces: Sequence[Piece], parts: int) -> list[Piece]:
        """Pieces of which each holds rows of few parts."""
        found = []
        for piece in pieces:
            if piece.of * _READ_AGAIN >= parts:
                found.append(piece)
            else:
                smaller = self._cut(f"FROM {read(piece.files)}", min(parts, piece.of * PIECES))
                found += self._cut_further(smaller, parts)
        return found

    def _cut(self, query: str, of: int) -> list[Piece]:
        """Rows, cut into as many pieces."""
        folder = Path(mkdtemp(prefix="cut-", dir=self.staging.folder))
        self.session.execute(copy_in_pieces(query, unit_columns(self.table, self.owner)[0], of, folder))
        return pieces_in(folder, of)

    def _show_owned(self) -> bool:
        """Make the rows readable as `owned`; see `show_owned`."""
        first, *others = hops = self.owner.hops
        way = f"{self._staged(first.table)} AS h0"
        for number, (before, hop) in enumerate(zip(hops, others, strict=False), start=1):
            link = f"h{number - 1}.{place(before.table, hop.column)} = h{number}.{place(hop.table, hop.to)}"
            way += f" JOIN {self._staged(hop.table)} AS h{number} ON {link}"
        unit = unit_columns(self.table, self.owner)
        named = zip(told(self.owner, hops[-1].table, f"h{len(others)}."), unit, strict=True)
        units = ", ".join(f"{sql} AS {called}" for sql, called in named)
        ways = f"(SELECT h0.{place(first.table, first.to)} AS link, {units} FROM {way})"  # noqa: S608 — our own names
        return show_owned(self.session, self._staged(self.table), place(self.table, first.column), ways, unit)

    def _staged(self, table: Table) -> str:
        """The rows of a table, in SQL, as they were staged."""
        return read(self.staging.paths(self.held[table.name.casefold()]))
