"""Admission: sources of every kind come in alike, rows that are nobody's are left out, and refusals quote no cell."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from discreet.engine import open_engine
from discreet.errors import (
    InvalidArgument,
    SchemaMismatch,
    SourceError,
    SourceMissing,
    SourceUnsupported,
)
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Scan, Sum, Type, Units
from discreet.tables import Column, Kind, Link, Owner, Source, Table
from discreet.tables.admission import Snapshot, admit
from discreet.tables.sources import source_of
from support.engines import admitted

pytestmark = pytest.mark.usefixtures("kept_sessions")

CANARY = "CANARY-5f0e1c"
PEOPLE = pa.table(
    {
        "person": ["ann", "ann", "bob", "cy", None],
        "Age": pa.array([39, 39, 50, None, 7], pa.int32()),
        "sex": ["F", "F", "M", "X", "M"],
        "pay": [1.5, 2.5, 3.5, float("nan"), 1.0],
    }
)
COLUMNS = (
    Column(name="person", kind=Kind.TEXT),
    Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 45)),
    Column(name="sex", kind=Kind.TEXT, keys=Keys(["F", "M", None])),
    Column(name="pay", kind=Kind.REAL, bounds=Bounds(0, 3)),
)
WANTED = {("F",): (1, 39, 4), ("M",): (1, 45, 6), (None,): (1, 0, 0)}


def as_csv() -> str:
    """The table as text."""
    sink = pa.BufferOutputStream()
    csv.write_csv(PEOPLE, sink, csv.WriteOptions(quoting_style="none"))
    text: str = sink.getvalue().to_pybytes().decode()
    return text.replace('"', "")


def csv_file(folder: Path) -> Path:
    """A CSV file with spaces around its cells, as some writers leave them."""
    path = folder / "people.csv"
    path.write_text(as_csv().replace(",", " , "), encoding="utf-8")
    return path


def zipped_file(folder: Path) -> Path:
    """The same, compressed."""
    path = folder / "people.csv.gz"
    path.write_bytes(gzip.compress(csv_file(folder).read_bytes()))
    return path


def tabbed_file(folder: Path) -> Path:
    """Separated by tabs, with Windows line ends and a byte order mark."""
    path = folder / "people.tsv"
    text = as_csv().replace(",", "\t").replace("\n", "\r\n")
    path.write_text(text, encoding="utf-8-sig", newline="")
    return path


def semicolon_file(folder: Path) -> Path:
    """Separated by semicolons."""
    path = folder / "people.csv"
    path.write_text(as_csv().replace(",", ";"), encoding="utf-8")
    return path


def parquet_file(folder: Path) -> Path:
    """A Parquet file."""
    path = folder / "people.parquet"
    pq.write_table(PEOPLE, path)
    return path


def database_file(folder: Path) -> Path:
    """A DuckDB file with a table of another name beside it."""
    path = folder / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("people_rows", PEOPLE)
        connection.execute("CREATE TABLE people AS FROM people_rows; CREATE TABLE others (x INTEGER)")
    return path


def ibis_table(_folder: Path) -> Any:
    """An Ibis table on a DuckDB of its own."""
    connection = ibis.duckdb.connect()
    connection.con.register("people_rows", PEOPLE)
    connection.con.execute("CREATE TABLE people AS FROM people_rows")
    return connection.table("people")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "CSV": csv_file,
    "CSV, compressed": zipped_file,
    "TSV": tabbed_file,
    "CSV with semicolons": semicolon_file,
    "Parquet": parquet_file,
    "DuckDB": database_file,
    "pandas": lambda _: PEOPLE.to_pandas(),
    "pandas, pyarrow types": lambda _: PEOPLE.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda _: pl.DataFrame(PEOPLE.to_pydict()),
    "Polars, lazy": lambda _: pl.DataFrame(PEOPLE.to_pydict()).lazy(),
    "Arrow": lambda _: PEOPLE,
    "Arrow, dictionary": lambda _: PEOPLE.set_column(2, "sex", PEOPLE["sex"].dictionary_encode()),
    "Arrow, in chunks": lambda _: pa.concat_tables([PEOPLE.slice(0, 2), PEOPLE.slice(2)]),
    "Ibis": ibis_table,
}


def people(source: Source, columns: tuple[Column, ...] = COLUMNS) -> Table:
    """The table of people."""
    limits = Limits(groups=1, rows_per_group=1)
    return Table(name="people", source=source, columns=columns, unit=Unit("person"), limits=limits)


def question(table: Table) -> Exact:
    """How many people there are by sex, with their ages and pay."""
    real = Type(Kind.REAL)
    age = Reference("people", "age", Type(table.column("age").kind))
    return Exact(
        source=Scan(table=table, columns=("person", "age", "sex", "pay"), owner=Owner(table.unit), alias=table.name),  # type: ignore[arg-type]  # it has a unit
        keys=(Key(name="sex", expr=Reference("people", "sex", Type(Kind.TEXT)), values=("M", None, "F")),),
        measures=(
            Units(name="n"),
            Sum(name="age", value=age, grid=0, lo=0, hi=45),
            Sum(name="pay", value=Reference("people", "pay", real), grid=-1, lo=0, hi=6),
        ),
        limits=table.limits,
        salt="",
    )


def answer(snapshot: Snapshot, table: Table) -> dict[Any, tuple[int, ...]]:
    """What is answered, by group."""
    engine = open_engine(snapshot)
    result = engine.run(question(table))
    engine.close()
    return {
        group: tuple(result.measures[name][number] for name in ("n", "age", "pay"))
        for number, group in enumerate(result.keys)
    }


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("into", ["file", "memory"])
def test_every_kind_of_source_gives_the_same_answer(kind: str, into: str, tmp_path: Path) -> None:
    """Into a file or into memory; asked through the entry point, as a gateway opens it."""
    data = SOURCES[kind](tmp_path)
    source = source_of(data, "people")
    columns = COLUMNS
    if kind == "pandas":  # it has no integers with NULLs, so these must be declared as real
        columns = (COLUMNS[0], replace(COLUMNS[1], kind=Kind.REAL), *COLUMNS[2:])
    table = people(source, columns)
    folder = tmp_path if into == "file" else None
    snapshot = admit([table], {source.location: data}, folder)
    assert (not snapshot.files(table)) is (into == "memory" or source.kind == "memory")
    assert answer(snapshot, table) == WANTED


def test_rows_that_are_nobodys_are_left_out() -> None:
    """Without an id, without the time that tells the period, or without the link: they can't say whose they are."""
    rows = pa.table({"id": [1, 2, None, 4], "at": pa.array([0, None, 0, 0], pa.date32()), "x": [1, 2, 3, None]})
    columns = tuple(Column(name=n, kind=k) for n, k in (("id", Kind.INTEGER), ("at", Kind.DATE), ("x", Kind.INTEGER)))
    source = Source(kind="memory", location="t")
    kept = {}
    for name, unit in (("row", Unit.row()), ("id", Unit("id")), ("day", Unit("id", per="day", at="at"))):
        table = Table(name="t", source=source, columns=columns, unit=unit, limits=Limits(rows=1))
        kept[name] = admitted(table, rows)["x"]
    assert kept == {"row": [1, 2, 3, None], "id": [1, 2, None], "day": [1, None]}
    owners = Table(name="o", source=source, columns=columns, unit=Unit("x"), limits=Limits(rows=1))
    linked = Table(
        name="l", source=source, columns=columns, unit=None, limits=Limits(rows=1), links=(Link("id", "o", "id"),)
    )
    public = Table(name="p", source=source, columns=columns, unit=None, public=True)
    snapshot = admit([owners, linked, public], {"t": rows}, None)
    assert {name: held.rows for name, held in snapshot.tables.items()} == {"o": 3, "l": 3, "p": 4}
    assert snapshot.report["l"]["left_out"] == 1


