"""The same table through every format: the same columns, the same values."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyarrow import csv, parquet

from discreet.errors import SchemaMismatch, SourceMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources import open_source, source_of, tables_in
from support.tables import write_arrow

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, None], pa.int64()),
        "income": pa.array([0.5, None, -1e300, 12.0], pa.float64()),
        "born": pa.array([date(1900, 1, 1), date(2024, 2, 29), None, date(9999, 12, 31)], pa.date32()),
        "city": pa.array(["Zürich", None, 'a "b",\nc', "x"], pa.string()),
        "member": pa.array([True, False, None, True], pa.bool_()),
    }
)
"""What every format can hold."""


def as_text(value: Any) -> str | None:
    """A value as an untyped cell has it."""
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def by_csv(path: Path) -> Path:
    """A CSV file."""
    csv.write_csv(TABLE, path / "t.csv")
    return path / "t.csv"


def by_packed_csv(path: Path) -> Path:
    """A CSV file, packed."""
    (path / "t.csv.gz").write_bytes(gzip.compress(by_csv(path).read_bytes()))
    return path / "t.csv.gz"


def by_zstd_tsv(path: Path) -> Path:
    """A file of tab-separated values, packed."""
    csv.write_csv(TABLE, path / "t.tsv", csv.WriteOptions(delimiter="\t"))
    (path / "t.tsv.zst").write_bytes(pa.compress((path / "t.tsv").read_bytes(), "zstd", asbytes=True))
    return path / "t.tsv.zst"


def by_json_lines(path: Path) -> Path:
    """JSON lines."""
    (path / "t.jsonl").write_text("\n".join(json.dumps(row, default=str) for row in TABLE.to_pylist()))
    return path / "t.jsonl"


def by_parquet(path: Path) -> Path:
    """A Parquet file."""
    parquet.write_table(TABLE, path / "t.parquet")
    return path / "t.parquet"


def by_folder(path: Path) -> Path:
    """A folder of Parquet files."""
    for part in range(2):
        (path / "folder" / str(part)).mkdir(parents=True)
        parquet.write_table(TABLE.slice(2 * part, 2), path / "folder" / str(part) / "t.parquet")
    (path / "folder" / "_SUCCESS").touch()
    return path / "folder"


def by_pattern(path: Path) -> Path:
    """A pattern of Parquet files."""
    return by_folder(path) / "*" / "*.parquet"


def by_delta(path: Path) -> Path:
    """A Delta table of two versions."""
    write_deltalake(path / "delta", TABLE)
    write_deltalake(path / "delta", TABLE, mode="overwrite")
    return path / "delta"


def by_feather(path: Path) -> Path:
    """An Arrow IPC file."""
    write_arrow(TABLE, path / "t.feather")
    return path / "t.feather"


def by_stream(path: Path) -> Path:
    """An Arrow IPC stream."""
    with pa.OSFile(str(path / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return path / "t.arrow"


def by_duckdb(path: Path) -> Path:
    """A table of a DuckDB file."""
    with duckdb.connect(str(path / "t.duckdb")) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE t AS FROM given; CREATE TABLE other AS SELECT 1 AS a")
    return path / "t.duckdb"


def by_sqlite(path: Path) -> Path:
    """A table of a SQLite file, which its name doesn't say."""
    connection = sqlite3.connect(path / "t.db")
    connection.execute("CREATE TABLE t (id, income, born, city, member)")
    rows = [[as_text(each) if isinstance(each, date | bool) else each for each in row.values()] for row in rows_of()]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path / "t.db"


