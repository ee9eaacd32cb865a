"""The embedded engine: DuckDB over a snapshot, its expressions compiled by Ibis, and the sessions that it asks in.

Starting DuckDB takes longer than a small question does. So the next question's session is started while the answer to
this one is being stored, and questions are tried in a session that is kept: there are no rows in it, and what a trial
makes is rolled back.

A fork closes the sessions that wait: neither an instance of DuckDB nor a thread that starts one survives it.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from threading import RLock, Thread
from typing import Any, ClassVar
from weakref import WeakSet

from discreet.duckdb.session import Session
from discreet.engine.duckdb.aggregation import SOURCE_ROWS, by_group, in_order, result_of
from discreet.engine.duckdb.contribution_limits import limit_contributions
from discreet.engine.duckdb.contributions import Compiled, make_contributions, most_rows, rows_in
from discreet.engine.duckdb.scan_views import (
    RawViews,
    check_unique,
    held_in,
    make_scan_view,
    raw_views_of,
    without_rows,
)
from discreet.engine.interface import ExactResult, check_capability
from discreet.engine.relation_compiler import brings_together
from discreet.errors import DiscreetError, EngineUnavailable, QuestionFailed
from discreet.query.ir import Exact
from discreet.tables import Table
from discreet.tables.admission import Snapshot
from discreet.tables.schema.dataset import CHOSEN_BY

_TURN = RLock()
"""Held while sessions change hands, and during a fork."""

_MOST_PREPARED = 64
"""How many questions are remembered from when they are prepared until they are run."""

MOST_ROWS = 10_000_000
"""A public table with more rows isn't looked through for values: somebody waits for a plan."""

_MOST_KNOWN = 64
"""Of how many public tables it is remembered what they hold."""


class DuckDB:
    """The tables of a snapshot, read by DuckDB; an `Engine`.

    Each question has an instance of its own, so that questions can't disturb each other, nor a failure outlive the
    question that caused it.

    Args:
        snapshot: the tables as they were admitted.
        threads: how many to use; None for one per core. Answers don't depend on it.
        memory: bytes before spilling to disk; None for 60 % of what there is.
    """

    chosen_by: ClassVar[str] = CHOSEN_BY

    def __init__(self, snapshot: Snapshot, *, threads: int | None = None, memory: int | None = None) -> None:
        """Keep the snapshot; its files are opened when they are needed."""
        self._snapshot = snapshot
        self._sessions = Sessions(threads=threads, memory=memory)
        self._unique: set[Table] = set()
        self._known: dict[Table, Table] = {}
        self._prepared: OrderedDict[int, tuple[Exact, Compiled]] = OrderedDict()

    def __repr__(self) -> str:
        return "<DuckDB engine>"

    def check(self, table: Table) -> None:
        """Check what a public table declares as unique. See `Engine.check`."""
        if not table.unique or table in self._unique:
            return
        with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
            check_unique(session, table, raw_views_of(session, [table], snapshot))
        self._unique.add(table)

    def known(self, table: Table) -> Table:
        """A public table with what it holds. See `Engine.known`."""
        if not table.public:
            raise TypeError("what a private table holds is nobody's to list")
        known = self._known.get(table)
        if self._snapshot.tables[table.name.casefold()].rows > MOST_ROWS:
            return replace(table, size=self._snapshot.tables[table.name.casefold()].rows)
        if known is None:
            with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
                known = held_in(session, table, raw_views_of(session, [table], snapshot))
            self._known[table] = known
            if len(self._known) > _MOST_KNOWN:  # each analyst may have bounds of their own
                self._known.pop(next(iter(self._known)), None)
        return known

    def prepare(self, exact: Exact) -> None:
        """Carry out a question on tables without rows. See `Engine.prepare`."""
        check_capability(exact, self.chosen_by)
        try:
            compiled = Compiled.of(exact)
            with self._sessions.trial(in_order=_meet(compiled.exact)) as session:
                _groups(session, compiled, without_rows(session, exact.tables))
            self._remember(exact, compiled)
        except (DiscreetError, ImportError):
            raise
        except Exception as error:
            raise EngineUnavailable(
                f"the engine can't do what the question takes: {error}",
                hint="mend what it says, or ask otherwise; nothing was charged",
            ) from error

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question. See `Engine.run`.

        Raises:
            InvalidArgument: the plan itself is beyond this engine: raised before any data is touched, and a matter
                of the plan alone.
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        check_capability(exact, self.chosen_by)
        _, compiled = self._prepared.pop(id(exact), (None, None))
        compiled = compiled or Compiled.of(exact)
        try:
            return self._answer(compiled)
        except Exception:  # noqa: BLE001, S110 — the wall: whatever the cause, it may quote a row, so it ends here
            pass
        raise QuestionFailed  # outside the handler, so that no cause or context is chained to it

    def close(self) -> None:
        """Release the tables in memory, and sessions. Files aren't held between questions."""
        self._sessions.close()
        self._snapshot = Snapshot(tables={})

    def _answer(self, compiled: Compiled) -> ExactResult:
        """Ask DuckDB. What this raises must not get out of `run`."""
        exact = compiled.exact
        with (
            self._snapshot.held_open(exact.tables) as snapshot,
            self._sessions.fresh(in_order=_meet(exact)) as session,
        ):
            raw = raw_views_of(session, exact.tables, snapshot)
            session.execute("BEGIN TRANSACTION")
            groups, counts = _groups(session, compiled, raw)
        return result_of(exact, groups, counts)

    def _remember(self, exact: Exact, compiled: Compiled) -> None:
        """Keep a question for when it is run: that very object, for −0.0 and 0.0 are equal but not the same."""
        self._prepared[id(exact)] = exact, compiled
        if len(self._prepared) > _MOST_PREPARED:
            self._prepared.popitem(last=False)


