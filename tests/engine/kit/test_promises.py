"""What `discreet.engine.Engine` promises of every engine, beyond what it computes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine import ExactResult
from discreet.errors import InvalidArgument, QuestionFailed
from discreet.privacy import Unit
from discreet.tables import Source
from discreet.tables.admission import Snapshot, admit
from support.engines import engine_on
from support.questions import ONE_ROW, arrow, count, exact, key, table_of

CANARY = "CANARY-5f0e1c"
ROWS = arrow([{"id": 1, "g": "fine"}, {"id": 2, "g": CANARY}])
TABLE = table_of(unit=Unit("id"), limits=ONE_ROW)
QUESTION = exact(TABLE, [count()], keys=[key("g")])


def admitted(folder: Path) -> Snapshot:
    """A snapshot in files, with a marked value in it."""
    pq.write_table(ROWS, folder / "source.parquet")
    return admit([replace(TABLE, source=Source.of(folder / "source.parquet"))], {}, folder)


def test_it_says_by_which_hash_it_chooses() -> None:
    """In a text, and it refuses a plan that names another, whether it is prepared or run."""
    engine = engine_on(Snapshot(tables={}))
    assert isinstance(engine.chosen_by, str)
    assert engine.chosen_by
    other = replace(QUESTION, chosen_by=f"not {engine.chosen_by}")
    with pytest.raises(InvalidArgument):
        engine.prepare(other)
    with pytest.raises(InvalidArgument):
        engine.run(other)


def test_every_failure_looks_the_same(tmp_path: Path) -> None:
    """A snapshot's file that is missing, broken, or lacks a column: one error, to the byte, without a cause."""
    snapshot = admitted(tmp_path)
    (held,) = snapshot.tables.values()
    path = tmp_path / held.files[0]
    said = set()
    for damage in (
        path.unlink,
        lambda: path.write_bytes(b"PAR1" + CANARY.encode() * 100),
        lambda: pq.write_table(ROWS.select(["id"]), path),
    ):
        damage()
        with pytest.raises(QuestionFailed) as failure:
            engine_on(snapshot).run(QUESTION)
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        said.add((str(failure.value), repr(failure.value), str(failure.value.to_dict())))
    assert len(said) == 1


def test_it_shows_nothing_of_its_tables(tmp_path: Path) -> None:
    """Neither does its repr, nor what it answers."""
    engine = engine_on(admitted(tmp_path))
    answer = engine.run(QUESTION)
    assert type(answer) is ExactResult
    assert CANARY not in repr(engine) + repr(answer)
    assert sorted(answer.measures["n"]) == [1, 1]


def test_a_snapshot_in_memory_is_asked_as_one_in_files(tmp_path: Path) -> None:
    """Both hold the same values."""
    in_memory = engine_on(admit([TABLE], {"t": pa.table(ROWS)}, None)).run(QUESTION)
    in_files = engine_on(admitted(tmp_path)).run(QUESTION)
    assert [*in_memory.keys] == [*in_files.keys]
    assert [*in_memory.measures["n"]] == [*in_files.measures["n"]]


def test_it_can_be_closed(tmp_path: Path) -> None:
    """Once it has answered, and before."""
    asked, unasked = engine_on(admitted(tmp_path)), engine_on(Snapshot(tables={}))
    asked.run(QUESTION)
    asked.close()
    unasked.close()
