"""Staging: where the rows of a table lie from when they are read until they are put into parts.

How many rows a table has is known once they are read. So the first run of them is written as it comes, which is all of
a small table; and those that follow in pieces, of which a part will be one or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from discreet.duckdb.sql_text import string
from discreet.tables.admission.snapshot import HeldTable
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table

LARGE = 2_000_000
"""A table of up to this many rows is one part."""
ROWS = 1_500_000
"""The most rows of a part of a larger one, on average."""
FIRST = 1_000_000
"""So many rows are written as they come, before those that follow are cut."""
PIECES = 32
"""Into as many pieces rows are written at once."""
_BUFFERED = 61_440
"""Rows of each piece that are held in memory before they are written."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that lie together: those the hash of whose unit's id leaves this remainder.

    Args:
        files: in which they lie.
        number: the remainder,
        of: of a division by this power of two.
    """

    files: tuple[Path, ...]
    number: int = 0
    of: int = 1


@dataclass(frozen=True, slots=True)
class Staging:
    """Where the rows of one table are written while they are read.

    Args:
        folder: for it alone, in one that is removed with all in it, in the snapshot's.
        owner: of a table that will lie in parts by its units; its columns are called `c0, c1, …` from here on.
        in_runs: whether rows are dealt out as they come instead, because each is a unit.
        cut: by which column all rows are cut as they come, and into how many pieces; None if the first run isn't.
    """

    folder: Path
    owner: Owner | None = None
    in_runs: bool = False
    cut: tuple[str, int] | None = None

    @property
    def runs(self) -> Iterator[int | None]:
        """How many rows are written at a time, at least; None for all."""
        if self.in_runs:
            return chain([LARGE], repeat(ROWS))
        return iter([None] if self.cut or self.owner is None or self.owner.hops else [FIRST, None])

    def copy(self, table: Table, query: str, run: int) -> str:
        """The SQL that writes a run of rows.

        Args:
            table: as declared.
            query: for the rows.
            run: its number.
        """
        if self.cut is not None:
            return copy_in_pieces(query, *self.cut, self.folder / "pieces")
        if self.owner is None or run == 0:
            return f"COPY ({query}) TO {string(str(self.folder / f'{run:06d}.parquet'))} (FORMAT parquet)"
        return copy_in_pieces(query, place(table, self.owner.unit.column or ""), PIECES, self.folder / "pieces")

    def written(self) -> list[Path]:
        """The files that were written, in one order."""
        return sorted(self.folder.rglob("*.parquet"))

    @property
    def snapshot(self) -> Path:
        """The folder of the snapshot that the table is on its way into."""
        return self.folder.parent.parent

    def paths(self, held: HeldTable) -> list[Path]:
        """The files in which this table, or another, lies now."""
        return [self.snapshot / file for file in held.files]

    def part(self, number: int) -> Path:
        """The file in which the rows of a part are written, before it stays."""
        return self.folder / f"part-{number}.parquet"

    def pieces(self, files: Sequence[Path]) -> list[Piece]:
        """What was written, in pieces.

        Args:
            files: all that it lies in now.
        """
        whole = tuple(file for file in files if file.parent == self.folder)
        cut = pieces_in(self.folder / "pieces", PIECES) if len(whole) < len(files) else []
        return [Piece(whole), *cut]


def place(table: Table, column: str) -> str:
    """What a declared column is called in files with notes."""
    return f"c{[each.name.casefold() for each in table.columns].index(column.casefold())}"


def chosen(ids: str, of: int) -> str:
    """The SQL of the part or piece, of so many, in which the rows of an id lie; those of nobody lie in the first."""
    return f"CASE WHEN {ids} IS NULL THEN 0 ELSE hash({ids}) % {of} END"


def copy_in_pieces(query: str, ids: str, of: int, folder: Path) -> str:
    """The SQL that writes rows in pieces.

    Args:
        query: for the rows.
        ids: their column that chooses.
        of: how many pieces.
        folder: that will hold a folder for each that isn't empty.
    """
    pieced = f"SELECT *, {chosen(ids, of)} AS piece FROM ({query})"  # noqa: S608 — our own names
    return (
        f"COPY ({pieced}) TO {string(str(folder))} (FORMAT parquet, PARTITION_BY (piece), ROW_GROUP_SIZE {_BUFFERED})"
    )


def pieces_in(folder: Path, of: int) -> list[Piece]:
    """The pieces that were written into a folder."""
    return [
        Piece(tuple(sorted(each.iterdir())), int(each.name.removeprefix("piece=")), of)
        for each in sorted(folder.iterdir())
    ]