def test_links_are_read_as_carefully_as_ids(tmp_path: Path) -> None:
    """At both their ends 7.4 is nobody's number, though elsewhere it may be read as 7."""
    path = tmp_path / "t.csv"
    path.write_text("id,person\n7,1\n7.4,2\n7.0,3\n", encoding="utf-8")
    columns = tuple(Column(name=name, kind=Kind.INTEGER) for name in ("id", "person"))
    limits, source = Limits(rows=1), Source.of(path)
    orders = Table(name="orders", source=source, columns=columns, unit=Unit("person"), limits=limits)
    items = Table(
        name="items", source=source, columns=columns, unit=None, limits=limits, links=(Link("id", "orders", "id"),)
    )
    found = {name: held.whole() for name, held in admit([orders, items], {}, None).tables.items()}
    assert found["orders"]["id"].to_pylist() == [7, None, 7]
    assert found["items"]["id"].to_pylist() == [7, 7]
    assert admitted(orders)["id"] == [7, 7, 7]


def test_one_source_of_two_tables_with_columns_of_several_kinds(tmp_path: Path) -> None:
    """Each table has its own casts."""
    path = tmp_path / "t.csv"
    path.write_text("id,g\n1,2024-01-01\n2,true\n", encoding="utf-8")
    tables = [
        Table(
            name=kind,
            source=Source.of(path),
            columns=(Column(name="id", kind=Kind.INTEGER), Column(name="g", kind=kind)),
            unit=Unit("id"),
            limits=Limits(rows=1),
        )
        for kind in (Kind.DATE, Kind.BOOLEAN, Kind.TEXT)
    ]
    counts = {name: held.whole()["g"].null_count for name, held in admit(tables, {}, None).tables.items()}
    assert counts == {"date": 1, "boolean": 1, "text": 0}


