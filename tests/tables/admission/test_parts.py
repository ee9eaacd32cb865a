"""Parts: brute force over small tables. Each row lies where its unit lies, with what is so of its unit; wrong twins."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import SnapshotError, SourceUnsupported
from discreet.privacy import Unit
from discreet.tables import Kind, Source, Table
from discreet.tables.admission import Snapshot, admit, parts, staging, with_unit_sizes
from discreet.tables.schema.dataset import owner_of
from support.unit_parts import (
    SHAPES,
    Shape,
    alone,
    columns_of,
    linked,
    owned,
    rows_for,
    table,
    write,
    wrong_in,
)

pytestmark = pytest.mark.usefixtures("kept_sessions")


def admitted(folder: Path, tables: Sequence[Table], **more: Any) -> Snapshot:
    """A snapshot in a folder of its own, without anything left in it that isn't of it."""
    into = folder / f"snapshot-{sum(1 for _ in folder.iterdir())}"
    into.mkdir()
    snapshot = admit(tables, {}, into, **more)
    assert {each.name for each in into.iterdir()} == {name for held in snapshot.tables.values() for name in held.files}
    assert not snapshot.damaged()
    return snapshot


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of 20 rows is large, and cut into two pieces at a time: into eight parts by cutting three times."""
    monkeypatch.setattr(staging, "FIRST", 20)
    for module in (parts, staging):
        monkeypatch.setattr(module, "LARGE", 20)
        monkeypatch.setattr(module, "ROWS", 15)
        monkeypatch.setattr(module, "PIECES", 2)
    monkeypatch.setattr(parts, "_READ_AGAIN", 2)


@dataclass(frozen=True)
class Trial:
    """How a table is put into parts."""

    kind: Kind
    parts: int
    is_large: bool
    """Whether it lies in pieces before."""


TRIALS = [
    Trial(Kind.INTEGER, 8, is_large=True),
    Trial(Kind.INTEGER, 4, is_large=False),
    Trial(Kind.TEXT, 4, is_large=True),
    Trial(Kind.TEXT, 1, is_large=False),
    Trial(Kind.DATE, 1, is_large=True),
    Trial(Kind.DATE, 8, is_large=False),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: f"{trial.kind}-{trial.parts}-{trial.is_large}")
def test_each_row_lies_where_its_unit_does(
    shape: Shape, trial: Trial, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Once for each of its units, with the code and size of that unit; nothing is left over, and nothing is lost."""
    if trial.is_large:
        request.getfixturevalue("small")
    rng = random.Random(f"{shape.__name__} {trial}")  # noqa: S311 — rows for tests
    kind, number = trial.kind, trial.parts
    tables = shape(tmp_path, kind)
    for most in (0, 90) if trial.is_large else (0, 12, 90):  # 12 rows aren't large
        rows = {made.name: rows_for(made, rng, most) for made in tables}
        for made in tables:
            write(made, rows[made.name])
        snapshot = admitted(tmp_path, tables, parts=number)
        lies: dict[Any, set[int]] = defaultdict(set)
        for made in tables:
            owner, held = owner_of(made, tables), snapshot.tables[made.name]
            assert owner is not None
            assert held.notes is not None
            expected = owned(tables, rows, made)
            assert len(held.files) == number
            files = [pq.read_table(file) for file in snapshot.files(made)]
            names = columns_of(made, owner, repeats=held.notes.repeats)
            assert all(file.column_names == names for file in files)
            assert wrong_in(held, files, made, expected, kind) == set()
            for part, file in enumerate(files):
                place = "u0" if owner.hops else names[[each.name for each in made.columns].index(owner.unit.column)]
                for each in set(file[place].to_pylist()) - {None}:
                    lies[each].add(part)
        assert all(len(found) == 1 for found in lies.values())  # whichever table the id is in


