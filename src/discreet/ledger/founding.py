"""Founding: a ledger comes into being whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from discreet.errors import LedgerUnavailable
from discreet.ledger.chain import found_chain
from discreet.ledger.location import File
from discreet.ledger.schema import LEDGER, METADATA
from discreet.ledger.secret import new_secret
from discreet.ledger.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

_FOUNDERS = 0x64697363  # "disc": the number of the lock for which founders on one PostgreSQL server queue


def found(store: Store, patience: float) -> None:
    """Make a new ledger, unless another process makes it first.

    A file is written beside its place under another name, and linked to its place when it is whole and on the disk:
    so a process killed half way leaves no half ledger, a ledger that is there is never overwritten, and an empty file
    in its place is always damage.

    Args:
        store: where it shall be.
        patience: for how many seconds to wait for other processes' locks.

    Raises:
        LedgerUnavailable: it can't be written there.
    """
    if isinstance(store.location, File):
        _found_file(store.location, patience)
    else:
        store.plainly(_found_tables, write=True)


def _found_file(file: File, patience: float) -> None:
    """Make a ledger file."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.path.name}.", suffix=".new", dir=file.path.parent)
        os.close(handle)
        draft = Path(name)
        try:
            Store(File(draft), patience).plainly(_found_tables, write=True)
            _link(draft, file.path)
        finally:
            draft.unlink()
            draft.with_name(f"{draft.name}-journal").unlink(missing_ok=True)  # left if the disk is full
    except OSError as error:
        raise LedgerUnavailable(
            f"no ledger can be made at {file}: {os.strerror(error.errno or 0)}",
            hint="its folder must exist, be writable, and lie on a disk that can link files",
        ) from None


def _link(draft: Path, place: Path) -> None:
    """Put the finished file in its place, and the place on the disk."""
    try:
        os.link(draft, place)
    except FileExistsError:  # another process came first
        return
    if os.name == "posix":  # elsewhere a folder can't be synced, and needn't be
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _found_tables(connection: Connection) -> None:
    """Make the tables and the first entry."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_FOUNDERS})")
    METADATA.create_all(connection)
    if connection.execute(select(LEDGER.c.seq)).first() is None:  # no other process came first
        found_chain(connection, new_secret())