def test_the_report_says_what_was_lost(tmp_path: Path) -> None:
    """For the custodian alone: rows, and by column values that couldn't be read and texts that were cut."""
    path = tmp_path / "t.csv"
    cells = ["1,7,a", "2,x,b", ",8,c", "4,,", f"5,9,{'z' * 1_001}", "six,10,d", "7,8", '8,"8"8,e']
    path.write_text("id,n,s\n" + "\n".join(cells) + "\n", encoding="utf-8")
    columns = (
        Column(name="id", kind=Kind.INTEGER),
        Column(name="n", kind=Kind.INTEGER),
        Column(name="s", kind=Kind.TEXT),
    )
    source = Source.of(path, skip_malformed=True)
    table = Table(name="t", source=source, columns=columns, unit=Unit("id"), limits=Limits(rows=1))
    for folder in (None, tmp_path):
        assert admit([table], {}, folder).report["t"] == {
            "rows": 4,
            "left_out": 2,
            "unreadable_ids": 1,
            "malformed": 2,
            "malformed_lines": [8, 9],
            "malformed_causes": {"fewer cells": 1, "stray quotes": 1},
            "present": {"id": 5, "n": 5, "s": 5},
            "unreadable": {"id": 1, "n": 1},
            "cut": {"s": 1},
            "beyond_most_rows_per_unit": {"units": 0, "rows": 0},
        }


def test_more_rows_than_declared_are_refused() -> None:
    """The ceiling is what keeps sums within 64 bits."""
    source = Source(kind="memory", location="t")
    columns = (Column(name="x", kind=Kind.INTEGER),)
    table = Table(name="t", source=source, columns=columns, unit=Unit.row(), row_ceiling=2)
    assert admitted(table, pa.table({"x": [1, 2]})) == {"x": [1, 2]}
    with pytest.raises(InvalidArgument, match="row_ceiling"):
        admitted(table, pa.table({"x": [1, 2, 3]}))


MISMATCHES = [
    ("VARCHAR", Kind.INTEGER),
    ("VARCHAR", Kind.DATE),
    ("DOUBLE", Kind.DATE),
    ("DECIMAL(9,2)", Kind.BOOLEAN),
    ("TIMESTAMP", Kind.DATE),
    ("INTEGER", Kind.BOOLEAN),
    ("BLOB", Kind.TEXT),
    ("TIME", Kind.TIMESTAMP),
    ("INTEGER[]", Kind.INTEGER),
    ("STRUCT(a INTEGER)", Kind.INTEGER),
]


@pytest.mark.parametrize(("sql_type", "kind"), MISMATCHES)
def test_a_column_of_another_type_is_refused(sql_type: str, kind: Kind, tmp_path: Path) -> None:
    """By the schema alone; and so is one that isn't there."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (v {sql_type})")
    table = Table(name="t", source=Source.of(path), columns=(Column(name="v", kind=kind),), unit=Unit.row())
    with pytest.raises(SchemaMismatch, match="'v'"):
        admitted(table)
    with pytest.raises(SchemaMismatch, match="'w'"):
        admitted(replace(table, columns=(Column(name="w", kind=kind),)))


def test_the_members_of_an_enum_are_values(tmp_path: Path) -> None:
    """A type's name may be told, but not what an ENUM lists."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TYPE person AS ENUM ('Alice'); CREATE TABLE t (v person, w person[], x STRUCT(a person))"
        )
    for name in "vwx":
        columns = (Column(name=name, kind=Kind.INTEGER),)
        with pytest.raises(SchemaMismatch, match=f"'{name}'") as refusal:
            admitted(Table(name="t", source=Source.of(path), columns=columns, unit=Unit.row()))
        assert "Alice" not in f"{refusal.value} {refusal.value.hint}"