def twins(files: list[pa.Table]) -> dict[str, list[pa.Table]]:
    """Parts that aren't right, by what is wrong with them."""
    first = next(number for number, file in enumerate(files) if max(file["size"].to_pylist(), default=0) >= 2)
    file = files[first]
    last = file.num_rows - 1 - file["code"].null_count
    other = (first + 1) % len(files)

    def with_column(name: str, values: list[Any]) -> list[pa.Table]:
        place = file.column_names.index(name)
        column = pa.array(values, file.schema.field(name).type)
        return [*files[:first], file.set_column(place, name, column), *files[first + 1 :]]

    moved = list(files)
    moved[other] = pa.concat_tables([files[other].slice(0, 0), file.slice(last, 1), files[other]])
    moved[first] = pa.concat_tables([file.slice(0, last), file.slice(last + 1)])
    sizes, codes = file["size"].to_pylist(), file["code"].to_pylist()
    found = {
        "a unit in two parts": moved,
        "size": with_column("size", [*sizes[:last], sizes[last] + 1, *sizes[last + 1 :]]),
        "two codes of a unit": with_column("code", [*codes[:last], codes[last] + 1, *codes[last + 1 :]]),
        "order": [*files[:first], file.take(list(range(last, -1, -1))), *files[first + 1 :]],
        "rows": [*files[:first], file.slice(1), *files[first + 1 :]],
    }
    if "again" in file.column_names:
        found["again"] = with_column("again", [not each for each in file["again"].to_pylist()])
    return found


def test_a_wrong_twin_is_caught(tmp_path: Path) -> None:
    """A unit that lies in two parts is; so are wrong sizes, codes and orders, and rows that are gone."""
    rng = random.Random(5)  # noqa: S311 — rows for tests
    tables = linked(tmp_path, Kind.INTEGER)
    rows = {made.name: rows_for(made, rng, 10**2) for made in tables}
    for made in tables:
        write(made, rows[made.name])
    snapshot = admitted(tmp_path, tables, parts=2)
    for made in tables:
        held, expected = snapshot.tables[made.name], owned(tables, rows, made)
        files = [pq.read_table(file) for file in snapshot.files(made)]
        for wrong, twin in twins(files).items():
            assert wrong in wrong_in(held, twin, made, expected, Kind.INTEGER), (made.name, wrong)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("number", [1, 4])
def test_the_same_rows_stay_as_in_memory(shape: Shape, number: int, tmp_path: Path) -> None:
    """Of a unit with too many, whose rows are told apart in parts here, and all together there."""
    rng = random.Random(3)  # noqa: S311 — rows for tests
    tables = [replace(made, most_rows_per_unit=3) for made in shape(tmp_path, Kind.INTEGER)]
    for made in tables:
        write(made, rows_for(made, rng, 80))
    whole, snapshot = admit(tables, {}, None), admitted(tmp_path, tables, parts=number)
    assert {key: found["beyond_most_rows_per_unit"] for key, found in snapshot.report.items()} == {
        key: found["beyond_most_rows_per_unit"] for key, found in whole.report.items()
    }
    assert any(found["beyond_most_rows_per_unit"]["rows"] for found in snapshot.report.values())
    for made in tables:
        held, told = snapshot.tables[made.name], whole.tables[made.name].whole()
        assert told is not None
        rows = list(map(pq.read_table, snapshot.files(made)))
        kept = Counter(
            tuple(row[name] for name in held.names.values())
            for file in rows
            for row in file.to_pylist()
            if not row.get("again", False)
        )
        assert kept == Counter(tuple(row.values()) for row in told.to_pylist())
        assert held.rows == told.num_rows == sum(kept.values())
        sizes = {size for file in rows for size in file["size"].to_pylist()}
        assert max(sizes - {None}, default=0) <= 3
    assert with_unit_sizes(snapshot, tables) == {
        name: {**found, "units": with_unit_sizes(whole, tables)[name]["units"]}
        for name, found in snapshot.report.items()
    }


