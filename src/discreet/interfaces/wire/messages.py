"""Messages of clients, in PostgreSQL's protocol: bytes that are read strictly.

Nothing here reads or writes a socket. A length is checked before its bytes are waited for, so a client can't make the
server keep more than it says here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

VERSION = 3 << 16
"""The version of the protocol that is spoken; of later minor ones the client is told."""

CANCEL, TLS, GSS = 80877102, 80877103, 80877104
"""The codes that stand for a version in what comes before a start-up message."""

MOST_BEFORE = 10_000
"""Bytes of a start-up message, as PostgreSQL has it."""

_MOST = 1_048_576
"""Bytes of any other message; a question has at most 65,536 characters."""

_MOST_OF: Mapping[bytes, int] = MappingProxyType({b"p": 16_384, b"S": 4, b"H": 4, b"X": 4, b"c": 4, b"D": 4096})
"""Bytes of messages that are shorter, by their type, with the four of their length."""

_TYPES = frozenset(b"BCDEFHPQSXcdfp")
"""The types of messages that a client may send."""

MOST_PARAMETERS = 32_767


class Malformed(Exception):
    """What came isn't a message of the protocol; the connection ends."""


class Startup(NamedTuple):
    """The parameters that a connection begins with."""

    minor: int
    parameters: Mapping[str, str]


class Query(NamedTuple):
    """Statements to carry out at once."""

    text: str


class Parse(NamedTuple):
    """A statement to prepare, with the types of its parameters as far as they are said; 0 where they aren't."""

    name: str
    text: str
    types: tuple[int, ...]


class Bind(NamedTuple):
    """Values for a prepared statement's parameters, each with its format; and the formats wanted of the results."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


class Describe(NamedTuple):
    """Asks what a statement or a portal takes and gives."""

    is_portal: bool
    name: str


class Close(NamedTuple):
    """Forgets a statement or a portal."""

    is_portal: bool
    name: str


class Execute(NamedTuple):
    """Asks for rows of a portal; for all of them if `most` is 0."""

    portal: str
    most: int


class Password(NamedTuple):
    """The password."""

    text: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A message without content: Sync, Flush, Terminate, or one of COPY's, which has no meaning here.

    Args:
        type: `b"S"` and so on.
    """

    type: bytes


Message: TypeAlias = Query | Parse | Bind | Describe | Close | Execute | Password | Plain

HEAD = 5
"""Bytes of a message's type and length."""

_SIZE = 4
"""Bytes of a length, which counts them too."""


def length_of(head: bytes, *, most: int = _MOST) -> int:
    r"""How many bytes of a message come after its head.

    Args:
        head: its first five bytes.
        most: bytes that are allowed where its type says nothing.

    Raises:
        Malformed: there is no such type, or it is too short or too long.

    Examples:
        >>> length_of(b"Q\x00\x00\x00\x0d")
        9
    """
    kind, (length,) = head[:1], struct.unpack("!I", head[1:HEAD])
    if head[0] not in _TYPES or length < _SIZE or length > min(most, _MOST_OF.get(kind, most)):
        raise Malformed
    return int(length) - 4


def startup_length(head: bytes) -> int:
    """How many bytes of the first packet come after its length.

    Raises:
        Malformed: it is too short or too long.
    """
    (length,) = struct.unpack("!I", head)
    if not 8 <= length <= MOST_BEFORE:  # noqa: PLR2004 — its own length and a code
        raise Malformed
    return int(length) - 4


def read_startup(body: bytes) -> Startup | int:
    """The first packet: a start-up message, or the code of a request that may come before it.

    Raises:
        Malformed: it is neither.
    """
    (code,) = struct.unpack("!I", body[:4])
    if code in {TLS, GSS} and len(body) == 4:  # noqa: PLR2004 — the code alone
        return int(code)
    if code == CANCEL and len(body) == 12:  # noqa: PLR2004 — with a process and a secret
        return CANCEL
    if code >> 16 != VERSION >> 16:
        raise Malformed
    reader = _Reader(body[4:])
    found: dict[str, str] = {}
    while name := reader.text():
        found[name] = reader.text()
    reader.end()
    return Startup(code & 0xFFFF, found)


def read(kind: bytes, body: bytes) -> Message:
    """A message of a client.

    Args:
        kind: its type, one that `length_of` has let through.
        body: what comes after its length.

    Raises:
        Malformed: it isn't of the form that its type has.
    """
    reader = _Reader(body)
    found: Message
    match kind:
        case b"Q":
            found = Query(reader.text())
        case b"P":
            found = Parse(reader.text(), reader.text(), reader.many("I", 4))
        case b"B":
            portal, statement, formats = reader.text(), reader.text(), reader.many("H", 2)
            found = Bind(portal, statement, formats, reader.values(), reader.many("H", 2))
        case b"D" | b"C":
            which, name = reader.take(1), reader.text()
            if which not in {b"S", b"P"}:
                raise Malformed
            found = (Describe if kind == b"D" else Close)(which == b"P", name)
        case b"E":
            portal, (most,) = reader.text(), struct.unpack("!i", reader.take(4))
            found = Execute(portal, max(most, 0))
        case b"p":
            found = Password(reader.text())
        case b"d" | b"f":
            return Plain(kind)  # what is copied in isn't looked at
        case _:
            found = Plain(kind)
    reader.end()
    return found


class _Reader:
    """The parts of a message, from its first byte to its last."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, size: int) -> bytes:
        """So many bytes."""
        found = self._body[self._at : self._at + size]
        if size < 0 or len(found) != size:
            raise Malformed
        self._at += size
        return found

    def text(self) -> str:
        """A text, and the zero byte behind it."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed
        found, self._at = self._body[self._at : end], end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise Malformed from None

    def count(self) -> int:
        """A number of things that follow."""
        (found,) = struct.unpack("!H", self.take(2))
        if found > MOST_PARAMETERS:
            raise Malformed
        return int(found)

    def many(self, form: str, size: int) -> tuple[int, ...]:
        """Whole numbers, with how many they are before them."""
        count = self.count()
        return struct.unpack(f"!{count}{form}", self.take(count * size))

    def values(self) -> tuple[bytes | None, ...]:
        """Values of parameters; None is NULL."""
        found: list[bytes | None] = []
        for _ in range(self.count()):
            (size,) = struct.unpack("!i", self.take(4))
            found.append(None if size == -1 else self.take(size))
        return tuple(found)

    def end(self) -> None:
        """That was all."""
        if self._at != len(self._body):
            raise Malformed
