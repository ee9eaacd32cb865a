"""The sessions of the embedded engine: which of them is kept, which is thrown away, and which is being started.

Starting DuckDB takes longer than a small question does. So one that was used is closed while its user goes on, and the
next question's is started then: while the answer to this one is being stored, or already while a longer one is carried
out. Questions are tried in a session that is kept: there are no rows in it, and what a trial makes is rolled back.

A fork closes the sessions that wait: neither an instance of DuckDB nor a thread that starts or closes one survives it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import RLock, Thread
from weakref import WeakSet

from discreet.duckdb.session import Session

_TURN = RLock()
"""Held while sessions change hands, and during a fork."""


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
        self._leaving: _Next | None = None
        self._trials: dict[bool, Session] = {}
        self._is_first = True
        with _TURN:
            _ALL.add(self)

    @contextmanager
    def fresh(self, *, in_order: bool = False, is_long: bool = False) -> Iterator[Session]:
        """A session for one question, which is thrown away afterwards.

        Args:
            in_order: whether joins are made in the order in which they are written.
            is_long: whether the question takes long enough to start the next session beside it, in what its threads
                leave of the cores. Beside a short one, its reservation and its answer are the better moment: they wait
                for the disk.

        Raises:
            EngineUnavailable: none can be started.
        """
        with _TURN:
            waiting, self._next = self._next, None
        session = (waiting and waiting.session()) or self._start()
        try:
            with _TURN:
                if is_long and not self._is_first:
                    self._next = self._next or _Next(self._start)
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
            leaving, self._leaving = self._leaving, None
            trials, self._trials = self._trials, {}
        for session in (leaving and leaving.session(), waiting and waiting.session(), *trials.values()):
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
        """Close a session that was used while its user goes on, and see that the next one starts after the first.

        A process that asks once, as a command does, needs no more.
        """
        with _TURN:
            is_first, self._is_first = self._is_first, False
            if self._next is None:
                self._next = _Next(None if is_first else self._start, session)
                return
            before, self._leaving = self._leaving, _Next(None, session)
        if before is not None:
            before.session()


_ALL: WeakSet[Sessions] = WeakSet()


class _Next:
    """A session that is being started, in a thread of its own.

    Args:
        start: starts it; None for no session.
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
        with suppress(Exception):  # the question that needs one tries again, and hears why
            self._session = None if start is None else start()


def _close_all() -> None:
    """Before a fork: close what waits, and let no thread start anything until it is over."""
    _TURN.acquire()
    for each in list(_ALL):
        each.close()


if hasattr(os, "register_at_fork"):  # Windows doesn't fork
    os.register_at_fork(before=_close_all, after_in_parent=_TURN.release, after_in_child=_TURN.release)
