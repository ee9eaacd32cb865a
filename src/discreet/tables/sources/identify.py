"""Which source a path or a table in memory is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.catalog import is_sqlite, tables_in

LIBRARIES = ("pandas", "polars", "pyarrow", "ibis")
"""Whose tables in memory are read."""
_PATTERN = frozenset("*?[")


def source_of(data: object, name: str) -> Source:
    """The source that `data` is.

    Args:
        data: the path of a file, a folder of Parquet files or a pattern of their names; or a pandas, Polars or Arrow
            table; or an Ibis table on DuckDB.
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
    if isinstance(data, (str, os.PathLike)):
        return _of_path(Path(data), name)
    if type(data).__module__.partition(".")[0] in LIBRARIES:
        return Source(kind="memory", location=name)
    raise SourceUnsupported(
        f"a {type(data).__name__} can't be read as a table",
        hint="give a path, a pandas, Polars or Arrow table, or an Ibis table on DuckDB",
    )


def source_at(path: str | Path, table: str | None = None) -> Source:
    """The source at a path, by the ending of its name; what isn't a file is a folder or pattern of Parquet files.

    Args:
        path: which needn't exist, unless its name has no ending that is known.
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
        return path.is_dir() or (not path.exists() and bool(_PATTERN & set(str(path))))
    except OSError:  # a name that is too long
        return False


def _of_path(path: Path, name: str) -> Source:
    """The source at a path, which must be there; in a file of several tables, the one of that name."""
    if _is_of_many(path):
        return Source(kind="parquet", location=str(path))
    if not path.exists():
        raise SourceMissing(f"there is no file {str(path)!r}", hint="check the path; it is relative to where you are")
    if not path.is_file():
        raise SourceUnsupported(f"{str(path)!r} isn't a regular file", hint="give the path of one file")
    source = source_at(path)
    has_tables = source.kind in ("duckdb", "sqlite", "xlsx")
    return replace(source, table=_table_meant(path, name)) if has_tables else source


def _table_meant(path: Path, name: str) -> str:
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
