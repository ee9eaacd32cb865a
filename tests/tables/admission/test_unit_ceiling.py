"""The ceiling on a unit's rows: of a unit with more, the rest isn't admitted, whoever else is in the table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidArgument, SourceUnsupported
from discreet.privacy import Limits, Unit
from discreet.tables import Column, Kind, Link, Source, Table
from discreet.tables.admission import Snapshot, admit
from discreet.tables.schema.owner import identifying

pytestmark = pytest.mark.usefixtures("kept_sessions")

PERSON = Unit("pid")
COLUMNS = (Column(name="pid", kind=Kind.INTEGER), Column(name="n", kind=Kind.INTEGER))


def table_of(
    path: Path | None, *, name: str = "visits", unit: Unit | None = PERSON, most: int = 3, **more: Any
) -> Table:
    """A table of ids and numbers."""
    source = Source(kind="memory", location=name) if path is None else Source.of(path)
    return Table(
        name=name, source=source, columns=COLUMNS, unit=unit, limits=Limits(rows=2), most_rows_per_unit=most, **more
    )


def rows_of(snapshot: Snapshot, name: str = "visits") -> list[tuple[Any, ...]]:
    """What was admitted of a table."""
    held = snapshot.tables[name]
    found = (
        held.whole()
        if not held.files
        else pq.read_table(snapshot.folder / held.files[0], columns=[*held.names.values()])
    )
    assert found.num_rows == held.rows
    return sorted(tuple(row.values()) for row in found.to_pylist())


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_rest_of_a_unit_is_left_out(in_memory: bool, tmp_path: Path) -> None:
    """Others keep all of theirs; which rows stay depends on no other unit, and on no order."""
    data = pa.table({"pid": [1] * 10 + [2] * 3 + [3], "n": range(14)})
    again = pa.table({"pid": [4] * 5 + [1] * 10, "n": [*range(100, 105), *range(9, -1, -1)]})
    kept = []
    for number, rows in enumerate((data, again)):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = None if in_memory else folder / "visits.parquet"
        if path is not None:
            pq.write_table(rows, path)
        table = table_of(path)
        snapshot = admit([table], {"visits": rows}, folder)
        kept.append([row for row in rows_of(snapshot) if row[0] == 1])
        assert snapshot.tables["visits"].covers(table, identifying(table, [table]))
        assert not snapshot.damaged()
        if number == 0:
            assert Counter(pid for pid, _ in rows_of(snapshot)) == {1: 3, 2: 3, 3: 1}
            assert snapshot.report["visits"]["rows"] == 7
            assert snapshot.report["visits"]["beyond_most_rows_per_unit"] == {"units": 1, "rows": 7}
    assert kept[0] == kept[1]


@pytest.mark.parametrize("called", ["discreet row", "Discreet Row", "u0", "t0", "h0", "place", "busy", "p\"i'd"])
@pytest.mark.parametrize("in_memory", [True, False])
def test_columns_may_be_called_whatever_they_are(in_memory: bool, called: str, tmp_path: Path) -> None:
    """The ceiling holds where the unit's column, or another one, is called like something of ours."""
    for number, (unit, other) in enumerate(((called, "n"), ("pid", called))):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "visits.parquet"
        data = pa.table({unit: pa.array([1] * 10 + [2], pa.int64()), other: pa.array([5] * 11, pa.int64())})
        pq.write_table(data, path)
        columns = tuple(Column(name=column, kind=Kind.INTEGER) for column in (unit, other))
        table = replace(table_of(None if in_memory else path), columns=columns, unit=Unit(unit))
        assert rows_of(admit([table], {"visits": data}, folder)) == [(1, 5)] * 3 + [(2, 5)]


def test_rows_count_for_whom_links_lead_to(tmp_path: Path) -> None:
    """A household of two people has their rows together; a link that leads to two owners counts for both."""
    people = pa.table({"pid": [7, 8, 9, 9], "n": [1, 1, 2, 3]})  # n is the household
    visits = pa.table({"pid": [7] * 3 + [8] * 3 + [9] * 2, "n": range(8)})
    owners = table_of(None, name="people", unit=Unit("n"), most=3)
    linked = table_of(None, unit=None, links=(Link("pid", "people", "pid"),))
    snapshot = admit([owners, linked], {"people": people, "visits": visits}, tmp_path)
    found = Counter(pid for pid, _ in rows_of(snapshot))
    assert found[7] + found[8] == 3
    assert found[9] == 2
    assert snapshot.report["visits"]["beyond_most_rows_per_unit"] == {"units": 1, "rows": 3}


