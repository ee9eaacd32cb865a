"""Servers: what all servers on one ledger count together, so that two of them don't give twice as much.

Slots, questions that wait, the processor time that planning took, and what was taken of a day's allowance. None of it
is in the hash chain, because nothing rests on it but that nobody is crowded out. On PostgreSQL slots and places in the
queue are advisory locks of a session: the database lets go of them when the server is gone, however it went, so no
clock and no lease is needed. A ledger in a file has one server, and a second one is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeVar

from discreet.errors import InvalidArgument, LedgerUnavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from discreet.ledger.location import File, Server

_T = TypeVar("_T")

_MINUTE = 60.0
"""How many seconds' worth of planning time may be saved up."""

DAY = 86_400.0
"""How many seconds' worth of an allowance may be saved up."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The amount a subject may take of something, which grows back a little each second.

    Args:
        name: of what.
        a_day: so much in a day; above 0.
    """

    name: str
    a_day: float

    def lasts(self, amount: float) -> float:
        """For how many seconds an amount is what may be taken."""
        return amount * DAY / self.a_day


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the queue, which one question of a subject has.

    Args:
        subject: whose it is.
        number: among the subject's.
        session: in which it was taken; places of a session that ended are free.
    """

    subject: str
    number: int
    session: int


class Servers(Protocol):
    """The counts that are kept together."""

    def slot(self, number: int) -> AbstractContextManager[None]:
        """Have a slot to oneself; waits until no other server has it.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        ...

    def enter(self, subject: str, most: int) -> Place | None:
        """Take a place in the queue; None if the subject has as many as may be.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        ...

    def leave(self, place: Place) -> None:
        """Give a place back."""
        ...

    def planned(self, subject: str, seconds: float, per_minute: float) -> float:
        """Note that planning took so much of the processor; for how many seconds the subject may not plan now.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        ...

    def take(self, subject: str, allowance: Allowance, amount: float) -> float:
        """Take so much of an allowance, if so much is left of it; 0, or in how many seconds it will be.

        Args:
            subject: whose allowance.
            allowance: of what.
            amount: at most what there is a day; below 0 to give it back.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        ...

    def left(self, subject: str, allowance: Allowance) -> float:
        """The rest of an allowance.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def servers_of(url: str, account: str) -> Servers:
    """The counts that the servers of an account share.

    Raises:
        LedgerUnavailable: the ledger is a file, and another server answers from it; or the database can't be reached.
        InvalidArgument: the ledger is on a database of a kind that knows no advisory locks.
    """
    from discreet.ledger.location import File, locate

    location = locate(url)
    if isinstance(location, File):
        return OneServer(location)
    if location.url.get_backend_name() != "postgresql":
        raise InvalidArgument(
            f"several servers can't share the ledger {location}", hint="keep it in a file, or on PostgreSQL"
        )
    return SeveralServers(location, account)


class OneServer:
    """The one server of a ledger in a file: it counts for itself.

    Args:
        file: the ledger. Beside it lies an empty file that is locked for as long as this is open.

    Raises:
        LedgerUnavailable: another server has it.
    """

    def __init__(self, file: File) -> None:
        """Lock the file; the system lets go of it when the process ends, however it ends."""
        self._lock = Lock()
        self._taken: dict[str, set[int]] = {}
        self._until: dict[str, float] = {}
        self._used: dict[tuple[str, str], float] = {}
        self._descriptor = _locked(file)

    @contextmanager
    def slot(self, number: int) -> Iterator[None]:  # noqa: ARG002 — nobody else has it
        """See `Servers.slot`."""
        yield

    def enter(self, subject: str, most: int) -> Place | None:
        """See `Servers.enter`."""
        with self._lock:
            taken = self._taken.setdefault(subject, set())
            free = next((number for number in range(most) if number not in taken), None)
            if free is None:
                return None
            taken.add(free)
            return Place(subject, free, session=0)

    def leave(self, place: Place) -> None:
        """See `Servers.leave`."""
        with self._lock:
            self._taken[place.subject].discard(place.number)

    def planned(self, subject: str, seconds: float, per_minute: float) -> float:
        """See `Servers.planned`."""
        with self._lock:
            now = monotonic()
            until = max(self._until.get(subject, now), now) + seconds * _MINUTE / per_minute
            self._until[subject] = until
            return max(0.0, until - now - _MINUTE)

    def take(self, subject: str, allowance: Allowance, amount: float) -> float:
        """See `Servers.take`."""
        with self._lock:
            used = self._behind(subject, allowance) + allowance.lasts(amount)
            if used <= DAY:
                self._used[subject, allowance.name] = monotonic() + used
            return max(0.0, used - DAY)

    def left(self, subject: str, allowance: Allowance) -> float:
        """See `Servers.left`."""
        with self._lock:
            return allowance.a_day * (1 - self._behind(subject, allowance) / DAY)

    def _behind(self, subject: str, allowance: Allowance) -> float:
        """For how many seconds what was taken isn't there again."""
        return max(0.0, self._used.get((subject, allowance.name), 0.0) - monotonic())

    def close(self) -> None:
        """See `Servers.close`."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1


def _locked(file: File) -> int:
    """A descriptor that holds the lock of the one server; −1 where there are no such locks.

    Not of the ledger itself: closing a second descriptor of that would drop the locks of its transactions.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return -1
    place = file.path.with_name(f"{file.path.name}.serving")
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LedgerUnavailable(f"{place} can't be opened: {os.strerror(error.errno or 0)}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise LedgerUnavailable(
            f"another server is answering from the ledger {file}",
            hint="stop it first; several servers need a ledger on PostgreSQL",
        ) from None
    return descriptor


