"""Tables and views of SQLite files, in which each cell has a type of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from discreet.duckdb.sql_text import name as quoted
from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import decoded
from discreet.tables.sources.cells import Mended, TextColumns
from discreet.tables.sources.files import identity_of
from discreet.tables.sources.reader import Field, OpenDatabase, column_names, only

_PATIENCE = 5.0
"""Seconds to wait for another process to finish writing."""
_HIDDEN = 1
"""SQLite's mark for a column that no query sees unless it names it."""


class OpenSqlite(OpenDatabase):
    """A table or view of a SQLite file.

    Guarantee: the file is opened for reading; what stands in a log beside it counts. One pass sees one state of it.

    Raises:
        SourceMissing: there is no such file, no such table in it, or several and none is named.
        SourceUnsupported: it isn't a SQLite file that can be opened for reading.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(*_sqlite_files(source.location))
        self._source = source
        with _sqlite_damage_reported(source.location), closing(_connected(source.location)) as connection:
            self._table = _find_sqlite(_sqlite_names(connection), source)
            rows = connection.execute(f"PRAGMA table_xinfo({quoted(self._table)})").fetchall()
        rows = [row for row in rows if row[6] != _HIDDEN]
        names = column_names([row[1] for row in rows], source.location)
        self._written = dict(zip(names, (row[1] for row in rows), strict=True))
        self._fields = tuple(
            Field(name=name, type=pa.string(), untyped=True, required=bool(row[3]))
            for name, row in zip(names, rows, strict=True)
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """The table's columns."""
        return self._fields

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, one by one."""
        columns = ", ".join(quoted(self._written[each.name]) for each in chosen)
        cells = TextColumns(chosen, self._source.missing, self.unreadable)
        with _sqlite_damage_reported(self.location), closing(_connected(self.location)) as connection:
            for row in connection.execute(f"SELECT {columns} FROM {quoted(self._table)}"):
                cells.add(row)
                if cells.is_full:
                    yield cells.take()
        if not cells.is_empty:
            yield cells.take()


def sqlite_tables(path: str) -> list[str]:
    """The names of the tables and views of a SQLite file.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened for reading.
    """
    identity_of(*_sqlite_files(path))
    with _sqlite_damage_reported(path), closing(_connected(path)) as connection:
        return _sqlite_names(connection)


def _sqlite_files(location: str) -> tuple[str, str, str]:
    """The paths of a database file and its logs."""
    return location, f"{location}-wal", f"{location}-journal"


def _connected(location: str) -> sqlite3.Connection:
    """A connection that only reads. Bytes come as bytes, so that they aren't taken for texts."""
    place = quote(str(Path(location).resolve()))
    connection = sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=_PATIENCE)
    connection.text_factory = _sqlite_text
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _sqlite_text(raw: bytes) -> str:
    """A text as SQLite holds it, which needn't be UTF-8."""
    text, is_wrong = decoded(raw)
    return Mended(text) if is_wrong else text


@contextmanager
def _sqlite_damage_reported(location: str) -> Iterator[None]:
    """Say of a damaged file that it is, without SQLite's words: they may quote a cell."""
    is_damaged = False
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        if isinstance(error, SourceMissing):
            raise
        is_damaged = True
    if is_damaged:
        raise SourceUnsupported(
            f"{location!r} can't be read as a SQLite database",
            hint="it is damaged, encrypted or locked by a writer, or a view in it fails",
        )


def _sqlite_names(connection: sqlite3.Connection) -> list[str]:
    """The names of tables and views, but for SQLite's own."""
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return sorted(str(name) for (name,) in connection.execute(query))


def _find_sqlite(tables: Sequence[str], source: Source) -> str:
    """The table that is meant; the only one, if none is named."""
    wanted = source.table
    matching = [each for each in tables if wanted is None or each.casefold() == wanted.casefold()]
    return only(matching, source, "database", "table", tables)
