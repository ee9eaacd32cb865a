"""The door: every value of every type comes in as its column's kind or as NULL, and none can make a question fail."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.engine.door import kept
from discreet.engine.duckdb import DuckDB
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type, Units
from discreet.tables import Column, Kind, Owner, Source, Table

moment = datetime.fromisoformat
FAR = 10**30
INT64 = 2**63


def come_in(source: Source, column: Column) -> list[Any]:
    """The values of one column as the door lets them in, sorted: a question that groups by it counts them."""
    key = Key(name="k", expr=Reference("t", column.name, Type(column.kind)), values=None)
    counting = Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1)
    table = Table(name="t", source=source, columns=(column,), unit=Unit.row())
    question = Exact(
        source=Scan(table=table, columns=(column.name,), owner=Owner(table.unit), alias=table.name),
        keys=(key,),
        measures=(counting,),
        limits=table.limits,
        salt="",
    )
    result = DuckDB().run(question)
    values = [value for (value,), n in zip(result.keys, result.measures["n"], strict=True) for _ in range(n)]
    return sorted(values, key=lambda value: (value is None, value if value is not None else 0))


def database(tmp_path: Path, sql_type: str, values: list[str]) -> Source:
    """A DuckDB file with one column `v`."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (v {sql_type})")
        for value in values:
            connection.execute(f"INSERT INTO t VALUES ({value})")
    return Source.of(path)


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
    ("DECIMAL(9,2)", ["-1.25", "99.99"], Kind.REAL, None, [-1.25, 99.99]),
    ("INTEGER", ["3", "-3"], Kind.REAL, Bounds("-0.5", "1/4"), [-0.5, 0.25]),
    ("FLOAT", ["'nan'", "'inf'", "0.5", "NULL"], Kind.REAL, None, [0.5, float("inf"), None, None]),
    ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1e300", "NULL"], Kind.REAL, Bounds(-1, 0.1), [-1.0, 0.1, 0.1, None, None]),
    ("DOUBLE", ["0.1", "0.3"], Kind.REAL, Bounds(0, "0.3"), [0.1, 0.3]),
    ("DOUBLE", ["1e300"], Kind.REAL, Bounds(0, 10**400), [1e300]),
    ("DOUBLE", ["0.0", "-0.0"], Kind.REAL, None, [0.0, 0.0]),
    ("BOOLEAN", ["true", "false", "NULL"], Kind.BOOLEAN, None, [False, True, None]),
    ("VARCHAR", ["' a'", "''", "chr(0)", "NULL"], Kind.TEXT, None, ["", "\0", " a", None]),
    ("ENUM('x', 'y')", ["'y'", "NULL"], Kind.TEXT, None, ["y", None]),
    ("UUID", ["'00000000-0000-0000-0000-000000000001'"], Kind.TEXT, None, ["00000000-0000-0000-0000-000000000001"]),
    ("DATE", ["'2024-02-29'", "'infinity'", "'9999-12-31'", "'290000-01-01'", "'0001-01-01 (BC)'"], Kind.DATE, None,
     [date(2024, 2, 29), date(9999, 12, 31), None, None, None]),
    ("DATE", ["'infinity'", "'-infinity'", "'290000-01-01'", "NULL"], Kind.DATE,
     Bounds(date(2000, 1, 1), date(2001, 1, 1)), [date(2000, 1, 1), date(2001, 1, 1), date(2001, 1, 1), None]),
    ("DATE", ["'2024-02-29'", "'5000000-01-01'"], Kind.TIMESTAMP, None, [moment("2024-02-29"), None]),
    ("TIMESTAMP", ["'1969-12-31 23:59:59.999999'", "'infinity'"], Kind.TIMESTAMP, None,
     [moment("1969-12-31 23:59:59.999999"), None]),
    ("TIMESTAMP", ["'infinity'", "'-infinity'"], Kind.TIMESTAMP,
     Bounds(moment("2000-01-01"), moment("2000-01-02 03:04:05.6")),
     [moment("2000-01-01"), moment("2000-01-02 03:04:05.6")]),
    ("TIMESTAMP_S", ["'2024-01-01 00:00:01'", "'infinity'"], Kind.TIMESTAMP, None,
     [moment("2024-01-01 00:00:01"), None]),
    ("TIMESTAMP_NS", ["'2024-01-01 00:00:00.000001'", "NULL"], Kind.TIMESTAMP, None,
     [moment("2024-01-01 00:00:00.000001"), None]),
    ("TIMESTAMPTZ", ["'2024-01-01 00:00:00+05'", "'infinity'"], Kind.TIMESTAMP, None,
     [moment("2023-12-31 19:00:00"), None]),
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
    assert come_in(source, Column(name="v", kind=kind, bounds=bounds, keys=keys)) == wanted


