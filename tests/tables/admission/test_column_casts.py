"""Column casts: each value of any type is admitted as its column's kind or as NULL, and none makes admission fail."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type, Units
from discreet.tables import Column, Kind, Owner, Source, Table
from discreet.tables.admission import admit, describe
from discreet.tables.schema.column import LONGEST_TEXT
from support.engines import admitted, engine_over

pytestmark = pytest.mark.usefixtures("kept_sessions")

moment = datetime.fromisoformat
FAR = 10**30
INT64 = 2**63
BEYOND_NS = 9_220_000_000_000_000_001
"""Milliseconds that no microsecond of 64 bits tells: what a file holds whose nanoseconds are called milliseconds."""


def table_of(source: Source, column: Column, unit: Unit | None = None) -> Table:
    """A table of one column."""
    return Table(name="t", source=source, columns=(column,), unit=unit or Unit.row(), limits=Limits(rows=1))


def asked(source: Source, column: Column, data: object = None) -> list[Any]:
    """The values of one column as questions see them, sorted: one that groups by it counts them."""
    table = table_of(source, column)
    question = Exact(
        source=Scan(table=table, columns=(column.name,), owner=Owner(table.unit), alias=table.name),
        keys=(Key(name="k", expr=Reference("t", column.name, Type(column.kind)), values=None),),
        measures=(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),),
        limits=table.limits,
        salt="",
    )
    result = engine_over([table], {source.location: data}).run(question)
    values = [value for (value,), n in zip(result.keys, result.measures["n"], strict=True) for _ in range(n)]
    return sorted(values, key=lambda value: (value is None, value if value is not None else 0))


def count_units(source: Source, column: Column, data: object = None) -> int:
    """How many units there are."""
    table = table_of(source, column, Unit(column.name))
    question = Exact(
        source=Scan(table=table, columns=(column.name,), owner=Owner(table.unit), alias=table.name),
        keys=(),
        measures=(Units(name="u"),),
        limits=table.limits,
        salt="",
    )
    (found,) = engine_over([table], {source.location: data}).run(question).measures["u"]
    return found


def database(tmp_path: Path, sql_type: str, values: list[str]) -> Source:
    """A DuckDB file with one column `v`."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (v {sql_type})")
        for value in values:
            connection.execute(f"INSERT INTO t VALUES ({value})")
    return Source.of(path)


def csv_of(tmp_path: Path, cells: list[str], **declared: Any) -> Source:
    """A CSV file of these cells, in quotes, in a column `v` beside another."""
    path = tmp_path / "t.csv"
    path.write_text("other,v\n" + "".join(f'1,"{cell}"\n' for cell in cells), encoding="utf-8")
    return Source.of(path, **declared)