_TABLE = """
    CREATE TABLE IF NOT EXISTS discreet_planning (
        account varchar(255), subject varchar(255), until double precision NOT NULL, PRIMARY KEY (account, subject)
    )
"""

_PLANNED = """
    INSERT INTO discreet_planning AS known (account, subject, until)
    VALUES (%(account)s, %(subject)s, extract(epoch FROM clock_timestamp()) + %(cost)s)
    ON CONFLICT (account, subject) DO UPDATE SET until = %(cost)s + LEAST(
        GREATEST(known.until, extract(epoch FROM clock_timestamp())),
        extract(epoch FROM clock_timestamp()) + %(most)s
    )
    RETURNING until - extract(epoch FROM clock_timestamp())
"""
"""When the planning done so far is paid off, by the database's clock; setting the clock back blocks nobody for long."""


_ALLOWANCES = """
    CREATE TABLE IF NOT EXISTS discreet_allowance (
        account varchar(255), subject varchar(255), name varchar(255), until double precision NOT NULL,
        PRIMARY KEY (account, subject, name)
    )
"""

_BEHIND = """
    SELECT GREATEST(0, LEAST(%(day)s, COALESCE(max(until) - extract(epoch FROM clock_timestamp()), 0)))
    FROM discreet_allowance WHERE account = %(account)s AND subject = %(subject)s AND name = %(name)s
"""

_TAKEN = """
    INSERT INTO discreet_allowance AS known (account, subject, name, until)
    VALUES (%(account)s, %(subject)s, %(name)s, extract(epoch FROM clock_timestamp()) + %(cost)s)
    ON CONFLICT (account, subject, name) DO UPDATE SET until = %(cost)s + LEAST(
        GREATEST(known.until, extract(epoch FROM clock_timestamp())),
        extract(epoch FROM clock_timestamp()) + %(day)s
    )
    WHERE GREATEST(0, known.until - extract(epoch FROM clock_timestamp())) + %(cost)s <= %(day)s
    RETURNING until
"""
"""When what was taken is available again; nothing is written if too little is left."""

_SETTLED = """
    SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES
        ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_session_timeout', '0'),
        ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3'),
        ('synchronous_commit', 'off')
    ) AS wanted (named, value) ON name = named
"""
"""Settings of a connection: it waits for its turn, however long; every half minute it checks that the other end is
still there, because locks are held until then; and none of this is worth waiting for the disk.
"""


