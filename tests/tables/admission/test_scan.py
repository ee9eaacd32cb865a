"""Tables in place: what a copy would mend is refused, by column and count; what is admitted is what a copy would be."""

from __future__ import annotations

import mmap
import os
import re
import time
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidArgument, SchemaMismatch, SnapshotChanged, SourceError, SourceUnsupported
from discreet.privacy import Bounds, Limits, Unit
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import Snapshot, admit
from discreet.tables.sources import in_place
from discreet.tables.sources.files import OpenFile

pytestmark = pytest.mark.usefixtures("kept_sessions")

CANARY = "Xanthippe"


def declared(path: Path, kind: Kind, *, unit: str = "row", **terms: Any) -> Table:
    """A table of one column beside an id."""
    return Table(
        name="people",
        source=Source.of(path, in_place=True),
        columns=(Column(name="id", kind=Kind.INTEGER), Column(name="x", kind=kind, **terms)),
        unit=Unit.row() if unit == "row" else Unit(unit),
        limits=Limits(rows=1),
    )


def admitted(path: Path, kind: Kind, **terms: Any) -> Snapshot:
    """The same, admitted."""
    return admit([declared(path, kind, **terms)], {}, path.parent)


def write(path: Path, values: pa.Array, **terms: Any) -> Path:
    """A file with these values, and as many ids."""
    pq.write_table(pa.table({"id": pa.array(range(len(values)), pa.int64()), "x": values}), path, **terms)
    return path


FIT = {
    "integers": (Kind.INTEGER, pa.array([2**63 - 1, -(2**63), None], pa.int64())),
    "reals": (Kind.REAL, pa.array([1e308, 5e-324, None, 0.0])),
    "texts": (Kind.TEXT, pa.array(["ä" * 1_000, "", None, "\0", "a"])),
    "large texts": (Kind.TEXT, pa.array(["ä" * 1_000, "", None], pa.large_string())),
    "categories": (Kind.TEXT, pa.array(["b", "a", None, "b"]).dictionary_encode()),
    "booleans": (Kind.BOOLEAN, pa.array([True, None, False])),
    "dates": (Kind.DATE, pa.array([date(1, 1, 1), date(9999, 12, 31), None])),
    "times": (
        Kind.TIMESTAMP,
        pa.array([datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), None], pa.timestamp("us")),
    ),
    "no rows": (Kind.TEXT, pa.array([], pa.string())),
}


@pytest.mark.parametrize("case", FIT)
def test_values_of_the_kinds_stay_where_they_are(case: str, tmp_path: Path) -> None:
    """Extremes included; and what is read of them is what a copy would have."""
    kind, values = FIT[case]
    path = write(tmp_path / "people.parquet", values, row_group_size=2)
    snapshot = admitted(path, kind)
    held = snapshot.tables["people"]
    assert (held.rows, held.files, len(held.places)) == (len(values), (), 1)
    assert snapshot.report["people"]["rows"] == len(values)
    assert list(tmp_path.iterdir()) == [path]
    copied = admit([Table(
        name="people", source=Source.of(path), columns=held_columns(kind), unit=Unit.row(),
    )], {}, tmp_path)  # fmt: skip
    (file,) = copied.files(declared(path, kind))
    assert pq.read_table(file).sort_by("id")["x"].to_pylist() == values.to_pylist()


def held_columns(kind: Kind) -> tuple[Column, ...]:
    """The columns of the table."""
    return (Column(name="id", kind=Kind.INTEGER), Column(name="x", kind=kind))