Native = tuple[str, list[str], Kind, Any, list[Any]]
NATIVE: list[Native] = [
    ("TINYINT", ["-128", "127", "NULL"], Kind.INTEGER, None, [-128, 127, None]),
    ("UBIGINT", ["0", str(2**64 - 1), str(INT64 - 1), "NULL"], Kind.INTEGER, None, [0, INT64 - 1, None, None]),
    ("UBIGINT", ["0", str(2**64 - 1), "NULL"], Kind.INTEGER, Bounds(-5, 9), [0, 9, None]),
    ("HUGEINT", [str(-FAR), str(FAR), "5"], Kind.INTEGER, None, [5, None, None]),
    ("HUGEINT", [str(-FAR), str(FAR), "5", "NULL"], Kind.INTEGER, Bounds(1, 9), [1, 5, 9, None]),
    ("UHUGEINT", [str(2**128 - 1), "5", "NULL"], Kind.INTEGER, None, [5, None, None]),
    ("UHUGEINT", [str(2**128 - 1), "5", "NULL"], Kind.INTEGER, Bounds(-FAR, FAR), [5, INT64 - 1, None]),
    ("DECIMAL(38,0)", [str(-FAR), "12"], Kind.INTEGER, Bounds(0, 100), [0, 12]),
    ("DECIMAL(38,0)", [str(-FAR), "12"], Kind.INTEGER, None, [12, None]),
    ("DECIMAL(9,2)", ["-1.25", "99.99"], Kind.REAL, None, [-1.25, 99.99]),
    ("INTEGER", ["3", "-3"], Kind.REAL, Bounds("-0.5", "1/4"), [-0.5, 0.25]),
    ("FLOAT", ["'nan'", "'inf'", "0.5", "NULL"], Kind.REAL, None, [0.5, None, None, None]),
    ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1e300", "NULL"], Kind.REAL, Bounds(-1, 0.1), [0.1, *[None] * 4]),
    ("DOUBLE", ["0.1", "0.3"], Kind.REAL, Bounds(0, "0.3"), [0.1, 0.3]),
    ("DOUBLE", ["1e300"], Kind.REAL, Bounds(0, 10**400), [1e300]),
    ("DOUBLE", ["5e-324", "-1.7976931348623157e308"], Kind.REAL, None, [-1.7976931348623157e308, 5e-324]),
    ("BOOLEAN", ["true", "false", "NULL"], Kind.BOOLEAN, None, [False, True, None]),
    ("VARCHAR", ["' a'", "''", "chr(0)", "NULL"], Kind.TEXT, None, ["", "\0", " a", None]),
    ("VARCHAR", ["repeat('é', 5000000)"], Kind.TEXT, None, ["é" * LONGEST_TEXT]),
    ("ENUM('x', 'y')", ["'y'", "NULL"], Kind.TEXT, None, ["y", None]),
    ("UUID", ["'00000000-0000-0000-0000-000000000001'"], Kind.TEXT, None, ["00000000-0000-0000-0000-000000000001"]),
    ("HUGEINT", [str(FAR)], Kind.TEXT, None, [str(FAR)]),
    ("DATE", ["'2024-02-29'", "'infinity'", "'9999-12-31'", "'290000-01-01'", "'0001-01-01 (BC)'"], Kind.DATE, None,
     [date(2024, 2, 29), date(9999, 12, 31), None, None, None]),
    ("DATE", ["'infinity'", "'-infinity'", "'2200-01-01'", "NULL"], Kind.DATE,
     Bounds(date(2000, 1, 1), date(2001, 1, 1)), [date(2001, 1, 1), None, None, None]),
    ("DATE", ["'2024-02-29'", "'5000000-01-01'"], Kind.TIMESTAMP, None, [moment("2024-02-29"), None]),
    ("TIMESTAMP", ["'1969-12-31 23:59:59.999999'", "'infinity'"], Kind.TIMESTAMP, None,
     [moment("1969-12-31 23:59:59.999999"), None]),
    ("TIMESTAMP", ["'infinity'", "'-infinity'", "'1999-01-01'"], Kind.TIMESTAMP,
     Bounds(moment("2000-01-01"), moment("2000-01-02 03:04:05.6")), [moment("2000-01-01"), None, None]),
    ("TIMESTAMP_S", ["'2024-01-01 00:00:01'", "'infinity'"], Kind.TIMESTAMP, None,
     [moment("2024-01-01 00:00:01"), None]),
    ("TIMESTAMP_MS", ["'2024-01-01 00:00:01.5'", "'290000-01-01'"], Kind.TIMESTAMP, None,
     [moment("2024-01-01 00:00:01.5"), None]),
    ("TIMESTAMP_NS", ["'2024-01-01 00:00:00.000001'", "NULL"], Kind.TIMESTAMP, None,
     [moment("2024-01-01 00:00:00.000001"), None]),
    ("TEXT", ["'b'", "'a'", "'c'", "'A'", "NULL"], Kind.TEXT, Keys(["a", "b"]), ["a", "b", None, None, None]),
    ("INTEGER", ["1", "2", "3", "NULL"], Kind.INTEGER, Keys([3, 1, FAR, None]), [1, 3, None, None]),
    ("DATE", ["'2024-01-01'", "'infinity'"], Kind.DATE, Keys([date(2024, 1, 1)]), [date(2024, 1, 1), None]),
]  # fmt: skip


@pytest.mark.parametrize("case", NATIVE, ids=lambda case: f"{case[0]} as {case[2]}")
def test_native_types(case: Native, tmp_path: Path) -> None:
    """Each type, at its ends and beyond what the kind holds, without and with bounds or keys."""
    sql_type, values, kind, declared, wanted = case
    bounds, keys = (declared, None) if isinstance(declared, Bounds) else (None, declared)
    source = database(tmp_path, sql_type, values)
    assert asked(source, Column(name="v", kind=kind, bounds=bounds, keys=keys)) == wanted


