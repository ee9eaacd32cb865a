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

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.interfaces.http.problems import described
from discreet.service import digest_of

MOST_BYTES = 256 * 1024
"""How large a body may be: a question has at most 64 Ki characters, and each is written in at most 4 bytes here."""

_MOST_BRACKETS = 1000
"""How many objects and lists a body may open. To read a hundred thousand takes a twentieth of a second, in which no
reply leaves, and nobody has shown a token by then."""

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
_DOUBTFUL = (b"//", b"/./", b"/../", b"\\", b";", b"%00", b"%2e", b"%2f", b"%5c", b"%25")


class Middleware(ABC):
    """What stands before an application, and sees each request; whatever else a server has to say goes past it.

    Args:
        app: what is protected.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Keep the application."""
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
    path = scope.get("raw_path", b"").lower().partition(b"?")[0]
    if any(each in path for each in _DOUBTFUL) or path.endswith((b"/.", b"/..")):
        return "its path can be written more simply"
    return ""


def says_twice(body: bytes) -> bool:
    """Whether an object in a JSON text has a name twice, of which readers take the first or the last.

    Examples:
        >>> says_twice(b'{"epsilon": 1, "epsilon": 2}'), says_twice(b'{"epsilon": 1}'), says_twice(b"no JSON")
        (True, False, False)
    """
    try:
        json.loads(body, object_pairs_hook=_single)
    except _SaidTwice:
        return True
    except (ValueError, RecursionError):
        return False  # it isn't JSON, which is said elsewhere
    return False


class _SaidTwice(Exception):
    """An object has a name twice."""


def _single(pairs: list[tuple[str, object]]) -> None:
    """Read an object, whose content nobody needs.

    Raises:
        _SaidTwice: it has a name twice.
    """
    if len({name for name, _ in pairs}) < len(pairs):
        raise _SaidTwice


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
        if len(body) > MOST_BYTES:
            await described(413, "too_large", f"a body has at most {MOST_BYTES:,} bytes")(scope, receive, send)
            return
        if body.count(b"{") + body.count(b"[") > _MOST_BRACKETS:
            await described(413, "too_large", f"a body opens at most {_MOST_BRACKETS:,} brackets")(scope, receive, send)
            return
        if says_twice(body):
            await described(400, "ambiguous", "the body says something twice")(scope, receive, send)
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
        """None is open."""
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
