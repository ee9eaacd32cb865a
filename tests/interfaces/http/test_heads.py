"""Heads on the wire: what two readers could understand in two ways isn't read at all, and nothing else is refused."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic

import pytest

from discreet.interfaces.http.middleware.bodies import MOST_BYTES
from support.attacked import Lenient, Receive, Scope, Send, listening

GET = b"GET /one HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /two HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"\r\n"

REFUSED: list[tuple[str, bytes, int]] = [
    ("only line feeds", GET.replace(b"\r\n", b"\n") + b"\n", 400),
    ("one line feed alone", b"GET /one HTTP/1.1\nHost: x\r\n\r\n", 400),
    ("an end of line feeds", GET[:-2] + b"\n\n", 400),
    ("a folded line", GET + b"Authorization: Bearer\r\n token\r\n" + END, 400),
    ("a line folded by a tab", GET + b"X-A: b\r\n\tc\r\n" + END, 400),
    ("a length said as a list", POST + b"Content-Length: 2, 2\r\n" + END + b"{}", 400),
    ("a length said twice", POST + b"Content-Length: 2\r\n" * 2 + END + b"{}", 400),
    ("a length and chunks", POST + b"content-length: 5\r\n" + CHUNKED + END + b"0\r\n\r\n", 400),
    ("chunks", POST + CHUNKED + END + b"2\r\n{}\r\n0\r\n\r\n", 411),
    ("chunks in HTTP/1.0", POST.replace(b"1.1", b"1.0") + CHUNKED + END + b"2\r\n{}\r\n0\r\n\r\n", 411),
    ("a body that is too large", POST + b"Content-Length: %d\r\n" % (MOST_BYTES + 1) + END, 413),
    ("a head without end", GET + b"X-A: " + b"a" * 20_000, 431),
]
"""Heads, and the status that they get."""

TAKEN = [each for each in REFUSED if each[0] not in {"a body that is too large", "a head without end"}]
"""Of these what h11 reads, as if nothing were wrong with it."""


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Say what was asked."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    said = f"{scope['method']} {scope['path']} {body.decode()};".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]})
    await send({"type": "http.response.body", "body": said})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """Where a server listens that says what it was asked."""
    with listening(echo) as url:
        yield place(url)


@pytest.fixture(scope="module")
def lenient() -> Iterator[tuple[str, int]]:
    """The same, where nobody looks at heads but h11."""
    with listening(echo, Lenient) as url:
        yield place(url)


def place(url: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def said(address: tuple[str, int], *pieces: bytes, seconds: float = 5.0) -> bytes:
    """All that comes back for pieces of bytes, until the server closes or is silent."""
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        with suppress(OSError):
            for piece in pieces:
                connection.sendall(piece)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def statuses(reply: bytes) -> list[int]:
    """Of each reply in it."""
    return [int(found) for found in re.findall(rb"HTTP/1.1 (\d+)", reply)]


@pytest.mark.parametrize(("name", "head", "status"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_what_can_be_read_in_two_ways_is_refused(address: tuple[str, int], name: str, head: bytes, status: int) -> None:
    """In the form of a problem, and what follows isn't read."""
    reply = said(address, head + GET + b"Connection: close\r\n" + END)
    assert statuses(reply) == [status], name
    top, _, body = reply.partition(b"\r\n\r\n")
    assert json.loads(body)["status"] == status
    for header in (b"connection: close", b"content-type: application/problem+json", b"cache-control: no-store"):
        assert header in top.lower()


@pytest.mark.parametrize(("name", "head"), [each[:2] for each in TAKEN], ids=[name for name, _, _ in TAKEN])
def test_h11_alone_takes_it(lenient: tuple[str, int], name: str, head: bytes) -> None:
    """The wrong twin, with nobody who looks at heads before."""
    assert statuses(said(lenient, head + GET + b"Connection: close\r\n" + END))[:1] == [200], name


def test_whole_requests_are_read_however_they_are_cut(address: tuple[str, int]) -> None:
    """Several on one connection, also at once; a body that looks like a head is a body."""
    body = b"GET /evil HTTP/1.1\nX: y\n\n"
    stream = (
        GET + END + POST + b"Content-Length:\t%d \r\n" % len(body) + END + body
        + POST + b"Content-Length: 0\r\n" + END + GET + b"Connection: close\r\n" + END
    )  # fmt: skip
    expected = [b"GET /one ;", b"POST /two " + body + b";", b"POST /two ;", b"GET /one ;"]
    cuts = [(), *((at,) for at in range(1, len(stream), 7)), tuple(range(1, len(stream)))]
    for cut in cuts:
        ends = [*cut, len(stream)]
        pieces = [stream[begin:end] for begin, end in zip([0, *cut], ends, strict=True)]
        reply = said(address, *pieces)
        assert re.findall(rb"(?s)(?:GET|POST) /(?:one|two) .*?;", reply) == expected, cut
        assert statuses(reply) == [200] * 4


def test_what_is_refused_behind_another_request_ends_the_connection(address: tuple[str, int]) -> None:
    """The reply to the first is the last: nobody takes a refusal for it."""
    reply = said(address, GET + END + POST + CHUNKED + END + b"0\r\n\r\n")
    assert statuses(reply) in ([200], [200, 411])
    assert reply.startswith(b"HTTP/1.1 200")


def test_chunks_of_one_byte_are_not_read(address: tuple[str, int]) -> None:
    """A quarter of a million of them, without a token; others are answered meanwhile."""
    begun = monotonic()
    reply = said(address, POST + CHUNKED + END + b"1\r\n \r\n" * 260_000 + b"0\r\n\r\n")
    assert statuses(reply) in ([411], [])  # a client that sends on may lose it
    assert statuses(said(address, GET + b"Connection: close\r\n" + END)) == [200]
    assert monotonic() - begun < 5
