"""Delta tables by tasks of a cluster: what one machine admits of them, though a task sees nothing but its own files."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine.spark import admission
from discreet.engine.spark.admission import admit_by_cluster
from discreet.errors import DiscreetError, SourceMissing, SourceUnsupported
from discreet.privacy import Unit
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import admit
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.sources import open_source
from discreet.tables.sources.pieces import IN_ROW_GROUPS, pieces_of
from discreet.tables.sources.reader import OpenRowGroups
from support.admitted_by_cluster import by_cluster, check_alike, held_rows, new_folder, written_for
from support.unit_parts import Shape, alone, days, linked, table, write

pytest.importorskip("deltalake", reason="deltalake isn't installed: pip install 'discreet[delta]'")

from deltalake import DeltaTable, write_deltalake

from support import delta

pytestmark = pytest.mark.usefixtures("kept_sessions")

CANARY = "CANARY-77ad"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task reads sixty rows at a time."""
    monkeypatch.setattr(admission, "_PIECE", 60)


def declared(folder: Path, columns: Mapping[str, Kind], **more: Any) -> Table:
    """A Delta table, as declared."""
    held = tuple(Column(name=each, kind=kind) for each, kind in columns.items())
    source = Source(kind="delta", location=str(folder))
    return Table(name="t", source=source, columns=held, **{"unit": None, **more})


def check_same(tables: Sequence[Table], parent: Path) -> dict[str, Any]:
    """Both admit the same rows, in the same parts, and report the same; what that is."""
    there, here = by_cluster(tables, parent), admit(tables, {}, new_folder(parent), parts=4)
    assert there.report == here.report
    for made in tables:
        assert held_rows(there, made) == held_rows(here, made)
        assert there.tables[made.name].notes == here.tables[made.name].notes
    return here.report


# ── The same rows ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("shape", "kind", "which"), [(alone, Kind.TEXT, 1), (days, Kind.INTEGER, 1), (linked, Kind.DATE, 2)]
)
def test_a_cluster_admits_what_one_machine_does(shape: Shape, kind: Kind, which: int, tmp_path: Path) -> None:
    """Rows that deletion vectors leave out are between those that stay; in a group, every other table is Parquet."""
    tables, rows = written_for(shape, kind, tmp_path, most=300)
    tables = [made if number % which else delta.as_delta(made) for number, made in enumerate(tables)]
    assert {made.source.kind for made in tables} == ({"delta"} if which == 1 else IN_ROW_GROUPS)
    check_alike(tables, rows, kind, tmp_path, number=4)


def test_deleted_rows_of_the_wrong_place_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: each piece leaves out what is deleted at the beginning of its file."""
    tables, rows = written_for(alone, Kind.INTEGER, tmp_path, most=300)
    tables = [delta.as_delta(made) for made in tables]
    check_alike(tables, rows, Kind.INTEGER, tmp_path, number=4)

    def from_the_beginning(kept: pa.Array, row_groups: Sequence[int], numbers: Sequence[int]) -> pa.Array:
        return kept.slice(0, sum(row_groups[each] for each in numbers))

    monkeypatch.setattr("discreet.tables.sources.delta._kept_of", from_the_beginning)
    with pytest.raises(AssertionError):
        check_alike(tables, rows, Kind.INTEGER, tmp_path, number=4)


def of_all_kinds(folder: Path) -> Table:
    """Visits with renamed columns, wider types, columns that came later, and partitions."""
    texts = pa.array([b"a", b"\xff", None], pa.binary()).view(pa.string())
    days = pa.array([0, 2**31 - 1, None], pa.int32()).view(pa.date32())
    older = pa.table({"col-1": pa.array([1, 2, None], pa.int32()), "t": texts, "d": days})
    newer = pa.table(
        {
            "col-1": pa.array([1, 2**40, None], pa.int64()),
            "t": pa.array(["b", "é", None]),
            "d": pa.array([0, 1, None], pa.timestamp("us")),
            "x": pa.array([Decimal("1.5"), Decimal("-2.0"), None], pa.decimal128(6, 1)),
        }
    )
    how: dict[str, Any] = {"row_group_size": 8, "write_statistics": False}
    delta.commit(
        folder,
        delta.protocol("columnMapping", "deletionVectors", "timestampNtz"),
        delta.metadata(
            [
                delta.column("who", pa.int64(), physical="col-1"),
                delta.column("t", pa.string(), physical="t", number=2),
                delta.column("d", pa.timestamp("us"), physical="d", number=3),
                delta.column("x", pa.decimal128(6, 1), physical="x", number=4),
                delta.column("p", pa.date32(), physical="col-5", number=5),
            ],
            ["p"],
            delta_columnMapping_mode="name",
        ),
        delta.data(folder, "1.parquet", older.take([0, 1, 2] * 70), {"col-5": "2024-02-29"}, range(0, 210, 7), **how),
        delta.data(folder, "2.parquet", newer.take([0, 1, 2] * 50), {"col-5": None}, range(3, 140, 5), **how),
        delta.data(folder, "3.parquet", newer.take([1] * 30), {"col-5": "0001-01-01"}, **how),
    )
    columns = {"who": Kind.INTEGER, "t": Kind.TEXT, "d": Kind.TIMESTAMP, "x": Kind.REAL, "p": Kind.DATE}
    return declared(folder, columns, unit=Unit("who"))


@pytest.mark.parametrize("unit", [Unit("who"), Unit.row()], ids=["by unit", "row"])
def test_what_the_log_says_of_files_is_so_in_each_piece(unit: Unit, tmp_path: Path) -> None:
    """Names, types and values of partitions, and NULL where a file is older; what can't be read is counted the same."""
    report = check_same([replace(of_all_kinds(tmp_path / "t"), unit=unit)], tmp_path)["t"]
    assert report["unreadable"].keys() == {"t", "d"}
    assert (report["left_out"] > 0) == (unit != Unit.row())


