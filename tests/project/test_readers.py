"""Only `tables.sources` opens a source.

import-linter sees that nobody else imports what reads SQLite and spreadsheets. Readers that are functions of libraries
which everybody uses (`pyarrow.csv.read_csv`) are looked for here, in the syntax tree.
"""

from __future__ import annotations

import ast

from support.project import ROOT, name, nodes, offenders, python_files

READERS = {
    "CSVStreamingReader", "ParquetDataset", "ParquetFile", "open_csv", "open_file", "read_csv", "read_excel",
    "read_feather", "read_ipc", "read_json", "read_ndjson", "read_parquet", "read_sql", "read_table", "scan_csv",
    "scan_ipc", "scan_parquet",
}  # fmt: skip
"""Functions and classes of PyArrow, pandas, Polars, DuckDB and Ibis that open a file of rows."""

ROOM = "src/discreet/tables/sources/"


def readers(source: str) -> list[str]:
    """Where a source reaches for a reader of a library."""
    found = []
    for node in nodes(source):
        match node:
            case ast.Attribute(attr=attribute) if attribute in READERS:
                found.append(f"line {node.lineno}: .{attribute}")
            case ast.ImportFrom(module=str(module), names=names) if not module.startswith("discreet"):
                found += [f"line {node.lineno}: {item.name}" for item in names if item.name in READERS]
    return found


def test_nobody_else_opens_a_source() -> None:
    """No other room reaches for a reader."""
    others = [path for path in python_files("src") if not name(path).startswith(ROOM)]
    assert offenders(readers, others) == {}


def test_readers_are_found() -> None:
    """The test above sees them however they are reached; and the room that may use them does."""
    assert readers("import pyarrow.csv\npyarrow.csv.read_csv('t.csv')") == ["line 2: .read_csv"]
    assert readers("from pyarrow.parquet import ParquetFile as File") == ["line 1: ParquetFile"]
    assert readers("from discreet.tables.sources.csv import read_csv") == []
    assert any(readers(path.read_text(encoding="utf-8")) for path in (ROOT / ROOM).rglob("*.py"))
