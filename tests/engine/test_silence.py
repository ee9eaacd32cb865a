"""Whatever fails, no value of a row is in any message, cause, context, traceback, log or output."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine.duckdb import DuckDB
from discreet.engine.entries import shape_of
from discreet.engine.session import Session
from discreet.errors import DiscreetError, QuestionFailed, SourceError
from discreet.privacy import Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type
from discreet.tables import Column, Kind, Owner, Source, Table

CANARY = "CANARY-5f0e1c"


def invalid_text() -> pa.Table:
    """A table whose text isn't UTF-8, which Arrow doesn't check and DuckDB quotes in full."""
    cells = pa.array([b"fine", CANARY.encode() + b"\xff\xfe"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())
    return pa.table({"id": [1, 2], "g": text})


def question(source: Source) -> Exact:
    """A count by group."""
    columns = (Column(name="id", kind=Kind.INTEGER), Column(name="g", kind=Kind.TEXT))
    table = Table(name="t", source=source, columns=columns, unit=Unit("id"), limits=Limits(rows=1))
    return Exact(
        source=Scan(table=table, columns=("id", "g"), owner=Owner(table.unit), alias=table.name),
        keys=(Key(name="g", expr=Reference("t", "g", Type(Kind.TEXT)), values=None),),
        measures=(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),),
        limits=table.limits,
        salt="",
    )


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


def readable(folder: Path, suffix: str = ".parquet") -> Source:
    """A file that can be read, with marked values in it."""
    path = folder / f"t{suffix}"
    table = pa.table({"id": [1, 2], "g": ["fine", CANARY]})
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        table.to_pandas().to_csv(path, index=False)
    return Source.of(path)


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


def test_duckdb_would_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: without the wall, the row is quoted, so the tests here have something to catch."""
    source = readable(tmp_path)
    break_at(monkeypatch, 12)
    with pytest.raises(duckdb.Error) as told:
        DuckDB()._answer(question(source), shape_of(question(source)))
    assert CANARY in everything_said(told.value)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_failed_question_says_one_thing(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listening: Callable[[], str]
) -> None:
    """Wherever it fails, the engine raises the one constant error, with no cause and no context."""
    source, number, statements = readable(tmp_path, suffix), 0, 99
    while number < statements:
        number += 1
        with monkeypatch.context() as patch:
            counted = break_at(patch, number)
            with pytest.raises(QuestionFailed) as failure:
                DuckDB().run(question(source))
            statements = max(counted(), 12)
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        assert str(failure.value) == str(QuestionFailed())
        assert CANARY not in everything_said(failure.value)
    assert CANARY not in listening()


def test_every_failure_looks_the_same(tmp_path: Path) -> None:
    """A missing file, a broken one, one without the column: one error, to the byte."""
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1" + CANARY.encode() * 100)
    lacking = tmp_path / "lacking.csv"
    lacking.write_text(f"id,other\n1,{CANARY}\n", encoding="utf-8")
    said = set()
    for path in (broken, lacking, tmp_path / "missing.csv"):
        with pytest.raises(QuestionFailed) as failure:
            DuckDB().run(question(Source.of(path)))
        said.add((str(failure.value), repr(failure.value), str(failure.value.to_dict())))
    assert len(said) == 1


@pytest.mark.parametrize("look", ["describe", "peek", "check", "fingerprint"])
@pytest.mark.parametrize("name", ["t.parquet", "t.duckdb", "t.csv", "t.csv.gz"])
def test_a_broken_file_is_not_quoted(look: str, name: str, tmp_path: Path, listening: Callable[[], str]) -> None:
    """Looking at a file of another format fails in words of ours, or succeeds; its content isn't in them."""
    path = tmp_path / name
    path.write_bytes(f"\n{CANARY},{CANARY}\n{CANARY}\0\n".encode() * 50)
    engine, source = DuckDB(), Source.of(path)
    table = question(source).tables[0]
    arguments = {
        "describe": [source],
        "check": [table],
        "peek": [source, [Column(name="g", kind=Kind.TEXT)]],
        "fingerprint": [[table]],
    }
    try:
        getattr(engine, look)(*arguments[look])
    except SourceError as error:
        assert CANARY not in everything_said(error)  # noqa: PT017 — it may also succeed
    assert CANARY not in listening()


MIXED = {"g": ["fine", 3, CANARY.encode()], "id": [1, 2, 3]}


@pytest.mark.parametrize("table", [invalid_text(), pd.DataFrame(MIXED)], ids=["Arrow", "pandas"])
def test_a_table_in_memory_is_not_quoted(table: object, listening: Callable[[], str]) -> None:
    """What Arrow can't hold is refused when the table is opened, without its words."""
    with pytest.raises(SourceError) as refusal:
        DuckDB({"t": table})
    error: DiscreetError = refusal.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CANARY not in error.message + error.hint
    assert CANARY not in listening()


def test_an_engine_shows_nothing_of_its_table() -> None:
    """Neither does its repr, nor that of what it holds."""
    table = pa.table({"g": [CANARY]})
    engine = DuckDB({"t": table})
    assert CANARY not in repr(engine)
    assert CANARY not in repr(engine._frozen)