def test_an_admission_is_repeated_exactly(tmp_path: Path) -> None:
    """Each unit has its part and its code again, and the notes are the same."""
    tables = linked(tmp_path, Kind.TEXT)
    rng = random.Random(1)  # noqa: S311 — rows for tests
    for made in tables:
        write(made, rows_for(made, rng, 200))
    one, other = (admitted(tmp_path, tables, parts=4) for _ in range(2))
    for made in tables:
        assert one.tables[made.name].notes == other.tables[made.name].notes
        for file, again in zip(one.files(made), other.files(made), strict=True):
            rows, twin = (pq.read_table(each).to_pylist() for each in (file, again))
            assert sorted(map(repr, rows)) == sorted(map(repr, twin))


def test_a_part_of_many_row_groups_is_in_order(tmp_path: Path) -> None:
    """Its rows are written by several threads, and lie in the order of codes all the same."""
    made = table(tmp_path, "visits", {"n": Kind.INTEGER, "pid": Kind.INTEGER}, unit=Unit("pid"))
    rows = pa.table({"n": range(400_000), "pid": [number * number % 50_021 for number in range(400_000)]})
    pq.write_table(rows, made.source.location)
    (file,) = admitted(tmp_path, [made]).files(made)
    assert pq.read_metadata(file).num_row_groups > 2
    found = pq.read_table(file)
    assert found.num_rows == rows.num_rows
    for column in ("code", "size"):
        values = found[column].to_pylist()
        assert values == sorted(values)


@pytest.mark.usefixtures("small")
def test_large_tables_lie_in_parts_without_being_told(tmp_path: Path) -> None:
    """As many as the rows of the largest need; a table of units of their own in runs; a public one, whole."""
    tables = [
        *alone(tmp_path, Kind.INTEGER),
        table(tmp_path, "cards", {"n": Kind.INTEGER, "pid": Kind.TEXT}, unit=Unit("pid")),
        table(tmp_path, "answers", {"n": Kind.INTEGER}, unit=Unit.row()),
        table(tmp_path, "codes", {"n": Kind.INTEGER}, public=True),
    ]
    for made, rows in zip(tables, [100, 5, 61, 100], strict=True):
        texts = [each.kind is Kind.TEXT for each in made.columns]
        write(made, [tuple("x" if is_text else row for is_text in texts) for row in range(rows)])
    snapshot = admitted(tmp_path, tables)
    assert {name: len(held.files) for name, held in snapshot.tables.items()} == {
        "visits": 8,
        "cards": 8,
        "answers": 4,
        "codes": 1,
    }
    for name, rows in (("answers", 61), ("codes", 100)):
        held = snapshot.tables[name]
        assert held.notes is None
        read = [pq.read_table(Path(str(snapshot.folder)) / file) for file in held.files]
        assert {tuple(each.column_names) for each in read} == {("n",)}
        assert sorted(number for each in read for number in each["n"].to_pylist()) == list(range(rows))


def test_units_of_their_own_are_dealt_out_where_parts_are_asked_for(tmp_path: Path) -> None:
    """Under the names that are declared, whatever these are."""
    made = table(tmp_path, "t", {"piece": Kind.INTEGER, "C0": Kind.TEXT}, unit=Unit.row())
    rows = [(number % 9, "x") for number in range(50)]
    write(made, rows)
    snapshot = admitted(tmp_path, [made], parts=4)
    read = [pq.read_table(file) for file in snapshot.files(made)]
    assert snapshot.tables["t"].notes is None
    assert len(read) == 4
    assert {tuple(each.column_names) for each in read} == {("piece", "C0")}
    assert sorted(tuple(row.values()) for each in read for row in each.to_pylist()) == sorted(rows)


