"""Every format that a source can have: how a table of extreme cells is written in it, and which of them it can hold."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import ibis
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from discreet.tables import Kind, Source
from support import delta
from support.extremes import ARROW, CANARY, FLAGS, PANDAS, POSTGRES, RUNS, SQL, TEXTS, Cells, number, written
from support.tables import write_arrow

Rows = Sequence[int]
"""The places of the cells that a table has, in each of its columns."""
Written = tuple[Source, object]
"""A source, and the table that it is if it is in memory."""


@dataclass(frozen=True)
class Format:
    """A format.

    Args:
        holds: the cells of each physical type that it has.
        write: writes the columns of these cells, at these places, into a folder. Beyond the last cell there is NULL.
        trims: whether spaces around texts are cut off.
    """

    holds: Mapping[str, Cells]
    write: Callable[[Path, Mapping[str, Cells], Rows], Written]
    trims: bool = False


def people(rows: Rows) -> list[int]:
    """Whose the rows are: the two ordinary ones are of two people, all extreme ones of one person more."""
    return [row if row < 2 else 7 for row in rows]


MEMORY = Source(kind="memory", location="t")


def arrow(columns: Mapping[str, Cells], rows: Rows) -> pa.Table:
    """An Arrow table."""
    made = {"id": pa.array(people(rows))}
    for name, cells in columns.items():
        array = cells.cells
        places = pa.array([row if row < len(array) else None for row in rows], pa.int64())
        if name.startswith(RUNS):
            ends = pa.array(range(1, len(rows) + 1), pa.int32())
            made[name] = pa.RunEndEncodedArray.from_arrays(ends, array.take(places))
        elif isinstance(array.type, pa.BaseExtensionType):
            made[name] = pa.ExtensionArray.from_storage(array.type, array.storage.take(places))
        elif array.type == pa.string_view():
            made[name] = array.cast(pa.binary_view()).cast(pa.binary()).take(places).view(pa.string()).cast(array.type)
        else:
            made[name] = array.take(places)
    return pa.table(made)


def _lacks(*names: str, catalogue: Mapping[str, Cells] = ARROW) -> dict[str, Cells]:
    """A catalogue without some types."""
    assert set(names) <= catalogue.keys()
    return {name: cells for name, cells in catalogue.items() if name not in names}


def to_parquet(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A Parquet file; written without statistics, which PyArrow would compute of broken texts."""
    table = arrow(columns, rows)
    parquet.write_table(table, folder / "t.parquet", version="2.6", row_group_size=20, write_statistics=False)
    return Source.of(folder / "t.parquet"), None


