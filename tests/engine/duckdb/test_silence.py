"""Whatever fails in a question, no value of a row is in any message, cause, context, traceback, log or output."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.duckdb.session import Session
from discreet.engine.duckdb import DuckDB
from discreet.engine.duckdb.contributions import Compiled
from discreet.errors import QuestionFailed
from discreet.privacy import Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type
from discreet.tables import Column, Kind, Owner, Source, Table
from discreet.tables.admission import Snapshot, admit

CANARY = "CANARY-5f0e1c"
TABLE = Table(
    name="t",
    source=Source(kind="memory", location="t"),
    columns=(Column(name="id", kind=Kind.INTEGER), Column(name="g", kind=Kind.TEXT)),
    unit=Unit("id"),
    limits=Limits(rows=1),
)
ROWS = pa.table({"id": [1, 2], "g": ["fine", CANARY]})
QUESTION = Exact(
    source=Scan(table=TABLE, columns=("id", "g"), owner=Owner(TABLE.unit), alias=TABLE.name),
    keys=(Key(name="g", expr=Reference("t", "g", Type(Kind.TEXT)), values=None),),
    measures=(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),),
    limits=TABLE.limits,
    salt="",
)


def admitted(where: str, folder: Path) -> Snapshot:
    """A snapshot with a marked value in it, in memory or in a file."""
    if where == "memory":
        return admit([TABLE], {"t": ROWS}, None)
    source = folder / "source.parquet"
    pq.write_table(ROWS, source)
    return admit([replace(TABLE, source=Source.of(source))], {}, folder)


def everything_said(error: BaseException) -> str:
    """All that can be read off an exception: its texts, its chain, and its traceback."""
    said = [str(error), repr(error), *map(repr, vars(error).values())]
    said += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    for other in (error.__cause__, error.__context__):
        if other is not None:
            said.append(everything_said(other))
    return "\n".join(said)


@pytest.fixture
def listening(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was logged, at any level, or printed, by any library."""
    caplog.set_level(logging.DEBUG)

    def heard() -> str:
        """The text so far."""
        return "\n".join([caplog.text, *capfd.readouterr()])

    return heard


def break_at(monkeypatch: pytest.MonkeyPatch, number: int) -> Callable[[], int]:
    """Before the engine's statement of that number, have DuckDB fail over a row, in its own words.

    Returns how many statements there were.
    """
    execute, seen = Session.execute, [0]

    def failing(self: Session, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Count, and fail."""
        seen[0] += 1
        if seen[0] == number:
            execute(self, f"SELECT CAST(g AS INTEGER) FROM (VALUES ('{CANARY}')) AS t (g)")
        return execute(self, sql, parameters)

    monkeypatch.setattr(Session, "execute", failing)
    return lambda: seen[0]


def statements(snapshot: Snapshot) -> int:
    """How many statements the question takes."""
    with pytest.MonkeyPatch.context() as patch:
        counted = break_at(patch, 0)
        DuckDB(snapshot).run(QUESTION)
        return counted()


def test_duckdb_would_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: without the wall, the row is quoted, so the tests here have something to catch."""
    snapshot = admitted("file", tmp_path)
    break_at(monkeypatch, statements(snapshot))
    with pytest.raises(duckdb.Error) as told:
        DuckDB(snapshot)._answer(Compiled.of(QUESTION, snapshot))
    assert CANARY in everything_said(told.value)


@pytest.mark.parametrize("where", ["file", "memory"])
def test_a_failed_question_says_one_thing(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listening: Callable[[], str]
) -> None:
    """Wherever it fails, the engine raises the one constant error, with no cause and no context."""
    snapshot = admitted(where, tmp_path)
    total = statements(snapshot)
    assert total > 4
    for number in range(1, total + 1):
        with monkeypatch.context() as patch:
            break_at(patch, number)
            with pytest.raises(QuestionFailed) as failure:
                DuckDB(snapshot).run(QUESTION)
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        assert str(failure.value) == str(QuestionFailed())
        assert CANARY not in everything_said(failure.value)
    assert CANARY not in listening()


@pytest.mark.parametrize("where", ["file", "memory"])
def test_an_engine_shows_nothing_of_its_tables(where: str, tmp_path: Path) -> None:
    """Neither does its repr, nor that of what it holds."""
    snapshot = admitted(where, tmp_path)
    engine = DuckDB(snapshot)
    for shown in (engine, engine._snapshot, *snapshot.tables.values()):
        assert CANARY not in repr(shown)