CELLS: list[tuple[Kind, Any, dict[str, Any]]] = [
    (Kind.INTEGER, None, {"7": 7, " -7 ": -7, "": None, "?": None, "x": None, "99999999999999999999": None, "inf": None,
                          "nan": None, "1e400": None, "2.5.1": None, "0x": None, "--3": None}),
    (Kind.INTEGER, Bounds(0, 10), {"7": 7, "-7": 0, "99999999999999999999": 10, "-1e30": 0, "1e400": 10, "-1e400": 0,
                                   "inf": None, "-inf": None, "+Infinity": None, "nan": None, "x": None, "": None}),
    (Kind.REAL, None, {"0.1": 0.1, "1e400": None, "nan": None, "x": None, "1,5": None}),
    (Kind.REAL, Bounds(-1, 1), {"0.1": 0.1, "7": 1.0, "1e400": None, "-inf": None, "nan": None, "NaN": None, "": None}),
    (Kind.BOOLEAN, None, {"true": True, "False": False, "maybe": None, "2": None}),
    (Kind.DATE, None, {"2024-02-29": date(2024, 2, 29), "2023-02-29": None, "infinity": None, "0000-00-00": None,
                       "99999-01-01": None, "2024-13-01": None}),
    (Kind.DATE, Bounds(date(2020, 1, 1), date(2030, 1, 1)), {"infinity": None, "1999-01-01": date(2020, 1, 1)}),
    (Kind.TIMESTAMP, None, {"2024-01-01 10:00:00": moment("2024-01-01 10:00"), "-infinity": None,
                            "2024-01-01T10:00:00Z": None, "2024-01-01 25:00:00": None}),
    (Kind.TEXT, None, {" Ann ": "Ann", "": None, "  ": None, "?": None, "é": "é", "a\tb": "a\tb"}),
    (Kind.TEXT, Keys(["a"]), {" a ": "a", "A": None, "b": None}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "declared", "cells"), CELLS)
def test_cells_of_csv_files(kind: Kind, declared: Any, cells: dict[str, Any], tmp_path: Path) -> None:
    """Text is trimmed and cast; what can't be cast is NULL; what is beyond the bounds is moved to them."""
    bounds, keys = (declared, None) if isinstance(declared, Bounds) else (None, declared)
    source = csv_of(tmp_path, list(cells), missing=("?",))
    wanted = sorted(cells.values(), key=lambda value: (value is None, value if value is not None else 0))
    assert asked(source, Column(name="v", kind=kind, bounds=bounds, keys=keys)) == wanted


def test_a_cell_is_cast_by_itself(tmp_path: Path) -> None:
    """In the file's order, each as if it were alone: what one is never changes how another is read."""
    cells = ["7", "x", "0.5", "2024-01-01", "true", "", "1e999", "-7"]
    for kind in Kind:
        column = Column(name="v", kind=kind)
        together = admitted(table_of(csv_of(tmp_path, cells), column))["v"]
        alone = [admitted(table_of(csv_of(tmp_path, [cell]), column))["v"][0] for cell in cells]
        assert together == alone


def test_a_zero_has_no_sign() -> None:
    """Of two that are equal but differ, it would be left to chance which one represents both."""
    data = pa.table({"v": [0.0, -0.0]})
    found = admitted(table_of(Source(kind="memory", location="t"), Column(name="v", kind=Kind.REAL)), data)
    assert list(map(str, found["v"])) == ["0.0", "0.0"]


@pytest.mark.parametrize("marks", [(".", "ymd"), (",", "dmy"), (",", "mdy")], ids=str)
def test_cells_are_read_in_the_words_that_are_declared(marks: tuple[Any, Any], tmp_path: Path) -> None:
    """The decimal mark and the order of dates; what is written otherwise is NULL, save a date that says its year first.

    A point between digits is none where the mark is a comma: it may separate thousands.
    """
    decimal, dates = marks
    source = csv_of(tmp_path, ["1.5", "1,5", "01.02.2024", "13/02/2024", "2024-02-13"], decimal=decimal, dates=dates)
    assert asked(source, Column(name="v", kind=Kind.REAL)) == [1.5, *[None] * 4]
    days = {
        "ymd": [date(2024, 2, 13)],
        "dmy": [date(2024, 2, 1), date(2024, 2, 13), date(2024, 2, 13)],
        "mdy": [date(2024, 1, 2), date(2024, 2, 13)],
    }[dates]
    assert asked(source, Column(name="v", kind=Kind.DATE)) == [*days, *[None] * (5 - len(days))]


