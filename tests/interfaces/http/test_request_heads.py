"""Heads on the wire: what two readers could understand in two ways isn't read at all, and nothing else is refused."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic

import h11
import pytest
from hypothesis import example, find, given, settings
from hypothesis import strategies as st

from discreet.interfaces.http.middleware.bodies import MOST_BYTES
from discreet.interfaces.http.request_heads import HeadRefused, length_of_body
from support.attacked import Lenient, Receive, Scope, Send, listening
from support.examples import examples

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


# ── Any bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────

ENDS = st.sampled_from([*[b"\r\n"] * 9, b"\n", b"\r", b"\r\n ", b"\r\n\t", b"\r\r\n", b"\x0b", b"\x85", b"\x00"])
NAMES = st.sampled_from(
    [
        *(b"Content-Length", b"content-length", b"Content-Length ", b" Content-Length", b"Content-Length\x0b"),
        *(b"Transfer-Encoding", b"transfer-encoding\t", b"Content_Length", b"X-A", b"Expect", b"Upgrade", b""),
    ]
)
VALUES = st.binary(max_size=8) | st.sampled_from(
    [
        *(b"3", b" 3", b"3 ", b"\t5\t", b"03", b"+3", b"-1", b"3, 3", b"3,5", b"0x3", b"3_0", b"", b"3;a", b"\xb2"),
        *(b"1" * 16, b"chunked", b"identity", b"chunked, gzip", b"100-continue", b"h2c", b"a: b"),
    ]
)
COLONS = st.sampled_from([*[b":"] * 5, b"", b"::"])
FIRST = st.sampled_from(
    [
        *(b"POST / HTTP/1.1", b"GET / HTTP/1.0", b"HEAD / HTTP/1.1", b"CONNECT a:1 HTTP/1.1", b"GET /", b""),
        b"\r\nGET / HTTP/1.1",
    ]
)
PLAIN = st.sampled_from([b"Content-Length: 3", b"Transfer-Encoding: chunked", b"X-A: b"])
BEHIND = st.lists(st.tuples(ENDS, PLAIN | st.tuples(NAMES, COLONS, VALUES).map(b"".join)).map(b"".join), max_size=5)
LAST = st.sampled_from([*[b"\r\n\r\n"] * 5, b"\n\n", b"\n\r\n", b"\r\n\n"])
HEADS = (
    st.tuples(FIRST, st.just(b"\r\nHost: x"), BEHIND.map(b"".join), LAST).map(b"".join)
    | st.binary(max_size=60).map(lambda text: text + b"\r\n\r\n")
).map(lambda text: re.split(rb"(?<=\n\n)|(?<=\n\r\n)", text)[0])
"""Heads, most of which are wrong in some way."""


def is_read_alike(head: bytes, taken: Callable[[bytes], int]) -> bool:
    """Whether h11 reads what is taken as it was looked at: its lines, and a body of that length and nothing more."""
    try:
        length = taken(head)
    except HeadRefused:
        return True
    reader = h11.Connection(h11.SERVER)
    try:
        reader.receive_data(head + b"b" * length + b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        request = reader.next_event()
    except h11.RemoteProtocolError:
        return True  # nothing is asked
    read, event = b"", reader.next_event()
    while isinstance(event, h11.Data):
        read, event = read + bytes(event.data), reader.next_event()
    lines = [line for line in head.split(b"\r\n")[1:] if line]
    return (
        isinstance(request, h11.Request)
        and [bytes(name) + b":" + bytes(value) for name, value in request.headers]
        == [name.lower() + b":" + value.strip(b" \t") for name, _, value in (line.partition(b":") for line in lines)]
        and read == b"b" * length
        and isinstance(event, h11.EndOfMessage)
        and reader.trailing_data[0].startswith(b"GET /next")
    )


@examples(1000)
@given(HEADS)
@example(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
def test_what_is_taken_of_any_bytes_is_read_alike_by_h11(head: bytes) -> None:
    """And nothing is raised but the refusal."""
    assert is_read_alike(head, length_of_body)


@given(st.binary())
def test_any_bytes_are_taken_or_refused(head: bytes) -> None:
    """Whatever they are, a head or none."""
    with suppress(HeadRefused):
        assert 0 <= length_of_body(head) <= MOST_BYTES


def lines_as_python_has_them(head: bytes) -> int:
    """A wrong twin, which lets each line end as it likes and takes the first length."""
    lines = [line.partition(b":") for line in head.splitlines()]
    lengths = [value.strip() for name, _, value in lines if name.strip().lower() == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


def without_a_look_at_ends(head: bytes) -> int:
    """Another, which is ours without its first two checks."""
    return length_of_body(head.replace(b"\n", b"").replace(b"\r", b"\r\n"))


def without_a_look_at_chunks(head: bytes) -> int:
    """Another, to whom chunks are no length."""
    return length_of_body(re.sub(rb"(?i)transfer-encoding", b"x-a", head))


@pytest.mark.parametrize("twin", [lines_as_python_has_them, without_a_look_at_ends, without_a_look_at_chunks])
def test_readers_that_look_less_closely_are_found(twin: Callable[[bytes], int]) -> None:
    """By a head that h11 reads in another way than they do."""

    def is_read_in_another_way(head: bytes) -> bool:
        try:
            return not is_read_alike(head, twin)
        except h11.RemoteProtocolError:
            return True  # in the midst of a body

    assert find(HEADS, is_read_in_another_way, settings=settings(max_examples=5000))