def by_xlsx(path: Path) -> Path:
    """A spreadsheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "t"
    sheet.append(TABLE.column_names)
    for row in rows_of():
        sheet.append(list(row.values()))
    book.save(path / "t.xlsx")
    return path / "t.xlsx"


def rows_of() -> list[dict[str, Any]]:
    """The rows."""
    found: list[dict[str, Any]] = TABLE.to_pylist()
    return found


FILES: list[Callable[[Path], Path]] = [
    by_csv,
    by_packed_csv,
    by_zstd_tsv,
    by_json_lines,
    by_parquet,
    by_folder,
    by_pattern,
    by_delta,
    by_feather,
    by_stream,
    by_duckdb,
    by_sqlite,
    by_xlsx,
]
FRAMES: dict[str, Callable[[], Any]] = {
    "arrow": lambda: TABLE,
    "arrow batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "arrow reader": TABLE.to_reader,
    "pandas": TABLE.to_pandas,
    "pandas on Arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.from_arrow(TABLE),
    "lazy polars": lambda: pl.from_arrow(TABLE).lazy(),
}


def read(source: Source, data: Any = None, names: list[str] | None = None) -> tuple[list[dict[str, Any]], bool]:
    """All rows of a source, and whether its cells are untyped."""
    with open_source(source, {source.location: data}) as opened:
        chosen = names or [each.name for each in opened.fields]
        batches = list(opened.batches(chosen))
        kinds = {each.name: each.type for each in opened.fields}
        assert all(batch.schema.field(name).type == kinds[name] for batch in batches for name in chosen)
        assert all(batch.schema.names == chosen for batch in batches)
        assert opened.is_unchanged()
        assert (opened.malformed.count, opened.unreadable.total()) == (0, 0)
        untyped = all(each.untyped for each in opened.fields)
    return [row for batch in batches for row in batch.to_pylist()], untyped


def same(text: str | None, value: Any) -> bool:
    """Whether an untyped cell means a value."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return text is not None and float(text) == float(value)
    return text == as_text(value)


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_files(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """A file of each format has the rows that were written to it."""
    rows, untyped = read(source_of(write(tmp_path), "t"))
    if not untyped:
        assert rows == rows_of()
    else:
        assert len(rows) == len(rows_of())
        for row, right in zip(rows, rows_of(), strict=True):
            assert [name for name in right if not same(row[name], right[name])] == []


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str) -> None:
    """A table in memory has the rows that it was made of; whole numbers among missing ones are reals to pandas."""
    data = FRAMES[name]()
    rows, _ = read(source_of(data, "t"), data)
    for row, right in zip(rows, rows_of(), strict=True):
        assert all(row[name] == value or same(row[name], value) for name, value in right.items())


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_columns_come_in_the_order_asked_for(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """A part of the columns, in another order, holds the same."""
    source = source_of(write(tmp_path), "t")
    whole, _ = read(source)
    part, _ = read(source, names=["city", "id"])
    assert part == [{"city": row["city"], "id": row["id"]} for row in whole]


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_a_column_that_is_not_there(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """It is refused before a row is read, where there is a schema; and NULL throughout, where there is none."""
    with open_source(source_of(write(tmp_path), "t")) as opened:
        if opened.has_schema:
            with pytest.raises(SchemaMismatch, match="no column 'age'"):
                opened.batches(["age"])
        else:
            assert [row["age"] for batch in opened.batches(["age"]) for row in batch.to_pylist()] == [None] * 4


def test_tables_are_listed(tmp_path: Path) -> None:
    """Those of databases and spreadsheets are, and the one of the wanted name is taken, or the only one."""
    assert tables_in(by_duckdb(tmp_path)) == ["other", "t"]
    assert tables_in(by_sqlite(tmp_path)) == ["t"]
    assert tables_in(by_xlsx(tmp_path)) == ["t"]
    assert source_of(tmp_path / "t.duckdb", "T").table == "t"
    assert source_of(tmp_path / "t.db", "people") == Source(kind="sqlite", location=str(tmp_path / "t.db"), table="t")
    with pytest.raises(SourceMissing, match="it has other, t"):
        source_of(tmp_path / "t.duckdb", "people")


def test_what_is_no_source(tmp_path: Path) -> None:
    """Typed errors say so."""
    with pytest.raises(SourceMissing):
        source_of(tmp_path / "none.csv", "t")
    with pytest.raises(SourceUnsupported, match="can't be read as a table"):
        source_of([1], "t")
    (tmp_path / "t.docx").touch()
    with pytest.raises(SourceUnsupported, match="doesn't say what kind"):
        source_of(tmp_path / "t.docx", "t")
    with pytest.raises(SourceMissing, match="needs its table"):
        open_source(Source(kind="memory", location="t"))