def test_a_time_that_no_microsecond_tells_is_null(tmp_path: Path) -> None:
    """Nanoseconds that a writer called milliseconds: one such value, and every other row is counted as before."""
    good = [1_704_067_200_000, 1_704_067_201_500, None]
    whole = [moment("2024-01-01"), moment("2024-01-01 00:00:01.5"), None]
    column = Column(name="v", kind=Kind.TIMESTAMP)
    path = tmp_path / "t.parquet"
    for bad in (BEYOND_NS, -BEYOND_NS, 9_220_000_000_000_001, INT64 - 1, -INT64):
        pq.write_table(pa.table({"v": pa.array([*good, bad], pa.timestamp("ms"))}), path)
        assert asked(Source.of(path), column) == [*whole, None]


UNITS = ("s", "ms", "us", "ns")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_times_in_memory(unit: str, zone: str | None) -> None:
    """Of any unit, with a zone and without: a time in no year from 1 to 9999 is NULL, others are what they were."""
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    data = pa.table({"v": pa.array([0, ticks, INT64 - 1, -INT64 + 1, None], pa.timestamp(unit, zone))})
    column = Column(name="v", kind=Kind.TIMESTAMP, time_zone=None if zone is None else "UTC")
    found = admitted(table_of(Source(kind="memory", location="t"), column), data)["v"]
    beyond = [moment("2262-04-11 23:47:16.854775"), moment("1677-09-21 00:12:43.145224")]
    assert found == [
        moment("1970-01-01"),
        moment("1970-01-01 00:00:01"),
        *(beyond if unit == "ns" else [None] * 2),
        None,
    ]


def test_ids_far_from_now_are_kept(tmp_path: Path) -> None:
    """Days and moments as far away as years go from 1 to 9999; two of them, as near as can be, stay two."""
    moments = ["0001-01-01 00:00:00", "1500-01-01 00:00:00", "1500-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"]
    days = ["0001-01-01", "1500-01-01", "2262-04-12", "9999-12-30", "9999-12-31"]
    assert count_units(csv_of(tmp_path, moments), Column(name="v", kind=Kind.TIMESTAMP)) == len(moments)
    assert count_units(csv_of(tmp_path, days), Column(name="v", kind=Kind.DATE)) == len(days)
    source = Source(kind="memory", location="t")
    data = pa.table({"v": pa.array([date.fromisoformat(day) for day in days])})
    assert count_units(source, Column(name="v", kind=Kind.DATE), data) == len(days)
    seconds = pa.table({"v": pa.array([-(10**10), 0, 10**11], pa.timestamp("s"))})
    assert count_units(source, Column(name="v", kind=Kind.TIMESTAMP), seconds) == len(seconds)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_collations_are_left_behind(collation: str, tmp_path: Path) -> None:
    """Two texts are one value where their bytes are equal, and nowhere else; two ids stay two."""
    cells = ["Berlin", "BERLIN", "Bérlin", "BERLIN"]
    source = database(tmp_path, f"VARCHAR COLLATE {collation}", [f"'{cell}'" for cell in cells])
    assert asked(source, Column(name="v", kind=Kind.TEXT)) == sorted(cells)
    assert asked(source, Column(name="v", kind=Kind.TEXT, keys=Keys(["BERLIN"]))) == ["BERLIN", "BERLIN", None, None]
    assert count_units(source, Column(name="v", kind=Kind.TEXT)) == len(set(cells))


IDS: list[tuple[Kind, list[str], int]] = [
    (Kind.INTEGER, ["1", "1.4", "1.0", " 01", "+1", "1e0", "0x1", "1_0", "x", "2"], 2),
    (Kind.TEXT, ["1", "01", " 1 ", "a", "A", "?"], 4),
    (Kind.DATE, ["2024-01-01", "2024-01-01 10:00:00", "2024-1-1", "2024-02-30", "2024-01-02 00:00:00+05"], 1),
    (Kind.TIMESTAMP, ["2024-01-01 00:00:00", "2024-01-01 00:00:00.0000001", "2024-01-01 00:00:00.000001"], 2),
]


@pytest.mark.parametrize(("kind", "cells", "people"), IDS)
def test_two_ids_are_not_read_as_one(kind: Kind, cells: list[str], people: int, tmp_path: Path) -> None:
    """What reading would round or cut is nobody's id: else one person's rows would count against another's limit."""
    assert count_units(csv_of(tmp_path, cells, missing=("?",)), Column(name="v", kind=kind)) == people


