"""Admission by tasks of a cluster: what one machine admits, in the same parts; and no row comes to the driver."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engine.duckdb import DuckDB
from discreet.engine.spark import admission, admission_jobs
from discreet.engine.spark import connection as connections
from discreet.engine.spark.admission import admit_by_cluster
from discreet.engine.spark.admission_jobs import Copying, Parting, put, what_was_said
from discreet.engine.spark.versions import own
from discreet.errors import (
    DiscreetError,
    EngineUnavailable,
    InvalidArgument,
    SnapshotError,
    SourceMalformed,
    SourceMissing,
    SourceUnsupported,
)
from discreet.privacy import Unit
from discreet.tables import Column, Kind, Link, Source, Table, owner_of
from discreet.tables.admission import Snapshot, admit, parts
from discreet.tables.admission.one_part import OnePart
from discreet.tables.admission.staging import copy_in_pieces
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.sources.parquet import OpenParquet
from discreet.tables.sources.pieces import pieces_of
from support.admitted_by_cluster import by_cluster, check_alike, held_rows, new_folder, written_for
from support.questions import by_group
from support.shapes import QUESTIONS, ROWS, TABLE
from support.unit_parts import (
    Shape,
    alone,
    days,
    linked,
    linked_days,
    owned,
    table,
    write,
    wrong_in,
)

pytestmark = pytest.mark.usefixtures("kept_sessions")

CANARY = "CANARY-5e1f"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task reads sixty rows at a time."""
    monkeypatch.setattr(admission, "_PIECE", 60)


@pytest.mark.parametrize(
    ("shape", "kind", "number"),
    [(alone, Kind.TEXT, 1), (days, Kind.INTEGER, 8), (linked, Kind.TEXT, 4), (linked_days, Kind.DATE, 2)],
)
def test_a_cluster_admits_what_one_machine_does(shape: Shape, kind: Kind, number: int, tmp_path: Path) -> None:
    """Each row lies with its unit, with the same notes and report, in columns of the same types."""
    tables, rows = written_for(shape, kind, tmp_path)
    check_alike(tables, rows, kind, tmp_path, number=number)


def test_a_unit_in_two_parts_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: rows are cut by what they hold, and not by whose they are."""
    tables, rows = written_for(alone, Kind.INTEGER, tmp_path)

    def torn(query: str, _: str, of: int, folder: Path) -> str:
        return copy_in_pieces(query, "c0", of, folder)

    monkeypatch.setattr("discreet.tables.admission.staging.copy_in_pieces", torn)
    found = by_cluster(tables, tmp_path)
    files = [pq.read_table(file) for file in found.files(tables[0])]
    assert "a unit in two parts" in wrong_in(
        found.tables["visits"], files, tables[0], owned(tables, rows, tables[0]), Kind.INTEGER
    )


def test_the_same_questions_have_the_same_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a unit has more rows than may be admitted, of which the same stay."""
    monkeypatch.setattr(admission, "_PIECE", 300)
    pq.write_table(ROWS, tmp_path / "source.parquet", row_group_size=300)
    made = replace(TABLE, source=Source.of(tmp_path / "source.parquet"), most_rows_per_unit=5)
    there, here = by_cluster([made], tmp_path, number=8), admit([made], {}, new_folder(tmp_path), parts=2)
    assert there.report == here.report
    assert here.report["t"]["beyond_most_rows_per_unit"]["rows"] > 0
    for question in QUESTIONS.values():
        assert by_group(DuckDB(there, threads=1), question) == by_group(DuckDB(here, threads=1), question)