CELLS: list[tuple[Kind, Any, dict[str, Any]]] = [
    (Kind.INTEGER, None, {"7": 7, " -7 ": -7, "": None, "?": None, "x": None, "99999999999999999999": None, "inf": None,
                          "nan": None, "1e400": None, "2.5.1": None, "0x": None, "--3": None}),
    (Kind.INTEGER, Bounds(0, 10), {"7": 7, "-7": 0, "99999999999999999999": 10, "-1e30": 0, "inf": 10, "-inf": 0,
                                   "nan": None, "x": None, "": None}),
    (Kind.REAL, None, {"0.1": 0.1, "1e400": float("inf"), "nan": None, "x": None, "1,5": None}),
    (Kind.REAL, Bounds(-1, 1), {"0.1": 0.1, "1e400": 1.0, "-inf": -1.0, "nan": None, "NaN": None, "": None}),
    (Kind.BOOLEAN, None, {"true": True, "False": False, "maybe": None, "2": None}),
    (Kind.DATE, None, {"2024-02-29": date(2024, 2, 29), "2023-02-29": None, "infinity": None, "0000-00-00": None,
                       "99999-01-01": None, "2024-13-01": None}),
    (Kind.DATE, Bounds(date(2020, 1, 1), date(2030, 1, 1)), {"infinity": date(2030, 1, 1),
                                                             "1999-01-01": date(2020, 1, 1)}),
    (Kind.TIMESTAMP, None, {"2024-01-01 10:00:00": moment("2024-01-01 10:00"), "-infinity": None,
                            "2024-01-01T10:00:00Z": moment("2024-01-01 10:00"), "2024-01-01 25:00:00": None}),
    (Kind.TEXT, None, {" Ann ": "Ann", "": None, "  ": None, "?": None, "é": "é", "a\tb": "a\tb"}),
    (Kind.TEXT, Keys(["a"]), {" a ": "a", "A": None, "b": None}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "declared", "cells"), CELLS)
def test_cells_of_csv_files(kind: Kind, declared: Any, cells: dict[str, Any], tmp_path: Path) -> None:
    """Text is trimmed and cast; what can't be cast is NULL; what is beyond the bounds is moved to them."""
    bounds, keys = (declared, None) if isinstance(declared, Bounds) else (None, declared)
    column = Column(name="v", kind=kind, bounds=bounds, keys=keys)
    for cell, wanted in cells.items():
        path = tmp_path / "t.csv"
        path.write_text(f'other,v\n1,"{cell}"\n', encoding="utf-8")
        source = Source.of(path, missing=("?",))
        assert come_in(source, column) == [wanted], cell


POISON: dict[str, bytes] = {
    "too few cells": b"77\n",
    "too many cells": b"77,1,2,3,4,5\n",
    "nothing but commas": b",,,,,,\n",
    "invalid UTF-8": b"77,\xff\xfe,1\n",
    "invalid UTF-8 in the id": b"\xc3\x28,a,1\n",
    "a NUL byte": b"77,a\x00b,1\n",
    "a quote inside": b'77,a"b,1\n',
    "a quote, and more": b'77,"a"b,1\n',
    "a line break in quotes": b'77,"a\nb",1\n',
    "a lone carriage return": b"77,a\rb,1\n",
    "a huge number": b"77,a," + b"9" * 400 + b"\n",
    "a huge text": b"77," + b"a" * 3_000_000 + b",1\n",
    "an infinity": b"77,a,inf\n",
    "no number": b"77,a,nan\n",
    "an overflow": b"77,a,1e999\n",
    "an id beyond 64 bits": b"99999999999999999999,a,1\n",
    "SQL": b"77,'; DROP TABLE raw; --,1\n",
    "a blank line": b"\n",
    "spaces": b"   \n",
    "a byte order mark": b"\xef\xbb\xbf77,a,1\n",
}
OTHERS = b"".join(
    b"%d,%s,%d\n" % (number % 50, b"abc"[number % 3 : number % 3 + 1], number % 7) for number in range(500)
)


@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("limits", [Limits(rows=4), Limits(groups=2, rows_per_group=3)])
def test_a_hostile_line_changes_nothing_for_others(poison: str, limits: Limits, tmp_path: Path) -> None:
    """Whatever one person's line is made of, it adds two rows of theirs at the most, and nobody else's change."""
    header = b"id,g,x\n"
    half = len(OTHERS) // 2 + OTHERS[len(OTHERS) // 2 :].index(b"\n") + 1
    clean = _ask_csv(tmp_path / "clean.csv", header + OTHERS, limits)
    poisoned = _ask_csv(tmp_path / "poisoned.csv", header + OTHERS[:half] + POISON[poison] + OTHERS[half:], limits)
    added = {
        group: tuple(after - before for after, before in zip(both, clean.get(group, (0, 0)), strict=True))
        for group, both in poisoned.items()
    }
    assert clean.keys() <= poisoned.keys()
    assert all(rows >= 0 and 0 <= size <= 6 * rows for rows, size in added.values())
    assert sum(rows for rows, _ in added.values()) <= 2


