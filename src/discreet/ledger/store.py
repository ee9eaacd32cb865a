"""The store: transactions on the database that holds a ledger.

SQLite: a rollback journal rather than a write-ahead log, so that at rest the ledger is one file and a copy of it is
whole; `synchronous=EXTRA`, so that a commit returns only once the entry, the journal's removal and the folder are on
the disk; `BEGIN IMMEDIATE`, so that one process at a time decides and appends. Servers: a lock on the head's row, and
the unique number of entries, which fails the second of two writers even where that lock does nothing.

No connection to a file outlives its transaction, so none is shared by threads or inherited through a fork, where
SQLite's locks would no longer hold. To a server one connection is kept, because making one takes longer than a debit;
a forked child leaves it to its parent.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TypeVar

from sqlalchemy import Connection, Engine, NullPool, Pool, create_engine, inspect, select
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from discreet.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable
from discreet.ledger.chain import Chain, Head, Walked, begin_chain
from discreet.ledger.database import ENTRY, LEDGER, METADATA
from discreet.ledger.database_errors import lost_race, missing, typed
from discreet.ledger.large_answer_stores import LargeFiles, LargeRows
from discreet.ledger.location import File, Server
from discreet.private_files import CLOSE, IS_OPEN, is_open, link

_T = TypeVar("_T")

_CREATION_LOCK = 0x64697363
"""The number of the lock for which creators of ledgers on one PostgreSQL server queue: "disc"."""

_TURN = RLock()
"""Held during a transaction and during a fork: a child must not start in the middle of a transaction, because its
SQLite would take the parent's locks for its own.
"""

if hasattr(os, "register_at_fork"):  # Windows doesn't fork
    os.register_at_fork(before=_TURN.acquire, after_in_parent=_TURN.release, after_in_child=_TURN.release)


class Store:
    """The database that holds a ledger.

    Args:
        location: where it lies.
        patience: for how many seconds to wait for other processes' locks.

    Raises:
        InvalidArgument: no database of that kind is known.
        LedgerUnavailable: its driver isn't installed.
    """

    def __init__(self, location: File | Server, patience: float) -> None:
        """Remember where; nothing is opened yet."""
        self.location = location
        self._patience = patience
        self._engine = _file_engine() if isinstance(location, File) else _server_engine(location)
        self._process = os.getpid()
        self._inherited: list[Pool] = []
        self.seen: Head | None = None
        self._walked: Walked = {}
        self.large = LargeFiles(location.large) if isinstance(location, File) else LargeRows(self.plainly)
        """Where large parts of answers are kept."""

    def read(self, work: Callable[[Chain], _T], *, anew: bool = False) -> _T:
        """Look at one consistent state of the ledger.

        Args:
            work: what to look at.
            anew: don't ask whether the ledger went on from what was seen before; for who checks the whole of it.

        Raises:
            LedgerError: it can't be read.
        """
        return self._try(lambda: self._chained(work, write=False, anew=anew))

    def write(self, work: Callable[[Chain], _T]) -> _T:
        """Decide and append, alone. What was appended is on the disk when this returns, and not at all if it raises.

        Only where the disk or the connection fails in the middle of the commit can it raise and yet have appended.

        Args:
            work: may be called again, after another writer came first.

        Raises:
            LedgerError: it can't be written.
        """
        return self._try(lambda: self._chained(work, write=True))

    def exists(self) -> bool:
        """Whether the database holds a ledger.

        Raises:
            LedgerCorrupt: the file is empty, or half of the tables are gone.
            LedgerUnavailable: the file is something else, or the database can't be reached.
        """
        if isinstance(self.location, File) and not _file_exists(self.location):
            return False
        tables = self.plainly(lambda connection: set(inspect(connection).get_table_names()))
        lost = {LEDGER.name, ENTRY.name} - tables
        if isinstance(self.location, File) and len(lost) > 1:
            raise LedgerUnavailable(f"{self.location} is an SQLite database, but not a ledger", hint="check the path")
        if len(lost) == 1:
            raise LedgerCorrupt(f"the ledger {self.location} is missing its table {lost.pop()}")
        return not lost

    def plainly(self, work: Callable[[Connection], _T], *, write: bool = False) -> _T:
        """Work on the database itself, where there may be no chain yet.

        Raises:
            LedgerError: it can't be read or written.
        """
        return self._try(lambda: self._once(work, write=write))

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be written, because its URL says so."""
        return isinstance(self.location, File) and self.location.read_only

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _try(self, transaction: Callable[[], _T]) -> _T:
        """Carry out a transaction, again if another writer came first, and translate what the database raises."""
        deadline = monotonic() + self._patience
        while True:
            if not _TURN.acquire(timeout=self._patience):
                raise LedgerUnavailable(
                    f"the ledger {self.location} is locked by other threads", hint="ask again later"
                )
            try:
                return transaction()
            except DBAPIError as error:
                if monotonic() > deadline or not lost_race(error, self.location):
                    raise typed(error, self.location) from None
            finally:
                _TURN.release()

    def _chained(self, work: Callable[[Chain], _T], *, write: bool, anew: bool = False) -> _T:
        """One transaction on the chain."""

        def on(connection: Connection) -> tuple[_T, Head]:
            chain = Chain(connection, lock=write, large=self.large, walked=self._walked)
            if not anew:
                self._check_progress(chain.head)
            return work(chain), chain.head

        result, head = self._once(on, write=write)
        if not anew:
            self.seen = head
        return result

    def _once(self, work: Callable[[Connection], _T], *, write: bool) -> _T:
        """One transaction."""
        with self._transaction(write=write) as connection:
            return work(connection)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Connection]:
        """A connection inside a transaction; committed at the end of a write, and rolled back in any other case."""
        self._leave_inherited()
        if isinstance(self.location, File):
            _CONNECTING.set((self.location, self._patience))
        with self._engine.connect() as connection:
            if isinstance(self.location, File):
                connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            elif write and connection.dialect.name == "postgresql":
                _prepare_postgres(connection, self._patience)
            yield connection
            if write:
                connection.commit()

    def _leave_inherited(self) -> None:
        """In a forked child, put the connection aside, neither used nor closed: on the server it is the parent's."""
        if self._process != os.getpid():
            self._inherited.append(self._engine.pool)
            self._engine.dispose(close=False)
            self._process = os.getpid()

    def _check_progress(self, head: Head) -> None:
        """Notice that a running ledger was exchanged for an older copy, which would forget what was spent since."""
        seen = self.seen
        if seen is None or head.seq > seen.seq or (head.seq, head.hash) == (seen.seq, seen.hash):
            return
        raise LedgerCorrupt(
            f"the ledger {self.location} went back in time: it had {seen.seq} entries, and now has {head.seq}",
            hint="an older copy was put in its place, which lacks what was asked since then",
        )


