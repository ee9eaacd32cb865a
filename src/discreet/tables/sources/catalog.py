"""What tables a file of several has."""

from __future__ import annotations

from pathlib import Path

from discreet.tables.sources.files import OpenFile

_SQLITE = b"SQLite format 3\0"


def is_sqlite(path: str | Path) -> bool:
    """Whether a file is a SQLite database, by its first bytes.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """
    with OpenFile(str(path)) as file:
        return file.head(len(_SQLITE)) == _SQLITE


def tables_in(path: str | Path) -> list[str]:
    """The names of the tables in a DuckDB or SQLite file, or of a spreadsheet's sheets.

    Those outside of a DuckDB file's main schema come with their schema's name; views of SQLite are tables, too.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it isn't such a file, or can't be opened for reading.

    Examples:
        >>> tables_in("/dev/null")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: '/dev/null' isn't a regular file (...)
    """
    if is_sqlite(path):
        from discreet.tables.sources.sqlite import sqlite_tables

        return sqlite_tables(str(path))
    if str(path).casefold().endswith(".xlsx"):
        from discreet.tables.sources.xlsx import sheets

        return sheets(str(path))
    from discreet.tables.sources.duckdb import duckdb_tables

    return duckdb_tables(str(path))
