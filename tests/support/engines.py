"""Engines over tables that are admitted into memory, or that are taken for admitted.

Tests open engines here, so that those of the conformance kit hold for whichever is being tried.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pytest

from discreet.duckdb.session import Session
from discreet.engine import Engine
from discreet.engine.duckdb import DuckDB, contributions, engine
from discreet.engine.duckdb.contributions import Compiled
from discreet.engine.duckdb.reading import Reading
from discreet.engine.duckdb.sessions import Sessions
from discreet.query.ir import Exact
from discreet.tables import Table
from discreet.tables.admission import HeldColumn, HeldTable, Snapshot, admit, identifying
from discreet.tables.schema.spark import SparkConnect
from support.hashes import HashOrder
from support.parted import as_declared

NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Tried:
    """An engine that tests try.

    Args:
        opened: makes it of a snapshot; `threads` and other settings are for it to heed or not.
        order: of a question, how it ranks what a unit over its limits keeps: the one choice that is the engine's own.
        hurry: lets it answer many small questions sooner, where it can.
    """

    opened: Callable[..., Engine]
    order: Callable[[Exact], Callable[[Any, tuple[Any, ...]], int]]
    hurry: Callable[[Any, int | None], object] = lambda *_: None


def _keep_a_session(opened: DuckDB, threads: int | None) -> None:
    """Ask in a session that is used again."""
    opened._sessions = _ReusedSessions(threads=threads, memory=None)


def _on_sail(snapshot: Snapshot, *, threads: int | None = None, **_: Any) -> Engine:
    """The engine that asks a cluster, with Sail in this process in the cluster's place."""
    pytest.importorskip("pysail", reason="Sail isn't installed: pip install 'discreet[spark]'")
    from discreet.engine.spark import Spark

    return Spark(snapshot, SparkConnect(remote="local", tasks=threads))


EMBEDDED = Tried(DuckDB, HashOrder, _keep_a_session)
SPARK = Tried(_on_sail, HashOrder, _keep_a_session)
_TRIED = [EMBEDDED]


@contextmanager
def trying(engine: Tried) -> Iterator[None]:
    """Within it, tests try this engine."""
    _TRIED.append(engine)
    try:
        yield
    finally:
        _TRIED.pop()


def order_of(question: Exact) -> Callable[[Any, tuple[Any, ...]], int]:
    """How the engine that is tried ranks what a unit over its limits keeps."""
    return _TRIED[-1].order(question)


def engine_on(snapshot: Snapshot, **settings: Any) -> Engine:
    """An engine on a snapshot; the embedded one, unless another is tried."""
    return _TRIED[-1].opened(snapshot, **settings)


def engine_over(tables: Sequence[Table], data: Mapping[str, object] = NOTHING, **settings: Any) -> Engine:
    """An engine over tables, admitted into memory.

    Args:
        tables: as declared.
        data: those in memory, by the location of their source.
        settings: of the engine.
    """
    return engine_on(admit(tables, data, None), **settings)


def engine_as_if_admitted(tables: Sequence[Table], data: Mapping[str, Any], *, threads: int | None = None) -> Engine:
    """An engine over Arrow tables that are taken for admitted, see `as_if_admitted`.

    Args:
        tables: as declared.
        data: by the location of their source.
        threads: of the engine; None for one per core.
    """
    opened = engine_on(as_if_admitted(tables, data), threads=threads)
    _TRIED[-1].hurry(opened, threads)
    return opened


@contextmanager
def compiled_once(made: dict[Any, Any] | None = None) -> Iterator[None]:
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


def _once(make: Callable[..., Any], made: dict[Any, Any]) -> Callable[..., Any]:
    """What is made of a question, and of whatever else, the first time; of a snapshot, for each way to read it."""

    def remembered(exact: Exact, *rest: Any) -> Any:
        """The same as then; with the question, so that its identity isn't another's."""
        of, *_ = rest  # a snapshot, or the views of one
        key = id(exact), str(Reading.of(exact, of)) if isinstance(of, Snapshot) else of
        if key not in made:
            made[key] = exact, make(exact, *rest)
        return made[key][1]

    return remembered


def keep_sessions(patch: pytest.MonkeyPatch) -> None:
    """Admit the tables of many accounts, and ask their questions, in few instances of DuckDB.

    To start one takes longer than a small question does, and an account starts three. What sessions are for (that
    nothing of one question is left for the next, nor open to it) is tested where they are their own.

    Args:
        patch: that undoes it.
    """
    patch.setattr(engine, "Sessions", _ReusedSessions)
    patch.setattr(import_module("discreet.tables.admission.admit"), "Session", _admitting)
    for name in ("unit_ceiling", "unit_sizes"):
        patch.setattr(import_module(f"discreet.tables.admission.{name}"), "Session", _counting)


class _ReusedSessions(Sessions):
    """Sessions that are used for many questions, each in a transaction that is rolled back.

    The engine's own are thrown away after one question. To start one takes longer than most questions of the tests do,
    and changes none of their answers.
    """

    def __init__(self, *, threads: int | None, memory: int | None) -> None:
        super().__init__(threads=threads, memory=memory)
        self._threads = threads

    def fresh(self, *, in_order: bool = False, is_long: bool = False) -> AbstractContextManager[Session]:
        """A session without rows."""
        del is_long  # there is none to start
        return _taken(self._threads, in_order, in_row_order=False)

    def trial(self, *, in_order: bool = False) -> AbstractContextManager[Session]:
        """Another."""
        return self.fresh(in_order=in_order)


