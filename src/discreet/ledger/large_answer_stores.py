"""Stores of large answers: a folder beside a ledger that is a file, or a table of a ledger on a server."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LedgerUnavailable
from discreet.ledger.large_answers import HASH, Large

if TYPE_CHECKING:
    from sqlalchemy import Connection


class LargeFiles:
    """The large answers of a ledger that is a file: files called by their hashes, which their owner alone can read.

    A file that no entry names is left by a process that ended before its entry was written, and does no harm.

    Args:
        folder: beside the ledger; made with the first of them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, large: Large, connection: Connection | None = None) -> None:  # noqa: ARG002 — of a server's
        """Store one. It is on the disk when this returns.

        Raises:
            LedgerUnavailable: it can't be written.
        """
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".", dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(large.content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(self.folder / large.hash)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            _sync(self.folder)
            _sync(self.folder.parent)
        except OSError as error:
            raise self._unusable(error) from None

    def get(self, large: Large) -> bytes | None:
        """The bytes under a hash; None if there are none.

        Raises:
            LedgerUnavailable: they can't be read.
        """
        try:
            return (self.folder / large.hash).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unusable(error) from None

    def copy_to(self, other: LargeFiles) -> None:
        """Copy all of them, but for those that are there."""
        for name in self._names():
            if (content := self.get(name)) is not None and other.get(name) != content:
                other.put(Large(hash=name.hash, size=len(content), characters=0, content=content))

    def _names(self) -> Iterator[Large]:
        """The large answers that are there; a file that isn't called by a hash is none."""
        with suppress(FileNotFoundError):
            for path in sorted(self.folder.iterdir()):
                if HASH.fullmatch(path.name):
                    yield Large(hash=path.name, size=0, characters=0)

    def _unusable(self, error: OSError) -> LedgerUnavailable:
        """The error where the folder can't be used."""
        return LedgerUnavailable(
            f"{self.folder} can't be read or written: {os.strerror(error.errno or 0)}",
            hint="check its permissions, and the space left on its disk",
        )


def _sync(folder: Path) -> None:
    """Have a folder's names on the disk, where folders can be synced."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class LargeRows:
    """The large answers of a ledger on a server: rows of a table, written in the transaction of their entry.

    Args:
        apart: does a piece of work in a transaction of its own.
    """

    def __init__(self, apart: Callable[[Callable[[Connection], bytes | None]], bytes | None]) -> None:
        self._apart = apart

    def put(self, large: Large, connection: Connection) -> None:
        """Store one, within a transaction."""
        from discreet.ledger.database import put_large

        put_large(connection, large.hash, large.content)

    def get(self, large: Large) -> bytes | None:
        """The bytes under a hash; None if there are none. Outside of any transaction: it has its own.

        Raises:
            LedgerError: the database can't be read.
        """
        from discreet.ledger.database import get_large

        return self._apart(lambda connection: get_large(connection, large.hash))
