"""Engines over tables that are admitted into memory, or that are taken for admitted."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from types import MappingProxyType
from typing import Any

import duckdb
import pytest

from discreet.engine.duckdb import DuckDB, contributions
from discreet.engine.duckdb.engine import Compiled
from discreet.engine.duckdb.sessions import Sessions
from discreet.query.ir import Exact
from discreet.tables import Table
from discreet.tables.admission import HeldColumn, HeldTable, Snapshot, admit, identifying
from discreet.tables.session import Session

NOTHING: Mapping[str, object] = MappingProxyType({})


def engine_over(tables: Sequence[Table], data: Mapping[str, object] = NOTHING, **settings: Any) -> DuckDB:
    """DuckDB over tables, admitted into memory.

    Args:
        tables: as declared.
        data: those in memory, by the location of their source.
        settings: of the engine.
    """
    return DuckDB(admit(tables, data, None), **settings)


def engine_as_if_admitted(tables: Sequence[Table], data: Mapping[str, Any], *, threads: int | None = None) -> DuckDB:
    """DuckDB over Arrow tables that are taken for admitted, see `as_if_admitted`; in a session that is used again.

    Args:
        tables: as declared.
        data: by the location of their source.
        threads: of the engine; None for one per core.
    """
    engine = DuckDB(as_if_admitted(tables, data), threads=threads)
    engine._sessions = _ReusedSessions(threads)
    return engine


@contextmanager
def compiled_once(made: dict[int, Any] | None = None) -> Iterator[None]:
    """Within it, each question is compiled once, whatever tables hold: half of the work on small ones.

    No unit may come near the limit on joins, for that depends on what tables hold.

    Args:
        made: what was compiled before, to go on with; by the identity of questions, for −0.0 and 0.0 are equal.
    """
    made = {} if made is None else made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compiled, "of", _once(Compiled.of, made))
        patch.setattr(contributions, "_select", _once(contributions._select, made))
        yield


def _once(make: Callable[..., Any], made: dict[int, Any]) -> Callable[..., Any]:
    """What is made of a question, and of whatever else, the first time."""

    def remembered(exact: Exact, *rest: Any) -> Any:
        """The same as then; with the question, so that its identity isn't another's."""
        if id(exact) not in made:
            made[id(exact)] = exact, make(exact, *rest)
        return made[id(exact)][1]

    return remembered


class _ReusedSessions(Sessions):
    """Sessions that are used for many questions, each in a transaction that is rolled back.

    The engine's own are thrown away after one question. To start one takes longer than most questions of the tests do,
    and changes none of their answers.
    """

    def __init__(self, threads: int | None) -> None:
        """Note how many threads a session has."""
        super().__init__(threads=threads, memory=None)
        self._threads = threads

    @contextmanager
    def fresh(self, *, in_order: bool = False) -> Iterator[Session]:
        """A session without rows."""
        session = _session(self._threads, in_order)
        try:
            yield session
        finally:
            session.forget()


class _ReusedSession(Session):
    """A session that forgets."""

    def __init__(self, threads: int | None) -> None:
        """Start it; what it may read is settled at once."""
        super().__init__(threads=threads)
        self._registered: list[str] = []

    def lock(self, *, allowed: Sequence[str] = ()) -> None:
        """Nothing: it was locked when it started, and no question here may read a file."""
        assert not allowed

    def register(self, view: str, table: object) -> None:
        """Make an Arrow table readable, and note that it was."""
        super().register(view, table)
        self._registered.append(view)

    def forget(self) -> None:
        """Undo all that a question made."""
        with suppress(duckdb.TransactionException):  # there is none, if the question failed before it began one
            self.execute("ROLLBACK")
        for view in self._registered:
            self._connection.unregister(view)
        self._registered.clear()


@cache
def _session(threads: int | None, in_order: bool) -> _ReusedSession:
    """The one session with these settings."""
    session = _ReusedSession(threads)
    if in_order:
        session.join_as_written()
    Session.lock(session)
    return session


atexit.register(_session.cache_clear)  # DuckDB complains of what is left


def as_if_admitted(tables: Sequence[Table], data: Mapping[str, Any]) -> Snapshot:
    """A snapshot of Arrow tables that hold values of the declared kinds already, without the time that admission takes.

    Args:
        tables: as declared.
        data: by the location of their source.
    """
    held = {}
    for table in tables:
        ids = identifying(table, tables)
        columns = tuple(HeldColumn.of(column, ids) for column in table.columns)
        rows = data[table.source.location]
        held[table.name.casefold()] = HeldTable(columns=columns, rows=rows.num_rows, digest="", data=rows)
    return Snapshot(tables=held)


def admitted(table: Table, data: object = None) -> dict[str, list[Any]]:
    """The columns of a table as they were admitted, each with its values.

    Args:
        table: as declared, and linked to no other.
        data: the table, if its source is in memory.
    """
    held = admit([table], {table.source.location: data}, None).tables[table.name.casefold()]
    assert held.data is not None
    found: dict[str, list[Any]] = held.data.to_pydict()
    return found
