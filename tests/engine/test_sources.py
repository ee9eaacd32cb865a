"""Every kind of source is read alike, described from its schema, and refused in words of ours where it can't be."""

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

from discreet.engine import Engine, open_engine, source_of
from discreet.engine.duckdb import DuckDB
from discreet.engine.formats import parquet_options
from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type, Units
from discreet.tables import Column, Kind, Owner, Source, Table

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
    return sink.getvalue().to_pybytes().decode()


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


def question(source: Source, columns: tuple[Column, ...] = COLUMNS) -> Exact:
    """How many people there are by sex, with their ages and pay."""
    table = Table(
        name="people", source=source, columns=columns, unit=Unit("person"), limits=Limits(groups=1, rows_per_group=1)
    )
    whole, real = Type(Kind.INTEGER), Type(Kind.REAL)
    return Exact(
        source=Scan(table=table, columns=("person", "age", "sex", "pay"), owner=Owner(table.unit), alias=table.name),
        keys=(Key(name="sex", expr=Reference("people", "sex", Type(Kind.TEXT)), values=("M", None, "F")),),
        measures=(
            Units(name="n"),
            Sum(name="age", value=Reference("people", "age", whole), grid=0, lo=0, hi=45),
            Sum(name="pay", value=Reference("people", "pay", real), grid=-1, lo=0, hi=6),
        ),
        limits=table.limits,
        salt="",
    )


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_source_gives_the_same_answer(kind: str, tmp_path: Path) -> None:
    """Through the entry point, as a gateway opens it: described, checked, asked."""
    data = SOURCES[kind](tmp_path)
    source = source_of(data, "people")
    engine = open_engine([source], {source.location: data})
    exact = question(source)
    kinds = [(column.name, column.kind) for column in engine.describe(source)]
    assert kinds == [("person", Kind.TEXT), ("Age", Kind.INTEGER), ("sex", Kind.TEXT), ("pay", Kind.REAL)] or (
        kind == "pandas"  # which has no integers with NULLs, so that one must be declared as real
        and kinds[1] == ("Age", Kind.REAL)
    )
    if kind == "pandas":
        columns = (COLUMNS[0], replace(COLUMNS[1], kind=Kind.REAL), *COLUMNS[2:])
        exact = question(source, columns)
        exact = replace(exact, measures=tuple(_as_real(measure) for measure in exact.measures))
    engine.check(exact.tables[0])
    result = engine.run(exact)
    found = {
        group: tuple(result.measures[name][number] for name in ("n", "age", "pay"))
        for number, group in enumerate(result.keys)
    }
    assert found == WANTED
    assert result.fingerprint == engine.fingerprint(exact.tables)
    engine.close()


def _as_real(measure: Any) -> Any:
    """A sum of ages that are reals."""
    if measure.name != "age":
        return measure
    return replace(measure, value=Reference("people", "age", Type(Kind.REAL)))


def test_what_a_schema_says_of_null_is_told(tmp_path: Path) -> None:
    """NOT NULL is passed on where the door keeps it: not for a real, which may be NaN."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER NOT NULL, b DOUBLE NOT NULL, c VARCHAR, d BLOB, e INTEGER[])")
    fields = [pa.field("a", pa.int32(), nullable=False), pa.field("c", pa.string())]
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], ["x"]], schema=pa.schema(fields)), parquet)
    told = {column.name: column.nullable for column in DuckDB().describe(Source.of(path))}
    assert told == {"a": False, "b": True, "c": True}
    assert [column.nullable for column in DuckDB().describe(Source.of(parquet))] == [False, True]


@pytest.mark.skipif(
    not any("utf8" in option for option in parquet_options()), reason="DuckDB before 2.0 insists on UTF-8"
)
def test_text_of_parquet_files_need_not_be_utf8(tmp_path: Path) -> None:
    """One person's broken text doesn't make every question about its column fail."""
    cells = pa.array([b"F", b"F", b"M", b"\xff\xfe", None], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE.set_column(2, "sex", text), path)
    result = DuckDB().run(question(Source.of(path)))
    assert dict(zip(result.keys, result.measures["n"], strict=True)) == {("F",): 1, ("M",): 1, (None,): 1}


GUESSES = [
    (["1", "-2", " 30 ", ""], Kind.INTEGER),
    (["1", "?", "NA"], Kind.INTEGER),
    (["1.5", "2", "1e3"], Kind.REAL),
    (["99999999999999999999", "1"], Kind.REAL),
    (["01234", "90210"], Kind.TEXT),
    (["true", "False"], Kind.BOOLEAN),
    (["yes", "no"], Kind.TEXT),
    (["2024-02-29", "2023-01-01"], Kind.DATE),
    (["2024-02-29", "2023-02-29"], Kind.TEXT),
    (["2024-02-29 10:00:00", "2023-01-01T00:00:00"], Kind.TIMESTAMP),
    (["", ""], Kind.TEXT),
    (["1", "x"], Kind.TEXT),
]


@pytest.mark.parametrize(("cells", "kind"), GUESSES)
def test_the_kinds_of_a_csv_file_are_guessed(cells: list[str], kind: Kind, tmp_path: Path) -> None:
    """By all of its cells; a code with a leading zero is no number."""
    path = tmp_path / "t.csv"
    path.write_text("v,w\n" + "".join(f"{cell},x\n" for cell in cells), encoding="utf-8")
    assert [column.kind for column in DuckDB().describe(Source.of(path))] == [kind, Kind.TEXT]


def test_without_a_guess_a_csv_file_holds_text(tmp_path: Path) -> None:
    """No cell decides how a question is planned."""
    path = tmp_path / "t.csv"
    path.write_text("v,w\n1,2024-01-01\n", encoding="utf-8")
    assert [column.kind for column in DuckDB().describe(Source.of(path), guess=False)] == [Kind.TEXT, Kind.TEXT]


def test_what_means_null_is_part_of_the_data(tmp_path: Path) -> None:
    """The same cells, read otherwise, have another fingerprint."""
    path = tmp_path / "t.csv"
    path.write_text("v\n?\n", encoding="utf-8")
    plain, marked = (
        DuckDB().fingerprint(question(Source.of(path, missing=missing)).tables) for missing in ((), ("?",))
    )
    assert plain != marked


def test_the_members_of_an_enum_are_values(tmp_path: Path) -> None:
    """A type's name may be told, but not what an ENUM lists."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TYPE person AS ENUM ('Alice'); CREATE TABLE t (v person, w person[])")
    source = Source.of(path)
    for name, called in (("v", "ENUM"), ("w", "LIST")):
        table = Table(name="t", source=source, columns=(Column(name=name, kind=Kind.INTEGER),), unit=Unit.row())
        with pytest.raises(SchemaMismatch, match=called) as refusal:
            DuckDB().check(table)
        assert "Alice" not in str(refusal.value)