UNFIT = {
    "NaN": (Kind.REAL, pa.array([1.0, float("nan"), None]), 1),
    "infinities": (Kind.REAL, pa.array([float("inf"), float("-inf"), 2.0]), 2),
    "negative zero": (Kind.REAL, pa.array([0.0, -0.0]), 1),
    "long texts": (Kind.TEXT, pa.array([CANARY * 200, "a" * 1_001, "ä" * 1_000]), 2),
    "long categories": (Kind.TEXT, pa.array([CANARY * 200, "a", CANARY * 200]).dictionary_encode(), 2),
    "dates": (Kind.DATE, pa.array([-719_163, 2_932_897, 0], pa.int32()).cast(pa.date32()), 2),
    "times": (Kind.TIMESTAMP, pa.array([-(2**62), 2**63 - 1, 0], pa.int64()).cast(pa.timestamp("us")), 2),
    "bytes": (Kind.TEXT, pa.array([b"a\xff", b"b", b"\xc3"]).view(pa.string()), 2),
    "bytes of categories": (
        Kind.TEXT,
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([b"\xff", b"b"]).view(pa.string())),
        2,
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_values_that_a_copy_would_mend_are_refused(case: str, tmp_path: Path) -> None:
    """By column and count, with the way out; and never by what they are."""
    kind, values, count = UNFIT[case]
    with pytest.raises(SourceUnsupported, match=rf"'x' {count} \(admit it as a copy") as refusal:
        admitted(write(tmp_path / "people.parquet", values), kind)
    assert CANARY not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("case", ["missing", "replacement", "long"])
def test_a_row_must_say_whose_it_is(case: str, tmp_path: Path) -> None:
    """An id that a copy would leave out with its row."""
    wrong = {"missing": None, "replacement": "a\ufffd", "long": "a" * 1_001}[case]
    path = write(tmp_path / "people.parquet", pa.array(["a", wrong, "b"]))
    with pytest.raises(SourceUnsupported, match="'x' 1 "):
        admitted(path, Kind.TEXT, unit="x")
    if case != "long":
        assert admitted(path, Kind.TEXT).tables["people"].rows == 3


OTHER_TYPES = {
    "narrow integers": (Kind.INTEGER, pa.array([1], pa.int32())),
    "integers without a sign": (Kind.INTEGER, pa.array([1], pa.uint64())),
    "narrow reals": (Kind.REAL, pa.array([1], pa.float32())),
    "decimals": (Kind.REAL, pa.array([1], pa.decimal128(18, 2))),
    "integers for reals": (Kind.REAL, pa.array([1], pa.int64())),
    "reals for integers": (Kind.INTEGER, pa.array([1.0])),
    "milliseconds": (Kind.TIMESTAMP, pa.array([1], pa.timestamp("ms"))),
    "nanoseconds": (Kind.TIMESTAMP, pa.array([1], pa.timestamp("ns"))),
    "instants": (Kind.TIMESTAMP, pa.array([1], pa.timestamp("us", "UTC"))),
    "dates for times": (Kind.TIMESTAMP, pa.array([1], pa.int32()).cast(pa.date32())),
    "bytes": (Kind.TEXT, pa.array([b"a"])),
    "nothing": (Kind.TEXT, pa.nulls(1)),
    "lists": (Kind.INTEGER, pa.array([[1]])),
}


@pytest.mark.parametrize("case", OTHER_TYPES)
def test_columns_of_other_types_are_refused(case: str, tmp_path: Path) -> None:
    """Also those that a copy would convert."""
    kind, values = OTHER_TYPES[case]
    with pytest.raises(SchemaMismatch, match=r"'x'.*admit it as a copy"):
        admitted(write(tmp_path / "people.parquet", values), kind)


def test_times_of_96_bits_are_refused(tmp_path: Path) -> None:
    """DuckDB calls them timestamps, too."""
    values = pa.array([1], pa.timestamp("us"))
    path = write(tmp_path / "people.parquet", values, use_deprecated_int96_timestamps=True)
    with pytest.raises(SchemaMismatch, match="'x'"):
        admitted(path, Kind.TIMESTAMP)


def test_a_folder_may_stay_in_place(tmp_path: Path) -> None:
    """Each of its files is noted; a column that only folders' names have isn't stored, so it takes a copy."""
    folder = tmp_path / "people" / "year=2024"
    folder.mkdir(parents=True)
    for number in range(2):
        write(folder / f"{number}.parquet", pa.array([number, None]))
    table = declared(tmp_path / "people.parquet", Kind.INTEGER)
    source = Source(kind="parquet", location=str(tmp_path / "people"), in_place=True)
    held = admit([with_source(table, source)], {}, tmp_path).tables["people"]
    assert (held.rows, len(held.places)) == (4, 2)
    year = Column(name="year", kind=Kind.TEXT)
    with pytest.raises(SchemaMismatch, match="'year'"):
        admit([with_source(table, source, (*table.columns, year))], {}, tmp_path)


def with_source(table: Table, source: Source, columns: tuple[Column, ...] = ()) -> Table:
    """A table elsewhere."""
    return Table(name=table.name, source=source, columns=columns or table.columns, unit=Unit.row())


def test_a_table_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are open while a question runs."""
    monkeypatch.setattr("discreet.tables.sources.in_place.MOST_FILES", 1)
    for number in range(2):
        write(tmp_path / f"{number}.parquet", pa.array([number]))
    source = Source(kind="parquet", location=f"{tmp_path}/*.parquet", in_place=True)
    with pytest.raises(SourceUnsupported, match="2 files"):
        admit([with_source(declared(tmp_path / "0.parquet", Kind.INTEGER), source)], {}, tmp_path)


def in_footer(path: Path, before: bytes, after: bytes) -> Path:
    """The file with other bytes in its footer."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert before in content[start:]
    path.write_bytes(content[:start] + content[start:].replace(before, after))
    return path


LIES = {
    "ends": (Kind.INTEGER, pa.array([7, 0x1122334455667788]), (0x1122334455667788).to_bytes(8, "little"), bytes(8)),
    "texts": (Kind.TEXT, pa.array(["a", "zzyyxxww"]), b"zzyyxxww", b"bbbbbbbb"),
    "categories": (Kind.TEXT, pa.array(["a", "zzyyxxww"]).dictionary_encode(), b"zzyyxxww", b"bbbbbbbb"),
}


@pytest.mark.parametrize("case", LIES)
def test_a_footer_that_is_wrong_about_values_is_refused(case: str, tmp_path: Path) -> None:
    """By it engines leave rows out of some questions, and not of others."""
    kind, values, before, after = LIES[case]
    path = in_footer(write(tmp_path / "people.parquet", values), before, after)
    with pytest.raises(SourceUnsupported, match=r"footer.*'x' 1"):
        admitted(path, kind)


OLD_WRITER = b"parquet-mr version 1.7.0 (build "
"""One that got the ends of texts wrong, as PyArrow knows; the rest is up to the length of PyArrow's own name."""


def test_what_pyarrow_passes_over_in_a_footer_is_refused(tmp_path: Path) -> None:
    """DuckDB doesn't know of wrong writers, and would skip the rows."""
    path = write(tmp_path / "people.parquet", pa.array(["bb", "cc"]))
    created = pq.read_metadata(path).created_by.encode()
    in_footer(path, created, OLD_WRITER.ljust(len(created), b"x")[: len(created)])
    in_footer(path, b"bb", b"xx")
    assert pq.read_metadata(path).row_group(0).column(1).statistics is None
    with duckdb.connect() as own:
        assert own.sql(f"SELECT count(*) FROM '{path}' WHERE x = 'bb'").fetchall() == [(0,)]
    with pytest.raises(SourceUnsupported, match=r"footer.*'x' 1"):
        admitted(path, Kind.TEXT)


def test_bloom_filters_of_other_writers_are_refused(tmp_path: Path) -> None:
    """They can't be compared with values. Those of DuckDB are in snapshots, too."""
    path = tmp_path / "people.parquet"
    with duckdb.connect() as own:
        own.execute(f"COPY (SELECT i AS id, i % 9 AS x FROM range(9000) t(i)) TO '{path}'")
    assert admitted(path, Kind.INTEGER).tables["people"].rows == 9_000
    in_footer(path, b"DuckDB version", b"Others version")
    with pytest.raises(SourceUnsupported, match="Bloom"):
        admitted(path, Kind.INTEGER)


def test_what_is_declared_of_rows_holds_in_place_too(tmp_path: Path) -> None:
    """No more of them than the ceiling says."""
    table = declared(write(tmp_path / "people.parquet", pa.array([1, 2])), Kind.INTEGER, bounds=Bounds(0, 9))
    low = Table(name="people", source=table.source, columns=table.columns, unit=Unit.row(), row_ceiling=1)
    with pytest.raises(InvalidArgument, match="row_ceiling"):
        admit([low], {}, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "page", "another format"])
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    """In words that quote nothing."""
    values = pa.array([CANARY, "~", *(str(number) for number in range(9_999))])
    path = write(
        tmp_path / "people.parquet", values, write_page_checksum=True, compression="none", use_dictionary=False
    )
    content = bytearray(path.read_bytes())
    if damage == "page":
        content[content.index(CANARY.encode())] ^= 1
    path.write_bytes(b"PAR1" if damage == "another format" else content[: 5_000 if damage == "cut" else None])
    with pytest.raises(SourceError) as refusal:
        admitted(path, Kind.TEXT)
    assert CANARY[1:] not in str(refusal.value)