def test_only_counts_come_to_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no row is in what is sent there: neither a text, nor as many bytes as rows would take."""
    (made,) = alone(tmp_path, Kind.TEXT)
    write(made, [(number, f"{CANARY}{number % 50}") for number in range(2_000)])
    sent, told = list[bytes](), list[bytes]()

    def noted(cluster: Any, job: Any, **others: Any) -> list[bytes]:
        sent.append(pickle.dumps(job))
        found = run(cluster, job, **others)
        told.extend(found)
        return found

    run = admission.run
    monkeypatch.setattr(admission, "run", noted)
    monkeypatch.setattr(admission, "_PIECE", 10**6)
    assert by_cluster([made], tmp_path).tables["visits"].rows == 2_000
    assert len(sent) == 1
    assert CANARY.encode() not in b"".join([*sent, *told])
    assert {key for each in what_was_said(told) for key in each} == {
        *("number", "report", "part", "units", "rows", "unique", "file", "size", "digest")
    }
    with pytest.raises(ValueError, match="rows came to the driver"):
        what_was_said([b"R" + CANARY.encode()])


def parting(tables: Sequence[Table], folder: Path, **more: Any) -> Parting:
    """The job of the first table, in four parts."""
    owner = owner_of(tables[0], tables)
    assert owner is not None
    with OpenParquet(tables[0].source) as opened:
        pieces = tuple(put(piece, folder) for piece in pieces_of(tables[0].source, opened, 20))
    return Parting(
        table=tables[0],
        number=0,
        account=tuple(tables),
        folder=str(folder),
        pieces=pieces,
        owner=owner,
        parts=4,
        **more,
    )


def test_what_a_task_left_when_it_died_is_never_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that was half written lies under a name of its own; the one that is told is whole."""
    tables, rows = written_for(alone, Kind.INTEGER, tmp_path)
    job, folder = parting(tables, new_folder(tmp_path)), tmp_path
    folder = Path(job.folder)
    sent = list(job.compute(range(len(job.pieces))))
    write_part = OnePart.write

    def dies(one: OnePart, rows: str, file: Path) -> None:
        write_part(one, rows, file)
        file.write_bytes(file.read_bytes()[:100])
        raise OSError(CANARY)

    told = []
    for bucket in range(4):
        with job.gathering() as keep:
            mine = [keep(payload) for number, payload in sent if number == bucket]
            with monkeypatch.context() as patch:
                patch.setattr(OnePart, "write", dies)
                with pytest.raises(OSError, match=CANARY):
                    list(job.merge(bucket, mine))
            told += what_was_said(list(job.merge(bucket, mine)))
    named = [each["file"] for each in told if "part" in each]
    assert len(named) == 4
    assert len(list(folder.glob("*.parquet"))) == 8
    assert sum(pq.read_metadata(folder / file).num_rows for file in named) == len(owned(tables, rows, tables[0]))


