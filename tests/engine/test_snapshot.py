"""One question reads one version of the data, whatever happens to the file meanwhile; and leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine import ExactResult
from discreet.engine.duckdb import DuckDB
from discreet.engine.session import Session
from discreet.errors import QuestionFailed, SourceMissing
from discreet.privacy import Limits, Unit
from discreet.query.ir import Exact
from discreet.tables import Source
from support.questions import column, count, exact, key, run, table_of, total

ROWS = 400
OLD, NEW = 1, 1000
GROUPS = ["a", "b"]


def rows_of(value: int) -> pa.Table:
    """Rows that all hold one value, so that a mix of versions can be told."""
    blank: dict[str, Any] = {
        name: pa.nulls(ROWS, kind) for name, kind in (("who", pa.string()), ("at", pa.timestamp("us")))
    }
    return pa.table(
        {
            "id": pa.array(range(ROWS)),
            **blank,
            "g": pa.array(GROUPS * (ROWS // 2)),
            "h": pa.array([0] * ROWS),
            "b": pa.array([True] * ROWS),
            "d": pa.nulls(ROWS, pa.date32()),
            "x": pa.array([value] * ROWS),
            "y": pa.array([0.5] * ROWS),
        }
    )


def write(path: Path, value: int) -> None:
    """A file of that version."""
    table = rows_of(value)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        path.unlink(missing_ok=True)
        with duckdb.connect(path) as connection:
            connection.register("rows", table)
            connection.execute("CREATE TABLE t AS FROM rows")


def question(source: Source) -> Exact:
    """A sum that takes several statements: limits on rows, and a list of groups."""
    table = table_of(source=source, unit=Unit("id"), limits=Limits(rows=1))
    return exact(table, [count(), total("s", column("x"), lo=0, hi=NEW)], keys=[key("g", GROUPS)])


def fingerprint(source: Source, data: pa.Table | None = None) -> str:
    """The fingerprint of a source."""
    engine = DuckDB({} if data is None else {source.location: data})
    return engine.fingerprint(question(source).tables)


def version(result: ExactResult) -> int:
    """Which version was read; an assertion fails if it's neither, or both."""
    assert sorted(result.keys) == [("a",), ("b",)]
    assert result.measures["n"] == [ROWS // 2] * 2
    values = {total / (ROWS // 2) for total in result.measures["s"]}
    assert len(values) == 1
    return int(values.pop())


def interrupted(monkeypatch: pytest.MonkeyPatch, number: int, meanwhile: Callable[[], object]) -> Callable[[], int]:
    """Have something happen just before the engine's statement of that number. Returns how many there were."""
    execute, seen = Session.execute, [0]

    def counting(self: Session, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Count, and let it happen."""
        seen[0] += 1
        if seen[0] == number:
            meanwhile()
        return execute(self, sql, parameters)

    monkeypatch.setattr(Session, "execute", counting)
    return lambda: seen[0]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_replaced_file_is_read_to_its_end(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file renamed over ours at any moment of a question: the answer is that of the version that was opened."""
    path, other = tmp_path / f"t{suffix}", tmp_path / f"new{suffix}"
    asked, number, statements = question(Source.of(path)), 0, 99
    while number < statements:
        number += 1
        write(path, OLD)
        write(other, NEW)
        with monkeypatch.context() as patch:
            counted = interrupted(patch, number, lambda: other.replace(path))
            result = DuckDB().run(asked)
            statements = counted()
        assert version(result) == OLD
        assert result.fingerprint != fingerprint(Source.of(path))
    assert number > 8


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("number", [2, 7, 12])
def test_a_file_changed_in_place_answers_nothing(
    suffix: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file rewritten under the same identity can't be read in one version, so the question fails."""
    path, other = tmp_path / f"t{suffix}", tmp_path / f"new{suffix}"
    write(path, OLD)
    write(other, NEW)
    interrupted(monkeypatch, number, lambda: path.write_bytes(other.read_bytes()))
    with pytest.raises(QuestionFailed):
        DuckDB().run(question(Source.of(path)))


def test_a_database_cannot_be_written_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was written before is read, although it still lies in the database's log."""
    path = tmp_path / "t.duckdb"
    write(path, OLD)
    engine, asked = DuckDB(), question(Source.of(path))
    before = engine.fingerprint(asked.tables)
    assert version(engine.run(asked)) == OLD
    with duckdb.connect(path, config={"checkpoint_threshold": "1GB"}) as connection:
        connection.execute("UPDATE t SET x = ?", [NEW])
    assert engine.fingerprint(asked.tables) != before

    def write_to_it() -> None:
        """What another process would try."""
        with pytest.raises(duckdb.Error):
            duckdb.connect(path)

    interrupted(monkeypatch, 12, write_to_it)
    assert version(engine.run(asked)) == NEW


def test_a_replaced_database_answers_nothing_or_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB opens a database by its name, so a swap is found out afterwards."""
    path, other = tmp_path / "t.duckdb", tmp_path / "new.duckdb"
    for number in range(1, 14):
        write(path, OLD)
        write(other, NEW)
        with monkeypatch.context() as patch:
            interrupted(patch, number, lambda: other.replace(path))
            with pytest.raises(QuestionFailed):
                DuckDB().run(question(Source.of(path)))


def test_a_table_in_memory_is_copied() -> None:
    """Whoever holds the original can't change what is answered, nor its fingerprint."""
    values = np.ones(4, np.int64)
    frame = pd.DataFrame({"id": range(4), "x": values}, copy=False)
    asked = question(Source(kind="memory", location="t"))
    asked = exact(asked.tables[0], [total("s", column("x"), lo=0, hi=NEW)])
    full = frame.reindex(columns=[each.name for each in asked.tables[0].columns])
    engine = DuckDB({"t": full})
    before = engine.fingerprint(asked.tables), engine.run(asked).measures["s"]
    values[:] = NEW
    full.loc[:, "x"] = NEW
    assert (engine.fingerprint(asked.tables), engine.run(asked).measures["s"]) == before == (before[0], [4])
    assert DuckDB({"t": full}).fingerprint(asked.tables) != before[0]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_files_fingerprint_follows_its_content_and_not_its_name(suffix: str, tmp_path: Path) -> None:
    """It survives a rename and a second name; it changes with a rewrite, even one of the same size and time."""
    path, moved = tmp_path / f"t{suffix}", tmp_path / f"moved{suffix}"
    write(path, OLD)
    first = fingerprint(Source.of(path))
    assert fingerprint(Source.of(path)) == first
    path.rename(moved)
    assert fingerprint(Source.of(moved)) == first
    status = moved.stat()
    content = bytearray(moved.read_bytes())
    content[-9] ^= 1
    moved.write_bytes(content)
    os.utime(moved, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fingerprint(Source.of(moved)) != first
    with pytest.raises(SourceMissing):
        fingerprint(Source.of(path))


def test_equal_tables_have_equal_fingerprints() -> None:
    """In memory it is a function of the rows alone, and of all of them."""
    source = Source(kind="memory", location="t")
    assert fingerprint(source, rows_of(OLD)) == fingerprint(source, rows_of(OLD))
    assert fingerprint(source, rows_of(OLD)) != fingerprint(source, rows_of(OLD).slice(1))
    assert fingerprint(source, rows_of(OLD)) != fingerprint(source, rows_of(NEW))


def descriptors() -> int:
    """How many files this process has open; 0 where the system doesn't list them."""
    listed = Path("/proc/self/fd")
    return sum(1 for _ in listed.iterdir()) if listed.is_dir() else 0


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".duckdb"])
def test_a_question_leaves_nothing_behind(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No open file and no spilled one, whether it was answered or failed; not even when it had to spill."""
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    path = tmp_path / f"t{suffix}"
    write(path, OLD)
    engine, asked = DuckDB(memory=2**26), question(Source.of(path))
    engine.run(asked)
    open_before = descriptors()
    for _ in range(3):
        engine.run(asked)
        with monkeypatch.context() as patch:
            interrupted(patch, 9, lambda: 1 / 0)
            with pytest.raises(QuestionFailed):
                engine.run(asked)
    assert descriptors() <= open_before
    assert list(spill.iterdir()) == []


def test_what_does_not_fit_in_memory_spills_where_nobody_else_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory of a session is its user's alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Session():
        (spill,) = tmp_path.iterdir()
        assert spill.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


def test_the_answer_names_the_version_it_was_read_from() -> None:
    """So that a gateway can tell whether the data changed between looking and asking."""
    asked = question(Source(kind="memory", location="t"))
    engine = DuckDB({"t": rows_of(OLD)})
    assert engine.run(asked).fingerprint == engine.fingerprint(asked.tables)
    assert run(asked, rows_of(OLD))
