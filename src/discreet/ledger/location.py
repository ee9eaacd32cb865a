"""Locations: where a ledger lies, in a file or on a server, and where its keys lie."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import (
    URL,
    make_url,
)
from sqlalchemy.exc import ArgumentError

from discreet.errors import InvalidArgument
from discreet.loopback import is_loopback


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