def test_two_native_ids_are_not_read_as_one(tmp_path: Path) -> None:
    """Nanoseconds are the one native type of which the kind loses something; and texts may be too long, or broken."""
    values = ["'2024-01-01 00:00:00.000000001'", "'2024-01-01 00:00:00.000000002'", "'2024-01-01 00:00:00.000001'"]
    assert count_units(database(tmp_path, "TIMESTAMP_NS", values), Column(name="v", kind=Kind.TIMESTAMP)) == 1
    cells = [b"\xff", b"\xfe", b"a" * LONGEST_TEXT, b"a" * (LONGEST_TEXT + 1), b"a" * (LONGEST_TEXT + 2)]
    raw = pa.array(cells, pa.binary())
    data = pa.table({"v": pa.Array.from_buffers(pa.string(), len(cells), raw.buffers())})
    source, column = Source(kind="memory", location="t"), Column(name="v", kind=Kind.TEXT)
    assert count_units(source, column, data) == 1
    assert admitted(table_of(source, column), data)["v"] == ["�", "�", *["a" * LONGEST_TEXT] * 3]


def test_dates_in_milliseconds() -> None:
    """What is in no year from 1 to 9999 is NULL, and nobody's."""
    day = 86_400_000
    data = pa.table({"v": pa.array([0, day, -day, 10**8 * day, -(10**8) * day, None], pa.int64()).view(pa.date64())})
    source, column = Source(kind="memory", location="t"), Column(name="v", kind=Kind.DATE)
    days = [date(1970, 1, 1), date(1970, 1, 2), date(1969, 12, 31)]
    assert admitted(table_of(source, column), data)["v"] == [*days, None, None, None]
    assert count_units(source, column, data) == len(days)


def test_a_date_in_milliseconds_may_lie_within_a_day() -> None:
    """Some writers keep the hour. It is that day, and nobody's id; others are what they would be without it."""
    day = 86_400_000
    data = pa.table({"v": pa.array([day, day + 1, -1, None], pa.int64()).view(pa.date64())})
    source, column = Source(kind="memory", location="t"), Column(name="v", kind=Kind.DATE)
    found = [date(1970, 1, 2), date(1970, 1, 2), date(1969, 12, 31), None]
    assert admitted(table_of(source, column), data)["v"] == found
    assert count_units(source, column, data) == 1


def decimals(digits: list[int], kind: pa.DataType) -> pa.Array:
    """Decimals by their digits."""
    width = kind.bit_width // 8
    raw = [each.to_bytes(width, "little", signed=True) for each in digits]
    return pa.array(raw, pa.binary(width)).view(kind)


@pytest.mark.parametrize("kind", [pa.decimal128(38, 2), pa.decimal128(38, 37), pa.decimal256(76, 2)], ids=str)
def test_ids_that_are_decimals_are_told_apart_by_every_digit(kind: pa.DataType) -> None:
    """As doubles they would be one; so they are texts. Which they are, unless something else is declared."""
    most = 10**kind.precision - 1
    data = pa.table({"v": decimals([most, most - 1, 1 - most, 150], kind)})
    source = Source(kind="memory", location="t")
    (column,) = describe(source, {"t": data}, frozenset({"v"}))
    assert column.kind is Kind.TEXT
    assert count_units(source, column, data) == 4
    with pytest.raises(InvalidArgument, match="can't identify"):
        table_of(source, Column(name="v", kind=Kind.REAL), Unit("v"))


@pytest.mark.parametrize("scale", [-3, 0, 2, 22, 37])
def test_decimals_are_read_as_the_nearest_double(scale: int) -> None:
    """Rounded once. Digits around the middle between two doubles tell."""
    middles = [2**53 + 1, 2**54 + 2, 2**60 + 2**7, 3 * 2**80 + 2**28, 10**37 + 7, 5 * 10**36 + 1]
    digits = [sign * (each + step) for each in middles for step in (-1, 0, 1) for sign in (1, -1)]
    source, column = Source(kind="memory", location="t"), Column(name="v", kind=Kind.REAL)
    for kind in (pa.decimal128(38, scale), pa.decimal256(76, scale)):
        found = admitted(table_of(source, column), pa.table({"v": decimals(digits, kind)}))["v"]
        assert found == [float(Fraction(each) / Fraction(10) ** scale) for each in digits]