def test_columns_that_no_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the number of rows that are left is all that a piece looks for; the last row group of a file has fewer."""
    monkeypatch.setattr(admission, "_PIECE", 16)
    made = replace(of_all_kinds(tmp_path / "t"), columns=(Column(name="p", kind=Kind.DATE),), unit=Unit.row())
    check_same([made], tmp_path)
    there = by_cluster([made], tmp_path)
    rows = [row for file in there.files(made) for row in pq.read_table(file)["p"].to_pylist()]
    assert {day: rows.count(day) for day in set(rows)} == {date(2024, 2, 29): 180, None: 122, date(1, 1, 1): 30}


def test_a_public_table_is_whole(tmp_path: Path) -> None:
    """Beside a private one, whichever of them is Parquet; and though more rows of it were deleted than are left."""
    visits = table(tmp_path, "visits", {"n": Kind.INTEGER, "pid": Kind.TEXT}, unit=Unit("pid"))
    codes = table(tmp_path, "codes", {"n": Kind.INTEGER}, public=True)
    write(visits, [(number, f"p{number % 30}") for number in range(200)])
    write(codes, [(number,) for number in range(150)])
    for tables in ([visits, delta.as_delta(codes)], [delta.as_delta(visits), codes]):
        check_same(tables, tmp_path)
        assert len(by_cluster(tables, tmp_path).tables["codes"].files) == 1


def test_nothing_is_left(tmp_path: Path) -> None:
    """No file at all, none with rows, or none with rows that aren't deleted."""
    rows = pa.table({"a": pa.array(range(90), pa.int64())})
    for number, files in enumerate(
        (
            lambda _: [],
            lambda folder: [delta.data(folder, "1.parquet", rows[:0])],
            lambda folder: [delta.data(folder, "1.parquet", rows, deleted=range(90), row_group_size=20)],
        )
    ):
        folder = tmp_path / f"t{number}"
        columns = delta.metadata([delta.column("a", pa.int64())])
        delta.commit(folder, delta.protocol("deletionVectors"), columns, *files(folder))
        for unit in (Unit("a"), Unit.row()):
            made = declared(folder, {"a": Kind.INTEGER}, unit=unit)
            assert check_same([made], tmp_path)["t"]["rows"] == 0


# ── Who admits ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_large_table_is_admitted_by_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is how many rows are left; nothing but a Delta table need be there."""
    write_deltalake(tmp_path / "t", pa.table({"a": [number % 9 for number in range(50)]}))
    made = declared(tmp_path / "t", {"a": Kind.INTEGER}, unit=Unit("a"))
    monkeypatch.setattr(admission, "LARGE", 49)
    assert by_cluster([made], tmp_path, number=None).tables["t"].rows == 50
    columns = delta.metadata([delta.column("a", pa.int64())])
    rows = pa.table({"a": [number % 9 for number in range(50)]})
    delta.commit(
        tmp_path / "u",
        delta.protocol("deletionVectors"),
        columns,
        delta.data(tmp_path / "u", "1.parquet", rows, deleted=[7]),
    )
    smaller = declared(tmp_path / "u", {"a": Kind.INTEGER}, unit=Unit("a"))
    cluster = SparkConnect(remote="sc://spark.invalid")
    assert admit_by_cluster([smaller], new_folder(tmp_path), cluster, among=[smaller]) is None