def to_objects(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """Parquet in a bucket, in two objects, whose parts are listed on two pages."""
    from support.object_store import store

    table, half = arrow(columns, rows), len(rows) // 2
    bucket = hashlib.sha256(str(folder).encode()).hexdigest()[:20]
    store().buckets.pop(bucket, None)
    store().page = 1
    for place, part in enumerate((table[:half], table[half:])):
        parquet.write_table(part, folder / "o.parquet", version="2.6", row_group_size=20, write_statistics=False)
        store().put(bucket, f"t/{place}.parquet", (folder / "o.parquet").read_bytes())
    return Source.of(store().url(bucket, "t/")), None


def to_delta(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A Delta table of two files."""
    table = arrow(columns, rows)
    half = table.num_rows // 2
    parts = {f"{number}.parquet": part for number, part in enumerate((table.slice(0, half), table.slice(half)))}
    how: dict[str, Any] = {"row_group_size": 20, "write_statistics": False}
    delta.commit(
        folder / "t",
        delta.protocol("timestampNtz"),
        delta.metadata([delta.column(each.name, each.type) for each in table.schema]),
        *(delta.data(folder / "t", name, part, **how) for name, part in parts.items()),
    )
    return Source.of(folder / "t"), None


def to_feather(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """An Arrow file."""
    write_arrow(arrow(columns, rows), folder / "t.feather", compression=None)
    return Source.of(folder / "t.feather"), None


def to_stream(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """An Arrow stream of several batches."""
    table = arrow(columns, rows)
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=15)
    return Source.of(folder / "t.arrow"), None


def to_arrow(_: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """An Arrow table in memory."""
    return MEMORY, arrow(columns, rows)


def to_polars(_: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A Polars table."""
    return MEMORY, pl.from_arrow(arrow(columns, rows))


def to_pandas_on_arrow(_: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A pandas table of Arrow's types."""
    table = arrow(columns, rows)
    made = {
        name: pd.Series(pd.arrays.ArrowExtensionArray(column))
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return MEMORY, pd.DataFrame(made)


def to_pandas(_: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A pandas table of its own types; where there is no cell, the first stands once more."""
    made = {"id": pd.Series(people(rows))}
    for name, cells in columns.items():
        places = [row if row < len(cells) else 0 for row in rows]
        made[name] = cells.cells.take(places).reset_index(drop=True)
    return MEMORY, pd.DataFrame(made)


def _at(cells: Cells, row: int) -> Any:
    """A cell of a list; None beyond its end."""
    return cells.cells[row] if row < len(cells) else None


def _in_sql(connection: Any, columns: Mapping[str, Cells], rows: Rows) -> None:
    """A table of a DuckDB, or of a PostgreSQL server."""
    types = {name: name.rpartition(" as ")[0] for name in columns}
    plain = {name: kind.partition(" COLLATE")[0] for name, kind in types.items()}
    listed = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    connection.execute(f"CREATE TABLE t (id BIGINT, {listed})")
    records = []
    for row, person in zip(rows, people(rows), strict=True):
        cells = [
            "NULL" if (cell := _at(columns[name], row)) is None else f"CAST({cell} AS {kind})"
            for name, kind in plain.items()
        ]
        records.append(f"({', '.join([str(person), *cells])})")
    connection.execute(f"INSERT INTO t VALUES {', '.join(records)}")


def to_duckdb(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A table of a DuckDB file."""
    (folder / "t.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        _in_sql(connection, columns, rows)
    return Source.of(folder / "t.duckdb"), None


@cache
def _postgres() -> str:
    """The URL of a database with types of its own."""
    from support.postgres_sources import sources

    server = sources()
    database = server.new_database()
    server.run(
        database,
        "CREATE TYPE mood AS ENUM ('a', 'B', 'b', '')",
        "CREATE DOMAIN age AS int4 CHECK (value < 1000)",
    )
    return server.url(database)


def to_postgres(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A table of a PostgreSQL database, in a schema of its own for each folder."""
    from support.postgres import connected

    schema = hashlib.sha256(str(folder).encode()).hexdigest()[:20]
    with connected(_postgres()) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE; CREATE SCHEMA "{schema}"')
        connection.execute(f'SET search_path = "{schema}", public')
        _in_sql(connection, columns, rows)
    return Source.of(_postgres(), table=f"{schema}.t"), None


def to_ibis(_: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """An Ibis table on DuckDB."""
    connection = ibis.duckdb.connect()
    _in_sql(connection.con, columns, rows)
    return MEMORY, connection.table("t")


def csv_text(columns: Mapping[str, Cells], rows: Rows) -> bytes:
    """A CSV file's bytes, with quotation marks where they must be."""

    def cell(text: str | None) -> str:
        bare = text is not None and text and not set(text) & set(',"\r\n')
        return text or "" if bare or not text else '"' + text.replace('"', '""') + '"'

    lines = [",".join(map(cell, ["id", *columns]))]
    for row, person in zip(rows, people(rows), strict=True):
        lines.append(",".join([str(person), *(cell(_at(cells, row)) for cells in columns.values())]))
    return "\n".join(lines).encode() + b"\n"


def _to_csv(name: str, pack: Callable[[bytes], bytes]) -> Callable[[Path, Mapping[str, Cells], Rows], Written]:
    """A CSV file, perhaps packed."""

    def to_csv(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
        (folder / name).write_bytes(pack(csv_text(columns, rows)))
        return Source.of(folder / name), None

    return to_csv


def to_json_lines(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """JSON lines; cells are written as they stand."""
    lines = []
    for row, person in zip(rows, people(rows), strict=True):
        cells = {name: _at(cells, row) for name, cells in columns.items()}
        said = [f"{json.dumps(name)}: {cell}" for name, cell in cells.items() if cell is not None]
        lines.append("{" + ", ".join([f'"id": {person}', *said]) + "}")
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return Source.of(folder / "t.jsonl"), None


def to_sqlite(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A table of a SQLite file, with columns of every collation."""
    (folder / "t.sqlite").unlink(missing_ok=True)
    kinds = ("", "BLOB", "COLLATE NOCASE", "BLOB COLLATE RTRIM")  # the others make other values of what is written
    listed = ", ".join(f'"{name}" {kinds[place % len(kinds)]}' for place, name in enumerate(columns))
    with sqlite3.connect(folder / "t.sqlite") as connection:
        connection.execute(f"CREATE TABLE t (id, {listed})")
        signs = ", ".join("?" * (len(columns) + 1))
        for row, person in zip(rows, people(rows), strict=True):
            connection.execute(
                f"INSERT INTO t VALUES ({signs})", [person, *(_at(cells, row) for cells in columns.values())]
            )
        connection.execute("UPDATE t SET id = id")
    connection.close()
    return Source.of(folder / "t.sqlite"), None


def to_xlsx(folder: Path, columns: Mapping[str, Cells], rows: Rows) -> Written:
    """A spreadsheet."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("t")
    sheet.append(["id", *columns])
    for row, person in zip(rows, people(rows), strict=True):
        sheet.append([person, *(_at(cells, row) for cells in columns.values())])
    book.save(folder / "t.xlsx")
    return Source.of(folder / "t.xlsx"), None


_PLAIN = tuple(each.decode() for each in TEXTS if each is not None)
_IN_CSV = written((*_PLAIN, None, "z" * (1 << 19)))


def _as_json(cells: Cells, *more: str) -> Cells:
    """Cells as JSON says them, with others that only JSON has."""
    said = tuple(None if each is None else json.dumps(each) for each in cells.cells) + more
    return Cells(cells.kind, said, cells.zone, cells.letters, [*(cells.meanings or cells.cells), *map(number, more)])


_NESTED = ("null", "[]", "{}", f'["{CANARY}"]', f'{{"{CANARY}": 1}}', "[[[[1]]]]", "NaN", "Infinity", "-0", "1E400")
_IN_JSON = {
    **{name: _as_json(cells, *_NESTED) for name, cells in written((*_PLAIN, None)).items()},
    "surrogates": Cells(Kind.TEXT, ('"a"', '"B"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"')),
    "text without end": Cells(Kind.TEXT, ('"a"', '"B"', f'"{"é" * 2_500_000}"', f'"{"é" * 2_500_000}x"'), letters="t"),
}


def _cells_of(texts: Sequence[str | None], *more: Any) -> dict[str, Cells]:
    """Cells of formats in which each cell has a type of its own."""
    return {
        name: Cells(
            cells.kind, (*cells.cells, *more), cells.zone, cells.letters,
            [*(cells.meanings or cells.cells), *(number(str(each)) for each in more)],
        )
        for name, cells in written(texts).items()
    }  # fmt: skip


_IN_SQLITE = _cells_of(
    (*_PLAIN, None, "z" * 5_000_000), 1, 0, -(2**63), 2**63 - 1, 0.5, -0.0, float("inf"), 5e-324, 1e300, 2.0**63,
    b"bytes", b"",
)  # fmt: skip
_SHOWN = (*(each for each in _PLAIN if "\0" not in each), None, "z" * 30_000)
_IN_XLSX = _cells_of(
    _SHOWN, 1, -5, 0.5, 1e300, 5e-324, 2**53, 2**60, *FLAGS, date(2024, 3, 18),
    datetime(2024, 3, 18, 10, 30, 0, 500_000), date(1900, 1, 1), date(9999, 12, 31), time(10, 30), "#N/A",
    "#DIV/0!", "=1/0",
)  # fmt: skip

_IN_POLARS = _lacks(
    "decimal(38, -3)", "decimal(76, 0)", "decimal256(76, 10)", "runs", "uuid", "date64", "date64 within a day",
    *(each for each in ARROW if each.startswith("timestamp[s") or each.endswith("tz=+01:30]")),
)  # fmt: skip
_IN_PARQUET = _lacks(
    "decimal(38, -3)", "text view", "runs", "categories with NULL", "date64 within a day",
    *(each for each in ARROW if each.startswith("timestamp[s")),
)  # fmt: skip

_IN_DELTA = _lacks(
    "uint8", "uint16", "uint32", "uint64", "decimal(76, 0)", "numbered categories", "float16", "decimal256(76, 10)",
    "date64", "nothing", *(each for each in _IN_PARQUET if each.startswith("timestamp[ns")), catalogue=_IN_PARQUET,
)  # fmt: skip

FORMATS: dict[str, Format] = {
    "arrow": Format(ARROW, to_arrow),
    "parquet": Format(_IN_PARQUET, to_parquet),
    "objects": Format(_IN_PARQUET, to_objects),
    "delta": Format(_IN_DELTA, to_delta),
    "feather": Format(_lacks("runs"), to_feather),
    "arrow stream": Format(ARROW, to_stream),
    "polars": Format(_IN_POLARS, to_polars),
    "pandas on arrow": Format(ARROW, to_pandas_on_arrow),
    "pandas": Format(PANDAS, to_pandas),
    "duckdb": Format(SQL, to_duckdb),
    "ibis": Format(SQL, to_ibis),
    "csv": Format(_IN_CSV, _to_csv("t.csv", lambda text: text), trims=True),
    "csv.gz": Format(_IN_CSV, _to_csv("t.csv.gz", gzip.compress), trims=True),
    "csv.zst": Format(_IN_CSV, _to_csv("t.csv.zst", lambda text: pa.compress(text, "zstd", asbytes=True)), trims=True),
    "json lines": Format(_IN_JSON, to_json_lines),
    "sqlite": Format(_IN_SQLITE, to_sqlite),
    "postgres": Format(POSTGRES, to_postgres),
    "xlsx": Format(_IN_XLSX, to_xlsx, trims=True),
}
ALIKE = ("parquet", "objects", "delta", "feather", "arrow stream", "polars", "pandas on arrow")
"""Formats that hold what Arrow does, so that the same must be admitted."""
