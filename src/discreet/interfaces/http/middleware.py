"""Middleware: what is refused before anything else is looked at.

Requests that two readers could understand in two ways. A proxy in front and the server behind it must read the same
request. Where they needn't, one may check what the other doesn't do: the second of two tokens, a body by another
length, a path that is written in another way.

And whatever would keep others from being answered: bodies that are large or slow, and many calls of one caller at once.
"""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from math import isinf
from urllib.parse import unquote_plus

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.interfaces.http.problems import described
from discreet.service import digest_of

MOST_BYTES = 256 * 1024
"""How large a body may be: a question has at most 64 Ki characters, and each is written in at most 4 bytes here."""

_MOST_BRACKETS = 1000
"""How many objects and lists a body may open. To read a hundred thousand takes a twentieth of a second, in which no
reply leaves, and nobody has shown a token by then."""

MOST_VALUES = 4000
"""How many values a JSON text may have. As many bounds as brackets allow have 3,000. Each may be wrong in several ways,
which are all written down in the event loop: of a hundred thousand that takes seconds, and 150 MB."""

_MOST_SECONDS = 30
"""How long a body may take: whoever sends one byte a second holds a connection no longer."""

_MOST_CALLS = 32
"""How many calls of one token, its sessions included, may be open at a time. Each may keep a thread busy, and a reply
that is due waits for all of them in turn."""

_SESSION = re.compile("[0-9a-f]{64}", re.ASCII)
"""The name of a session, as `fresh_name` makes it; other cookies on the host may be everybody's."""

_SINGLE = {
    b"authorization", b"content-encoding", b"content-length", b"content-type", b"host", b"idempotency-key", b"origin",
    b"transfer-encoding",
}  # fmt: skip
_DOUBTFUL = (b"//", b"/./", b"/../", b"\\", b";")

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([^\"';\s]*)", re.IGNORECASE)
_UTF8 = {b"utf-8", b"utf8", b"us-ascii"}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]", re.ASCII)