def test_kinds_that_can_be_cut_are_those(tmp_path: Path) -> None:
    """Of each the list says so, and its reader can."""
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    write_deltalake(tmp_path / "t", pa.table({"a": [1]}))
    opened = [open_source(Source.of(tmp_path / name)) for name in ("t.parquet", "t")]
    assert all(isinstance(each, OpenRowGroups) and each.rows == 1 for each in opened)
    assert len(opened) == len(IN_ROW_GROUPS)


# ── What a task has, and needs ───────────────────────────────────────────────────────────────────────────────────────

ELSEWHERE = """
import pickle, sys
sys.modules["deltalake"] = None
for piece in pickle.loads(sys.stdin.buffer.read()):
    with piece.open() as source:
        print([row for batch in source.batches(["p", "a"]) for row in batch.to_pylist()], source.is_unchanged())
"""


def test_a_task_needs_neither_deltalake_nor_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the path was relative to the folder of the process that asked."""
    write_deltalake(tmp_path / "t", pa.table({"p": ["x", "y"], "a": [1, 2]}), partition_by=["p"])
    monkeypatch.chdir(tmp_path)
    source = Source(kind="delta", location="t")
    with open_source(source) as opened:
        assert isinstance(opened, OpenRowGroups)
        pieces = pickle.dumps(pieces_of(source, opened, 1))
    (tmp_path / "t" / "_delta_log").rename(tmp_path / "log")
    monkeypatch.chdir("/")
    said = subprocess.run([sys.executable, "-c", ELSEWHERE], input=pieces, capture_output=True, check=True)
    assert said.stdout.decode().splitlines() == ["[{'p': 'x', 'a': 1}] True", "[{'p': 'y', 'a': 2}] True"]


def test_a_piece_says_nothing_of_others(tmp_path: Path) -> None:
    """Neither what their partitions are, nor which of their rows were deleted."""
    columns = delta.metadata([delta.column("a", pa.int64()), delta.column("p", pa.string())], ["p"])
    rows, many = pa.table({"a": [1]}), pa.table({"a": range(600_000)})
    delta.commit(
        tmp_path / "t", delta.protocol("deletionVectors"), columns,
        delta.data(tmp_path / "t", "1.parquet", rows, {"p": CANARY}),
        delta.data(tmp_path / "t", "2.parquet", many, {"p": "x"}, deleted=[5], row_group_size=1_000),
    )  # fmt: skip
    source = Source(kind="delta", location=str(tmp_path / "t"))
    with open_source(source) as opened:
        assert isinstance(opened, OpenRowGroups)
        first, *others = [pickle.dumps(piece) for piece in pieces_of(source, opened, 1_000)]
    assert CANARY.encode() in first
    assert len(others) == 600
    assert CANARY.encode() not in b"".join(others)
    assert max(map(len, others)) < 600_000 / 8 / 10


def test_values_of_partitions_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They lie in files of this user's in the folder of the snapshot, with the pieces, and go with them."""
    rows = {"p": [f"{CANARY}{number % 3}" for number in range(90)], "a": list(range(90))}
    write_deltalake(tmp_path / "t", pa.table(rows), partition_by=["p"])
    sent = list[bytes]()
    run = admission.run

    def noted(cluster: Any, job: Any, **others: Any) -> list[bytes]:
        assert CANARY.encode() in b"".join(each.read_bytes() for each in Path(job.folder).glob("*.piece"))
        sent.append(pickle.dumps(job))
        return run(cluster, job, **others)

    monkeypatch.setattr(admission, "run", noted)
    made = declared(tmp_path / "t", {"p": Kind.TEXT, "a": Kind.INTEGER}, unit=Unit("a"))
    assert by_cluster([made], tmp_path).tables["t"].rows == 90
    assert len(sent) == 1
    assert CANARY.encode() not in b"".join(sent)


# ── What is wrong ────────────────────────────────────────────────────────────────────────────────────────────────────


def changed(folder: Path) -> None:
    """A byte of a file."""
    file = next(folder.rglob("*.parquet"))
    whole = file.read_bytes()
    file.write_bytes(bytes([*whole[:10], whole[10] ^ 1, *whole[11:]]))


