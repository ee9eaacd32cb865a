"""Extreme values: none makes reading fail, and each comes as it was or is counted."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import SchemaMismatch
from discreet.tables.schema.source import Source
from discreet.tables.sources import open_source, source_of
from discreet.tables.sources.arrow import delivered
from support.tables import write_arrow

LONG = "x" * 5_000_000
COLUMNS: dict[str, pa.Array] = {
    **{
        str(kind): pa.array([np.iinfo(kind.to_pandas_dtype()).min, 0, np.iinfo(kind.to_pandas_dtype()).max, None], kind)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "float16": pa.array(np.array([np.nan, np.inf, -0.0, 6e-8], np.float16)),
    "float32": pa.array([float("nan"), float("-inf"), -0.0, 1e-45], pa.float32()),
    "float64": pa.array([float("nan"), float("inf"), -0.0, 5e-324], pa.float64()),
    "bool": pa.array([True, False, None, True]),
    "decimal(38, 0)": pa.array([Decimal(10**38 - 1), Decimal(1 - 10**38), None, Decimal(0)], pa.decimal128(38, 0)),
    "decimal(38, 37)": pa.array(
        [Decimal("9.9999999999999999999999999999999999999"), None, None, None], pa.decimal128(38, 37)
    ),
    "decimal(76, 10)": pa.array([Decimal(10**60), Decimal(-1), None, None], pa.decimal256(76, 10)),
    "text": pa.array(["", LONG, "a\0b", None], pa.string()),
    "large text": pa.array(["", "é", "\U0001f600", None], pa.large_string()),
    "categories": pa.array(["a", None, "", "a"]).dictionary_encode(),
    "numbered categories": pa.array([7, None, 2**62, 7]).dictionary_encode(),
    "date32": pa.array([-(2**31), 2**31 - 1, 0, None], pa.int32()).cast(pa.date32()),
    **{
        f"{unit} {zone}": pa.array([-(2**63), 2**63 - 1, 0, None], pa.int64()).cast(pa.timestamp(unit, zone))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Paris", "+01:30")
    },
    "uuid": pa.array([b"\0" * 16, b"\xff" * 16, None, uuid.UUID(int=7).bytes], pa.uuid()),
    "null": pa.nulls(4),
}
REFUSED: dict[str, pa.Array] = {
    "list": pa.array([[1], None]),
    "struct": pa.array([{"a": 1}, None]),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"a", None]),
    "fixed bytes": pa.array([b"ab", None], pa.binary(2)),
    "time": pa.array([1, None], pa.time64("us")),
    "duration": pa.array([1, None], pa.duration("s")),
}


def bits(array: pa.Array) -> list[Any]:
    """Values in a form that says all of them apart, and that Python can hold."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return bits(array.dictionary_decode())
    if pa.types.is_temporal(kind):
        return array.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64()).to_pylist()
    if pa.types.is_floating(kind):
        return [None if each is None else repr(each) for each in array.to_pylist()]
    if kind == pa.uuid():
        return [None if each is None else str(each) for each in array.to_pylist()]
    return array.to_pylist()


def write_parquet(table: pa.Table, path: Path) -> Path:
    """Parquet as PyArrow writes it."""
    parquet.write_table(table, path / "t.parquet", version="2.6")
    return path / "t.parquet"


def write_feather(table: pa.Table, path: Path) -> Path:
    """Feather."""
    write_arrow(table, path / "t.feather")
    return path / "t.feather"


def read(data: Any, **given: Any) -> tuple[pa.Table, dict[str, int]]:
    """All rows of a source, and what was unreadable."""
    source = given.get("source") or source_of(data, "t")
    with open_source(source, {source.location: data}) as opened:
        table = pa.Table.from_batches(opened.batches([each.name for each in opened.fields]))
        return table, dict(opened.unreadable)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("write", [write_parquet, write_feather, None], ids=["parquet", "feather", "memory"])
def test_typed_values(name: str, write: Callable[[pa.Table, Path], Path] | None, tmp_path: Path) -> None:
    """Every value of every type comes as it was, in the type that is promised."""
    column = COLUMNS[name]
    if write is write_parquet and pa.types.is_timestamp(column.type) and column.type.unit == "s":
        pytest.skip("Parquet has no seconds")
    table = pa.table({"a": column})
    found, unreadable = read(write(table, tmp_path) if write else table)
    assert not unreadable
    assert bits(found.column(0).combine_chunks()) == bits(column)
    assert found.schema.field(0).type == delivered(column.type)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("write", [write_parquet, write_feather, None], ids=["parquet", "feather", "memory"])
def test_refused_types(name: str, write: Callable[[pa.Table, Path], Path] | None, tmp_path: Path) -> None:
    """A column that no kind holds is listed, and refused by its type where it is asked for; others are read."""
    table = pa.table({"a": REFUSED[name], "b": [1, 2]})
    data = write(table, tmp_path) if write else table
    source = source_of(data, "t")
    with open_source(source, {source.location: data}) as opened:
        assert [each.name for each in opened.fields] == ["a", "b"]
        with pytest.raises(SchemaMismatch, match="can't be read"):
            opened.batches(["a"])
        assert [batch.to_pydict() for batch in opened.batches(["b"])] == [{"b": [1, 2]}]