def test_a_period_is_a_unit(tmp_path: Path) -> None:
    """Three rows of each day."""
    columns = (Column(name="pid", kind=Kind.INTEGER), Column(name="at", kind=Kind.TIMESTAMP))
    unit = Unit("pid", per="day", at="at")
    table = replace(table_of(None), columns=columns, unit=unit)
    times = [datetime(2024, 1, 1 + n % 2, n) for n in range(10)]
    snapshot = admit([table], {"visits": pa.table({"pid": [1] * 10, "at": times})}, tmp_path)
    assert Counter(at.day for _, at in rows_of(snapshot)) == {1: 3, 2: 3}


def test_a_table_in_place_is_refused(tmp_path: Path) -> None:
    """Nothing can be left out of it."""
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"pid": pa.array([1] * 10, pa.int64()), "n": pa.array(range(10), pa.int64())}), path)
    table = replace(table_of(path), source=Source.of(path, in_place=True))
    with pytest.raises(SourceUnsupported, match="1 units have more than most_rows_per_unit = 3 rows"):
        admit([table], {}, tmp_path)
    admit([replace(table, most_rows_per_unit=10)], {}, tmp_path)


def test_what_was_admitted_under_a_higher_ceiling_is_not_asked(tmp_path: Path) -> None:
    """Nor what was admitted before there was one; under a lower one it may be."""
    table = table_of(None)
    held = admit([table], {"visits": pa.table({"pid": [1], "n": [1]})}, tmp_path).tables["visits"]
    ids = identifying(table, [table])
    assert held.covers(replace(table, most_rows_per_unit=4), ids)
    assert not held.covers(replace(table, most_rows_per_unit=2), ids)
    assert not replace(held, most_rows_per_unit=None).covers(table, ids)


def test_texts_are_cut_where_they_are_declared_to_end(tmp_path: Path) -> None:
    """And what was kept in full isn't asked about under a shorter end."""
    text = Column(name="n", kind=Kind.TEXT, max_length=3)
    table = replace(table_of(None), columns=(COLUMNS[0], text))
    snapshot = admit([table], {"visits": pa.table({"pid": [1, 2], "n": ["éééé", "ab"]})}, tmp_path)
    assert rows_of(snapshot) == [(1, "ééé"), (2, "ab")]
    assert snapshot.report["visits"]["cut"] == {"n": 1}
    shorter = replace(table, columns=(COLUMNS[0], replace(text, max_length=2)))
    assert not snapshot.tables["visits"].covers(shorter, identifying(table, [table]))


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, 10**9])
def test_a_ceiling_is_a_number_of_rows(wrong: Any) -> None:
    """And a length one of characters."""
    with pytest.raises(InvalidArgument, match="most_rows_per_unit must be"):
        table_of(None, most=wrong)
    with pytest.raises(InvalidArgument, match="max_length of column 't' must be"):
        Column(name="t", kind=Kind.TEXT, max_length=wrong)


def test_a_ceiling_stands_where_units_have_rows() -> None:
    """Not where each row is a unit, nor in a public table; a length at texts, and at no key that it cuts off."""
    with pytest.raises(InvalidArgument, match="each row of table 'visits' is a unit"):
        replace(table_of(None, unit=Unit.row(), most=10_000), limits=Limits(rows=1), most_rows_per_unit=5)
    with pytest.raises(InvalidArgument, match="takes no most_rows_per_unit"):
        Table(
            name="t",
            source=Source(kind="memory", location="t"),
            columns=COLUMNS,
            unit=None,
            public=True,
            most_rows_per_unit=5,
        )
    with pytest.raises(InvalidArgument, match="only texts have a max_length"):
        Column(name="t", kind=Kind.INTEGER, max_length=5)


@pytest.mark.parametrize(("rows", "left_out"), [(3, 0), (4, 1)])
@pytest.mark.parametrize("in_memory", [True, False])
def test_a_table_may_be_one_units(in_memory: bool, rows: int, left_out: int, tmp_path: Path) -> None:
    """A table that has no more rows than a unit may have is whole; of one with a row more, one isn't admitted."""
    data = pa.table({"pid": [1] * rows, "n": range(rows)})
    path = tmp_path / "visits.parquet"
    pq.write_table(data, path)
    (tmp_path / "held").mkdir()
    snapshot = admit([table_of(None if in_memory else path)], {"visits": data}, tmp_path / "held")
    assert len(rows_of(snapshot)) == rows - left_out
    assert snapshot.report["visits"]["beyond_most_rows_per_unit"] == {"units": left_out, "rows": left_out}
