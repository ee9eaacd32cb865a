"""Marks: what a ledger holds of the contents of each version, so that another process knows them again, and no more.

A mark is an HMAC. Its key is a file beside the ledger or the configuration, which its owner alone can read, and never
in the database: with a copy of the ledger and a guess of the tables, nobody can find out whether the guess is right.
Each version names the key of its mark by a hash.
"""

from __future__ import annotations

import hmac
import os
from hashlib import sha256
from pathlib import Path

from discreet.errors import InvalidArgument, LedgerUnavailable
from discreet.hints import Hint
from discreet.private_files import CLOSE, IS_OPEN, is_open, write_private

_BYTES = 32


class MarkKey:
    """The file with the key of an account's marks.

    Args:
        path: of the file; None where there is no place for it.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def read(self) -> bytes | None:
        """The key; None if there is none.

        Raises:
            LedgerUnavailable: others can read it, or it can't be read, or is no such key.
        """
        if self.path is None:
            return None
        try:
            with self.path.open("rb") as file:
                opened, content = is_open(file.fileno()), file.read(1000)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(f"can't be read: {os.strerror(error.errno or 0)}") from None
        if opened:
            raise self._unusable(IS_OPEN, CLOSE)
        if len(content) != _BYTES:
            raise self._unusable("was altered", "restore it from a copy; or remove it and admit again")
        return content

    def made(self) -> bytes:
        """The key, which is made if there is none.

        Raises:
            InvalidArgument: there is no place for one.
            LedgerUnavailable: it can't be written, or used.
        """
        from discreet.entropy import fresh_bytes

        if self.path is None:
            raise InvalidArgument(
                "no folder is named in which to keep the key that recognises admitted tables",
                hint=Hint.of("{snapshots}, a folder that only you can read", snapshots="snapshots").in_file(),
            )
        if (found := self.read()) is not None:
            return found
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self.path, fresh_bytes(_BYTES))
        except OSError as error:
            raise self._unusable(f"can't be written: {os.strerror(error.errno or 0)}") from None
        found = self.read()
        if found is None:
            raise self._unusable("can't be written")
        return found

    def _unusable(self, reason: str, hint: str = "") -> LedgerUnavailable:
        """The error for the file; never with anything of what is in it."""
        return LedgerUnavailable(f"the key of marks {self.path} {reason}", hint=hint)


def name_of(key: bytes) -> str:
    """The name by which a version calls the key of its mark; says nothing about it."""
    return sha256(b"discreet marks\0" + key).hexdigest()


def mark(key: bytes, account: str, version: int, contents: str, group: str = "") -> str:
    """The mark of a version's contents in the ledger, keyed because their digest comes from private data.

    Without the key, nobody who has a candidate for the data can find out whether it is right. The version goes into it,
    so that two marks don't tell either whether two versions hold the same; and the refresh group, unless it is
    the one without a name.

    Examples:
        >>> mark(bytes(32), "census", 1, "data") == mark(bytes(31) + b"1", "census", 1, "data")
        False
        >>> mark(bytes(32), "census", 1, "data") == mark(bytes(32), "census", 2, "data")
        False
    """
    parts = [account, str(version), *([group] if group else []), contents]
    return hmac.new(key, "\0".join(parts).encode(), sha256).hexdigest()