def wrong_texts() -> pa.Array:
    """Texts of which two aren't UTF-8."""
    return pa.array([b"a", b"caf\xe9", None, b"\xff\xff", b"b"], pa.binary()).view(pa.string())


@pytest.mark.parametrize("write", [write_parquet, write_feather, None], ids=["parquet", "feather", "memory"])
@pytest.mark.parametrize("coded", [False, True])
def test_texts_that_are_not_utf8(coded: bool, write: Callable[[pa.Table, Path], Path] | None, tmp_path: Path) -> None:
    """Wrong bytes are replaced, and the texts counted that had any."""
    column: pa.Array = wrong_texts()
    if coded:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 3, 4], pa.int8()), column.fill_null("unused"))
    table = pa.table({"a": column})
    found, unreadable = read(write(table, tmp_path) if write else table)
    assert found.column(0).to_pylist() == ["a", "caf\ufffd", None, "\ufffd\ufffd", "b"]
    assert unreadable == {"a": 2}


def test_decimals_beyond_their_precision() -> None:
    """They are NULL and counted: no sum of such a column could be right."""
    raw = b"".join(number.to_bytes(16, "little", signed=True) for number in (999, 1_000, -(10**30), -999))
    column = pa.Array.from_buffers(pa.decimal128(3, 1), 4, [None, pa.py_buffer(raw)])
    found, unreadable = read(pa.table({"a": column}))
    assert found.column(0).to_pylist() == [Decimal("99.9"), None, None, Decimal("-99.9")]
    assert unreadable == {"a": 2}


def test_timestamps_of_96_bits(tmp_path: Path) -> None:
    """Those of Impala and old Spark; one that 64 bits can't hold is NULL and counted."""
    day = 86_400 * 10**9
    times = pa.array([0, day + 5_000, None, 123_456_000, 999 * day], pa.timestamp("ns"))
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": times}), path, use_deprecated_int96_timestamps=True, compression="none")
    assert read(path)[0].column(0).to_pylist() == [
        None if each is None else each for each in times.cast(pa.timestamp("us")).to_pylist()
    ]
    epoch = (2_440_588 + 999).to_bytes(4, "little")
    raw = path.read_bytes()
    assert raw.count(epoch) >= 1
    path.write_bytes(raw.replace(epoch, b"\xff\xff\xff\xff"))
    found, unreadable = read(path)
    assert found.column(0).to_pylist()[-1] is None
    assert found.column(0).to_pylist()[:2] == times.cast(pa.timestamp("us")).to_pylist()[:2]
    assert unreadable == {"a": 1}


def test_duckdb_values(tmp_path: Path) -> None:
    """128 bits come as texts, collations vanish, infinite times are beyond any year, members of ENUMs are texts."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("""
            CREATE TABLE t AS SELECT (170141183460469231731687303715884105727)::HUGEINT AS h,
            (340282366920938463463374607431768211455)::UHUGEINT AS u, 'Berlin' COLLATE NOCASE AS c,
            '00000000-0000-0000-0000-000000000007'::UUID AS id, 'b'::ENUM('a', 'b') AS e,
            TIMESTAMP 'infinity' AS t, TIMESTAMPTZ '2020-01-01 00:00:00+01' AS z, DATE '-infinity' AS d,
            TIMESTAMP_MS '9999-12-31' AS ms, 'nan'::DOUBLE AS n, 18446744073709551615::UBIGINT AS b
        """)
    found, unreadable = read(tmp_path / "t.duckdb")
    row = {
        name: bits(column.combine_chunks())[0] for name, column in zip(found.column_names, found.columns, strict=True)
    }
    assert row == {
        "h": str(2**127 - 1),
        "u": str(2**128 - 1),
        "c": "Berlin",
        "id": "00000000-0000-0000-0000-000000000007",
        "e": "b",
        "t": 2**63 - 1,
        "z": 1_577_833_200_000_000,
        "d": 1 - 2**31,
        "ms": 253_402_214_400_000,
        "n": "nan",
        "b": 2**64 - 1,
    }
    assert not unreadable


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
def test_ibis_values() -> None:
    """Whole numbers of any length keep all digits; what Arrow doesn't have is listed, and in nobody's way."""
    connection = ibis.duckdb.connect()
    connection.con.execute(f"""
        CREATE TABLE t AS SELECT {2**127 - 1}::HUGEINT AS h, {2**128 - 1}::UHUGEINT AS u, {10**60}::BIGNUM AS b,
        12::DECIMAL(38, 0) AS d, INTERVAL 1 DAY AS i, '101'::BIT AS bits
    """)
    data = connection.table("t")
    source = source_of(data, "t")
    with open_source(source, {source.location: data}) as opened:
        assert [each.name for each in opened.fields] == ["h", "u", "b", "d", "i", "bits"]
        (batch,) = opened.batches(["h", "u", "b", "d"])
        assert [each[0] for each in batch.to_pydict().values()] == [2**127 - 1, 2**128 - 1, str(10**60), 12]
        with pytest.raises(SchemaMismatch, match="can't be read"):
            opened.batches(["i"])


def test_sqlite_values(tmp_path: Path) -> None:
    """Each cell by its own type; bytes are unreadable, wrong texts mended, and an empty text isn't NULL."""
    connection = sqlite3.connect(tmp_path / "t.sqlite")
    connection.execute("CREATE TABLE t (a)")
    cells = [2**63 - 1, -(2**63), 5e-324, float("inf"), "", " x ", "a\0b", None, b"bytes", "?"]
    connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in cells])
    connection.execute("INSERT INTO t VALUES (CAST(x'61ff' AS TEXT))")
    connection.commit()
    connection.close()
    found, unreadable = read(None, source=Source.of(tmp_path / "t.sqlite", missing=("?",)))
    assert found.column(0).to_pylist() == [
        "9223372036854775807", "-9223372036854775808", "5e-324", "inf", "", " x ", "a\0b", None, None, None, "a\ufffd",
    ]  # fmt: skip
    assert unreadable == {"a": 2}


