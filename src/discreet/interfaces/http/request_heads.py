"""Heads of requests, looked at as they are on the wire, before a library reads them.

h11 reads heads as a lenient server may (RFC 9112): lines that end in a line feed alone, lines that go on in the next
one, a length said twice. What it hands on is tidy, and nobody sees any more that a proxy in front may have read it in
another way. So each head is looked at as it came, and so is how long its body says to be.
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.interfaces.http.middleware.bodies import MOST_BYTES
from discreet.interfaces.http.middleware.safe_headers import SAFE
from discreet.interfaces.http.problems import Problem

_SECONDS = 10.0
"""How many seconds the head of a request may take, from when the connection was made or the head begun."""

_REFUSING = 1.0
"""How many seconds what follows a refused head is read and thrown away: closing the connection earlier may lose the
reply that says what to do.
"""

_MOST_THROWN = 4 * MOST_BYTES

_MOST_HEAD = 16 * 1024

_END = re.compile(rb"\n\r?\n")
"""Where h11 thinks a head ends."""

_LONE = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_FOLDED = re.compile(rb"\n[ \t]")
_LENGTH = re.compile(rb"[0-9]{1,15}")


class HeadRefused(Exception):
    """A head that two readers could understand in two ways, or of a body that isn't read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def length_of_body(head: bytes) -> int:
    r"""How many bytes of a body follow a head, as every reader understands it.

    Guarantee: h11 either refuses a head that is taken here, or reads it line by line as it stands there, and a body of
    this length behind it.

    Args:
        head: all lines of it, with the empty one at its end.

    Raises:
        HeadRefused: readers may differ on where its lines end, or on how long its body is; or it doesn't say how long
            that is, or that it is too large.

    Examples:
        >>> length_of_body(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n")
        7
        >>> length_of_body(b"GET / HTTP/1.1\nHost: a\r\n\r\n")
        Traceback (most recent call last):
        ...
        discreet.interfaces.http.request_heads.HeadRefused: the request can be read in two ways: a line of its head ...
    """
    if _LONE.search(head):
        raise _ambiguous("a line of its head doesn't end in a carriage return and a line feed")
    if _FOLDED.search(head):
        raise _ambiguous("a line of its head goes on in the next one")
    lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    said = {name.strip().lower() for name, _, _ in lines}
    lengths = [value.strip(b" \t") for name, _, value in lines if name.strip().lower() == b"content-length"]
    if b"transfer-encoding" in said:
        if lengths:
            raise _ambiguous("its length is given in two ways")
        hint = "send Content-Length, and no Transfer-Encoding"
        raise HeadRefused(Problem("length_required", "a request must say how long its body is", hint, status=411))
    if len(lengths) > 1 or any(not _LENGTH.fullmatch(each) for each in lengths):
        raise _ambiguous("its length isn't one number")
    length = int(lengths[0]) if lengths else 0
    if length > MOST_BYTES:
        raise HeadRefused(Problem("too_large", f"a body has at most {MOST_BYTES:,} bytes", status=413))
    return length


def _ambiguous(doubt: str) -> HeadRefused:
    return HeadRefused(Problem("ambiguous", f"the request can be read in two ways: {doubt}", status=400))


class PromptHeads(H11Protocol):
    """HTTP/1.1 as h11 reads it, with a time for heads.

    Uvicorn closes connections that idle between requests. One on which a byte of a head comes now and then doesn't
    idle, and would be held for ever. It is this class whatever else is installed: another parser would read requests
    that are written strangely in its own way.
    """

    most_seconds = _SECONDS
    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read, and see whether a head is still to come to its end."""
        super().data_received(data)
        if self._is_before_a_request():
            self._wait()
        elif self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._overdue is not None:
            self._overdue.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Close the connection in a while, unless a head comes to its end by then."""
        if self._overdue is None:
            self._overdue = self.loop.call_later(self.most_seconds, self._close)

    def _close(self) -> None:
        """Close the connection, if nothing is being answered on it."""
        self._overdue = None
        if self._is_before_a_request():
            self.transport.close()

    def _is_before_a_request(self) -> bool:
        """Whether no request has come yet, or the last one was answered."""
        return self.cycle is None or self.cycle.response_complete


class StrictHeads(PromptHeads):
    """The same, which refuses what two readers could understand in two ways, and bodies that don't say their length.

    Guarantee: h11 is handed no end of a head that wasn't looked at, and after each head as many bytes of a body as the
    head says. Chunks are never read: h11 takes one after the other, and a body of 256 KiB can be cut into as many
    chunks as it has bytes.
    """

    _refused = False
    _left = 0
    """How many bytes of a body are to come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin with a head."""
        self._head = bytearray()
        self._thrown = 0
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Look at each head in it, and hand on what isn't refused."""
        at = 0
        while at < len(data) and not self._refused and not self.transport.is_closing():
            if self._left:
                end = min(len(data), at + self._left)
                self._left -= end - at
            else:
                end = self._end_of_head(data, at)
            if not self._refused:
                super().data_received(data[at:end])
            at = end
        if self._refused:
            self._throw(len(data))

    def _end_of_head(self, data: bytes, at: int) -> int:
        """Take of a head what is there, and look at it if it is whole; where it ends."""
        begun = len(self._head)
        self._head += data[at : at + _MOST_HEAD - begun]
        found = _END.search(self._head, max(0, begun - 2))
        if found is None:
            if len(self._head) == _MOST_HEAD:
                self._refuse(Problem("too_large", f"a head has at most {_MOST_HEAD:,} bytes", status=431))
            return len(data)
        head = bytes(self._head[: found.end()])
        self._head.clear()
        try:
            self._left = length_of_body(head)
        except HeadRefused as refused:
            self._refuse(refused.problem)
        return at + found.end() - begun

    def _refuse(self, refusal: Problem) -> None:
        """Say why, and close. Behind a request that is being answered it isn't said: its reply is the last."""
        self._refused = True
        if self._is_before_a_request():
            self._unset_keepalive_if_required()
            self.transport.write(_written(refusal))
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self.loop.call_later(_REFUSING, self.transport.close)
        else:
            self.cycle.keep_alive = False

    def _throw(self, size: int) -> None:
        """Throw away what follows, up to a limit."""
        self._thrown += size
        if self._thrown > _MOST_THROWN and self._is_before_a_request():
            self.transport.close()


def _written(refusal: Problem) -> bytes:
    """A reply as it is sent, after which the connection ends."""
    reply = refusal.reply()
    reply.headers.update({**SAFE, "Cache-Control": "no-store", "Connection": "close"})
    status = HTTPStatus(reply.status_code)
    head = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    head += [name + b": " + value for name, value in reply.raw_headers]
    return b"\r\n".join([*head, b"", bytes(reply.body)])