def _meet(exact: Exact) -> bool:
    """Whether several private tables meet in a question."""
    return len([scan for scan in exact.scans if scan.owner is not None]) > 1


def _groups(
    session: Session, compiled: Compiled, raw: RawViews
) -> tuple[Sequence[tuple[Any, ...]], Sequence[Sequence[tuple[Any, ...]]]]:
    """What DuckDB answers to a question about these tables: its groups, and the counts of each histogram.

    It is asked within a transaction.
    """
    exact, views = compiled.exact, compiled.views
    keep = brings_together(exact.source)
    for scan in views:
        make_scan_view(session, scan, raw)
    make_contributions(session, exact, compiled.shape, views, keep=keep, rows=compiled.rows)
    rows = rows_in(session, SOURCE_ROWS) if keep else most_rows(session, exact, views, raw)
    narrowed = () if keep else tuple(scan.name for scan in views if scan.units)
    shape = replace(compiled.shape, rows=rows, scans=narrowed)
    statements = limit_contributions(shape)
    for statement in statements.setup:
        session.execute(statement)
    groups = session.execute(f"{statements.query} {in_order(len(exact.keys))}")
    return groups, [session.execute(by_group(query, len(exact.keys))) for query in statements.histograms]


# ── Sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Sessions:
    """Hands out sessions; safe to use from several threads.

    Guarantee: a session in which rows can be read is used for one question alone.

    Args:
        threads: of each session; None for one per core.
        memory: bytes of each before it spills; None for 60 % of what there is.
    """

    def __init__(self, *, threads: int | None, memory: int | None) -> None:
        self._start = partial(Session, threads=threads, memory=memory)
        self._next: _Next | None = None
        self._trials: dict[bool, Session] = {}
        self._is_first = True
        with _TURN:
            _ALL.add(self)

    @contextmanager
    def fresh(self, *, in_order: bool = False) -> Iterator[Session]:
        """A session of one's own, which is thrown away afterwards.

        Args:
            in_order: whether joins are made in the order in which they are written.

        Raises:
            EngineUnavailable: none can be started.
        """
        with _TURN:
            waiting, self._next = self._next, None
        session = (waiting and waiting.session()) or self._start()
        try:
            if in_order:
                session.join_as_written()
            yield session
        finally:
            self._leave(session)

    @contextmanager
    def trial(self, *, in_order: bool = False) -> Iterator[Session]:
        """A session that can open no file, in a transaction that is rolled back.

        Guarantee: after a trial without an error a session for the question waits, so starting one can't fail any more,
        unless a thread that asks at the same moment takes it.

        Args:
            in_order: as for `fresh`.

        Raises:
            EngineUnavailable: none can be started.
        """
        with _TURN:
            self._next = self._next or _Next(self._start)
            session = self._trials.pop(in_order, None)
        if session is None or not session.is_whole:
            session = self._start()
            if in_order:
                session.join_as_written()
            session.lock()
        try:
            session.execute("BEGIN TRANSACTION")
            yield session
            session.execute("ROLLBACK")
        except BaseException:
            session.close()
            raise
        with _TURN:
            kept = self._trials.setdefault(in_order, session)  # another thread may have brought one back
        if kept is not session:
            session.close()
        self._await_next()

    def close(self) -> None:
        """Close the sessions that aren't in use."""
        with _TURN:
            waiting, self._next = self._next, None
            trials, self._trials = self._trials, {}
        for session in (waiting and waiting.session(), *trials.values()):
            if session:
                session.close()

    def _await_next(self) -> None:
        """Wait until a session waits.

        Raises:
            EngineUnavailable: none can be started.
        """
        with _TURN:
            waiting = self._next
        if waiting is not None and waiting.session() is not None:
            return
        session = self._start()  # there was none to come, or it couldn't be started, and this will tell why
        with _TURN:
            is_needed = self._next is waiting
            if is_needed:
                self._next = _Next(lambda: session)
        if not is_needed:
            session.close()

    def _leave(self, session: Session) -> None:
        """Close a session that was used while its user goes on, and start the next one if this wasn't the first.

        A process that asks once, as a command does, needs no more.
        """
        with _TURN:
            is_first, self._is_first = self._is_first, False
            if self._next is None:
                self._next = _Next(None if is_first else self._start, session)
                return
        session.close()