@pytest.mark.parametrize("kind", [pa.decimal128(38, -3), pa.decimal256(76, 0)], ids=str)
def test_whole_decimals_that_are_handed_over_as_texts(kind: pa.DataType) -> None:
    """They are read as others are: with bounds, without, and as ids."""
    unit = 10 ** max(0, -kind.scale)
    data = pa.table({"v": decimals([0, 1, -1, 10**30, -(10**30)], kind)})
    source = Source(kind="memory", location="t")
    bounded = Column(name="v", kind=Kind.INTEGER, bounds=Bounds(-5, 9))
    plain = Column(name="v", kind=Kind.INTEGER)
    assert admitted(table_of(source, plain), data)["v"] == [0, unit, -unit, None, None]
    assert admitted(table_of(source, bounded), data)["v"] == [0, unit, -unit, INT64 - 1, -INT64]
    assert count_units(source, plain, data) == 3
    assert count_units(source, Column(name="v", kind=Kind.INTEGER, bounds=Bounds(-FAR, FAR)), data) == 3


def test_of_two_instants_that_a_clock_shows_alike_one_is_an_id(tmp_path: Path) -> None:
    """Half past two comes twice on a night in October: two ids would be one."""
    twice = [moment("2024-10-27T00:30:00+00:00"), moment("2024-10-27T01:30:00+00:00")]
    column = Column(name="v", kind=Kind.TIMESTAMP, time_zone="Europe/Paris")
    data = pa.table({"v": pa.array([*twice, PARIS[0]], pa.timestamp("us", "UTC"))})
    assert count_units(Source(kind="memory", location="t"), column, data) == 2
    cells = [*(each.isoformat() for each in twice), "2024-10-26 10:00:00"]
    assert count_units(csv_of(tmp_path, cells), column) == 2


def test_categories_are_cut_before_they_stand_in_every_row() -> None:
    """A text of a megabyte that many rows share would be 50 GB, written out."""
    texts = pa.array(["é" * LONGEST_TEXT, "a" * 2**20, "b", None])
    places = pa.array([0, 1, 2, 3, None, *[1] * 50_000], pa.int32())
    data = pa.table({"v": pa.DictionaryArray.from_arrays(places, texts)})
    source, column = Source(kind="memory", location="t"), Column(name="v", kind=Kind.TEXT)
    table = table_of(source, column)
    snapshot = admit([table], {"t": data}, None)
    held = snapshot.tables["t"].whole()
    assert held is not None
    found = held["v"].to_pylist()
    assert found[:5] == ["é" * LONGEST_TEXT, "a" * LONGEST_TEXT, "b", None, None]
    assert set(found[5:]) == {"a" * LONGEST_TEXT}
    assert snapshot.report["t"]["cut"] == {"v": 50_001}
    assert snapshot.report["t"]["unreadable"] == {}
    assert count_units(source, column, data) == 2


@pytest.mark.parametrize(("declared", "people"), [(Kind.INTEGER, 2), (Kind.TEXT, 5)])
@pytest.mark.parametrize("sql_type", ["HUGEINT", "UHUGEINT", "DECIMAL(38,0)"])
def test_ids_beyond_64_bits(sql_type: str, declared: Kind, people: int, tmp_path: Path) -> None:
    """As texts they are somebody's; as integers nobody's, and never the nearer end's."""
    source = database(tmp_path, sql_type, ["1", str(INT64 - 1), str(INT64), str(INT64 + 1), str(FAR)])
    assert count_units(source, Column(name="v", kind=declared)) == people
    if declared is Kind.INTEGER:  # nor with bounds, which say what is nearest of other numbers
        assert count_units(source, Column(name="v", kind=declared, bounds=Bounds(0, FAR))) == people


PARIS = [moment(f"2024-01-01T00:00:0{second}+01:00") for second in range(3)]
"""Instants of the first seconds of 2024 in Paris, which are still in 2023 in London."""