def test_a_row_in_the_place_of_the_header_is_not_quoted(tmp_path: Path) -> None:
    """A file that lost its header has somebody's values where its names should be."""
    path = tmp_path / "t.csv"
    for text in (f"{CANARY},39\nother,40\n", f"{CANARY},{CANARY}\n", f'{CANARY},"3"9\n'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises((SchemaMismatch, SourceUnsupported)) as refusal:
            admitted(people(Source.of(path)))
        assert CANARY not in said(refusal.value)


def said(error: BaseException) -> str:
    """The words of an error and of all that led to it."""
    words = [str(error), repr(error), *map(repr, vars(error).values())]
    return "\n".join(words + [said(each) for each in (error.__cause__, error.__context__) if each is not None])


@pytest.mark.parametrize("name", ["t.parquet", "t.duckdb", "t.csv", "t.csv.gz", "t.jsonl", "t.arrow", "t.xlsx", "t.db"])
@pytest.mark.parametrize("into", ["file", "memory"])
def test_a_broken_file_is_not_quoted(
    name: str, into: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A file of another format is refused in words of ours; its content isn't in them, nor in what led there."""
    path = tmp_path / name
    path.write_bytes(f"person,age,sex,pay\n{CANARY},{CANARY}\n{CANARY}\0\n".encode() * 50)
    with pytest.raises(SourceError) as refusal:
        admit([people(Source.of(path))], {}, tmp_path if into == "file" else None)
    assert CANARY not in "\n".join([said(refusal.value), caplog.text, *capfd.readouterr()])


def cut_short(path: Path) -> None:
    """Lose the second half of a Parquet file's pages, whose footer still says that all is well."""
    pq.write_table(pa.table({"person": [f"{CANARY}{number}" for number in range(9_999)]}), path, compression="none")
    content = bytearray(path.read_bytes())
    content[1_000:40_000] = b"\xff" * 39_000
    path.write_bytes(content)


@pytest.mark.parametrize("into", ["file", "memory"])
def test_damaged_pages_are_refused(into: str, tmp_path: Path) -> None:
    """They are found while rows are read, and the error is still that of the source."""
    path = tmp_path / "t.parquet"
    cut_short(path)
    with pytest.raises(SourceUnsupported) as refusal:
        admit([people(Source.of(path), COLUMNS[:1])], {}, tmp_path if into == "file" else None)
    assert CANARY not in said(refusal.value)


MIXED = {"person": ["fine", 3, CANARY.encode()], "id": [1, 2, 3]}


def test_cells_that_are_nothing_of_a_kind(tmp_path: Path) -> None:
    """A cell that is no text, number or time is NULL; the others are what they were; texts need not be UTF-8."""
    table = people(Source(kind="memory", location="t"), COLUMNS[:1])
    assert admitted(replace(table, unit=Unit.row()), pd.DataFrame(MIXED)) == {"person": ["fine", "3", None]}
    cells = pa.array([b"fine", b"a\xff\xfe", None], pa.binary())
    broken = pa.table({"person": pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())})
    assert admitted(replace(table, unit=Unit.row()), broken) == {"person": ["fine", "a��", None]}
    pq.write_table(broken, tmp_path / "t.parquet")
    in_file = replace(table, source=Source.of(tmp_path / "t.parquet"), unit=Unit.row())
    assert admitted(in_file) == {"person": ["fine", "a��", None]}


@pytest.mark.parametrize("data", [None, ibis.table({"person": "string"}, name="nowhere"), {"person": ["a"]}], ids=str)
def test_what_is_no_table_is_refused(data: object) -> None:
    """Nothing at all, a table of another engine, which would have to be asked in its place, or something else."""
    with pytest.raises(SourceMissing if data is None else SourceUnsupported):
        admitted(people(Source(kind="memory", location="t"), COLUMNS[:1]), data)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A folder, or a pipe, without waiting for its other end; a file that isn't there is missing."""
    folder, pipe = tmp_path / "t.csv", tmp_path / "p.csv"
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (folder, pipe):
        with pytest.raises(SourceUnsupported):
            admitted(people(Source.of(path)))
    for name in ("none.csv", "none.parquet", "none.duckdb"):
        with pytest.raises(SourceMissing):
            admitted(people(Source.of(tmp_path / name)))


def test_a_zone_that_nobody_knows() -> None:
    """It is refused, by name, before a row is read."""
    columns = (Column(name="at", kind=Kind.TIMESTAMP, time_zone="Europe/Paname"),)
    table = Table(name="t", source=Source(kind="memory", location="t"), columns=columns, unit=Unit.row())
    with pytest.raises(InvalidArgument, match="Europe/Paname"):
        admitted(table, pa.table({"at": pa.array([0], pa.timestamp("us", "UTC"))}))


def test_adult(trial_data: Path) -> None:
    """Known figures of a real table: the ages of all people; leading spaces trimmed."""
    source = Source.of(trial_data / "adult.csv", missing=("?",))
    columns = (
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 125)),
        Column(name="sex", kind=Kind.TEXT, keys=Keys(["Female", "Male"])),
    )
    found = admitted(Table(name="adult", source=source, columns=columns, unit=Unit.row()))
    assert set(found["sex"]) == {"Female", "Male"}
    assert sum(found["age"]) == 1_256_257