def _admitting(*, in_row_order: bool | None = None) -> AbstractContextManager[Session]:
    """A session for admissions; one of its own for a table in place, of which more is set than can be later."""
    return Session() if in_row_order is None else _counting(in_row_order=in_row_order)


def _counting(*, in_row_order: bool = False) -> AbstractContextManager[Session]:
    """A session that counts the rows of units."""
    return _taken(None, in_order=False, in_row_order=in_row_order)


class _ReusedSession(Session):
    """A session that forgets, and is locked from the start, when it may open the files of tests.

    Where one elsewhere is to be opened, another session stands in for it.
    """

    def __init__(self, threads: int | None, *, in_order: bool, in_row_order: bool) -> None:
        """Start it; what it may read is settled at once."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", _FILES)  # it outlives the test, which may have a folder of its own
            super().__init__(threads=threads, in_row_order=in_row_order)
        self._settings = {"threads": threads, "in_row_order": in_row_order}
        self._in_order = in_order
        self._registered: list[str] = []
        self._own = self._connection
        self._other: Session | None = None
        self._is_shared = False
        self._settle(self)
        for setting in (
            f"allowed_directories = ['{_FILES}', '/proc/self/fd/', '/dev/fd/']",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            super().execute(f"SET {setting}")

    def _settle(self, session: Session) -> None:
        """Settle what can't be changed once a session is locked."""
        Session.execute(session, "SET TimeZone = 'UTC'")
        if self._in_order:
            Session.join_as_written(session)

    def join_as_written(self) -> None:
        """Nothing: it does so from the start, or never."""

    def hold_arrays_to_size(self, aggregates: int) -> None:
        """Nothing: it holds what tests ask of it."""

    def lock(self, *, allowed: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
        """Nothing where no file elsewhere is to be opened."""
        if not all(os.path.realpath(path).startswith(_FILES) for path in (*allowed, *folders)):
            self._other = Session(**self._settings)  # type: ignore[arg-type]  # as it was started itself
            self._settle(self._other)
            self._other.lock(allowed=allowed, folders=folders)
            self._connection = self._other._connection

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement, unless it is what every session here begins with."""
        is_begun = sql == "SET TimeZone = 'UTC'" or (sql == _BEGIN and self._other is None)
        return [] if is_begun else super().execute(sql, parameters)

    def begin(self) -> None:
        """Begin what can be forgotten."""
        super().execute(_BEGIN)

    def compute_in_callers(self) -> int:
        """As many callers as it would be: all settings are settled."""
        self._is_shared = True
        super().execute("ROLLBACK")  # in which what the callers make couldn't be seen
        return self._settings["threads"] or 2

    def register(self, view: str, table: object) -> None:
        """Make an Arrow table readable, and note that it was."""
        super().register(view, table)
        self._registered.append(view)

    def forget(self) -> None:
        """Undo all that a question made."""
        if self._other is not None:
            self._other.close()
            self._connection, self._other = self._own, None
            self._registered.clear()
        if self._is_shared:
            for (table,) in self.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary"):
                self.execute(f"DROP TABLE {table}")
            self._is_shared = False
            super().execute(_BEGIN)
        self.execute("ROLLBACK")
        for view in self._registered:
            self._connection.unregister(view)
        self._registered.clear()


_BEGIN = "BEGIN TRANSACTION"
_FILES = os.path.join(os.path.realpath(tempfile.gettempdir()), "")  # noqa: PTH118 — a Path drops the slash
"""The folder that files of tests lie in."""

_IDLE: dict[tuple[int | None, bool, bool], list[_ReusedSession]] = defaultdict(list)
"""Sessions that nobody uses, by their settings."""


@contextmanager
def _taken(threads: int | None, in_order: bool, *, in_row_order: bool) -> Iterator[Session]:
    """A session that nobody else uses meanwhile."""
    idle = _IDLE[threads, in_order, in_row_order]
    try:
        session = idle.pop()
    except IndexError:
        session = _ReusedSession(threads, in_order=in_order, in_row_order=in_row_order)
    session.begin()
    try:
        yield session
    finally:
        session.forget()
        idle.append(session)


atexit.register(_IDLE.clear)  # DuckDB complains of what is left
if hasattr(os, "register_at_fork"):  # Windows doesn't fork
    os.register_at_fork(before=_IDLE.clear)  # no instance of DuckDB survives it


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
        held[table.name.casefold()] = HeldTable(columns=columns, rows=rows.num_rows, digest="", data=(rows,))
    return as_declared(Snapshot(tables=held), tables)


def admitted(table: Table, data: object = None) -> dict[str, list[Any]]:
    """The columns of a table as they were admitted, each with its values.

    Args:
        table: as declared, and linked to no other.
        data: the table, if its source is in memory.
    """
    held = admit([table], {table.source.location: data}, None).tables[table.name.casefold()]
    found: dict[str, list[Any]] = held.whole().to_pydict()
    return found
