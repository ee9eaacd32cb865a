"""The database of a ledger: where it lies, its tables, and what it complains of as our errors.

The tables are the ledger's head, its entries, and an index of what answers are about.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    bindparam,
    insert,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from discreet.errors import DiscreetError, Hint, InvalidArgument, LedgerCorrupt, LedgerMissing, LedgerUnavailable
from discreet.loopback import is_loopback

# ── Where it lies ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class File:
    """An SQLite file.

    Args:
        path: absolute, so that a change of folder doesn't lose it.
        read_only: whether nothing may be written.
        place: where it will lie once it is finished; None for here.
    """

    path: Path
    read_only: bool = False
    place: Path | None = field(default=None, repr=False)

    @property
    def large(self) -> Path:
        """The folder beside it, with what is large of answers."""
        place = self.place or self.path
        return place.with_name(f"{place.name}.answers")

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Server:
    """A database on a server.

    Args:
        url: of SQLAlchemy's kind.
    """

    url: URL

    def __str__(self) -> str:
        """The URL without its password, for messages."""
        return self.url.render_as_string(hide_password=True)


def locate(url: str | os.PathLike[str]) -> File | Server:
    """Read where a ledger lies.

    A path means an SQLite file; so does `sqlite:///path`, which may say `?mode=ro` to be read only. Any other URL
    goes to SQLAlchemy.

    Raises:
        InvalidArgument: it can't be read, is in memory (an account must outlive the process that keeps it), asks SQLite
            for anything that would weaken its locks, or is on another machine whose certificate isn't checked.

    Examples:
        >>> locate("/data/census.ledger")
        File(path=PosixPath('/data/census.ledger'), read_only=False)
    """
    text = os.fspath(url)
    if not text or "\0" in text:
        raise InvalidArgument("a ledger needs a path or a database URL")
    if text == ":memory:":
        raise _in_memory()
    if "://" not in text:
        return File(Path(text).absolute())
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError):  # whose text may hold a password
        raise InvalidArgument("the ledger's URL can't be read", hint="postgresql://user@host/database") from None
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    if parsed.drivername in {"postgresql", "postgres"}:  # SQLAlchemy 2.0 would take a driver that isn't installed
        parsed = parsed.set(drivername="postgresql+psycopg")
    _check_encrypted(parsed)
    return Server(parsed)


def _check_encrypted(url: URL) -> None:
    """Refuse a server on another machine whose certificate isn't checked: all answers, and who asks, cross the network.

    libpq's own default takes any certificate, and none. What decides where a connection goes and whether it checks is
    read as libpq reads it: of the URL, else of the environment.

    Raises:
        InvalidArgument: it isn't.
    """
    names = {"host": "PGHOST", "hostaddr": "PGHOSTADDR", "sslmode": "PGSSLMODE", "service": "PGSERVICE"}
    said = {name: url.query.get(name) or os.environ.get(variable, "") for name, variable in names.items()}
    hosts = said["hostaddr"] or url.host or said["host"]
    each = [one for host in ([hosts] if isinstance(hosts, str) else hosts) for one in host.split(",")]
    is_here = not said["service"] and all(one == "" or one[0] in "/@" or is_loopback(one) for one in each)
    if not is_here and said["sslmode"] != "verify-full":
        raise InvalidArgument(
            "the ledger is on another machine, and nothing makes sure that the right machine answers",
            hint="set sslmode to verify-full, in its URL or in PGSSLMODE; sslrootcert names the authority that vouches "
            "for it",
        )


def _sqlite(url: URL) -> File:
    """An SQLite file from its URL, in one of the two spellings SQLAlchemy has for it."""
    database = url.database or ""
    if url.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise InvalidArgument(f"no ledger can be kept through {url.drivername!r}", hint="sqlite:///census.ledger")
    mode = url.query.get("mode", "rw")
    if database in {"", ":memory:", "file::memory:"} or mode == "memory":
        raise _in_memory()
    if mode not in {"ro", "rw"} or not set(url.query) <= {"mode", "uri"}:
        raise InvalidArgument("the URL of an SQLite ledger takes mode=ro or mode=rw and nothing else")
    path = unquote(database.removeprefix("file:")) if database.startswith("file:") else database
    return File(Path(path).absolute(), read_only=mode == "ro")


def _in_memory() -> InvalidArgument:
    """The refusal of a ledger that would forget."""
    return InvalidArgument("a ledger in memory would forget what was spent", hint="give a path, such as census.ledger")


def key_path(ledger: str, config: Path | None) -> Path | None:
    """The path of the signing key: beside a ledger that is a file, else beside the configuration.

    Args:
        ledger: a path or a URL.
        config: the path of the configuration; None if there is none, and then a ledger on a server has no key.

    Examples:
        >>> key_path("/data/census.ledger", None).name
        'census.ledger.key'
        >>> key_path("postgresql://localhost/ledger", Path("/etc/discreet.toml")).name
        'discreet.key'
    """
    place = locate(ledger)
    if isinstance(place, File):
        return place.path.with_name(f"{place.path.name}.key")
    return None if config is None else config.absolute().with_suffix(".key")


def marks_path(place: File | Server, config: Path | None = None, snapshots: Path | None = None) -> Path | None:
    """The path of the key that recognises admitted tables: beside the signing key, or else with the tables.

    Args:
        place: of the ledger.
        config: the path of the configuration; None if there is none.
        snapshots: the folder of the admitted tables; None if nothing says which.

    Examples:
        >>> marks_path(File(Path("/data/census.ledger"))).name
        'census.ledger.marks'
        >>> marks_path(locate("postgresql://localhost/ledger"), Path("/etc/discreet.toml")).name
        'discreet.marks'
    """
    if isinstance(place, File):
        return place.path.with_name(f"{place.path.name}.marks")
    if config is not None:
        return config.absolute().with_suffix(".marks")
    return None if snapshots is None else snapshots.absolute() / "discreet.marks"


# ── Its tables ────────────────────────────────────────────────────────────────────────────────────────────────────────

METADATA = MetaData()

NUMBER = BigInteger().with_variant(Integer, "sqlite")
NAME = String(255)

LEDGER = Table(
    "discreet_ledger",
    METADATA,
    Column("format", Integer, primary_key=True, autoincrement=False),
    Column("secret", Text, nullable=False),
    Column("seq", NUMBER, nullable=False),
    Column("hash", Text, nullable=False),
)
"""One row: the format, the secret, and the head of the chain. Writers on a server queue for this row.