def test_only_what_is_copied_with_its_owner_is_noted(tmp_path: Path) -> None:
    """Not what is in memory or in place, nor what is linked to that, or to what is admitted apart."""
    tables = linked(tmp_path, Kind.INTEGER)
    for made in tables:
        write(made, [(1, 1)])
    data = {made.name: pq.read_table(made.source.location) for made in tables}
    visits, patients, people, rents = tables
    memory = [replace(each, source=Source(kind="memory", location=each.name)) for each in tables]
    in_place = [replace(each, source=Source.of(each.source.location, in_place=True)) for each in tables]
    for admits, noted in (
        (tables, {"visits", "patients", "people", "rents"}),
        (memory, set()),
        (in_place, set()),
        ([visits, memory[1], people, rents], {"people", "rents"}),
        ([visits, patients, in_place[2], rents], {"rents"}),
        ([visits, patients], set()),
        ([people, memory[3]], {"people"}),
    ):
        into = tmp_path / f"{sum(1 for _ in tmp_path.iterdir())}"
        into.mkdir()
        account = [*admits, *(each for each in tables if each.name not in {own.name for own in admits})]
        found = admit(admits, data, into, among=account, parts=2).tables
        assert {name for name, held in found.items() if held.notes is not None} == noted
        assert all(len(held.files) == 1 for held in found.values() if held.files and held.notes is None)


@pytest.mark.parametrize("moment", ["reading", "cutting", "parts"])
def test_nothing_is_left_of_an_admission_that_ends(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an error or by Ctrl-C: what it staged is gone, and no word of a row is said."""
    tables = linked(tmp_path, Kind.TEXT)
    for made in tables:
        write(made, [tuple(1 if each.kind is Kind.INTEGER else "CANARY" for each in made.columns)])
    place, name = {
        "reading": (staging.Staging, "copy"),
        "cutting": (parts, "copy_in_pieces"),
        "parts": (parts.OnePart, "write"),
    }[moment]
    into = tmp_path / "snapshot"
    into.mkdir()
    for error in (KeyboardInterrupt(), OSError("CANARY"), duckdb.IOException("CANARY")):

        def fails(*_: object, error: BaseException = error) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(place, name, fails)
            with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else SnapshotError) as raised:
                admit(tables, {}, into, parts=2)
        assert list(into.iterdir()) == []
        assert raised.value.__context__ is None or isinstance(raised.value, KeyboardInterrupt)
        assert "CANARY" not in str(raised.value)


@pytest.mark.usefixtures("small")
def test_what_goes_wrong_in_a_later_run_is_said_as_it_is(tmp_path: Path) -> None:
    """A source that can't be read to its end, and Ctrl-C, when some of it is in pieces already."""
    (made,) = alone(tmp_path, Kind.INTEGER)
    write(made, [(number, number) for number in range(100)])
    into = tmp_path / "snapshot"
    into.mkdir()
    for error in (KeyboardInterrupt(), SourceUnsupported("it was changed", hint="wait")):

        def fails(_: str, rows: int, error: BaseException = error) -> None:
            if rows > 60:
                assert any(into.rglob("piece=*")) or any(into.rglob("*.parquet"))
                raise error

        with pytest.raises(type(error)):
            admit([made], {}, into, progress=fails)
        assert list(into.iterdir()) == []


def test_a_manifest_from_before_is_read_on(tmp_path: Path) -> None:
    """It names one file or none for each table, and no notes."""
    made = table(tmp_path, "t", {"n": Kind.INTEGER}, unit=Unit.row())
    write(made, [(1,)])
    snapshot = admitted(tmp_path, [made])
    snapshot.save()
    manifest = Path(str(snapshot.folder)) / "manifest.json"
    found = json.loads(manifest.read_text(encoding="utf-8"))
    (file,) = found["tables"]["t"].pop("files")
    del found["tables"]["t"]["notes"]
    found["tables"]["t"]["file"] = file
    found["format"] = 1
    manifest.write_text(json.dumps(found), encoding="utf-8")
    loaded = Snapshot.load(manifest.parent, {})
    assert loaded.tables == snapshot.tables
    assert loaded.contents == snapshot.contents
