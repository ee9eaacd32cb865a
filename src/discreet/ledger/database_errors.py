"""Errors of a ledger's database, as ours."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, IntegrityError

from discreet.errors import DiscreetError, LedgerCorrupt, LedgerMissing, LedgerUnavailable
from discreet.hints import Hint
from discreet.ledger.location import File, Server

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
"""Kinds, reasons and hints by SQLite's primary result code."""

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
"""Kinds, reasons and hints by SQLSTATE, or its first two characters."""

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
