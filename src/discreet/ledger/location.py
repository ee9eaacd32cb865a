"""Locations: where a ledger lies, read from a path or a database URL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from sqlalchemy import URL


@dataclass(frozen=True, slots=True)
class File:
    """An SQLite file.

    Args:
        path: absolute, so that a change of folder doesn't lose it.
        read_only: whether nothing may be written.
    """

    path: Path
    read_only: bool = False

    def __str__(self) -> str:
        """The path, for messages."""
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
        InvalidArgument: it can't be read, is in memory (an account must outlive the process that keeps it), or asks
            SQLite for anything that would weaken its locks.

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
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError):  # whose text may hold a password
        raise InvalidArgument("the ledger's URL can't be read", hint="postgresql://user@host/database") from None
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    if parsed.drivername in {"postgresql", "postgres"}:  # SQLAlchemy 2.0 would take a driver that isn't installed
        parsed = parsed.set(drivername="postgresql+psycopg")
    return Server(parsed)


def _sqlite(url: URL) -> File:
    """An SQLite file from its URL, in one of the two spellings SQLAlchemy has for it."""
    database = url.database or ""
    if url.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise InvalidArgument(f"a ledger can't be kept through {url.drivername!r}", hint="sqlite:///census.ledger")
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