def address_of(scope: Scope, *, behind_proxy: bool) -> str:
    """Where a request came from, for the log; empty if nobody knows.

    Behind a proxy it is the last address in `X-Forwarded-For`, which that proxy has added itself. What stands before it
    was sent by the client, and may say anything.

    Examples:
        >>> said = {"headers": [(b"x-forwarded-for", b"8.8.8.8, 192.0.2.7")], "client": ("10.0.0.1", 4)}
        >>> address_of(said, behind_proxy=True), address_of(said, behind_proxy=False)
        ('192.0.2.7', '10.0.0.1')
    """
    peer = (scope.get("client") or ("",))[0]
    said = [value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for"] if behind_proxy else []
    for text in (said[-1].decode("latin-1").rpartition(",")[2].strip() if said else "", peer):
        with suppress(ValueError):
            return str(ip_address(text))
    return ""


class Middleware(ABC):
    """What stands before an application, and sees each request; whatever else a server has to say goes past it.

    Args:
        app: what is protected.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request, or let the rest pass."""
        take = self._take if scope["type"] == "http" else self._app
        await take(scope, receive, send)

    @abstractmethod
    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on."""


class Strict(Middleware):
    """Refuses ambiguous requests."""

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if doubt := _doubt(scope):
            refusal = described(400, "ambiguous", f"the request can be read in two ways: {doubt}")
            refusal.headers["Connection"] = "close"  # what follows it on the connection may be meant as another one
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _doubt(scope: Scope) -> str:
    """What is ambiguous about a request; empty if nothing is."""
    names = [name.lower() for name, _ in scope["headers"]]
    twice = sorted(name for name in _SINGLE if names.count(name) > 1)
    if twice:
        return f"{twice[0].decode()} is said twice"
    if b"content-length" in names and b"transfer-encoding" in names:
        return "its length is said in two ways"
    path, query = scope.get("raw_path", b"").partition(b"?")[0], scope.get("query_string", b"")
    # The console reads its addresses itself, and says so in a page.
    return _doubt_of_body(scope) or _doubt_of_path(path) or (_doubt_of_query(query) if path.startswith(b"/v1") else "")


def _doubt_of_query(query: bytes) -> str:
    """How else what stands behind a path could be read: readers take the first of two, or the last."""
    names = [unquote_plus(part.partition(b"=")[0].decode("latin-1")) for part in query.split(b"&") if part]
    return "its address says something twice" if len(names) != len(set(names)) else ""


def _doubt_of_body(scope: Scope) -> str:
    """How else its body could be read than as it stands there."""
    said = {name.lower(): value for name, value in scope["headers"]}
    if said.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        return "its body is packed"
    charsets = _CHARSET.findall(said.get(b"content-type", b""))
    return "" if _UTF8.issuperset(map(bytes.lower, charsets)) else "its body is in another encoding than UTF-8"


def _doubt_of_path(path: bytes) -> str:
    """How else a path could be written."""
    if b"%" in path:
        return "its path has an escaped character, and none here needs one"
    doubtful = any(each in path for each in _DOUBTFUL) or path.endswith((b"/.", b"/.."))
    return "its path can be written more simply" if doubtful else ""


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a body is refused, whatever it asks.

    Args:
        status: of HTTP.
        code: stable name of the kind of error.
        message: what is wrong.
        hint: what to do about it.
    """

    status: int
    code: str
    message: str
    hint: str = ""


_NOT_UTF8 = Objection(
    400, "ambiguous", "the body isn't in UTF-8", "write it in UTF-8, without a byte order mark or null bytes"
)
_TWICE = Objection(400, "ambiguous", "the body says something twice")
_NO_NUMBER = Objection(422, "invalid_argument", "a number in the body isn't one that JSON has, or is too large")
_HALF = Objection(422, "invalid_argument", "a text in the body has half of a character, a lone surrogate")


def objection(body: bytes) -> Objection | None:
    """Why a body is refused before anybody looks for what it asks; None if it isn't.

    Examples:
        >>> objection(b'{"epsilon": 1, "epsilon": 2}').message, objection(b"[0, 1]"), objection(b"no JSON")
        ('the body says something twice', None, None)
        >>> objection('{"epsilon": 1}'.encode("utf-16")).message
        "the body isn't in UTF-8"
    """
    if len(body) > MOST_BYTES:
        return Objection(413, "too_large", f"a body has at most {MOST_BYTES:,} bytes")
    if body.count(b"{") + body.count(b"[") > _MOST_BRACKETS:
        return Objection(413, "too_large", f"a body opens at most {_MOST_BRACKETS:,} brackets")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _NOT_UTF8
    # JSON in UTF-16 or 32 has null bytes, and is read as such, whatever its head says. JSON in UTF-8 never has any.
    return _NOT_UTF8 if text[:1] == "\ufeff" or "\0" in text else _objection_to(text)


def _objection_to(text: str) -> Objection | None:
    """The same of a body that can be read, if it is JSON."""
    try:
        if _values(text) > MOST_VALUES:
            return Objection(413, "too_large", f"a body has at most {MOST_VALUES:,} values")
        if _SURROGATE.search(text):
            json.dumps(json.loads(text), ensure_ascii=False).encode()
    except _SaidTwice:
        return _TWICE
    except _NoNumber:
        return _NO_NUMBER
    except UnicodeEncodeError:
        return _HALF
    except (ValueError, RecursionError):
        pass  # it isn't JSON, which is said elsewhere
    return None


def _values(text: str) -> int:
    """How many values a JSON text has in its objects and lists; they aren't kept.

    Raises:
        _SaidTwice: an object has a name twice.
        ValueError: it isn't JSON.

    Examples:
        >>> _values('{"a": [1, [2, {"b": 3}]]}'), _values("7")
        (6, 0)
    """
    found = 0

    def within(values: list[object]) -> int:
        held, waiting = 0, [each for each in values if isinstance(each, list)]
        while waiting:
            values = waiting.pop()
            held += len(values)
            waiting += [each for each in values if isinstance(each, list)]
        return held

    def single(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        if len({name for name, _ in pairs}) < len(pairs):
            raise _SaidTwice
        found += len(pairs) + within([value for _, value in pairs])

    outermost = json.loads(text, object_pairs_hook=single, parse_constant=_refused, parse_float=_finite)
    return found + within([outermost])


def _refused(_: str) -> float:
    """NaN and infinities, which JSON doesn't have.

    Raises:
        _NoNumber: always.
    """
    raise _NoNumber


def _finite(said: str) -> float:
    """A number that isn't beyond all that there are.

    Raises:
        _NoNumber: it is: `1e999` would be read as infinite.
    """
    if isinf(found := float(said)):
        raise _NoNumber
    return found


class _NoNumber(Exception):
    """A number isn't one that JSON has."""


class _SaidTwice(Exception):
    """An object has a name twice, of which readers take the first or the last."""


class LimitedBodies(Middleware):
    """Refuses larger bodies, also those that don't say how large they are, slow ones and ambiguous ones."""

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, as far as it may go, and hand it on."""
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                body = await _read(receive)
        except TimeoutError:
            refusal = described(408, "too_slow", f"a body may take {_MOST_SECONDS} seconds")
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        if body is None:
            return  # the client is gone
        if found := objection(body):
            await described(found.status, found.code, found.message, found.hint)(scope, receive, send)
            return
        handed = False

        async def whole() -> Message:
            nonlocal handed
            if handed:
                return await receive()
            handed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, whole, send)


async def _read(receive: Receive) -> bytes | None:
    """A body, or the beginning of one that is too large; None if the client is gone."""
    body = b""
    while len(body) <= MOST_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body


class LimitedCalls(Middleware):
    """Refuses what a caller sends while as many calls of theirs are open as may.

    Whose a call is follows from the token that it shows, or the session, whether or not that holds: nothing is looked
    up for it but whose session it is. A call stays open until its reply was taken.

    Args:
        app: what is protected.
        whose: the digest of the token that a session is of, by the session's name; None if there is no such session.
    """

    def __init__(self, app: ASGIApp, whose: Callable[[str], str | None]) -> None:
        super().__init__(app)
        self._whose = whose
        self._open: Counter[str] = Counter()

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on and count."""
        callers = self._callers(scope)
        if any(self._open[each] >= _MOST_CALLS for each in callers):
            refusal = described(
                429, "too_many_open", f"{_MOST_CALLS} of your calls are open already", "wait for their replies"
            )
            refusal.headers["Retry-After"] = "1"
            await refusal(scope, receive, send)
            return
        self._open.update(callers)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open.subtract(callers)
            for each in callers:
                if not self._open[each]:
                    del self._open[each]

    def _callers(self, scope: Scope) -> set[str]:
        """Whose a call may be: digests of what it shows, however the header around it is written; none if nothing."""
        found = set[str]()
        for name, value in scope["headers"]:
            text = value.decode("latin-1")
            if name.lower() == b"authorization":
                # Whatever spaces are around it: who reads it strips them, too.
                found.update(map(digest_of, text.split()[-1:]))
            elif name.lower() == b"cookie":
                shown = filter(_SESSION.fullmatch, cookie_parser(text).values())
                found.update(self._whose(each) or digest_of(each) for each in shown)
        return found