def test_a_task_that_fails_leaves_nothing_and_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it fails over; what others had written goes too."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)

    def dies(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(OnePart, "write", dies)
    folder = new_folder(tmp_path)
    with pytest.raises(SnapshotError, match="the cluster couldn't admit table 'visits'") as failed:
        admit_by_cluster(tables, folder, SparkConnect(remote="local"), among=tables, parts=2)
    assert failed.value.__cause__ is failed.value.__context__ is None
    assert CANARY not in str(failed.value)
    assert list(folder.iterdir()) == []


def test_files_that_are_elsewhere_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that isn't shared: executors write into one of the same name, or find none."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)
    telling = admission_jobs._written
    monkeypatch.setattr(admission_jobs, "_written", lambda file: {**telling(file), "size": 1})
    with pytest.raises(SnapshotError, match="aren't in this process's folder"):
        by_cluster(tables, tmp_path)
    job, elsewhere = parting(tables, new_folder(tmp_path)), (tmp_path / "nowhere", new_folder(tmp_path))
    copying = Copying(table=job.table, number=0, account=job.account, folder=job.folder, pieces=job.pieces)
    for each, folder in product((job, copying), elsewhere):
        told = problem_of(replace(each, folder=str(folder)))
        assert told[:2] == ["SnapshotError", "an executor of the cluster doesn't find the folder of the snapshots"]


def test_a_piece_that_another_wrote_is_not_read(tmp_path: Path) -> None:
    """It could run any program: what isn't called by its digest isn't the driver's."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)
    job = parting(tables, new_folder(tmp_path))
    assert not any(each.stat().st_mode & 0o077 for each in Path(job.folder).iterdir())
    for name in job.pieces:
        (Path(job.folder) / name).write_bytes(pickle.dumps(pytest.fail))
    assert problem_of(job)[0] == "SnapshotError"


def test_a_piece_that_can_not_be_put_is_told(tmp_path: Path) -> None:
    """By a typed error, as whatever else can't be written."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)
    with pytest.raises(SnapshotError, match="nothing can be written"):
        parting(tables, tmp_path / "nowhere")


def test_a_source_that_changes_or_is_missing_there_is_told(tmp_path: Path) -> None:
    """By a typed error, which isn't tried again; a file that took the name of one isn't read."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)
    job, source = parting(tables, new_folder(tmp_path)), Path(tables[0].source.location)
    again = pickle.loads(pickle.dumps(job))  # noqa: S301 — our own
    write(tables[0], [(1, 1)])
    assert problem_of(again)[:2] == ["SourceUnsupported", f"{str(source)!r} was changed while it was being read"]
    source.unlink()
    told = ["SourceMissing", f"on an executor of the cluster, there is no file {str(source)!r}"]
    assert problem_of(again)[:2] == told


def problem_of(job: Parting | Copying) -> list[str]:
    """What its first task says is wrong."""
    (said,) = what_was_said([payload for _, payload in job.compute([0])])
    problem: list[str] = said["problem"]
    return problem


def refusal(admits: Callable[[], object]) -> DiscreetError:
    """Why something isn't admitted."""
    with pytest.raises(DiscreetError) as refused:
        admits()
    return refused.value


def test_what_is_refused_is_refused_in_the_same_words(tmp_path: Path) -> None:
    """As on one machine: an unknown zone, too many rows, and lines of a text file that aren't whole."""
    (visits,) = alone(tmp_path, Kind.INTEGER)
    write(visits, [(number, number % 9) for number in range(100)])
    (tmp_path / "notes.csv").write_text(f"pid,text\n1,a\n2,{CANARY},c\n")
    notes = Table(
        name="notes",
        source=Source.of(tmp_path / "notes.csv"),
        columns=(Column(name="pid", kind=Kind.INTEGER), Column(name="text", kind=Kind.TEXT)),
        unit=Unit("pid"),
    )
    times = Column(name="at", kind=Kind.TIMESTAMP, time_zone="Nowhere/At_All")
    zoned = table(tmp_path, "stays", {"pid": Kind.INTEGER, "at": Kind.TIMESTAMP}, unit=Unit("pid"))
    write(zoned, [(1, None)])
    zoned = replace(zoned, columns=(zoned.columns[0], times))
    for tables, kind in (
        ([zoned], InvalidArgument),
        ([replace(visits, row_ceiling=10)], InvalidArgument),
        ([visits, notes], SourceMalformed),
        ([replace(visits, columns=(*visits.columns, Column(name="no", kind=Kind.TEXT)))], dp.errors.SchemaMismatch),
    ):
        there = refusal(lambda tables=tables: by_cluster(tables, tmp_path))
        here = refusal(lambda tables=tables: admit(tables, {}, new_folder(tmp_path), parts=4))
        assert type(there) is type(here) is kind
        assert str(there) == str(here)
        assert [there.hint_at(door) for door in ("cli", "file")] == [here.hint_at(door) for door in ("cli", "file")]
        assert CANARY not in str(there)


def test_a_row_beyond_the_ceiling_of_one_of_several_units_is_refused(tmp_path: Path) -> None:
    """It would have to go from the parts of all of them."""
    visits, _, people, _ = linked(tmp_path, Kind.INTEGER)
    visits = replace(visits, links=(Link("patient", "people", "person"),), most_rows_per_unit=3)
    write(visits, [(1, number) for number in range(9)])
    write(people, [(1, 5), (1, 6)])
    with pytest.raises(SourceUnsupported, match="belong to several units") as refused:
        by_cluster([visits, people], tmp_path)
    assert "one machine" in refused.value.hint


def test_text_files_and_tables_without_units_come_along(tmp_path: Path) -> None:
    """A text file is read by one task; each row a unit, a task's rows are a part; a public table is whole."""
    visits = table(tmp_path, "visits", {"n": Kind.INTEGER, "pid": Kind.TEXT}, unit=Unit("pid"))
    answers = table(tmp_path, "answers", {"piece": Kind.INTEGER}, unit=Unit.row())
    codes = table(tmp_path, "codes", {"n": Kind.INTEGER}, public=True)
    write(visits, [(number, f"p{number % 30}") for number in range(60)])
    write(answers, [(number,) for number in range(90)])
    write(codes, [(number,) for number in range(50)])
    (tmp_path / "cards.csv").write_text(
        "pid;paid\n" + "".join(f"p{number};{number},5\n" for number in range(30)) + ";1\n"
    )
    cards = Table(
        name="cards",
        source=Source.of(tmp_path / "cards.csv", delimiter=";", decimal=","),
        columns=(Column(name="pid", kind=Kind.TEXT), Column(name="paid", kind=Kind.REAL)),
        unit=Unit("pid"),
    )
    tables = [codes, visits, cards, answers]
    there, here = by_cluster(tables, tmp_path), admit(tables, {}, new_folder(tmp_path), parts=4)
    assert there.report == here.report
    assert there.report["cards"]["left_out"] == 1
    assert {name: len(held.files) for name, held in there.tables.items()} == {
        "codes": 1,
        "visits": 4,
        "cards": 4,
        "answers": 2,
    }
    for made in tables:
        assert held_rows(there, made) == held_rows(here, made)
        assert there.tables[made.name].notes == here.tables[made.name].notes


def test_one_machine_admits_what_a_cluster_would_not(tmp_path: Path) -> None:
    """What is small, in memory, in place or in a database, or has owners that are admitted apart."""
    tables, _ = written_for(linked, Kind.INTEGER, tmp_path)
    (visits, patients, people, rents), cluster = tables, SparkConnect(remote="sc://spark.invalid")
    memory = replace(rents, source=Source(kind="memory", location="rents"))
    in_place = replace(rents, source=Source.of(rents.source.location, in_place=True))
    database = replace(rents, source=Source(kind="postgres", location="postgresql://localhost/clinic", table="rents"))
    for admits, number in (
        (tables, None),
        ([people, memory], 4),
        ([people, in_place], 4),
        ([people, database], 4),
        ([visits, patients], 4),
    ):
        assert admit_by_cluster(admits, tmp_path, cluster, among=tables, parts=number) is None


def test_executors_of_another_version_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are for questions, and before anything is read."""
    tables, _ = written_for(alone, Kind.INTEGER, tmp_path)
    monkeypatch.setattr(connections, "own", lambda: {**own(), "duckdb": "9"})
    with pytest.raises(EngineUnavailable, match="an executor of the cluster has duckdb"):
        by_cluster(tables, tmp_path)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of forty rows are large, and lie in four parts."""
    monkeypatch.setattr(admission, "LARGE", 40)
    for module in (admission, parts):
        monkeypatch.setattr(module, "number_of_parts", lambda _: 4)


@pytest.mark.usefixtures("large")
def test_an_account_is_admitted_by_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And asked by it; a trial leaves nothing, and lies where executors find it."""
    pq.write_table(
        pa.table({"id": [row % 30 for row in range(300)], "x": list(range(300))}),
        tmp_path / "visits.parquet",
        row_group_size=50,
    )
    seen: list[Path] = []

    def noted(tables: Sequence[Table], folder: Path, *rest: Any, **others: Any) -> Snapshot | None:
        seen.append(folder)
        return by(tables, folder, *rest, **others)

    by = admission.admit_by_cluster
    monkeypatch.setattr(admission, "admit_by_cluster", noted)
    with dp.protect(
        tmp_path / "visits.parquet",
        name="visits",
        unit=dp.Unit("id"),
        limits=dp.Limits(rows=5),
        columns={"x": (0, 300)},
        budget=10**9,
        ledger=tmp_path / "visits.ledger",
        engine="spark",
        cluster="local",
    ) as visits:
        assert round(visits.ask("SELECT COUNT(*) AS n FROM visits", epsilon=10**7)["n"][0]) == 150
        (folder,) = {each.parent for each in seen}
        (snapshot,) = (each for each in folder.iterdir() if each.is_dir())
        assert sorted(each.name for each in snapshot.glob("*.parquet")) == [f"0-000{part}.parquet" for part in range(4)]
        assert json.loads((snapshot / "manifest.json").read_text())["tables"]["visits"]["rows"] == 300
        assert visits.admissions.check().tables["visits"]["rows"] == 300
        assert seen[-1].parent == folder
        assert not seen[-1].exists()


def test_a_missing_file_of_another_kind_is_told(tmp_path: Path) -> None:
    """Before the cluster is asked."""
    (visits,) = alone(tmp_path, Kind.INTEGER)
    write(visits, [(1, 1)])
    gone = replace(visits, name="gone", source=Source.of(tmp_path / "gone.csv"))
    with pytest.raises(SourceMissing, match=r"gone\.csv"):
        by_cluster([visits, gone], tmp_path)
