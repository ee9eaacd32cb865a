"""Questions are asked of a snapshot, whatever happens to its source meanwhile; and leave nothing behind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.duckdb.session import Session
from discreet.engine import ExactResult
from discreet.engine.duckdb import DuckDB
from discreet.errors import QuestionFailed
from discreet.privacy import Bounds, Limits, Unit
from discreet.query.ir import Exact
from discreet.tables import Source
from discreet.tables.admission import Snapshot, admit
from support.questions import SCHEMA, column, count, exact, key, table_of, total

ROWS = 400
OLD, NEW = 1, 1000
GROUPS = ["a", "b"]


def rows_of(value: int) -> pa.Table:
    """Rows that all hold one value, so that a mix of versions can be told."""
    columns: dict[str, Any] = {
        "id": range(ROWS),
        "g": GROUPS * (ROWS // 2),
        "h": [0] * ROWS,
        "b": [True] * ROWS,
        "x": [value] * ROWS,
        "y": [0.5] * ROWS,
    }
    return pa.table({each.name: pa.array(columns.get(each.name, [None] * ROWS), each.type) for each in SCHEMA})


def question(source: Source) -> Exact:
    """A sum that takes several statements: limits on rows, and a list of groups."""
    table = table_of(source=source, unit=Unit("id"), limits=Limits(rows=1))
    return exact(table, [count(), total("s", column("x"), lo=0, hi=NEW)], keys=[key("g", GROUPS)])


def admitted(where: str, folder: Path) -> tuple[Exact, Snapshot, Callable[[], object]]:
    """A question, the snapshot of its table, and what replaces the source by a newer one."""
    if where == "memory":
        frame = rows_of(OLD).to_pandas()
        asked = question(Source(kind="memory", location="t"))
        return asked, admit(asked.tables, {"t": frame}, None), lambda: frame.__setitem__("x", NEW)
    path = folder / f"source.{where}"

    def write(value: int) -> None:
        """The source, in that version."""
        if where == "parquet":
            pq.write_table(rows_of(value), path)
        else:
            rows_of(value).to_pandas().to_csv(path, index=False)

    write(OLD)
    asked = question(Source.of(path))
    return asked, admit(asked.tables, {}, folder), lambda: write(NEW)


WHERE = ["memory", "parquet", "csv"]


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


@pytest.mark.parametrize("where", WHERE)
def test_a_source_is_never_looked_at_again(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed before a question or in the midst of it, or gone: the answer is that of what was admitted."""
    asked, snapshot, change = admitted(where, tmp_path)
    engine = DuckDB(snapshot)
    with monkeypatch.context() as patch:
        counted = interrupted(patch, 8, change)
        assert version(engine.run(asked)) == OLD
        assert counted() > 8
    assert version(engine.run(asked)) == OLD
    again = admit(asked.tables, {"t": rows_of(NEW).to_pandas()}, None)
    assert version(DuckDB(again).run(asked)) == NEW
    for source in tmp_path.glob("source.*"):
        source.unlink()
    assert version(engine.run(asked)) == OLD


def test_a_table_in_memory_is_copied() -> None:
    """Whoever holds the original can't change what is answered, not even by the memory that it shares with others."""
    values = np.ones(4, np.int64)
    frame = pd.DataFrame({each.name: values if each.name == "x" else range(4) for each in SCHEMA}, copy=False)
    frame = frame.assign(who=None, at=None, g="a", b=True, d=None, y=0.5)
    asked = question(Source(kind="memory", location="t"))
    asked = exact(asked.tables[0], [total("s", column("x"), lo=0, hi=NEW)])
    engine = DuckDB(admit(asked.tables, {"t": frame}, None))
    values[:] = NEW
    frame.loc[:, "x"] = NEW
    assert engine.run(asked).measures["s"] == [4]


@pytest.mark.parametrize("where", WHERE)
def test_declarations_may_change_without_another_admission(where: str, tmp_path: Path) -> None:
    """Bounds and keys are enforced when a question is answered, on what was admitted."""
    asked, snapshot, _ = admitted(where, tmp_path)
    (table,) = asked.tables
    bounded = [replace(each, bounds=Bounds(5, 9)) if each.name == "x" else each for each in table.columns]
    for columns, wanted in ((table.columns, OLD), (tuple(bounded), 5)):
        again = exact(replace(table, columns=columns), [total("s", column("x"), lo=0, hi=NEW)])
        assert DuckDB(snapshot).run(again).measures["s"] == [wanted * ROWS]


def descriptors() -> int:
    """How many files this process has open; 0 where the system doesn't list them."""
    listed = Path("/proc/self/fd")
    return sum(1 for _ in listed.iterdir()) if listed.is_dir() else 0


@pytest.mark.parametrize("where", WHERE)
def test_a_question_leaves_nothing_behind(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No open file and no spilled one, whether it was answered or failed; not even when it had to spill.

    What waits for the next question goes when the engine is closed.
    """
    asked, snapshot, _ = admitted(where, tmp_path)
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    engine = DuckDB(snapshot, memory=2**26)
    engine.run(asked)
    engine.close()
    open_before = descriptors()
    engine = DuckDB(snapshot, memory=2**26)
    for _ in range(3):
        engine.run(asked)
        with monkeypatch.context() as patch:
            interrupted(patch, 9, lambda: 1 / 0)
            with pytest.raises(QuestionFailed):
                engine.run(asked)
    engine.close()
    assert descriptors() <= open_before
    assert list(spill.iterdir()) == []
