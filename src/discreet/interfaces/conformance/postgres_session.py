"""PostgreSQL's protocol, from the side of someone who attacks: connections that send what they like."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Self

from discreet.errors import InvalidArgument

_RECEIVED = 1 << 16
_MOST_BYTES = 1 << 24
_TLS = struct.pack("!II", 8, 80_877_103)
_VERSION = 196_608
_READY = b"Z\x00\x00\x00\x05"


def text(said: str) -> bytes:
    """A text with its end."""
    return said.encode() + b"\0"


def message(kind: bytes, body: bytes = b"") -> bytes:
    """A message of a client."""
    return kind + struct.pack("!I", len(body) + 4) + body


def query(said: str) -> bytes:
    """A text of statements."""
    return message(b"Q", text(said))


def prepared(said: str, executions: int = 1) -> bytes:
    """The same as a prepared statement, described, and carried out so many times."""
    bind = message(b"B", text("") + text("s") + struct.pack("!HHH", 0, 0, 0))
    run = bind + message(b"D", b"P\0") + message(b"E", text("") + struct.pack("!I", 0)) + message(b"S")
    return message(b"P", text("s") + text(said) + b"\0\0") + message(b"D", b"Ss\0") + message(b"S") + run * executions


@dataclass(frozen=True, slots=True)
class Said:
    """What a server says to what was sent.

    Args:
        raw: all of it.
        ended: whether it ended the connection.
        seconds: from the last byte that was sent to the last that came.
    """

    raw: bytes
    ended: bool = False
    seconds: float = 0.0

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """Its messages, as far as they are whole."""
        at = 0
        while at + 5 <= len(self.raw):
            (size,) = struct.unpack("!I", self.raw[at + 1 : at + 5])
            yield self.raw[at : at + 1], self.raw[at + 5 : at + 1 + size]
            at += 1 + max(size, 4)

    @property
    def states(self) -> list[str]:
        """The SQLSTATEs of its errors."""
        fields = (body.split(b"\0") for kind, body in self.messages() if kind == b"E")
        return [next((each[1:].decode() for each in parts if each[:1] == b"C"), "") for parts in fields]

    @property
    def rows(self) -> list[list[str | None]]:
        """The values of its rows, and the lines of COPY as rows of one."""
        found: list[list[str | None]] = []
        for kind, body in self.messages():
            if kind == b"D":
                found.append(_cells(body))
            elif kind == b"d":
                found.append([body.decode("utf-8", "replace").rstrip("\n")])
        return found

    @property
    def value(self) -> str | None:
        """The one value that it gives last; None if there is none."""
        return self.rows[-1][0] if self.rows and self.rows[-1] else None


def _cells(body: bytes) -> list[str | None]:
    """The values of a row."""
    (count,), at = struct.unpack("!H", body[:2]), 2
    found: list[str | None] = []
    for _ in range(count):
        (size,) = struct.unpack("!i", body[at : at + 4])
        found.append(None if size < 0 else body[at + 4 : at + 4 + size].decode("utf-8", "replace"))
        at += 4 + max(size, 0)
    return found


class PostgresSession:
    """A connection to a server's port for PostgreSQL's protocol.

    Args:
        address: `host:port`.
        patience: how many seconds to wait for what comes.

    Raises:
        OSError: nothing is there.
    """

    def __init__(self, address: str, patience: float) -> None:
        host, port = place(address)
        self._patience = patience
        self._sock = socket.create_connection((host, port), timeout=patience)
        self._sock.sendall(_TLS)
        if self._sock.recv(1) == b"S":
            self._sock = ssl.create_default_context().wrap_socket(self._sock, server_hostname=host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def greet(self, token: str, user: str = "conform", **said: str) -> Said:
        """Come in with a token.

        Args:
            token: the password.
            user: any name.
            said: other parameters of the start-up message.
        """
        parameters = b"".join(text(name) + text(value) for name, value in {"user": user, **said}.items())
        body = struct.pack("!I", _VERSION) + parameters + b"\0"
        return self.send(struct.pack("!I", len(body) + 4) + body + message(b"p", text(token)))

    def send(self, content: bytes, replies: int = 1) -> Said:
        """Send bytes, and read until the server is ready again, ends the connection, or says no more for a while.

        Args:
            content: to send.
            replies: after how many times of being ready to stop reading.
        """
        found, begun = bytearray(), monotonic()
        end = begun + self._patience
        with suppress(OSError):
            self._sock.sendall(content)
        while (left := end - monotonic()) > 0 and len(found) < _MOST_BYTES:
            self._sock.settimeout(left)
            try:
                part = self._sock.recv(_RECEIVED)
            except TimeoutError:
                break
            except OSError:
                part = b""
            if not part:
                return Said(bytes(found), ended=True, seconds=monotonic() - begun)
            found += part
            if sum(kind == b"Z" for kind, _ in Said(bytes(found)).messages()) >= replies and found[-6:-1] == _READY:
                break
        return Said(bytes(found), seconds=monotonic() - begun)

    def drop(self, content: bytes) -> None:
        """Send bytes and go, without waiting for anything."""
        with suppress(OSError):
            self._sock.sendall(content)
        self._sock.close()


def place(address: str) -> tuple[str, int]:
    """The host and the port of an address.

    Raises:
        InvalidArgument: it has none.

    Examples:
        >>> place("localhost:5433"), place("[::1]:5433")
        (('localhost', 5433), ('::1', 5433))
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InvalidArgument("the port for PostgreSQL's protocol is given as host:port", hint="localhost:5433")
    return host.strip("[]"), int(port)


@contextmanager
def come_in(address: str, patience: float, token: str, **said: str) -> Iterator[tuple[PostgresSession, Said]]:
    """A connection, and what is said at its beginning."""
    with PostgresSession(address, patience) as session:
        yield session, session.greet(token, **said)


def ways(question: str, offer: str) -> Sequence[tuple[str, bytes, int]]:
    """Ways of asking a question for an offer: the name of each, what is sent, and after how many replies it is done."""
    hinted = f"/* discreet.epsilon = {offer} */ {question}"
    return (
        ("a text", query(hinted), 1),
        ("other letters and blanks", query(hinted.replace("SELECT ", "select  ").replace(" AS n", "  AS N")), 1),
        ("a comment inside", query(hinted.replace(" FROM ", " /* x */ FROM ")), 1),
        ("SET", query(f"SET discreet.epsilon = {offer}; {question}"), 1),
        ("a prepared statement, six times", prepared(hinted, 6), 7),
        ("a cursor", query(f"BEGIN; DECLARE c CURSOR FOR {hinted}; FETCH ALL FROM c; CLOSE c; COMMIT"), 1),
        ("COPY", query(f"COPY ({hinted}) TO STDOUT"), 1),
        ("a rolled back transaction", query(f"BEGIN; {hinted}; ROLLBACK"), 1),
        ("a subquery", query(_WITHIN.format(offer, question)), 1),
        ("a view", query(_VIEW.format(question, offer)), 1),
    )


_WITHIN = "/* discreet.epsilon = {} */ SELECT n FROM ({}) AS t"
_VIEW = "CREATE TEMP VIEW v AS {}; /* discreet.epsilon = {} */ SELECT n FROM v"