The names of the table and of `format` never change, so that any version recognises a ledger of another.
"""

ENTRY = Table(
    "discreet_entry",
    METADATA,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("account", NAME),
    Column("number", NUMBER),
    Column("analyst", NAME),
    Column("digest", NAME),
    Column("version", NUMBER),
    *(
        Column(f"{prefix}{amount}", Text)
        for prefix in ("", "spent_", "share_")
        for amount in ("epsilon", "rho", "delta")
    ),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    # Each look-up of a reservation finds its row through one of these, however long the ledger has grown.
    Index("discreet_entry_last", "account", "kind", "seq"),
    Index("discreet_entry_share", "account", "kind", "analyst", "seq"),
    Index("discreet_entry_digest", "account", "kind", "digest", "version", "seq"),
    Index("discreet_entry_number", "account", "number", "kind", unique=True),
)
"""The entries; see `row.Row`."""


TOPIC = Table(
    "discreet_topic",
    MetaData(),
    Column("account", NAME, nullable=False),
    Column("version", NUMBER, nullable=False),
    Column("topic", NAME, nullable=False),
    Column("seq", NUMBER, nullable=False),
    Column("cost", Float, nullable=False),
    PrimaryKeyConstraint("account", "version", "topic", "seq"),
    Index("discreet_topic_cost", "account", "version", "topic", "cost", "seq"),
)
"""The places of answers by topic, and their cost in ρ: the most expensive have the smallest errors.