def _file_exists(file: File) -> bool:
    """Whether the file is there.

    The file itself isn't opened: closing it again would drop the locks of this process's other connections.
    """
    try:
        size = file.path.stat().st_size
    except FileNotFoundError:
        return False
    except OSError as error:
        raise LedgerUnavailable(f"the ledger {file} can't be opened: {os.strerror(error.errno or 0)}") from None
    if size == 0:
        raise LedgerCorrupt(
            f"the ledger {file} is empty: what was spent is gone from it",
            hint="restore it from a copy; only if nothing was ever asked may you remove it",
        )
    return True


_CONNECTING: ContextVar[tuple[File, float]] = ContextVar("connecting")
"""The file of the next connection, and how many seconds it waits for locks."""


@cache
def _file_engine() -> Engine:
    """The engine for SQLite that never makes a file, and leaves transactions to us.

    There is one for all files, since an engine compiles statements for itself; it keeps no connection.
    """
    return create_engine("sqlite://", creator=_connect_to_file, poolclass=NullPool, hide_parameters=True)


def _connect_to_file() -> sqlite3.Connection:
    """A connection to the file that a transaction is about to begin on."""
    file, patience = _CONNECTING.get()
    uri = f"{file.path.as_uri()}?mode={'ro' if file.read_only else 'rw'}"
    connection = sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None)
    # Text that tampering has left undecodable is read nevertheless, so that its hash is found not to fit.
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: through the disk's own cache
        connection.execute("PRAGMA secure_delete = ON")  # of what is written over, nothing stays in the file
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _server_engine(server: Server) -> Engine:
    """An engine for a database on a server."""
    return _connecting(
        server,
        pool_size=1,  # a process does one transaction at a time
        max_overflow=0,
        pool_pre_ping=True,  # a server may have been restarted since
        isolation_level="READ COMMITTED",
    )


