"""`init` and `risk` read alike: one file has the same columns, kinds and missing values, and one error, to both."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.anonymity import read
from discreet.errors import DiscreetError
from discreet.gateway import inspect
from discreet.tables import Kind, Source
from discreet.tables.arrow_kinds import kind_of
from discreet.tables.proposals.data_profile import profile_table
from support.tables import write_arrow

TABLE = pa.table(
    {
        "age": [40, 7, None],
        "zip": ["02139", "10001", "?"],
        "wage": [0.5, float("nan"), 2.0],
        "is ill": [True, None, False],
        "born": [date(1984, 2, 29), None, date(2001, 1, 1)],
        "seen at": pa.array([datetime(2024, 1, 1, 10), None, None], pa.timestamp("us")),
        "photo": [b"a", None, b"b"],
    }
)

CELLS: dict[str, list[str]] = {
    "signs and bare points": ["+34", ".5"],
    "whole numbers": ["41", " 7", "0"],
    "leading zeros": ["02139", "10001"],
    "more digits than 64 bits": ["1234567890123456789", "1"],
    "powers": ["1e3", "-2.5E-3"],
    "beyond doubles": ["1e999", "1"],
    "not a number": ["NaN", "1.5"],
    "infinite": ["inf", "1.5"],
    "usual texts for NULL": ["NA", "41", "?"],
    "nothing else": ["NA", "?"],
    "among texts": ["?", "cook"],
    "truth": ["true", "FALSE", ""],
    "dates": ["2021-02-28", "2020-01-01"],
    "no such day": ["2021-02-30", "2020-01-01"],
    "days of year 0": ["0000-01-01", "2020-01-01"],
    "times": ["2021-02-28T10:00", "2020-01-01"],
    "times with zones": ["2021-02-28 10:00:00+02:00", "2020-01-01"],
    "spoken dates": ["28.02.2021", "01.01.2020"],
    "decimal commas": ["0,5", "1"],
    "spaces alone": ["   ", "x"],
    "empty": ["", ""],
}
"""Columns of texts."""

TEXTS: dict[str, tuple[str, bytes]] = {
    **{name: ("t.csv", ("x;y\n" + "".join(f"{cell};1\n" for cell in cells)).encode()) for name, cells in CELLS.items()},
    "packed": ("t.csv.gz", gzip.compress(b"age,zip\n40,02139\n")),
    "zst": ("t.tsv.zst", pa.compress(b"age\tzip\n40\t02139\n", "zstd", asbytes=True)),
    "equal names but for case": ("t.csv", b"Age,age\n1,2\n"),
    "blank names": ("t.csv", b",age, \n1,2,3\n"),
    "spaces around names": ("t.csv", b" age , zip\n1,2\n"),
    "a mark, and CR": ("t.csv", b"\xef\xbb\xbfage,zip\r1,2\r"),
    "one column": ("t.csv", b"age\n40\n\n40\n"),
    "a header alone": ("t.csv", b"age,zip\n"),
    "no header": ("t.csv", b"\n\n"),
    "unknown ending": ("t.data", b"age,zip\n1,2\n"),
    "no ending": ("people", b"age,zip\n1,2\n"),
    "UTF-16": ("t.csv", "age,zip\n1,2\n".encode("utf-16")),
    "Latin-1": ("t.csv", "age,zip\n1,ä\n".encode("latin-1")),
    "badly quoted": ("t.csv", b'age,zip\n1,"6" tall" guy\n2,3\n'),
    "ragged": ("t.csv", b"age,zip\n1\n1,2\n1,2,3\n"),
    "JSON lines": ("t.jsonl", b'{"age": 40, "zip": "02139", "tags": [1]}\n{"age": "7", "wage": 0.5, "ill": true}\n'),
    "malformed JSON lines": ("t.jsonl", b'{"age": 40}\n{\n'),
    "no Parquet": ("t.parquet", b"PAR1 secret PAR1"),
    "no DuckDB": ("t.duckdb", b"secret"),
    "no spreadsheet": ("t.xlsx", b"PK\x03\x04secret"),
}
"""Files of texts by their names, and what is in them."""


def arrow_file(folder: Path) -> Path:
    """Feather."""
    write_arrow(TABLE, folder / "t.feather")
    return folder / "t.feather"


def parquet_file(folder: Path) -> Path:
    """Parquet."""
    parquet.write_table(TABLE, folder / "t.parquet")
    return folder / "t.parquet"


def hive(folder: Path) -> Path:
    """A folder of Parquet files, by year."""
    for year in (2023, 2024):
        (folder / "visits" / f"year={year}").mkdir(parents=True)
        parquet.write_table(TABLE, folder / "visits" / f"year={year}" / "part.parquet")
    return folder / "visits"


def pattern(folder: Path) -> Path:
    """A pattern of names."""
    for number in (1, 2):
        parquet.write_table(TABLE, folder / f"t{number}.parquet")
    return folder / "t*.parquet"


def duckdb_file(folder: Path) -> Path:
    """DuckDB, with numbers of 128 bits and an enumeration."""
    with duckdb.connect(str(folder / "t.duckdb")) as made:
        made.execute(
            "CREATE TABLE t AS SELECT 40 AS age, 170141183460469231731687303715884105727::HUGEINT AS long, "
            "7::HUGEINT AS short, 'F'::ENUM ('F', 'M') AS sex, uuid() AS id, 1.50::DECIMAL(9, 2) AS wage, "
            "TIME '10:00' AS clock, [1] AS list"
        )
    return folder / "t.duckdb"


def sqlite_file(folder: Path) -> Path:
    """SQLite, with cells of several types in a column."""
    made = sqlite3.connect(folder / "t.db")
    made.execute("CREATE TABLE t (age, zip, mixed)")
    made.executemany("INSERT INTO t VALUES (?, ?, ?)", [(40, "02139", 1), (7.5, "10001", "one"), (None, "", b"1")])
    made.commit()
    made.close()
    return folder / "t.db"


def two_tables(folder: Path) -> Path:
    """A database in which no table is named."""
    with duckdb.connect(str(folder / "t.duckdb")) as made:
        made.execute("CREATE TABLE one AS SELECT 1 AS a; CREATE TABLE two AS SELECT 2 AS b")
    return folder / "t.duckdb"


def spreadsheet(folder: Path) -> Path:
    """XLSX."""
    frame = pd.DataFrame({"age": [40, 7], "zip": ["02139", "10001"], "born": [date(1984, 2, 29), None]})
    frame.to_excel(folder / "t.xlsx", index=False)
    return folder / "t.xlsx"


FILES: dict[str, Callable[[Path], Path]] = {
    "Arrow": arrow_file,
    "Parquet": parquet_file,
    "hive partitions": hive,
    "a pattern": pattern,
    "DuckDB": duckdb_file,
    "SQLite": sqlite_file,
    "several tables": two_tables,
    "nowhere": lambda folder: folder / "nowhere.csv",
    "a name that is too long": lambda folder: folder / f"{'x' * 300}.data",
    **{
        name: lambda folder, file=file, data=data: _written(folder / file, data)  # type: ignore[misc]  # defaults bind
        for name, (file, data) in TEXTS.items()
    },
}


def _written(path: Path, data: bytes) -> Path:
    """A file that holds this."""
    path.write_bytes(data)
    return path


def seen_by_init(source: Callable[[], tuple[object, ...]]) -> object:
    """Names and kinds of columns, and which of those whose values are listed miss one; or the error."""
    try:
        columns, peek, *_ = source()
    except DiscreetError as error:
        return type(error), str(error)
    seen = {each.name: peek.of(each.name) for each in columns}  # type: ignore[attr-defined]  # a DataProfile
    listed = {name: each.values for name, each in seen.items()}  # noqa: PD011 — a field of ours, not of pandas
    gaps = {name for name, values in listed.items() if values is not None and None in values}
    return {each.name: each.kind for each in columns}, {name for name, values in listed.items() if values}, gaps


def seen_by_risk(table: object) -> object:
    """The same."""
    try:
        found = read(table)
    except DiscreetError as error:
        return type(error), str(error)
    columns = found.columns.values()
    kinds = {each.name: kind_of(each.values.type) for each in columns}  # noqa: PD011 — a field of ours, not of pandas
    listed = {each.name for each in columns if kinds[each.name] not in (Kind.REAL, Kind.TIMESTAMP) and each.size}
    return kinds, listed, {each.name for each in columns if each.name in listed and each.has_missing}


@pytest.mark.parametrize("made", FILES.values(), ids=FILES)
def test_a_file_is_the_same_to_init_and_risk(made: Callable[[Path], Path], tmp_path: Path) -> None:
    """Its columns, their kinds, which of them miss values, and what is wrong with it."""
    path = made(tmp_path)
    assert seen_by_risk(path) == seen_by_init(lambda: inspect(path, peek=True))


def test_a_spreadsheet_is_the_same_to_init_and_risk(tmp_path: Path) -> None:
    """Where somebody can write one."""
    pytest.importorskip("openpyxl")
    test_a_file_is_the_same_to_init_and_risk(spreadsheet, tmp_path)


DECLARED: dict[str, dict[str, object]] = {
    "dates": {"dates": "dmy"},
    "decimal mark": {"decimal": ","},
    "texts for NULL": {"missing": ("cook", "41")},
}


@pytest.mark.parametrize("how", DECLARED.values(), ids=DECLARED)
@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_what_is_declared_means_the_same_to_both(cells: list[str], how: dict[str, object], tmp_path: Path) -> None:
    """Of how a file is written."""
    path = _written(tmp_path / "t.csv", ("x;y\n" + "".join(f"{cell};1\n" for cell in cells)).encode())
    source = Source.of(path, **how)
    assert seen_by_risk(source) == seen_by_init(lambda: profile_table(source, peek=True))


@pytest.mark.parametrize(
    "made", [TABLE, TABLE.to_pandas(), pl.DataFrame(TABLE.to_pydict()), pl.LazyFrame(TABLE.to_pydict())], ids=type
)
def test_a_frame_is_the_same_to_both(made: object) -> None:
    """Whichever library has it."""
    source = Source(kind="memory", location="people")
    columns, listed, gaps = seen_by_init(lambda: profile_table(source, peek=True, data={"people": made}))  # type: ignore[misc]  # no error
    kinds, own_listed, own_gaps = seen_by_risk(made)  # type: ignore[misc]  # as above
    assert (kinds, own_listed, own_gaps) == (columns, listed, gaps)