def test_the_separator_is_found_in_the_header_alone(tmp_path: Path) -> None:
    """No row, however full of semicolons, changes how the others are read."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1;2;3;4;5;6,x\n" * 100, encoding="utf-8")
    assert [column.name for column in DuckDB().describe(Source.of(path))] == ["a", "b"]


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    """By every way of opening it."""
    path = tmp_path / "t.csv"
    with pytest.raises(SourceMissing):
        source_of(path, "t")
    for suffix in ("csv", "parquet", "duckdb"):
        engine: Engine = DuckDB()
        table = Table(name="t", source=Source.of(tmp_path / f"t.{suffix}"), columns=COLUMNS, unit=Unit.row())
        with pytest.raises(SourceMissing):
            engine.describe(table.source)
        with pytest.raises(SourceMissing):
            engine.fingerprint([table])
        with pytest.raises(SourceMissing):
            engine.check(table)
    with pytest.raises(SourceMissing):
        open_engine([Source(kind="memory", location="t")])
    with pytest.raises(SourceMissing):
        DuckDB().describe(Source(kind="memory", location="t"))


@pytest.mark.parametrize("data", [{"a": [1]}, 3, None, object(), b"t.csv"])
def test_what_is_no_table_is_refused(data: object) -> None:
    """By its type, before anything is tried."""
    with pytest.raises(SourceUnsupported):
        source_of(data, "t")


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe (without waiting for its other end), a file of another kind, one that can't be opened."""
    folder, pipe, other = tmp_path / "t.csv", tmp_path / "p.csv", tmp_path / "t.docx"
    folder.mkdir()
    os.mkfifo(pipe)
    other.touch()
    for path in (folder, pipe, other):
        with pytest.raises(SourceUnsupported):
            source_of(path, "t")
    for path in (folder, pipe):
        with pytest.raises(SourceUnsupported):
            DuckDB().fingerprint(question(Source.of(path)).tables)


@pytest.mark.parametrize("name", ["t.parquet", "t.duckdb", "t.csv", "t.csv.gz"])
def test_a_damaged_file_is_refused(name: str, tmp_path: Path) -> None:
    """An empty file is nothing that can be described."""
    path = tmp_path / name
    path.touch()
    with pytest.raises(SourceUnsupported):
        DuckDB().describe(Source.of(path))


@pytest.mark.parametrize("header", ["a,b,A", "a,,c", "", " , "])
def test_a_header_must_name_its_columns_apart(header: str, tmp_path: Path) -> None:
    """Case doesn't tell two names apart."""
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,2,3\n", encoding="utf-8")
    with pytest.raises(SourceUnsupported):
        DuckDB().describe(Source.of(path))


def test_a_row_in_the_place_of_the_header_is_not_quoted(tmp_path: Path) -> None:
    """A file that lost its header has somebody's values where its names should be."""
    path = tmp_path / "t.csv"
    path.write_text("CANARY,39\nother,40\n", encoding="utf-8")
    source = Source.of(path)
    with pytest.raises(SchemaMismatch) as refusal:
        DuckDB().check(question(source).tables[0])
    assert "CANARY" not in f"{refusal.value} {refusal.value.hint}"
    path.write_text("CANARY,CANARY\n", encoding="utf-8")
    with pytest.raises(SourceUnsupported) as repeated:
        DuckDB().check(question(source).tables[0])
    assert "CANARY" not in f"{repeated.value} {repeated.value.hint}"


