"""Which source a path or a table in memory is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from discreet.engine.catalog import tables_in
from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables import Source

_LIBRARIES = ("pandas", "polars", "pyarrow", "ibis")


def source_of(data: object, name: str) -> Source:
    """The source that `data` is.

    Args:
        data: the path of a CSV, Parquet or DuckDB file; or a pandas, Polars or Arrow table; or an Ibis table on
            DuckDB.
        name: what questions call the table. In a database file with several tables, the one of that name is meant.

    Raises:
        SourceMissing: there is no such file, or no such table in it.
        SourceUnsupported: it is something else.

    Examples:
        >>> source_of({"age": [39]}, "census")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: a dict can't be read as a table (give a path, ...)
    """
    if isinstance(data, (str, os.PathLike)):
        return _of_path(Path(data), name)
    if type(data).__module__.partition(".")[0] in _LIBRARIES:
        return Source(kind="memory", location=name)
    raise SourceUnsupported(
        f"a {type(data).__name__} can't be read as a table",
        hint="give a path, a pandas, Polars or Arrow table, or an Ibis table on DuckDB",
    )


def _of_path(path: Path, name: str) -> Source:
    """The source at a path, by the ending of its name."""
    if not path.exists():
        raise SourceMissing(f"there is no file {str(path)!r}", hint="check the path; it is relative to where you are")
    if not path.is_file():
        raise SourceUnsupported(f"{str(path)!r} isn't a regular file", hint="give the path of one file")
    source = Source.of(path)
    return replace(source, table=_table_meant(path, name)) if source.kind == "duckdb" else source


def _table_meant(path: Path, name: str) -> str:
    """The table meant in a database file: the one of that name, else the only one."""
    tables = tables_in(str(path))
    for table in tables:
        if table.casefold() == name.casefold():
            return table
    if len(tables) == 1:
        return tables[0]
    raise SourceMissing(
        f"the database {str(path)!r} has no table {name!r}",
        hint=f"it has {', '.join(tables)}" if tables else "it has no tables at all",
    )