def zoned(tmp_path: Path) -> dict[str, tuple[Source, object]]:
    """The same instants, as each source has them."""
    memory = Source(kind="memory", location="t")
    data = pa.table({"v": pa.array(PARIS, pa.timestamp("us", "UTC"))})
    pq.write_table(data, tmp_path / "t.parquet")
    sources: dict[str, tuple[Source, object]] = {
        "Arrow": (memory, data),
        "Arrow, told in Tokyo": (memory, data.cast(pa.schema({"v": pa.timestamp("ms", "Asia/Tokyo")}))),
        "pandas": (memory, pd.DataFrame({"v": pd.to_datetime(PARIS, utc=True)})),
        "pandas, told in Paris": (memory, pd.DataFrame({"v": pd.to_datetime(PARIS).tz_convert("Europe/Paris")})),
        "Parquet": (Source.of(tmp_path / "t.parquet"), None),
        "DuckDB": (database(tmp_path, "TIMESTAMPTZ", [f"'{each.isoformat()}'" for each in PARIS]), None),
    }
    return sources


ZONED = ["Arrow", "Arrow, told in Tokyo", "pandas", "pandas, told in Paris", "Parquet", "DuckDB"]


@pytest.mark.parametrize("kind", ZONED)
def test_instants_are_told_in_the_declared_zone(kind: str, tmp_path: Path) -> None:
    """Midnight in Paris is of the new year there, wherever the source tells it; and of the old one in London."""
    source, data = zoned(tmp_path)[kind]
    wall = [moment(f"2024-01-01 00:00:0{second}") for second in range(3)]
    for zone, shift in (("Europe/Paris", 0), ("Europe/London", -1), ("UTC", -1), ("Asia/Kolkata", 4.5)):
        column = Column(name="v", kind=Kind.TIMESTAMP, time_zone=zone)
        assert admitted(table_of(source, column), data)["v"] == [each + timedelta(hours=shift) for each in wall]


@pytest.mark.parametrize("kind", ZONED)
def test_instants_without_a_declared_zone_are_refused(kind: str, tmp_path: Path) -> None:
    """They would be of another day and hour in each; the fix is named."""
    source, data = zoned(tmp_path)[kind]
    with pytest.raises(SchemaMismatch, match="points in time") as refusal:
        admitted(table_of(source, Column(name="v", kind=Kind.TIMESTAMP)), data)
    assert 'time_zone="Europe/Paris"' in refusal.value.hint
    assert 'time_zone = "Europe/Paris"' in refusal.value.hint_at("file")


def test_cells_that_say_their_zone(tmp_path: Path) -> None:
    """Each text says by itself whether it is an instant; without a declared zone, such a one is NULL."""
    cells = ["2024-01-01T00:00:00+01:00", "2023-12-31 23:00:00Z", "2024-01-01 00:00:00", "2023-12-31 23:00:00+00"]
    source = csv_of(tmp_path, cells)
    told = [
        admitted(table_of(source, Column(name="v", kind=Kind.TIMESTAMP, time_zone=zone)))["v"]
        for zone in (None, "Europe/Paris", "UTC")
    ]
    midnight, before = moment("2024-01-01"), moment("2023-12-31 23:00:00")
    assert told == [[None, None, midnight, None], [midnight] * 4, [before, before, midnight, before]]


def test_hours_that_the_clock_repeats_or_skips() -> None:
    """Instants in the hour that comes twice have one wall time; the hour that is left out is nobody's."""
    utc = UTC
    twice = [datetime(2024, 10, 27, hour, 30, tzinfo=utc) for hour in (0, 1)]
    around = [datetime(2024, 3, 31, 0, 59, tzinfo=utc), datetime(2024, 3, 31, 1, 0, tzinfo=utc)]
    data = pa.table({"v": pa.array([*twice, *around], pa.timestamp("us", "UTC"))})
    column = Column(name="v", kind=Kind.TIMESTAMP, time_zone="Europe/Paris")
    found = admitted(table_of(Source(kind="memory", location="t"), column), data)["v"]
    assert found == [
        moment("2024-10-27 02:30"), moment("2024-10-27 02:30"), moment("2024-03-31 01:59"), moment("2024-03-31 03:00")
    ]  # fmt: skip


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("rows", [3, 30])
def test_a_column_that_is_null_throughout(kind: Kind, rows: int, tmp_path: Path) -> None:
    """It may be declared as anything, where its type says that nothing else can be in it."""
    data = pa.table({"v": pa.nulls(rows)})
    pq.write_table(data, tmp_path / "t.parquet")
    column = Column(name="v", kind=kind)
    for source in (Source(kind="memory", location="t"), Source.of(tmp_path / "t.parquet")):
        assert admitted(table_of(source, column), data)["v"] == [None] * rows