def _ask_csv(path: Path, content: bytes, limits: Limits) -> dict[Any, tuple[int, int]]:
    """A count and a sum by group, private keys, of a CSV file."""
    path.write_bytes(content)
    source = Source.of(path)
    columns = (
        Column(name="id", kind=Kind.INTEGER),
        Column(name="g", kind=Kind.TEXT),
        Column(name="x", kind=Kind.REAL, bounds=Bounds(0, 6)),
    )
    table = Table(name="t", source=source, columns=columns, unit=Unit("id"), limits=limits)
    measures = (
        Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),
        Sum(name="s", value=Reference("t", "x", Type(Kind.REAL)), grid=0, lo=0, hi=6),
    )
    key = Key(name="g", expr=Reference("t", "g", Type(Kind.TEXT)), values=None)
    question = Exact(
        source=Scan(table=table, columns=("id", "g", "x"), owner=Owner(table.unit), alias=table.name),
        keys=(key,),
        measures=measures,
        limits=limits,
        salt="",
    )
    result = DuckDB().run(question)
    return {group: (result.measures["n"][n], result.measures["s"][n]) for n, (group,) in enumerate(result.keys)}


def test_a_text_that_is_longer_than_all_keys_stays_outside() -> None:
    """However long one person's cell is, joins write out one sign more than keys have; it is still no key, nor NULL."""
    value = kept(Column(name="v", kind=Kind.TEXT, keys=Keys(["a", "éé"])), "v")
    cells = ["a", "éé", "eeee", "b", "eeeee", "z" * 10**6, None]
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {value} FROM (SELECT unnest($1) AS v)", [cells]).fetchall()
    assert [each for (each,) in found] == ["a", "éé", "eeee", "b", "eeeee", "z" * 5, None]


def test_ids_outside_their_bounds_are_nobodys(tmp_path: Path) -> None:
    """Moving them to the nearer end would make one unit of many people; so their rows are left out."""
    source = database(tmp_path, "INTEGER", ["1", "2", "50", "60", "-3", "NULL"])
    column = Column(name="v", kind=Kind.INTEGER, bounds=Bounds(1, 10))
    table = Table(name="t", source=source, columns=(column,), unit=Unit("v"), limits=Limits(rows=1))
    counting = Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1)
    question = Exact(
        source=Scan(table=table, columns=("v",), owner=Owner(table.unit), alias=table.name),
        keys=(),
        measures=(counting,),
        limits=Limits(rows=1),
        salt="",
    )
    assert DuckDB().run(question).measures["n"] == [2]


IDS: list[tuple[Kind, list[str], int]] = [
    (Kind.INTEGER, ["1", "1.4", "1.0", " 01", "+1", "1e0", "0x1", "1_0", "x", "2"], 2),
    (Kind.TEXT, ["1", "01", " 1 ", "a", "A", "?"], 4),
    (Kind.DATE, ["2024-01-01", "2024-01-01 10:00:00", "2024-1-1", "2024-02-30"], 1),
    (Kind.TIMESTAMP, ["2024-01-01 00:00:00", "2024-01-01 00:00:00.0000001", "2024-01-01 00:00:00.000001"], 2),
]


@pytest.mark.parametrize(("kind", "cells", "people"), IDS)
def test_two_ids_are_not_read_as_one(kind: Kind, cells: list[str], people: int, tmp_path: Path) -> None:
    """What reading would round or cut is nobody's id: else one person's rows would count against another's limit."""
    path = tmp_path / "t.csv"
    path.write_text("id\n" + "".join(f'"{cell}"\n' for cell in cells), encoding="utf-8")
    source = Source.of(path, missing=("?",))
    assert count_units(source, Column(name="id", kind=kind)) == people


def test_two_native_ids_are_not_read_as_one(tmp_path: Path) -> None:
    """Nanoseconds are the one native type of which the kind loses something."""
    values = ["'2024-01-01 00:00:00.000000001'", "'2024-01-01 00:00:00.000000002'", "'2024-01-01 00:00:00.000001'"]
    assert count_units(database(tmp_path, "TIMESTAMP_NS", values), Column(name="v", kind=Kind.TIMESTAMP)) == 1


def count_units(source: Source, column: Column) -> int:
    """How many units there are."""
    limits = Limits(rows=1)
    table = Table(name="t", source=source, columns=(column,), unit=Unit(column.name), limits=limits)
    units = Units(name="u")
    question = Exact(
        source=Scan(table=table, columns=(column.name,), owner=Owner(table.unit), alias=table.name),
        keys=(),
        measures=(units,),
        limits=limits,
        salt="",
    )
    (found,) = DuckDB().run(question).measures["u"]
    return found