This is only an index. No decision rests on it, and the hash chain doesn't cover it: an entry it leads to is checked
like any other, and if it is damaged or incomplete, an answer is paid for that could have been free.
"""

_OWN = (
    select(TOPIC.c.seq)
    .where(*(TOPIC.c[name] == bindparam(name) for name in ("account", "version", "topic")))
    .limit(bindparam("most"))
)
_DEAREST = _OWN.order_by(TOPIC.c.cost.desc(), TOPIC.c.seq.desc())
_NEWEST = _OWN.order_by(TOPIC.c.seq.desc())

Topic: TypeAlias = tuple[str, int]
"""The topic of an answer: up to 255 characters, and the number of the data version."""


def note(connection: Connection, *, account: str, topics: Iterable[Topic], seq: int, cost: float) -> None:
    """Remember what an entry is about; within its transaction."""
    found = sorted(set(topics))
    if found:
        TOPIC.create(connection, checkfirst=True)  # ledgers made before there were topics don't have it
        rows = [
            {"account": account, "version": version, "topic": topic, "seq": seq, "cost": cost}
            for topic, version in found
        ]
        connection.execute(insert(TOPIC), rows)


def places(connection: Connection, *, account: str, version: int, topic: str, most: int) -> list[int]:
    """The places of answers about a topic: of the dearest, then of the newest that aren't among them.

    Args:
        connection: inside a transaction.
        account: whose answers.
        version: of the data.
        topic: what they are about.
        most: how many of either.
    """
    if not connection.dialect.has_table(connection, TOPIC.name):
        return []
    own = {"account": account, "version": version, "topic": topic, "most": most}
    found = [connection.execute(each, own).scalars() for each in (_DEAREST, _NEWEST)]
    return list(dict.fromkeys(seq for each in found for seq in each))


LARGE = Table(
    "discreet_large",
    MetaData(),
    Column("hash", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
"""Large parts of answers, in a ledger on a server; see `large_answers`."""


def put_large(connection: Connection, hash_: str, content: bytes) -> None:
    """Store a large part under its hash; within the transaction of its entry."""
    LARGE.create(connection, checkfirst=True)  # ledgers made before there were large parts don't have it
    if get_large(connection, hash_) is None:
        connection.execute(insert(LARGE).values(hash=hash_, content=content))


def get_large(connection: Connection, hash_: str) -> bytes | None:
    """The part that is stored under a hash; None if there is none."""
    if not connection.dialect.has_table(connection, LARGE.name):
        return None
    content = connection.execute(select(LARGE.c.content).where(LARGE.c.hash == hash_)).scalar()
    return None if content is None else bytes(content)


# ── What it complains of ──────────────────────────────────────────────────────────────────────────────────────────────

_VERIFY = "`discreet verify` says what is damaged; restore the ledger from a copy"

_SQLITE: dict[int, tuple[type[DiscreetError], str, str]] = {
    sqlite3.SQLITE_ERROR: (LedgerCorrupt, "doesn't have a ledger's tables", _VERIFY),
    sqlite3.SQLITE_PERM: (LedgerUnavailable, "can't be opened", "check its permissions"),
    sqlite3.SQLITE_BUSY: (LedgerUnavailable, "is locked by other processes", "ask again later"),
    sqlite3.SQLITE_LOCKED: (LedgerUnavailable, "is locked by other processes", "ask again later"),
    sqlite3.SQLITE_READONLY: (LedgerUnavailable, "is read-only", "make the file and its folder writable"),
    sqlite3.SQLITE_IOERR: (LedgerUnavailable, "can't be read or written", "check its disk, and the space left on it"),
    sqlite3.SQLITE_CORRUPT: (LedgerCorrupt, "is damaged", _VERIFY),
    sqlite3.SQLITE_FULL: (LedgerUnavailable, "can't grow: the disk is full", "free some space on the disk"),
    sqlite3.SQLITE_CANTOPEN: (LedgerUnavailable, "can't be opened", "check that it is a file, and its permissions"),
    sqlite3.SQLITE_AUTH: (LedgerUnavailable, "can't be opened", "check its permissions"),
    sqlite3.SQLITE_CONSTRAINT: (LedgerCorrupt, "holds entries beyond its head", _VERIFY),
    sqlite3.SQLITE_NOTADB: (LedgerUnavailable, "isn't a ledger: the file isn't an SQLite database", "check the path"),
}
"""By SQLite's primary result code."""

_SQLSTATE: dict[str, tuple[type[DiscreetError], str, str]] = {
    "25006": (LedgerUnavailable, "is read-only", "name the primary server, not a replica"),
    "53": (
        LedgerUnavailable,
        "is on a server that has no space or connections left",
        "free some space on its disk, or allow more connections",
    ),
    "55P03": (LedgerUnavailable, "is locked by other processes", "ask again later"),
    "57": (LedgerUnavailable, "is on a server that is stopping, or gave up", "ask again later"),
    "42501": (LedgerUnavailable, "can't be used with this database user's rights", "grant SELECT, INSERT and UPDATE"),
    "42": (LedgerCorrupt, "doesn't have a ledger's tables", _VERIFY),
    "23": (LedgerCorrupt, "holds entries beyond its head", _VERIFY),
}
"""By SQLSTATE, or the first two characters of it."""

_LOST_RACES = {"40001", "40P01"}
"""SQLSTATEs of a serialization failure and of a deadlock: nothing was written, so trying again is right."""


def lost_race(error: DBAPIError, location: File | Server) -> bool:
    """Whether another process wrote the same entry first, so that nothing was written and trying again is right.

    SQLite's lock lets one process decide at a time, so there the same error is damage.
    """
    if isinstance(location, File):
        return False
    return isinstance(error, IntegrityError) or _sqlstate(error) in _LOST_RACES


def typed(error: DBAPIError, location: File | Server) -> DiscreetError:
    """The error to raise instead of a database's: with the ledger's place, and nothing that was to be written."""
    if isinstance(location, File):
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN and not location.path.exists():
            return missing(location)
        kind, reason, hint = _SQLITE.get(code, (LedgerUnavailable, "can't be used", ""))
    else:
        state = _sqlstate(error)
        found = _SQLSTATE.get(state) or _SQLSTATE.get(state[:2])
        kind, reason, hint = found or (LedgerUnavailable, "can't be reached", "check the URL and the server")
    return kind(f"the ledger {location} {reason}", hint=hint)


def missing(location: File | Server) -> LedgerMissing:
    """The error for a ledger that isn't there."""
    return LedgerMissing(
        f"there is no ledger at {location}",
        hint=hint_to_create("create=True"),
    )


def hint_to_create(argument: str) -> Hint:
    """The hint for a missing ledger.

    Args:
        argument: that makes one, of the function that was called.
    """
    template = "check the path: a new ledger would forget what was spent; if nothing was, {} makes one"
    return Hint(template.format(argument), cli=template.format("`discreet ledger create`"))


def _sqlstate(error: DBAPIError) -> str:
    """The SQLSTATE, as the drivers for PostgreSQL name it; empty if there is none."""
    for name in ("sqlstate", "pgcode"):
        state = getattr(error.orig, name, None)
        if isinstance(state, str):
            return state
    return ""