def cut(folder: Path) -> None:
    """The end of a file is missing."""
    file = next(folder.rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])


def missing(folder: Path) -> None:
    """A file is."""
    next(folder.rglob("*.parquet")).unlink()


def vacuumed(folder: Path) -> None:
    """A newer version has none of the files."""
    DeltaTable(folder).delete()
    DeltaTable(folder).vacuum(0, dry_run=False, enforce_retention_duration=False)


def newer(folder: Path) -> None:
    """There is a newer version; the files of this one are what they were."""
    write_deltalake(folder, pa.table({"p": ["x"], "a": [1]}), mode="append")


Wrong = tuple[Callable[[Path], None], type[DiscreetError], str]

WRONG: Sequence[Wrong] = [
    (changed, SourceUnsupported, r"^the file '[^/]*' of the Delta table '.*/t' was changed while it was being read"),
    (cut, SourceUnsupported, r"^the file '[^/]*' of the Delta table '.*/t' was changed while it was being read"),
    (missing, SourceMissing, r"^on an executor of the cluster, the file '[^/]*' isn't there, which version 0 of"),
    (vacuumed, SourceMissing, r"^on an executor of the cluster, the file '[^/]*' isn't there, which version 0 of"),
    (newer, SourceUnsupported, r"^'.*/t' was changed while it was being read"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: str(each[0].__name__))
@pytest.mark.parametrize("when", ["cut", "read"])
def test_files_that_are_gone_or_changed_are_told(
    wrong: Wrong, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the log was read, or after pieces were cut: by typed errors, with the last names of files alone."""
    (happens, kind, said), folder = wrong, tmp_path / "t"
    rows = {"p": [f"{CANARY}{number % 3}" for number in range(90)], "a": list(range(90))}
    write_deltalake(folder, pa.table(rows), partition_by=["p"])
    made = declared(folder, {"p": Kind.TEXT, "a": Kind.INTEGER}, unit=Unit("a"))
    place = "pieces_of" if when == "cut" else "run"
    then = getattr(admission, place)

    def meanwhile(*args: Any, **others: Any) -> Any:
        happens(folder)
        return then(*args, **others)

    monkeypatch.setattr(admission, place, meanwhile)
    with pytest.raises(
        kind, match=said.replace("on an executor of the cluster, ", "") if when == "cut" else said
    ) as told:
        by_cluster([made], tmp_path)
    error: BaseException | None = told.value
    while error is not None:
        assert CANARY not in f"{error} {getattr(error, 'hint', '')}"
        error = error.__cause__ or error.__context__
    assert not [each for each in tmp_path.glob("snapshot-*/*") if each.is_file()]


@pytest.mark.parametrize("happens", [changed, missing])
def test_files_of_which_no_column_is_read_are_looked_at(
    happens: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many rows they have is known by then."""
    folder, run = tmp_path / "t", admission.run
    write_deltalake(folder, pa.table({"p": ["x"] * 9, "a": range(9)}), partition_by=["p"])
    made = declared(folder, {"p": Kind.TEXT}, unit=Unit("p"))

    def meanwhile(*args: Any, **others: Any) -> Any:
        happens(folder)
        return run(*args, **others)

    monkeypatch.setattr(admission, "run", meanwhile)
    with pytest.raises(SourceUnsupported, match=r"^'.*/t' was changed while it was being read"):
        by_cluster([made], tmp_path)


def test_a_type_that_is_no_wider_is_refused_in_the_same_words(tmp_path: Path) -> None:
    """Whichever file holds it, and whichever piece is read first."""
    columns = delta.metadata([delta.column("a", pa.int32())])
    files = [pa.table({"a": pa.array(range(90), kind)}) for kind in (pa.int32(), pa.int64())]
    folder = tmp_path / "t"
    adds = [delta.data(folder, f"{number}.parquet", each, row_group_size=20) for number, each in enumerate(files)]
    delta.commit(folder, delta.protocol(least=1), columns, *adds)
    made = declared(folder, {"a": Kind.INTEGER}, unit=Unit("a"))
    said = []
    for admits in (by_cluster, lambda tables, parent: admit(tables, {}, new_folder(parent))):
        with pytest.raises(SourceUnsupported, match="by the log") as told:
            admits([made], tmp_path)
        said.append(str(told.value))
    assert said[0] == said[1]
