"""The connection: requests to the one server that was named, and replies that nobody reads before they are checked.

The token goes to that server alone: no redirect is followed, and nothing is sent in the clear but to this machine. A
reply is hostile until it has the form and the size that it may have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    ReplyMalformed,
    ServerUnreachable,
    from_dict,
)
from discreet.interfaces.client.credentials import Address
from discreet.interfaces.client.sockets import pool_of, without_tls
from discreet.strict_json import strict_json

if TYPE_CHECKING:
    import urllib3

MOST_BYTES = 64 * 1024 * 1024
"""How large a reply may be: an answer has at most a million groups."""

_WHOLE = 300.0
"""How many seconds a reply may take, however slowly it trickles in."""

_PIECE = 1 << 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_LONGEST_WORDS = 2_000
_PASSING = frozenset({502, 503, 504})
"""The statuses with which a server, or a proxy in front of it, says that it can't answer right now."""

_TOO_MANY = 429
_REDIRECTS = range(300, 400)
_REFUSED = 400
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply, in JSON.

    Args:
        status: of HTTP: one that isn't an error, or 404.
        data: what it said.
        pause: after how many seconds it may be asked again, if it says so.
        place: where, if it says so.
    """

    status: int
    data: Any
    pause: float | None
    place: str | None

    def fields(self) -> Mapping[str, Any]:
        """The reply as an object.

        Raises:
            ReplyMalformed: it is something else.
        """
        if not isinstance(self.data, dict):
            malformed("an object was expected")
        return self.data

    def objects(self) -> list[Mapping[str, Any]]:
        """The reply as a list of objects.

        Raises:
            ReplyMalformed: it is something else.
        """
        return _objects(self.data)

    def among(self, name: str) -> list[Mapping[str, Any]]:
        """A part of the reply, by name, as a list of objects.

        Raises:
            ReplyMalformed: it is something else.
        """
        return _objects(self.fields().get(name))


def _objects(data: object) -> list[Mapping[str, Any]]:
    """Data, if it is a list of objects."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        malformed("a list was expected")
    return data


def malformed(why: str) -> NoReturn:
    """Refuse a reply.

    Raises:
        ReplyMalformed: always.
    """
    raise ReplyMalformed(f"this isn't what a discreet server replies: {why}", hint="check the address")


