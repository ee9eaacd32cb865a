"""Opening sources: which one a path or a table in memory is, the tables in it, and its reader."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import cast

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.formats import FORMATS
from discreet.tables.schema.database_schema import DatabaseSchema
from discreet.tables.schema.database_url import is_database_url
from discreet.tables.schema.delta_folder import delta_folder_around, is_delta_folder
from discreet.tables.schema.source import Source
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.partitions import PATTERN, parts_of
from discreet.tables.sources.reader import OpenSource


def open_source(source: Source, data: Mapping[str, object] = MappingProxyType({})) -> OpenSource:
    """Open a source for reading; a context manager.

    Args:
        source: where it lies, and how to read it.
        data: tables in memory, by the location of their source; anything else in it is overlooked.

    Raises:
        SourceMissing: there is no such file or table, or a source in memory came without its table.
        SourceUnsupported: it is there, but can't be read: damaged, of another format, or too large for it; or Parquet
            files are a Delta table's.
        ExtraMissing: what reads it isn't installed.

    Examples:
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [34, 71], "sex": ["Female", "Male"]})
        >>> with open_source(Source(kind="memory", location="people"), {"people": people}) as opened:
        ...     [batch.to_pydict() for batch in opened.batches(["age"])]
        [{'age': [34, 71]}]
    """
    if source.kind == "memory":
        from discreet.tables.sources.in_memory import OpenFrame

        return OpenFrame(source.location, data.get(source.location))
    if source.kind == "parquet":
        _check_no_delta_table(source.location)
    is_other = source.kind == "duckdb" and is_sqlite(source.location)  # a .db may be either
    module, _, reader = FORMATS["sqlite" if is_other else source.kind].reader.partition(":")
    return cast("OpenSource", getattr(import_module(f"discreet.tables.sources.{module}"), reader)(source))


def source_of(data: object, name: str) -> Source:
    """The source that `data` is.

    Args:
        data: the path of a file, a Delta table, a folder of Parquet files or a pattern of their names; or the URL of
            Parquet objects or of a PostgreSQL database; or a pandas, Polars or Arrow table; or an Ibis table on DuckDB.
        name: what questions call the table. In a database or spreadsheet with several tables, that one is meant.

    Raises:
        SourceMissing: there is no such file, or no such table in it.
        SourceUnsupported: it is something else.

    Examples:
        >>> source_of({"age": [39]}, "census")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: a dict can't be read as a table (give a path, ...)
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str) and is_database_url(data):
        return Source.of(data, table=_table_meant(data, name))
    if isinstance(data, str) and "://" in data:
        return Source.of(data)
    if isinstance(data, (str, os.PathLike)):
        return _of_path(Path(data), name)
    from discreet.tables.sources.frames import LIBRARIES

    if type(data).__module__.partition(".")[0] in LIBRARIES:
        return Source(kind="memory", location=name)
    raise SourceUnsupported(
        f"a {type(data).__name__} can't be read as a table",
        hint="give a path, a PostgreSQL database's URL, a pandas, Polars or Arrow table, or an Ibis table on DuckDB",
    )


def source_at(path: str | Path, table: str | None = None) -> Source:
    """The source at a path, by the ending of its name; what isn't a file is a Delta table, or Parquet files.

    Args:
        path: which needn't exist, unless its name has no ending that is known; or a database's URL.
        table: inside of a database or spreadsheet.

    Raises:
        SourceUnsupported: the ending isn't known.
        InvalidArgument: a table is named inside of what has only one.
    """
    place = Path(path)
    try:
        source = Source.of(path, table=table)
    except SourceUnsupported:
        if not _is_of_many(place):
            raise
        return Source(kind="parquet", location=str(path), table=table)
    return (
        replace(source, kind="sqlite") if source.kind == "duckdb" and place.is_file() and is_sqlite(place) else source
    )


def _is_of_many(path: Path) -> bool:
    """Whether a path is a folder, or a pattern of files' names."""
    try:
        return path.is_dir() or (not path.exists() and any(sign in str(path) for sign in PATTERN))
    except OSError:  # a name that is too long
        return False


def _check_no_delta_table(location: str) -> None:
    """Refuse Parquet files of which a Delta table's log says whether their rows are in the table.

    Raises:
        SourceUnsupported: they lie in a Delta table's folder.
    """
    if "://" in location:  # which objects there are is known once they are listed
        return
    table = delta_folder_around(location)
    if table is None and _is_of_many(Path(location)):
        table = delta_folder_around(*dict.fromkeys(Path(part.path).parent for part in parts_of(location)))
    if table is not None:
        raise SourceUnsupported(
            f"{location!r} has files of the Delta table {table!r}, and perhaps rows in them that it has deleted",
            hint="name the table's folder, as kind delta where kinds are named; pip install 'discreet[delta]' reads it",
        )


_SHORTENED = re.compile("[A-Za-z][A-Za-z0-9+.-]+:/")
"""What is left of a URL in a path."""


def _of_path(path: Path, name: str) -> Source:
    """The source at a path, which must be there; in a file of several tables, the one of that name."""
    if _is_of_many(path):
        return Source(kind="delta" if is_delta_folder(path) else "parquet", location=str(path))
    if not path.exists():
        raise SourceMissing(
            f"there is no file {str(path)!r}",
            hint="check the path; it is relative to the current folder"
            if _SHORTENED.match(str(path)) is None
            else "give a URL as a text: as a path it loses a slash",
        )
    if not path.is_file():
        raise SourceUnsupported(f"{str(path)!r} isn't a regular file", hint="give the path of one file")
    source = source_at(path)
    has_tables = "table" in FORMATS[source.kind].options
    return replace(source, table=_table_meant(path, name)) if has_tables else source


def _table_meant(path: str | Path, name: str) -> str:
    """The table meant in a file of several: the one of that name, else the only one."""
    tables = tables_in(path)
    for table in tables:
        if table.casefold() == name.casefold():
            return table
    if len(tables) == 1:
        return tables[0]
    raise SourceMissing(
        f"{str(path)!r} has no table {name!r}",
        hint=f"it has {', '.join(tables)}" if tables else "it has no tables at all",
    )


def schema_declared(source: Source) -> DatabaseSchema:
    """What the database that a table lies in declares of it; nothing of any other source.

    Raises:
        SourceError: it can't be opened.
    """
    if source.kind != "postgres":
        return DatabaseSchema()
    from discreet.tables.sources.postgres import postgres_schema

    return postgres_schema(source)


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
    """The names of the tables in a DuckDB or SQLite file or a PostgreSQL database, or of a spreadsheet's sheets.

    Those outside of a DuckDB file's main schema, or of PostgreSQL's public one, come with their schema's name. Views of
    SQLite and PostgreSQL are tables, too; of PostgreSQL's, those are listed that this role may read.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it isn't such a file, or can't be opened for reading.

    Examples:
        >>> tables_in("/dev/null")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: '/dev/null' isn't a regular file (...)
    """
    if is_database_url(str(path)):
        from discreet.tables.sources.postgres import postgres_tables

        return postgres_tables(str(path))
    if is_sqlite(path):
        from discreet.tables.sources.sqlite_file import sqlite_tables

        return sqlite_tables(str(path))
    if str(path).casefold().endswith(".xlsx"):
        from discreet.tables.sources.xlsx import sheets

        return sheets(str(path))
    from discreet.tables.sources.duckdb_file import duckdb_tables

    return duckdb_tables(str(path))