@pytest.mark.parametrize("kind", ["csv", "duckdb", "sqlite", "arrow", "jsonl", "xlsx", "memory"])
def test_only_parquet_files_stay_in_place(kind: Any) -> None:
    """Of other sources not all can be checked that questions rely on."""
    with pytest.raises(InvalidArgument, match="in_place means nothing"):
        Source(kind=kind, location="people", in_place=True)


def test_a_name_that_a_footer_has_twice_is_refused(tmp_path: Path) -> None:
    """What it says of a column "a.b" can't be told from what it says of the "b" within a column "a"."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"a.b": [1, 9], "a": [{"b": 5}, {"b": 6}]}), path)
    column = Column(name="a.b", kind=Kind.INTEGER)
    table = Table(name="people", source=Source.of(path, in_place=True), columns=(column,), unit=Unit.row())
    with pytest.raises(SchemaMismatch, match=r"a\.b"):
        admit([table], {}, tmp_path)


CELLS: dict[Kind, list[Any]] = {
    Kind.INTEGER: [0, 2**63 - 1, -(2**63), None],
    Kind.REAL: [0.0, -0.0, 5e-324, -1.7e308, float("nan"), float("inf"), float("-inf"), None],
    Kind.TEXT: ["", " ", "\0", "ä" * 1_000, "a" * 1_001, "😀" * 999, "é" * 501, "\ufffd", "NULL", None],
    Kind.BOOLEAN: [True, False, None],
    Kind.DATE: [0, -719_162, -719_163, 2_932_896, 2_932_897, 2**31 - 1, -(2**31), None],
    Kind.TIMESTAMP: [0, -62_135_596_800_000_000, -62_135_596_800_000_001, 253_402_300_799_999_999,
                     253_402_300_800_000_000, 2**63 - 1, 1 - 2**63, None],
}  # fmt: skip
"""Extremes of each kind as they are stored, times as numbers."""
STORED = {
    Kind.INTEGER: (pa.int64(), pa.int64()),
    Kind.REAL: (pa.float64(), pa.float64()),
    Kind.TEXT: (pa.string(), pa.string()),
    Kind.BOOLEAN: (pa.bool_(), pa.bool_()),
    Kind.DATE: (pa.int32(), pa.date32()),
    Kind.TIMESTAMP: (pa.int64(), pa.timestamp("us")),
}


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("first", [-(2**63), -(2**63) + 2, -9_223_372_022_400_000_001])
def test_a_time_that_duckdb_has_no_value_for_is_refused(first: int, tmp_path: Path, *, statistics: bool) -> None:
    """DuckDB fails on the whole column, and so would every question. The column is named, and how often it happens."""
    values = pa.array([0, None, first], pa.int64()).cast(pa.timestamp("us"))
    with pytest.raises(SourceUnsupported, match="times before DuckDB's first: 'x' 1") as refusal:
        admitted(write(tmp_path / "people.parquet", values, write_statistics=statistics), Kind.TIMESTAMP)
    assert refusal.value.__context__ is None


def test_what_is_refused_is_what_a_copy_would_change(tmp_path: Path) -> None:
    """Cell by cell: a copy holds the same value, bit by bit, or the table can't stay in place."""
    cells = [(kind, cell) for kind, listed in CELLS.items() for cell in listed]
    arrays = [pa.array([cell], STORED[kind][0]).cast(STORED[kind][1]) for kind, cell in cells]
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(arrays, names=[f"x{number}" for number in range(len(cells))]), path)
    columns = tuple(Column(name=f"x{number}", kind=kind) for number, (kind, _) in enumerate(cells))
    copied = admit([Table(name="people", source=Source.of(path), columns=columns, unit=Unit.row())], {}, tmp_path)
    (file,) = copied.files(Table(name="people", source=Source.of(path), columns=columns, unit=Unit.row()))
    copy = pq.read_table(file)
    changed = {
        column
        for column, (kind, cell) in zip(copy.column_names, cells, strict=True)
        if repr(copy[column].cast(STORED[kind][0])[0].as_py()) != repr(cell)
    }
    assert 8 < len(changed) < len(cells) / 2
    source = Source.of(path, in_place=True)
    with pytest.raises(SourceUnsupported) as refusal:
        admit([Table(name="people", source=source, columns=columns, unit=Unit.row())], {}, tmp_path)
    assert set(re.findall(r"'(x\d+)' 1", refusal.value.message)) == changed


