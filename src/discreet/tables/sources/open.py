"""Opening a source, whatever it is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.tables.schema.source import Source
from discreet.tables.sources.catalog import is_sqlite
from discreet.tables.sources.opened import OpenSource


def open_source(  # noqa: PLR0911 — one per kind
    source: Source, data: Mapping[str, object] = MappingProxyType({})
) -> OpenSource:
    """Open a source for reading; a context manager.

    Args:
        source: where it lies, and how it is to be read.
        data: tables in memory, by the location of their source; anything else in it is overlooked.

    Raises:
        SourceMissing: there is no such file or table, or a source in memory came without its table.
        SourceUnsupported: it is there, but can't be read: damaged, of another format, or too large for it.
        ExtraMissing: what reads it isn't installed.

    Examples:
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [34, 71], "sex": ["Female", "Male"]})
        >>> with open_source(Source(kind="memory", location="people"), {"people": people}) as opened:
        ...     [batch.to_pydict() for batch in opened.batches(["age"])]
        [{'age': [34, 71]}]
    """
    match source.kind:
        case "memory":
            from discreet.tables.sources.frames import OpenFrame

            return OpenFrame(source.location, data.get(source.location))
        case "parquet":
            from discreet.tables.sources.parquet import OpenParquet

            return OpenParquet(source.location)
        case "csv":
            from discreet.tables.sources.csv.opened import OpenCsv

            return OpenCsv(source)
        case "arrow":
            from discreet.tables.sources.ipc import OpenIpc

            return OpenIpc(source.location)
        case "jsonl":
            from discreet.tables.sources.jsonl import OpenJsonLines

            return OpenJsonLines(source)
        case "xlsx":
            from discreet.tables.sources.xlsx import OpenXlsx

            return OpenXlsx(source)
        case "duckdb" if not is_sqlite(source.location):
            from discreet.tables.sources.duckdb import OpenDuckDB

            return OpenDuckDB(source)
        case "duckdb" | "sqlite":  # a .db may be either, and its first bytes say which
            from discreet.tables.sources.sqlite import OpenSqlite

            return OpenSqlite(source)