_ALL: WeakSet[Sessions] = WeakSet()


class _Next:
    """A session on its way, in a thread of its own.

    Args:
        start: starts it; None if there is to be none.
        used: the one before it, which is closed first.
    """

    def __init__(self, start: Callable[[], Session] | None, used: Session | None = None) -> None:
        self._session: Session | None = None
        # Not a daemon: the process must not exit between the making of a session's directory and its end.
        self._thread = Thread(target=self._run, args=(start, used), name="discreet-session", daemon=False)
        try:
            self._thread.start()
        except RuntimeError:  # there are no threads, or no new ones, because the process is about to exit
            self._run(start, used)

    def session(self) -> Session | None:
        """The session, once it has started; None if there is none, or its directory was swept away."""
        if self._thread.is_alive():
            self._thread.join()
        return self._session if self._session is not None and self._session.is_whole else None

    def _run(self, start: Callable[[], Session] | None, used: Session | None) -> None:
        """Close one, start the other."""
        if used is not None:
            used.close()
        with suppress(Exception):  # the question that needs one tries again, and is told why
            self._session = None if start is None else start()


def _close_all() -> None:
    """Before a fork: close what waits, and let no thread start anything until it is over."""
    _TURN.acquire()
    for each in list(_ALL):
        each.close()


if hasattr(os, "register_at_fork"):  # Windows doesn't fork
    os.register_at_fork(before=_close_all, after_in_parent=_TURN.release, after_in_child=_TURN.release)
