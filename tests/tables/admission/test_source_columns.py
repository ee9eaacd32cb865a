"""The columns that a source offers, told by its schema; never by a row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import SourceError, SourceMissing, SourceUnsupported
from discreet.tables import Kind, Source
from discreet.tables.admission import describe

NOTHING: dict[str, object] = {}


def test_what_a_schema_says_of_null_is_told(tmp_path: Path) -> None:
    """NOT NULL is passed on; columns that discreet doesn't compute with are left out."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER NOT NULL, b DOUBLE, c VARCHAR, d BLOB, e INTEGER[], f TIME)")
    fields = [pa.field("a", pa.int32(), nullable=False), pa.field("c", pa.string())]
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], ["x"]], schema=pa.schema(fields)), parquet)
    told = {column.name: (column.kind, column.nullable) for column in describe(Source.of(path), NOTHING)}
    assert told == {"a": (Kind.INTEGER, False), "b": (Kind.REAL, True), "c": (Kind.TEXT, True)}
    assert [column.nullable for column in describe(Source.of(parquet), NOTHING)] == [False, True]


@pytest.mark.parametrize("cells", [["1", "2"], ["0.5"], ["2024-01-01"], ["true"], [""]])
def test_where_cells_are_texts_all_is_text(cells: list[str], tmp_path: Path) -> None:
    """No cell decides how a question is planned."""
    path = tmp_path / "t.csv"
    path.write_text("v,w\n" + "".join(f"{cell},x\n" for cell in cells), encoding="utf-8")
    assert [column.kind for column in describe(Source.of(path), NOTHING)] == [Kind.TEXT, Kind.TEXT]


def test_lines_of_json_have_no_schema(tmp_path: Path) -> None:
    """Each names its own columns, so only what is declared is there."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8")
    assert describe(Source.of(path), NOTHING) == ()


def test_wide_integers_that_identify_are_texts() -> None:
    """So that nobody is left out for the size of a number; elsewhere they are integers."""
    data = pa.table(
        {
            "unsigned": pa.array([1], pa.uint64()),
            "decimal": pa.array([1], pa.decimal128(38, 0)),
            "short": pa.array([1], pa.decimal128(18, 0)),
            "signed": pa.array([1], pa.int64()),
        }
    )
    source = Source(kind="memory", location="t")
    kinds = [column.kind for column in describe(source, {"t": data}, frozenset(data.column_names))]
    assert kinds == [Kind.TEXT, Kind.TEXT, Kind.INTEGER, Kind.INTEGER]
    assert {column.kind for column in describe(source, {"t": data})} == {Kind.INTEGER}


def test_times_with_a_zone_are_there() -> None:
    """In pandas they have a type of its own."""
    times = pd.to_datetime(["2024-01-01"], utc=True)
    frame = pd.DataFrame({"utc": times, "paris": times.tz_convert("Europe/Paris"), "naive": times.tz_localize(None)})
    found = describe(Source(kind="memory", location="t"), {"t": frame})
    assert {column.name: column.kind for column in found} == dict.fromkeys(frame.columns, Kind.TIMESTAMP)


def test_the_separator_is_found_in_the_header_alone(tmp_path: Path) -> None:
    """No row, however full of semicolons, changes how the others are read."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1;2;3;4;5;6,x\n" * 100, encoding="utf-8")
    assert [column.name for column in describe(Source.of(path), NOTHING)] == ["a", "b"]


@pytest.mark.parametrize("header", ["a,b,A", "a,b, a ", "", " , "])
def test_a_header_must_name_its_columns_apart(header: str, tmp_path: Path) -> None:
    """Case doesn't tell two names apart."""
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,2,3\n", encoding="utf-8")
    with pytest.raises(SourceUnsupported):
        describe(Source.of(path), NOTHING)


def test_two_columns_of_one_name_are_refused() -> None:
    """In memory, too: names in any case mean the same column in a question."""
    with pytest.raises(SourceUnsupported):
        describe(Source(kind="memory", location="t"), {"t": pa.table([[1], [2]], names=["x", "X"])})


def test_the_table_of_a_database_is_found(tmp_path: Path) -> None:
    """By its name, else the only one; also in another schema; and told when it isn't there."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE "My table" (x INTEGER)')
    assert [column.name for column in describe(Source.of(path), NOTHING)] == ["x"]
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.u (y INTEGER)")
    assert [column.name for column in describe(Source.of(path, table="s.u"), NOTHING)] == ["y"]
    for wanted in (None, "nothing", "s.nothing"):
        with pytest.raises(SourceMissing):
            describe(Source.of(path, table=wanted), NOTHING)


def test_a_database_that_is_being_written_is_refused(tmp_path: Path) -> None:
    """DuckDB locks the file, and the error says what to do."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t (x INTEGER)")
    with duckdb.connect(path), pytest.raises(SourceUnsupported) as refusal:
        describe(Source.of(path), NOTHING)
    assert "open elsewhere" in refusal.value.hint


@pytest.mark.parametrize("name", ["t.parquet", "t.duckdb", "t.csv", "t.csv.gz", "t.arrow", "t.xlsx", "t.sqlite"])
def test_what_is_not_there_or_empty_is_refused(name: str, tmp_path: Path) -> None:
    """An empty file is nothing that can be described."""
    path = tmp_path / name
    with pytest.raises(SourceMissing):
        describe(Source.of(path), NOTHING)
    path.touch()
    with pytest.raises(SourceError):
        describe(Source.of(path), NOTHING)
