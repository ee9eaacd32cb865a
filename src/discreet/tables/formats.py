"""Formats of files and databases: the one list from which kinds of sources, endings of names, readers and helps follow.

A format is an entry here, and a reader in `discreet.tables.sources`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of files, or of databases on servers.

    Args:
        called: in the help of commands.
        endings: of files' names, in small letters; none for what a server has, which a URL names, and for folders.
        reader: the class in `discreet.tables.sources` that opens it, as `module:Class`. It is imported when a file is
            opened, for it may need a heavy library, or one that isn't installed.
        options: what may be declared of how a file is read; for the rest, `Source` says what it means nothing for.
        is_database: whether it holds tables that have names and types of their own.
    """

    called: str
    endings: tuple[str, ...]
    reader: str
    options: frozenset[str] = frozenset()
    is_database: bool = False


_PACKED = ("", ".gz", ".zst")
_CELLS = frozenset({"missing", "decimal", "dates"})
_TEXT = _CELLS | {"encoding", "skip_malformed"}
_LINES = frozenset({"header_line", "footer_lines"})
_SIGNS = frozenset({"delimiter", "quote", "escape", "comment", "trailing_delimiter", "multiline"})

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": Format(
            called="CSV",
            endings=tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in _PACKED),
            reader="csv:OpenCsv",
            options=_TEXT | _LINES | _SIGNS,
        ),
        "jsonl": Format(
            called="JSON lines",
            endings=tuple(text + packed for text in (".jsonl", ".ndjson") for packed in _PACKED),
            reader="json_lines:OpenJsonLines",
            options=_TEXT,
        ),
        "parquet": Format(
            called="Parquet",
            endings=(".parquet", ".pq"),
            reader="parquet:OpenParquet",
            options=frozenset({"in_place"}),
        ),
        "delta": Format(called="Delta tables", endings=(), reader="delta:OpenDelta"),
        "arrow": Format(called="Arrow", endings=(".arrow", ".feather", ".ipc"), reader="arrow_ipc:OpenIpc"),
        "xlsx": Format(called="XLSX", endings=(".xlsx",), reader="xlsx:OpenXlsx", options=_CELLS | _LINES | {"table"}),
        "duckdb": Format(
            called="DuckDB",
            endings=(".duckdb", ".ddb", ".db"),
            reader="duckdb_file:OpenDuckDB",
            options=frozenset({"table"}),
            is_database=True,
        ),
        "sqlite": Format(
            called="SQLite",
            endings=(".sqlite", ".sqlite3"),
            reader="sqlite_file:OpenSqlite",
            options=_CELLS | {"table"},
            is_database=True,
        ),
        "postgres": Format(
            called="PostgreSQL",
            endings=(),
            reader="postgres:OpenPostgres",
            options=frozenset({"table"}),
            is_database=True,
        ),
    }
)
"""Formats by the kind of source, in the order in which help texts name them."""

ENDINGS: Mapping[str, str] = MappingProxyType(
    {ending: kind for kind, each in FORMATS.items() for ending in each.endings}
)
"""The kind of a source by the ending of its file's name."""


def listed(databases: str = "a database") -> str:
    """All formats of files, as a help names them.

    Args:
        databases: how many of these are meant.

    Examples:
        >>> listed()
        'CSV, JSON lines, Parquet, Delta tables, Arrow, XLSX, or a database of DuckDB or SQLite'
    """
    files = ", ".join(each.called for each in FORMATS.values() if not each.is_database)
    kinds = " or ".join(each.called for each in FORMATS.values() if each.is_database and each.endings)
    return f"{files}, or {databases} of {kinds}"
