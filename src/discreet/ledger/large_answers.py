"""Large answers: parts of outcomes that lie outside of the chain, packed, each under its hash, which is in the chain.

An entry of the chain can't be dropped or moved, and to look through the chain is to read all of it. An answer of a
million groups has fifty million bytes. So what is large of an answer lies beside a ledger that is a file, in a folder
of files, and in a table of their own where the ledger is on a server. An entry names it by the SHA-256 of its bytes: if
it is lost or isn't what was written, reading it is refused, and `verify` says so.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import LedgerCorrupt, LedgerUnavailable
from discreet.ledger.row import Row

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_INSIDE = 1 << 16
"""Parts of answers whose JSON has more characters than this are kept outside the chain."""

_LEVEL = 6
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Large:
    """A part of an answer that lies outside, as its entry names it.

    Args:
        hash: the SHA-256 of its bytes, in hexadecimal.
        size: how many bytes there are.
        characters: of the JSON that they unpack to.
        content: the bytes, where it is about to be stored; empty else.
    """

    hash: str
    size: int
    characters: int
    content: bytes = field(default=b"", repr=False, compare=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """A part that is to be stored.

        Args:
            text: its JSON; ASCII.
        """
        content = zlib.compress(text.encode("ascii"), _LEVEL)
        return cls(hash=sha256(content).hexdigest(), size=len(content), characters=len(text), content=content)

    def to_json(self) -> dict[str, object]:
        """The reference to it in an entry."""
        return {"sha256": self.hash, "bytes": self.size, "characters": self.characters}

    def read(self, content: bytes | None) -> Any:  # noqa: ANN401 — JSON
        """Decode the bytes that were found under its hash.

        Raises:
            LedgerCorrupt: there are none, or they aren't what was written.
        """
        self.check(content)
        return json.loads(zlib.decompress(content or b"", bufsize=self.characters or 1))

    def check(self, content: bytes | None) -> None:
        """Refuse bytes that aren't what was written.

        Raises:
            LedgerCorrupt: they aren't, or there are none.
        """
        if content is None:
            raise LedgerCorrupt(f"the large answer {self.hash[:12]} is missing", hint=_RESTORE)
        if sha256(content).hexdigest() != self.hash:
            raise LedgerCorrupt(f"the large answer {self.hash[:12]} was altered", hint=_RESTORE)


_RESTORE = "restore it from a copy of the ledger: discreet ledger backup copies large answers too"


def parted(answer: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Large]]:
    """The parts of an answer that stand in its entry, and those that lie outside.

    Raises:
        TypeError, ValueError: it isn't JSON.
    """
    inside, outside = dict[str, object](), dict[str, Large]()
    for name, part in answer.items():
        text = json.dumps(part, separators=(",", ":"), allow_nan=False)
        if len(text) > MOST_INSIDE:
            outside[name] = Large.of(text)
        else:
            inside[name] = part
    return inside, outside


def large_in(row: Row) -> dict[str, Large]:
    """The parts that an outcome's entry names, by their names.

    Raises:
        LedgerCorrupt: they can't be read.
    """
    match row.content().get("outside", {}):
        case dict(named):
            return {name: _named(one, row) for name, one in named.items()}
    raise _unreadable(row)


def _named(one: object, row: Row) -> Large:
    """A part, as its entry names it: by a hash, and by nothing that could lead elsewhere."""
    match one:
        case {"sha256": str(named), "bytes": int(size), "characters": int(characters)} if _HASH.fullmatch(named):
            return Large(hash=named, size=size, characters=characters)
    raise _unreadable(row)


def _unreadable(row: Row) -> LedgerCorrupt:
    """The error for what nobody wrote."""
    return LedgerCorrupt(f"the list of large parts in entry {row.seq} can't be read")


# ── Where they lie ────────────────────────────────────────────────────────────────────────────────────────────────────


class LargeFiles:
    """Those of a ledger that is a file: files of their own, called by their hashes, that their owner alone can read.

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
        """Those that are there; what isn't called by a hash is none."""
        with suppress(FileNotFoundError):
            for path in sorted(self.folder.iterdir()):
                if _HASH.fullmatch(path.name):
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
    """Those of a ledger on a server: rows of a table of their own, written in the transaction of their entry.

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