class SeveralServers:
    """The servers of a ledger on PostgreSQL.

    Each slot has a connection of its own, on which it waits for its lock without looking again and again; everything
    else has one. A connection that broke is made anew, and what was held on it is free by then.

    Args:
        server: where the ledger lies.
        account: whose questions are counted.

    Raises:
        LedgerUnavailable: the database can't be reached.
    """

    def __init__(self, server: Server, account: str) -> None:
        from discreet.ledger.store import dedicated_engine

        self._server, self._account = server, account
        self._engine = dedicated_engine(server)
        self._slots: dict[int, _Line] = {}
        self._lock = Lock()
        self._taken: dict[str, set[int]] = {}
        self._session = 0
        self._common = _Line(self._engine, server)
        self._common.do(lambda connection: connection.exec_driver_sql(_TABLE))
        self._common.do(lambda connection: connection.exec_driver_sql(_ALLOWANCES))

    @contextmanager
    def slot(self, number: int) -> Iterator[None]:
        """See `Servers.slot`."""
        line = self._slots.setdefault(number, _Line(self._engine, self._server))
        key = self._key("slot", number)
        line.do(lambda connection: connection.exec_driver_sql("SELECT pg_advisory_lock(%s)", (key,)))
        try:
            yield
        finally:
            with suppress(LedgerUnavailable):  # then the connection is gone, and the lock with it
                line.once(lambda connection: connection.exec_driver_sql("SELECT pg_advisory_unlock(%s)", (key,)))

    def enter(self, subject: str, most: int) -> Place | None:
        """See `Servers.enter`."""
        with self._lock:
            return self._common.do(lambda connection: self._entered(connection, subject, most))

    def _entered(self, connection: Connection, subject: str, most: int) -> Place | None:
        """A place that no server has given yet. A session gets the same lock twice, so its own are known here."""
        if self._session != self._common.session:  # all that was taken before went with the connection
            self._session, self._taken = self._common.session, {}
        taken = self._taken.setdefault(subject, set())
        for number in range(most):
            key = self._key("place", subject, number)
            if number not in taken and connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", (key,)).scalar():
                taken.add(number)
                return Place(subject, number, self._session)
        return None

    def leave(self, place: Place) -> None:
        """See `Servers.leave`."""
        key = self._key("place", place.subject, place.number)
        with self._lock, suppress(LedgerUnavailable):
            if place.session == self._common.session:
                self._common.once(
                    lambda connection: connection.exec_driver_sql("SELECT pg_advisory_unlock(%s)", (key,))
                )
                self._taken[place.subject].discard(place.number)

    def planned(self, subject: str, seconds: float, per_minute: float) -> float:
        """See `Servers.planned`."""
        cost, most = seconds * _MINUTE / per_minute, 2 * _MINUTE
        values = {"account": self._account, "subject": subject, "cost": cost, "most": most}
        with self._lock:
            behind = self._common.do(lambda connection: connection.exec_driver_sql(_PLANNED, values).scalar_one())
        return max(0.0, float(behind) - _MINUTE)

    def take(self, subject: str, allowance: Allowance, amount: float) -> float:
        """See `Servers.take`."""
        cost = allowance.lasts(amount)
        values = {"account": self._account, "subject": subject, "name": allowance.name, "cost": cost, "day": DAY}

        def took(connection: Connection) -> float:
            if connection.exec_driver_sql(_TAKEN, values).first() is not None:
                return 0.0
            return max(0.0, self._behind(connection, values) + cost - DAY)

        with self._lock:
            return self._common.do(took)

    def left(self, subject: str, allowance: Allowance) -> float:
        """See `Servers.left`."""
        values = {"account": self._account, "subject": subject, "name": allowance.name, "day": DAY}
        with self._lock:
            behind = self._common.do(lambda connection: self._behind(connection, values))
        return allowance.a_day * (1 - behind / DAY)

    def _behind(self, connection: Connection, values: Mapping[str, object]) -> float:
        """For how many seconds what was taken isn't there again."""
        return float(connection.exec_driver_sql(_BEHIND, values).scalar() or 0.0)

    def close(self) -> None:
        """See `Servers.close`."""
        for line in (self._common, *self._slots.values()):
            line.drop()
        self._engine.dispose()

    def _key(self, *of: object) -> int:
        """The number of a lock: 64 bits of a digest, since locks are of the whole database."""
        named = "\0".join(map(str, ("discreet", self._account, *of)))
        return int.from_bytes(sha256(named.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


class _Line:
    """A connection that is kept, and made anew where it broke.

    Args:
        engine: makes it.
        server: where it leads.
    """

    def __init__(self, engine: Engine, server: Server) -> None:
        self._engine, self._server = engine, server
        self._connection: Connection | None = None
        self.session = 0
        """How many connections have been made."""

    def do(self, work: Callable[[Connection], _T]) -> _T:
        """Work on it; on a new one, if this one broke since it was last used.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        if self._connection is not None:
            with suppress(LedgerUnavailable):
                return self.once(work)
        return self.once(work)

    def once(self, work: Callable[[Connection], _T]) -> _T:
        """Work on it, and drop it where that fails.

        Raises:
            LedgerUnavailable: the database can't be reached.
        """
        from sqlalchemy.exc import DBAPIError

        from discreet.ledger.database_errors import typed

        try:
            if self._connection is None:
                self._connection = self._engine.connect()
                self._connection.exec_driver_sql(_SETTLED)
                self.session += 1
            return work(self._connection)
        except DBAPIError as error:
            self.drop()
            raise typed(error, self._server) from None

    def drop(self) -> None:
        """Let go of it, and of all locks that are held on it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
                connection.close()