@pytest.mark.parametrize(("age", "waits"), [(10**10, 0), (10**6, 0.05), (-(10**9), 1.05)])
def test_an_identity_is_taken_when_the_clock_has_moved_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: int, waits: float
) -> None:
    """Else a change in the same tick of the clock would leave the file's times as they were."""
    now, slept = 10**18 + 7, list[float]()
    monkeypatch.setattr(in_place.time, "time_ns", lambda: now)
    monkeypatch.setattr(in_place.time, "sleep", slept.append)
    monkeypatch.setattr(OpenFile, "changed_at", lambda _: now - age)
    in_place.places_of(str(write(tmp_path / "people.parquet", pa.array([1]))))
    assert slept == [pytest.approx(waits, abs=0.002)]


def test_a_clock_that_ticks_in_seconds_is_given_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times without a fraction are those of a file system that has none."""
    slept = list[float]()
    monkeypatch.setattr(in_place.time, "time_ns", lambda: 10**18 + 7)
    monkeypatch.setattr(in_place.time, "sleep", slept.append)
    monkeypatch.setattr(OpenFile, "changed_at", lambda _: 10**18)
    in_place.places_of(str(write(tmp_path / "people.parquet", pa.array([1]))))
    assert slept[0] > 2


def test_a_file_from_the_future_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is wrong, no later change could be told from an earlier one."""
    monkeypatch.setattr(OpenFile, "changed_at", lambda _: 2**62)
    with pytest.raises(SourceUnsupported, match=r"'.*people\.parquet' was changed at a time in the future"):
        in_place.places_of(str(write(tmp_path / "people.parquet", pa.array([1]))))
    for who in ("Alice", "Bob"):
        (tmp_path / "t" / f"name={who}").mkdir(parents=True)
        write(tmp_path / "t" / f"name={who}" / "x.parquet", pa.array([1]))
    with pytest.raises(SourceUnsupported, match=r"^a file of .*/t' was changed") as refused:
        in_place.places_of(str(tmp_path / "t"))
    assert "Alice" not in f"{refused.value}"


def test_open_files_need_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a system gives them none, another file could take the place of one that is being read."""
    path = write(tmp_path / "people.parquet", pa.array([1]))
    opened = OpenFile.__init__

    def nameless(file: OpenFile, location: str, called: str | None = None) -> None:
        opened(file, location, called)
        file.path = location

    monkeypatch.setattr(OpenFile, "__init__", nameless)
    with pytest.raises(SourceUnsupported, match="no name of its own"):
        in_place.places_of(str(path))


def test_what_is_written_through_a_mapping_changes_a_file(tmp_path: Path) -> None:
    """Also to a page that was written to just before: by itself, only the first write moves the time of change."""
    path = write(tmp_path / "people.parquet", pa.array([1, 2, 3]), compression="none")
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[4] = mapped[4]
        os.fsync(file.fileno())
        clean = path.stat().st_ctime_ns
        time.sleep(0.1)
        mapped[4] = mapped[4]
        if path.stat().st_ctime_ns == clean:
            pytest.skip("a file system that doesn't notice")
        places = in_place.places_of(str(path))
        in_place.check_places(places)
        mapped[4] ^= 1
        with pytest.raises(SnapshotChanged):
            in_place.check_places(places)
