"""Snapshots: a folder that only this user reads, written once, found again as it was, removed when nobody uses it."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import SchemaMismatch, SnapshotError, SnapshotMissing
from discreet.privacy import Limits, Unit
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import Lock, Snapshot, admit, folder_of, new_folder, sweep

pytestmark = pytest.mark.usefixtures("kept_sessions")

COLUMNS = (Column(name="id", kind=Kind.INTEGER), Column(name="seen", kind=Kind.TIMESTAMP, time_zone="Europe/Paris"))
ROWS = pa.table({"id": [1, 2, None], "seen": pa.array([0, 10**6, None], pa.timestamp("us", "UTC"))})


def people(folder: Path, name: str = "people") -> Table:
    """A table in a file."""
    path = folder / f"{name}-source.parquet"
    if not path.exists():
        pq.write_table(ROWS, path)
    return Table(name=name, source=Source.of(path), columns=COLUMNS, unit=Unit("id"), limits=Limits(rows=1))


def in_memory(name: str) -> Table:
    """A table in memory."""
    source = Source(kind="memory", location=name)
    return Table(name=name, source=source, columns=COLUMNS, unit=Unit("id"), limits=Limits(rows=1))


def test_a_snapshot_is_found_again_as_it_was(tmp_path: Path) -> None:
    """By its folder alone, save what is in memory, of which the process that holds it has to say."""
    tables = [people(tmp_path), in_memory("visits")]
    with new_folder(tmp_path / "snapshots", 7) as folder:
        written = admit(tables, {"visits": ROWS}, folder)
        written.save()
    found = Snapshot.load(folder, {"visits": written.tables["visits"]})
    assert found.contents == written.contents
    assert found.tables == written.tables
    assert found.report == json.loads(json.dumps(written.report))
    assert found.files(tables[0]) == written.files(tables[0]) != ()
    assert found.files(tables[1]) == ()
    assert found.damaged() == []
    assert pq.read_schema(written.files(tables[0])[0]).names == ["c0", "c1", "code", "size"]
    assert Snapshot.load(folder, {}).tables["visits"].data == ()


def test_only_its_user_reads_it(tmp_path: Path) -> None:
    """Neither its folder, nor any file in it, is anybody else's to read."""
    with new_folder(tmp_path / "snapshots", 1) as folder:
        admit([people(tmp_path)], {}, folder).save()
    for path in (tmp_path / "snapshots", folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert len(list(folder.iterdir())) == 3


def test_equal_tables_have_equal_contents() -> None:
    """Of rows, columns and how they were cast; which library holds them, or what the source is called, is no matter."""
    table = in_memory("t")
    first = admit([table], {"t": ROWS}, None).contents
    assert admit([table], {"t": ROWS.to_pandas(types_mapper=pd.ArrowDtype)}, None).contents == first
    assert admit([replace(table, source=in_memory("u").source)], {"u": ROWS}, None).contents == first
    tokyo = replace(table, columns=(COLUMNS[0], replace(COLUMNS[1], time_zone="Asia/Tokyo")))
    for others in (
        admit([table], {"t": ROWS.slice(1)}, None),
        admit([tokyo], {"t": ROWS}, None),
        admit([replace(table, unit=Unit.row())], {"t": ROWS}, None),
        admit([replace(table, name="u")], {"t": ROWS}, None),
    ):
        assert others.contents != first


def test_what_was_admitted_covers_what_is_declared(tmp_path: Path) -> None:
    """Fewer columns, and columns that identify no more, need no other admission; others do."""
    table = people(tmp_path)
    (held,) = admit([table], {}, tmp_path).tables.values()
    ids = frozenset({"id"})
    assert held.covers(table, ids)
    assert held.covers(replace(table, columns=COLUMNS[:1]), ids)
    assert held.covers(replace(table, columns=(replace(COLUMNS[0], name="ID"),)), frozenset())
    assert not held.covers(table, frozenset({"id", "seen"}))
    for columns in (
        (*COLUMNS, Column(name="other", kind=Kind.INTEGER)),
        (Column(name="id", kind=Kind.TEXT),),
        (COLUMNS[0], replace(COLUMNS[1], time_zone="UTC")),
    ):
        assert not held.covers(replace(table, columns=columns), ids)


@pytest.mark.parametrize("damage", ["folder", "manifest", "no JSON", "other JSON", "file"])
def test_a_snapshot_that_is_not_there_as_it_was_written(damage: str, tmp_path: Path) -> None:
    """It is missed, in one error, whatever is wrong with it."""
    folder = tmp_path / "snapshot"
    folder.mkdir()
    table = people(tmp_path)
    written = admit([table], {}, folder)
    written.save()
    manifest, path = folder / "manifest.json", Path(written.files(table)[0])
    if damage == "folder":
        folder.rename(tmp_path / "elsewhere")
    elif damage == "manifest":
        manifest.unlink()
    elif damage == "file":
        path.unlink()
    else:
        manifest.write_text("{" if damage == "no JSON" else "[]", encoding="utf-8")
    with pytest.raises(SnapshotMissing):
        Snapshot.load(folder, {})


def test_a_changed_file_is_found_when_all_are_read(tmp_path: Path) -> None:
    """By its digest, since it may still look like a table."""
    table = people(tmp_path)
    written = admit([table], {}, tmp_path)
    path = Path(written.files(table)[0])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert written.damaged() == ["people"]


def test_a_failed_admission_leaves_nothing_and_takes_nothing(tmp_path: Path) -> None:
    """The earlier folder is as it was, and the new one is gone."""
    parent, table = tmp_path / "snapshots", people(tmp_path)
    with new_folder(parent, 1) as folder:
        first = admit([table], {}, folder)
        first.save()
    wrong = replace(table, columns=(replace(COLUMNS[0], kind=Kind.DATE),), unit=Unit("id"))
    with pytest.raises(SchemaMismatch), new_folder(parent, 2) as second:
        admit([wrong], {}, second)
    assert list(parent.iterdir()) == [folder]
    assert Snapshot.load(folder, {}).contents == first.contents


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """It is said, and nothing of what DuckDB says, which may quote a row."""
    with pytest.raises(SnapshotError) as refusal:
        admit([people(tmp_path)], {}, tmp_path / "nowhere")
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None


def test_accounts_have_folders_of_their_own(tmp_path: Path) -> None:
    """Whatever they are called, none leads out of the folder of all, or into another's."""
    names = ["census", "../census", "a/b", "a%2Fb", "Zürich", ".", "..", "a.b"]
    folders = {folder_of(tmp_path, name).resolve() for name in names}
    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path.resolve()}


def test_folders_in_use_stay(tmp_path: Path) -> None:
    """Those that are kept, that are being written, and that somebody reads; all others are swept."""
    with new_folder(tmp_path, 1) as kept, new_folder(tmp_path, 2) as read, new_folder(tmp_path, 3) as orphan:
        pass
    reader, other = Lock(read, shared=True), Lock(read, shared=True)
    with new_folder(tmp_path, 4) as written:
        sweep(tmp_path, [kept.name])
        assert sorted(tmp_path.iterdir()) == sorted([kept, read, written])
        with pytest.raises(BlockingIOError):
            Lock(written, shared=False)
    assert not orphan.exists()
    reader.close()
    sweep(tmp_path, [kept.name])
    assert read.exists()
    del other
    sweep(tmp_path, [kept.name])
    assert list(tmp_path.iterdir()) == [kept]
    sweep(tmp_path / "nowhere", [])
