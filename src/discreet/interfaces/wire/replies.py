"""Replies of a server, in PostgreSQL's protocol, as bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Field(NamedTuple):
    """A column of results.

    Args:
        name: of the column.
        oid: of its type.
        size: of its type in bytes; -1 where it varies.
        modifier: of its type; -1 for none.
    """

    name: str
    oid: int
    size: int = -1
    modifier: int = -1


def packet(kind: bytes, body: bytes = b"") -> bytes:
    r"""A message of a server.

    Examples:
        >>> packet(b"1")
        b'1\x00\x00\x00\x04'
    """
    return kind + struct.pack("!I", len(body) + 4) + body


def text(said: str) -> bytes:
    """A text with a zero byte behind it, which none can hold itself."""
    return said.replace("\0", "").encode("utf-8", "replace") + b"\0"


def status(name: str, value: str) -> bytes:
    """A parameter of the session, as it is now."""
    return packet(b"S", text(name) + text(value))


def report(kind: bytes, parts: Mapping[str, str]) -> bytes:
    """An error (`E`) or a notice (`N`): its parts by their letters."""
    return packet(kind, b"".join(letter.encode() + text(said) for letter, said in parts.items() if said) + b"\0")


def row_description(fields: Sequence[Field], formats: Sequence[int]) -> bytes:
    """The columns of the rows that follow, each with its format."""
    described = (
        text(each.name) + struct.pack("!IhIhih", 0, 0, each.oid, each.size, each.modifier, form)
        for each, form in zip(fields, formats, strict=True)
    )
    return packet(b"T", struct.pack("!H", len(fields)) + b"".join(described))


def data_row(values: Sequence[bytes | None]) -> bytes:
    """A row; None is NULL."""
    cells = (b"\xff\xff\xff\xff" if each is None else struct.pack("!I", len(each)) + each for each in values)
    return packet(b"D", struct.pack("!H", len(values)) + b"".join(cells))


def parameter_description(types: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return packet(b"t", struct.pack(f"!H{len(types)}I", len(types), *types))


def copy_out(columns: int) -> bytes:
    """Rows follow as text, as COPY writes them."""
    return packet(b"H", struct.pack(f"!BH{columns}H", 0, columns, *[0] * columns))


def complete(tag: str) -> bytes:
    """A statement is done."""
    return packet(b"C", text(tag))


def ready(state: str) -> bytes:
    """The next one may come: `I` outside of a transaction, `T` within, `E` within one that failed."""
    return packet(b"Z", state.encode())


AUTHENTICATED = packet(b"R", struct.pack("!I", 0))
ASK_PASSWORD = packet(b"R", struct.pack("!I", 3))
PARSED, BOUND, CLOSED, NO_DATA, SUSPENDED, EMPTY, COPIED = map(packet, (b"1", b"2", b"3", b"n", b"s", b"I", b"c"))


def key_data(process: int, secret: int) -> bytes:
    """What a client would send to cancel."""
    return packet(b"K", struct.pack("!II", process, secret))


def version_negotiation(minor: int, unknown: Sequence[str]) -> bytes:
    """Which version is spoken, where a client asks for a later one or for what isn't known."""
    return packet(b"v", struct.pack("!II", minor, len(unknown)) + b"".join(map(text, unknown)))