class Connection:
    """A connection to one server, in the name of a token's holder. Threads may share it.

    Guarantee: the token is sent to that address alone, and is in no text that this makes. What failed is sent again
    only if it changes nothing, or carries a key by which the server knows it again.

    Args:
        address: of the server.
        token: of the caller.
        patience: for how many seconds a server that can't be reached, or can't answer now, is tried again.
        fingerprint: of the one certificate that is trusted; None for those that authorities vouch for.

    Raises:
        ExtraMissing: urllib3 isn't installed.
        InvalidArgument: the proxy that the environment names is of no kind that is known.
    """

    def __init__(self, address: Address, token: str, *, patience: float, fingerprint: str | None = None) -> None:
        self.address, self._patience = address, patience
        self.__headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, application/problem+json"}
        self._pool = pool_of(address, fingerprint)

    def __repr__(self) -> str:
        """Without the token."""
        return f"Connection({str(self.address)!r})"

    def close(self) -> None:
        """Let go of the sockets."""
        self._pool.clear()

    def get(self, path: str) -> Reply:
        """Look at a path below `/v1`."""
        reply = self._sent("GET", path, None, {}, again=True)
        if reply.status == _NOT_FOUND:
            raise _refusal(reply.status, reply.data)
        return reply

    def find(self, path: str) -> Reply | None:
        """Look at a path below `/v1`; None if the server knows of nothing there."""
        reply = self._sent("GET", path, None, {}, again=True)
        return None if reply.status == _NOT_FOUND else reply

    def post(self, path: str, body: Mapping[str, Any], *, key: str = "", prefer: str = "") -> Reply:
        """Send something to a path below `/v1`.

        Args:
            path: that it is sent to.
            body: in JSON.
            key: by which the server knows it again; without one it is sent once.
            prefer: how the reply is wanted.
        """
        headers = {"Content-Type": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        headers |= {"Prefer": prefer} if prefer else {}
        try:
            content = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError):
            raise InvalidArgument("a question and its terms must be strings and finite numbers") from None
        reply = self._sent("POST", path, content, headers, again=bool(key))
        if reply.status == _NOT_FOUND:
            raise _refusal(reply.status, reply.data)
        return reply

    def _sent(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], *, again: bool) -> Reply:
        """Send something, as often as it takes and may be.

        Raises:
            DiscreetError: the server refuses, of the kind that it names.
            AnswerContradicted: it has another certificate than the one that was named.
            ServerUnreachable: it can't be reached, or can't answer, for as long as one is patient.
            ReplyMalformed: what came isn't what such a server says.
        """
        end, pause = monotonic() + self._patience, _FIRST_PAUSE
        while True:
            error: DiscreetError
            wanted: float | None = None
            try:
                reply = self._tried(method, path, body, headers)
                if not _passes(reply.status, reply.pause):
                    return reply
                wanted, error = reply.pause, _refusal(reply.status, reply.data)
            except ServerUnreachable as unreachable:
                error = unreachable
            wait = pause if wanted is None else max(pause, wanted)
            if not again or monotonic() + wait > end:
                raise error
            sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _tried(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """Send something once."""
        from urllib3.exceptions import HTTPError, LocationValueError, SSLError

        url = f"{self.address}/v1/{path}"
        try:
            reply = self._pool.request(
                method,
                url,
                body=body,
                headers={**self.__headers, **headers},
                redirect=False,
                retries=False,
                preload_content=False,
                decode_content=False,
            )
            try:
                content = _read(reply)
            finally:
                reply.close()
        except SSLError as error:
            raise without_tls(self.address, error) from None
        except (LocationValueError, UnicodeError):
            raise InvalidArgument("this isn't the address of a server", hint="https://gate.example.org") from None
        except (HTTPError, OSError):
            raise ServerUnreachable(
                f"{self.address} doesn't answer",
                hint="check the address and the network",
            ) from None
        return _checked(reply.status, reply.headers, content)


def _read(reply: urllib3.BaseHTTPResponse) -> bytes:
    """The body of a reply, as far as it may go.

    Raises:
        ReplyMalformed: it is larger than that, or compressed, which nobody asked for.
        ServerUnreachable: it takes too long.
    """
    if reply.headers.get("Content-Encoding", "identity") != "identity":
        malformed("it is compressed")
    content, end = bytearray(), monotonic() + _WHOLE
    while piece := reply.read1(_PIECE):
        content += piece
        if len(content) > MOST_BYTES:
            malformed(f"it has more than {MOST_BYTES:,} bytes")
        if monotonic() > end:
            raise ServerUnreachable(f"a reply took more than {_WHOLE:.0f} seconds")
    return bytes(content)


def _passes(status: int, pause: float | None) -> bool:
    """Whether a server can't answer now, and may do so later: a full queue only where it says when."""
    return status in _PASSING or (status == _TOO_MANY and pause is not None)


def _checked(status: int, headers: Mapping[str, str], content: bytes) -> Reply:
    """A reply; of errors only those that pass, and that there is nothing.

    Raises:
        DiscreetError: it is one of an error, of the kind that it names.
        ReplyMalformed: it is of no form that is known.
    """
    if status in _REDIRECTS:
        malformed("it redirects elsewhere, where a token must not be sent")
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    pause = _seconds(headers.get("Retry-After"))
    may_pass = _passes(status, pause)
    is_json = kind in {"application/json", "application/problem+json"} and (content or not may_pass)
    data = _parsed(content) if is_json else None
    if status >= _REFUSED and not may_pass and status != _NOT_FOUND:
        raise _refusal(status, data)
    if data is None and not may_pass:
        malformed(f"status {status}, and no JSON")
    return Reply(status, data, pause, headers.get("Location"))


def _parsed(content: bytes) -> Any:  # noqa: ANN401 — JSON
    """JSON, with finite numbers, and each name once.

    Raises:
        ReplyMalformed: it isn't that.
    """
    try:
        return strict_json(content.decode())
    except (ValueError, RecursionError):
        malformed("it isn't JSON")


def _refusal(status: int, data: object) -> DiscreetError:
    """The error that a server names."""
    if not isinstance(data, dict) or not isinstance(data.get("code"), str) or not isinstance(data.get("title"), str):
        if status in _PASSING:
            return ServerUnreachable(f"the server can't answer now (status {status})", hint="try again later")
        return ReplyMalformed(
            f"this isn't what a discreet server replies: status {status}, without a reason",
            hint="check the address",
        )
    place = data.get("place")
    is_place = isinstance(place, list) and [type(each) for each in place] == [int, int]
    said = {"code": data["code"], "message": data["title"][:_LONGEST_WORDS], "place": place if is_place else None}
    return from_dict({**said, "hint": str(data.get("hint") or "")[:_LONGEST_WORDS]})


def _seconds(text: str | None) -> float | None:
    """The seconds in `Retry-After`; None for a date, so that our own schedule holds."""
    return min(float(text), 60.0) if text is not None and text.isascii() and text.isdigit() else None
