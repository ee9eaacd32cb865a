"""Large answers: parts of outcomes that lie outside of the chain, packed, each under its hash, which is in the chain.

An entry of the chain can't be dropped or moved, and to look through the chain is to read all of it. An answer of a
million groups has fifty million bytes. So what is large of an answer lies beside a ledger that is a file, in a folder
of files, and in a table of their own where the ledger is on a server. An entry names it by the SHA-256 of its bytes: if
it is lost or isn't what was written, reading it is refused, and `verify` says so.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from discreet.errors import LedgerCorrupt
from discreet.ledger.row import Row

MOST_INSIDE = 1 << 16
"""Parts of answers whose JSON has more characters than this are kept outside the chain."""

_LEVEL = 6
HASH = re.compile("[0-9a-f]{64}")


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
        """A part to store.

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
        case {"sha256": str(named), "bytes": int(size), "characters": int(characters)} if HASH.fullmatch(named):
            return Large(hash=named, size=size, characters=characters)
    raise _unreadable(row)


def _unreadable(row: Row) -> LedgerCorrupt:
    """The error for what nobody wrote."""
    return LedgerCorrupt(f"the list of large parts in entry {row.seq} can't be read")