def dedicated_engine(server: Server) -> Engine:
    """An engine whose connections are shared by nobody, for what is no part of the chain; nothing of it is durable.

    Raises:
        LedgerUnavailable: its driver isn't installed.
    """
    return _connecting(server, poolclass=NullPool, isolation_level="AUTOCOMMIT")


def _connecting(server: Server, **settings: object) -> Engine:
    """An engine for a database on a server, with these settings."""
    # Else a database in SQL_ASCII answers in bytes.
    try:
        return create_engine(server.url, hide_parameters=True, connect_args={"client_encoding": "utf8"}, **settings)
    except NoSuchModuleError:
        raise InvalidArgument(
            f"the database of {server} isn't supported", hint="use a path, or postgresql://…"
        ) from None
    except ModuleNotFoundError as error:
        raise LedgerUnavailable(
            f"the ledger {server} needs the package {error.name}", hint='pip install "discreet[postgres]"'
        ) from None


def _prepare_postgres(connection: Connection, patience: float) -> None:
    """Wait for the disk even where the server was told not to, and not for ever for a lock."""
    connection.exec_driver_sql(
        "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(patience * 1000))}")


def open_store(location: File | Server, patience: float, *, create: bool) -> Store:
    """The store of a ledger that is there, or of a new one, unless another process makes it first.

    A file is written beside its place under another name, and linked to its place when it is whole and on the disk:
    so a process killed half way leaves no half ledger, a ledger that is there is never overwritten, and an empty file
    in its place is always damage.

    Args:
        location: where it is, or shall be.
        patience: for how many seconds to wait for other processes' locks.
        create: make a new one if there is none.

    Raises:
        LedgerError: it isn't there, can't be written there, or can't be read.
    """
    store = Store(location, patience)
    with ExitStack() as undo:
        undo.callback(store.close)
        if not store.exists():
            if not create:
                raise missing(location)
            if isinstance(location, File):
                _create_file(location, patience)
            else:
                store.plainly(_create_tables, write=True)
        store.read(lambda chain: chain.head)  # checks the format
        if isinstance(location, File) and is_open(location.path):
            raise LedgerUnavailable(f"the ledger {location} {IS_OPEN}", hint=CLOSE)
        undo.pop_all()
    return store


def _create_file(file: File, patience: float) -> None:
    """Make a ledger file."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.path.name}.", suffix=".new", dir=file.path.parent)
        os.close(handle)
        draft = Path(name)
        try:
            Store(File(draft), patience).plainly(_create_tables, write=True)
            link(draft, file.path)
        finally:
            draft.unlink()
            draft.with_name(f"{draft.name}-journal").unlink(missing_ok=True)  # left if the disk is full
    except OSError as error:
        raise LedgerUnavailable(
            f"no ledger can be made at {file}: {os.strerror(error.errno or 0)}",
            hint="its folder must exist and be writable, on a disk that supports hard links",
        ) from None


def _create_tables(connection: Connection) -> None:
    """Make the tables and the first entry."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})")
    METADATA.create_all(connection)
    if connection.execute(select(LEDGER.c.seq)).first() is None:  # no other process came first
        begin_chain(connection)