MISMATCHES = [
    ("VARCHAR", Kind.INTEGER),
    ("VARCHAR", Kind.DATE),
    ("DOUBLE", Kind.INTEGER),
    ("DECIMAL(9,2)", Kind.INTEGER),
    ("TIMESTAMP", Kind.DATE),
    ("INTEGER", Kind.TEXT),
    ("INTEGER", Kind.BOOLEAN),
    ("BLOB", Kind.TEXT),
    ("TIME", Kind.TIMESTAMP),
    ("INTEGER[]", Kind.INTEGER),
    ("STRUCT(a INTEGER)", Kind.INTEGER),
]


@pytest.mark.parametrize(("sql_type", "kind"), MISMATCHES)
def test_a_column_of_another_type_is_refused_beforehand(sql_type: str, kind: Kind, tmp_path: Path) -> None:
    """By the schema alone, so that nothing is charged for it."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (v {sql_type})")
    source = Source.of(path)
    table = Table(name="t", source=source, columns=(Column(name="v", kind=kind),), unit=Unit.row())
    with pytest.raises(SchemaMismatch, match="'v'"):
        DuckDB().check(table)
    lacking = replace(table, columns=(Column(name="w", kind=kind),))
    with pytest.raises(SchemaMismatch, match="'w'"):
        DuckDB().check(lacking)


def test_the_table_of_a_database_is_found(tmp_path: Path) -> None:
    """By the name asked for, else the only one; also in another schema; and told when it isn't there."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE "My table" (x INTEGER)')
    assert source_of(path, "anything").table == "My table"
    assert [column.name for column in DuckDB().describe(Source.of(path))] == ["x"]
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.u (y INTEGER)")
    assert source_of(path, "my TABLE").table == "My table"
    assert [column.name for column in DuckDB().describe(Source.of(path, table="s.u"))] == ["y"]
    with pytest.raises(SourceMissing, match="My table"):
        source_of(path, "u")
    for wanted in (None, "nothing", "s.nothing"):
        with pytest.raises(SourceMissing):
            DuckDB().describe(Source.of(path, table=wanted))


def test_a_database_that_is_being_written_is_refused(tmp_path: Path) -> None:
    """DuckDB locks the file, and the error says what to do."""
    path = database_file(tmp_path)
    with duckdb.connect(path), pytest.raises(SourceUnsupported, match="open elsewhere"):
        DuckDB().describe(Source.of(path, table="people"))


def test_a_table_of_another_engine_is_refused() -> None:
    """An Ibis table that isn't on DuckDB would have to be asked in its place."""
    table = ibis.table({"x": "int64"}, name="nowhere")
    with pytest.raises(SourceUnsupported):
        DuckDB({"t": table})


def test_two_columns_of_one_name_are_refused() -> None:
    """Names in any case mean the same column in a question."""
    table = pa.table([[1], [2]], names=["x", "X"])
    with pytest.raises(SourceUnsupported):
        DuckDB({"t": table})


def test_an_engine_that_is_not_installed_is_named() -> None:
    """A source for which no entry point is found."""
    source = Source(kind="memory", location="t")
    object.__setattr__(source, "kind", "oracle")
    with pytest.raises(SourceUnsupported, match="oracle"):
        open_engine([source])


def test_a_plan_the_engine_cannot_carry_out_is_refused_before_data_is_touched(tmp_path: Path) -> None:
    """It is a matter of the plan alone, so it may be told; the file need not even exist."""
    source = Source.of(tmp_path / "nowhere.parquet")
    exact = question(source)
    with pytest.raises(InvalidArgument):
        DuckDB().run(replace(exact, limits=Limits(rows=3)))
    too_wide = Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=2**63)
    with pytest.raises(InvalidArgument):
        DuckDB().run(replace(exact, measures=(too_wide,)))


def test_adult(trial_data: Path) -> None:
    """Known figures of a real table: 14,237 people of 40 and more, whose ages are known; leading spaces trimmed."""
    source = Source.of(trial_data / "adult.csv", missing=("?",))
    described = {column.name: column.kind for column in DuckDB().describe(source)}
    assert described["age"] is Kind.INTEGER
    assert described["sex"] is Kind.TEXT
    columns = (
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 125)),
        Column(name="sex", kind=Kind.TEXT, keys=Keys(["Female", "Male"])),
    )
    table = Table(name="adult", source=source, columns=columns, unit=Unit.row())
    key = Key(name="sex", expr=Reference("adult", "sex", Type(Kind.TEXT)), values=("Female", "Male"))
    age = Sum(name="age", value=Reference("adult", "age", Type(Kind.INTEGER)), grid=0, lo=0, hi=125)
    exact = Exact(
        source=Scan(table=table, columns=("age", "sex"), owner=Owner(table.unit), alias=table.name),
        keys=(key,),
        measures=(age,),
        limits=table.limits,
        salt="",
    )
    result = DuckDB().run(exact)
    assert sorted(result.keys) == [("Female",), ("Male",)]
    assert sum(result.measures["age"]) == 1_256_257