def test_a_log_beside_a_database_counts(tmp_path: Path) -> None:
    """Rows that SQLite has in its log only are read."""
    connection = sqlite3.connect(tmp_path / "t.sqlite")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (7)")
    connection.commit()
    assert (tmp_path / "t.sqlite-wal").stat().st_size
    found, _ = read(tmp_path / "t.sqlite")
    assert found.column(0).to_pylist() == ["7"]
    connection.close()


def test_json_values(tmp_path: Path) -> None:
    """Numbers as they are written; nested values unreadable; no depth of nesting ends the process."""
    lines = [
        '{"a": 1e3}', '{"a": "1"}', '{"a": ' + "9" * 5_000 + "}", '{"a": true}', '{"a": null}', '{"a": [1]}',
        '{"b": 1}',
        '{"a": "\\ud800"}', '{"a": -0.0}', "", "[" * 200_000, '{"a": 1', "[]", '{"a": 1} {"a": 2}',
    ]  # fmt: skip
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with open_source(Source.of(tmp_path / "t.jsonl", skip_malformed=True)) as opened:
        (batch,) = opened.batches(["a"])
        assert batch.column(0).to_pylist() == ["1e3", "1", "9" * 5_000, "true", None, None, None, "\ufffd", "-0.0"]
        assert opened.malformed.lines == [11, 12, 13, 14]
        assert dict(opened.unreadable) == {"a": 2}
        assert [each.name for each in opened.fields] == ["a", "b"]


def test_pandas_objects() -> None:
    """Cells of Python objects are read one by one: an odd one changes no other."""
    odd = [7, 0.5, True, "7", None, float("nan"), pd.NaT, pd.NA, [1], b"a", "\ud800", Decimal("1.10"), 10**5_000]
    data = pd.DataFrame({"a": pd.Series(odd, dtype=object)})
    found, unreadable = read(data)
    assert found.column(0).to_pylist() == [
        "7", "0.5", "true", "7", None, None, None, None, None, None, "\ufffd", "1.10", None,
    ]  # fmt: skip
    assert unreadable == {"a": 4}


def test_a_frame_is_copied() -> None:
    """Who changes a table after it was opened changes nothing that is read, nor what it is called by."""
    for data in (pd.DataFrame({"a": [1, 2, 3]}), pa.table({"a": np.array([1, 2, 3])}), pl.DataFrame({"a": [1, 2, 3]})):
        with open_source(source_of(data, "t"), {"t": data}) as opened:
            before = opened.identity
            if isinstance(data, pd.DataFrame):
                data.loc[0, "a"] = 9
            assert [row for batch in opened.batches(["a"]) for row in batch.column(0).to_pylist()] == [1, 2, 3]
            assert opened.identity == before


def test_texts_in_another_encoding(tmp_path: Path) -> None:
    """Every encoding that is declared, with its own byte order mark; wrong bytes make a malformed record."""
    text = 'name;note\r\nZürich;"a;b"\r\n'
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32"):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        found, _ = read(None, source=Source.of(tmp_path / "t.csv", encoding=encoding))
        assert found.to_pylist() == [{"name": "Zürich", "note": "a;b"}]
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252") + b"Z\x81rich;a\r\nx;y")
    with open_source(Source.of(tmp_path / "t.csv", encoding="cp1252", skip_malformed=True)) as opened:
        assert sum(batch.num_rows for batch in opened.batches(["name"])) == 2
        assert opened.malformed.lines == [3]


def test_partitions(tmp_path: Path) -> None:
    """Folders' names are columns of texts; each file needs the same ones."""
    for folder in ("y=2020/k=a%20b", "y=2021/k=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / "t" / folder).mkdir(parents=True)
        parquet.write_table(pa.table({"a": [1]}), tmp_path / "t" / folder / "part.parquet")
    right = [{"a": 1, "y": "2020", "k": "a b"}, {"a": 1, "y": "2021", "k": None}]
    assert read(tmp_path / "t")[0].to_pylist() == right
    assert read(tmp_path / "t" / "*" / "*" / "*.parquet")[0].to_pylist() == right
