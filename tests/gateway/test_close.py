"""Closing: everything is let go of, what is used afterwards is refused, and nobody's question is lost."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any
from weakref import ref

import pyarrow as pa
import pytest

import discreet as dp
from discreet.engine.duckdb import DuckDB
from discreet.errors import AccountClosed

COUNT = "SELECT COUNT(*) AS n FROM t"


def opened(tmp_path: Path) -> dp.Protected:
    """A table in memory behind an account."""
    table = pa.table({"x": [1, 2, 3]})
    return dp.protect(table, name="t", unit=dp.Unit.row(), budget=dp.Budget(epsilon=10), ledger=tmp_path / "l")


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.ask(COUNT, epsilon=1),
        lambda t: t.ask(COUNT, epsilon=2),
        lambda t: t.ask([COUNT], epsilon=1),
        lambda t: t.ask(COUNT, epsilon=1, version=1),
        lambda t: t.refresh(),
        lambda t: t.admissions.current(),
        lambda t: t.spent,
        lambda t: t.remaining,
        lambda t: t.spent_by("ada"),
        lambda t: t.remaining_by("ada"),
        lambda t: t.history(),
        lambda t: t.verify(),
    ],
)
def test_what_is_used_after_close_is_refused(tmp_path: Path, use: Callable[[dp.Protected], Any]) -> None:
    """With one typed error, also where the answer is stored; closing twice is none."""
    with opened(tmp_path) as protected:
        protected.ask(COUNT, epsilon=1)
        admissions = protected.admissions
    protected.close()
    with pytest.raises(AccountClosed):
        use(protected)
    for again in (admissions.current, admissions.admit, admissions.first, admissions.check, admissions.damaged):
        with pytest.raises(AccountClosed):
            again()
    assert protected.plan(COUNT, epsilon=1).cost == dp.PureDP(1)
    with opened(tmp_path) as reopened:
        assert reopened.spent.epsilon == 1


def test_close_lets_go_of_engines_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is closed at once; so is that of an earlier version. The table in memory is garbage."""
    closed: list[DuckDB] = []
    close = DuckDB.close
    monkeypatch.setattr(DuckDB, "close", lambda self: (closed.append(self), close(self))[1])
    with opened(tmp_path) as protected:
        protected.ask(COUNT, epsilon=1)
        protected.refresh()
        assert len(closed) == 1
        protected.ask(COUNT, epsilon=1)
        (held,) = protected.admissions.current().snapshot.tables.values()
        admitted = ref(held.data[0])
        del held
    assert len(closed) == 2
    gc.collect()
    assert admitted() is None


def test_a_question_that_still_runs_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was paid for, so closing in another thread waits for nothing and takes nothing from it."""
    running, go_on, run = Event(), Event(), DuckDB.run

    def slowly(self: DuckDB, exact: Any) -> Any:
        running.set()
        assert go_on.wait(60)
        return run(self, exact)

    monkeypatch.setattr(DuckDB, "run", slowly)
    protected, answers = opened(tmp_path), list[dp.Answer]()
    asking = Thread(target=lambda: answers.append(protected.ask(COUNT, epsilon=1)))
    asking.start()
    assert running.wait(60)
    protected.close()
    go_on.set()
    asking.join(60)
    assert [answer.entry for answer in answers] == [1]
    with opened(tmp_path) as reopened:
        assert reopened.ask(COUNT, epsilon=1).rows() == answers[0].rows()
