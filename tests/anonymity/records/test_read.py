"""The same table, wherever it comes from and in whatever order its rows are."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.anonymity import Missing, Records, read
from discreet.errors import DiscreetError, InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported

ROWS = {
    "age": [40, 7, None, 40],
    "sex": ["F", "M", "M", None],
    "born": [date(1980, 1, 2), date(2013, 5, 1), date(1950, 3, 3), date(1980, 1, 2)],
    "weight": [60.5, 21.0, 80.25, 0.0],
    "employed": [True, False, False, True],
}


def csv(folder: Path) -> Path:
    """The rows as a file."""
    path = folder / "rows.csv"
    table = pa.table(ROWS)
    lines = [",".join(table.column_names)]
    lines += [",".join("" if cell is None else str(cell) for cell in row.values()) for row in table.to_pylist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def parquet(folder: Path) -> Path:
    """The rows as a Parquet file."""
    path = folder / "rows.parquet"
    pq.write_table(pa.table(ROWS), path)
    return path


def json_lines(folder: Path) -> Path:
    """The rows as JSON lines."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in pa.table(ROWS).to_pylist()))
    return path


SOURCES: dict[str, Callable[[Path], object]] = {
    "csv": csv,
    "csv, its path as text": lambda folder: str(csv(folder)),
    "parquet": parquet,
    "json lines": json_lines,
    "ibis": lambda _: ibis.memtable(pa.table(ROWS)),
    "arrow": lambda _: pa.table(ROWS),
    "arrow, in chunks": lambda _: pa.concat_tables([pa.table(ROWS).slice(0, 1), pa.table(ROWS).slice(1)]),
    "pandas": lambda _: pa.table(ROWS).to_pandas(),
    "pandas, with an index": lambda _: pa.table(ROWS).to_pandas().set_index(pd.Index([10, 3, 7, 3])),
    "pandas, categories": lambda _: pa.table(ROWS).to_pandas().astype({"sex": "category"}),
    "polars": lambda _: pl.DataFrame(ROWS),
    "polars, lazy": lambda _: pl.LazyFrame(ROWS),
    "polars, categories": lambda _: pl.DataFrame(ROWS).with_columns(pl.col("sex").cast(pl.Categorical)),
    "a mapping": lambda _: ROWS,
    "records": lambda _: read(ROWS),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_gives_the_same_table(source: Callable[[Path], object], tmp_path: Path) -> None:
    """Values, their order, and what is missing."""
    found = read(source(tmp_path))
    assert found.rows == 4
    assert {name: column.labels() for name, column in found.columns.items()} == {
        "age": (7, 40, None),
        "sex": ("F", "M", None),
        "born": (date(1950, 3, 3), date(1980, 1, 2), date(2013, 5, 1)),
        "weight": (0.0, 21.0, 60.5, 80.25),
        "employed": (False, True),
    }
    assert found.to_arrow().to_pydict() == ROWS


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_columns_can_be_chosen_and_must_be_there(source: Callable[[Path], object], tmp_path: Path) -> None:
    """In the order asked for."""
    assert read(source(tmp_path), columns=["sex", "age"]).names == ("sex", "age")
    with pytest.raises(SchemaMismatch, match="no column 'zip'"):
        read(source(tmp_path), columns=["zip"])


def test_not_a_number_is_missing_and_zero_has_no_sign() -> None:
    """What looks alike must be one value, or people would seem unique."""
    column = read(pa.table({"x": [float("nan"), None, -0.0, 0.0]})).column("x")
    assert column.labels() == (0.0, None)
    assert column.counts().tolist() == [2, 2]


def test_categories_that_no_row_has_are_no_values() -> None:
    """Else shares of a domain would count them."""
    listed = pd.DataFrame({"sex": pd.Categorical(["F", "F"], categories=["M", "F", "X"])})
    assert read(listed).column("sex").labels() == ("F",)


def test_a_category_listed_twice_is_one_value() -> None:
    """As is a missing value that is both in the list and beside it."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int8()), pa.array(["a", "a", None]))
    column = read(pa.table({"x": twice})).column("x")
    assert column.labels() == ("a", None)
    assert column.counts().tolist() == [2, 2]


def test_taking_rows_leaves_no_value_behind() -> None:
    """Each listed value still occurs."""
    table = read(ROWS)
    taken = table.take(table.column("age").codes.nonzero()[0])
    assert taken.column("age").labels() == (40, None)
    assert not read(ROWS).take(table.column("sex").codes.argsort()[:2]).column("sex").has_missing


def test_missing_values_can_be_refused() -> None:
    """And the policy has one of three names."""
    assert read(ROWS).missing is Missing.OWN_VALUE
    with pytest.raises(InvalidArgument, match="'age' lacks 1 of 4"):
        read(ROWS, missing="refuse")
    assert read({"age": [1]}, missing=Missing.REFUSE).missing is Missing.REFUSE
    with pytest.raises(InvalidArgument, match="can't be 'dropped'"):
        read(ROWS, missing="dropped")


def test_empty_tables_are_tables() -> None:
    """From each kind of source."""
    tables: list[object] = [pa.table({"x": pa.array([], pa.int64())}), {"x": []}, pd.DataFrame({"x": []})]
    for table in tables:
        found = read(table)
        assert (found.rows, found.names, found.column("x").size) == (0, ("x",), 0)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        (3, SourceUnsupported),
        ({"x": [1, "secret"]}, SourceUnsupported),
        ({"x": [1], "y": [1, 2]}, SourceUnsupported),
        (pa.table({"x": [[1, 2]]}), SourceUnsupported),
        (pa.table({"x": [b"secret"]}), SourceUnsupported),
        (pa.table([[1], [2]], names=["x", "x"]), SourceUnsupported),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), SourceUnsupported),
        ("nowhere.csv", SourceMissing),
        ("nowhere.parquet", SourceMissing),
        (f"{'x' * 300}.csv", SourceUnsupported),
    ],
)
def test_what_is_no_table_is_refused_without_quoting_it(table: object, error: type[DiscreetError]) -> None:
    """Libraries quote the value they stumbled over; we do not."""
    with pytest.raises(error) as caught:
        read(table)
    assert "secret" not in str(caught.value)


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    """By its content, not its name."""
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 secret PAR1")
    with pytest.raises(SourceUnsupported, match="isn't Parquet"):
        read(path)


def test_records_are_read_again_under_another_policy() -> None:
    """Without being encoded again."""
    first = read(ROWS)
    again = read(first, columns=["sex"], missing="wildcard")
    assert isinstance(again, Records)
    assert (again.names, again.missing, first.missing) == (("sex",), Missing.WILDCARD, Missing.OWN_VALUE)
    assert read(again).missing is Missing.WILDCARD


def test_days_in_milliseconds_are_days() -> None:
    """Two times of one day look alike, so they are one value; also in a dictionary."""
    times = pa.array([0, 1, 86_400_000], pa.int64()).view(pa.date64())
    for stored in (times, times.dictionary_encode()):
        days = read(pa.table({"born": stored})).column("born")
        assert (days.labels(), days.codes.tolist()) == ((date(1970, 1, 1), date(1970, 1, 2)), [0, 0, 1])


def test_a_query_that_fails_quotes_no_value() -> None:
    """Polars itself would."""
    lazy = pl.LazyFrame({"age": ["40", "secret"]}).with_columns(pl.col("age").cast(pl.Int64))
    with pytest.raises(SourceUnsupported) as failed:
        read(lazy)
    assert "secret" not in str(failed.value)
    assert failed.value.__context__ is None
    with pytest.raises(SourceUnsupported):
        read(lazy.select("height"))


def test_polars_columns_that_are_odd() -> None:
    """No rows of categories, and numbers that Arrow doesn't have."""
    for kind in (pl.Categorical, pl.Enum(["a", "b"])):
        empty = read(pl.DataFrame({"sex": pl.Series([], dtype=kind)}))
        assert (empty.rows, empty.column("sex").size) == (0, 0)
    assert read(pl.DataFrame({"big": pl.Series([1 << 100], dtype=pl.Int128)})).column("big").labels() == (
        Decimal(1 << 100),
    )


@pytest.mark.parametrize("wrong", [pd.Series([1]), pd.Index([1]), pl.col("age"), pl.DataFrame(ROWS).group_by("sex")])
def test_what_is_no_table_is_refused(wrong: object) -> None:
    """Though it comes from a library that has tables."""
    with pytest.raises(SourceUnsupported, match="can't be read as a table"):
        read(wrong)


def test_chunks_with_dictionaries_of_their_own_are_one_column() -> None:
    """As libraries write them that encode part by part."""
    parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    column = read(pa.table({"x": pa.chunked_array(parts)})).column("x")
    assert column.labels() == ("a", "b", "c", None)
    assert column.codes.tolist() == [1, 0, 2, 3, 0]


def test_times_that_python_cannot_hold_are_told_apart_all_the_same() -> None:
    """Their labels are texts, and no message quotes them."""
    column = read(pa.table({"at": pa.array([2**55, 2**55 + 1, None], pa.timestamp("ms"))})).column("at")
    assert column.counts().tolist() == [1, 1, 1]
    assert len(set(column.labels())) == 3
