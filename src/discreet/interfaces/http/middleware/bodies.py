"""Bodies that are large, slow or ambiguous, refused before anything looks for what they ask."""

from __future__ import annotations

import asyncio
import json
import re
from math import isinf

from starlette.types import Message, Receive, Scope, Send

from discreet.interfaces.http.middleware.base import Middleware
from discreet.interfaces.http.problems import Problem

MOST_BYTES = 256 * 1024
"""How large a body may be: a question has at most 64 Ki characters, and each is written in at most 4 bytes here."""

_MOST_BRACKETS = 1000
"""How many objects and lists a body may open. Reading a hundred thousand takes a twentieth of a second, in which no
reply leaves, and that before any token is shown.
"""

MOST_VALUES = 4000
"""How many values a JSON text may have. As many bounds as the brackets allow have 3,000. Each may be wrong in several
ways, all of which the event loop writes down: for a hundred thousand that takes seconds and 150 MB.
"""

_MOST_SECONDS = 30
"""How long a body may take, so that sending one byte a second holds a connection no longer."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]", re.ASCII)


_NOT_UTF8 = Problem(
    "ambiguous", "the body isn't in UTF-8", "encode it as UTF-8, without a byte order mark or null bytes", status=400
)
_TWICE = Problem("ambiguous", "the body says something twice", status=400)
_NO_NUMBER = Problem("invalid_argument", "a number in the body isn't one that JSON has, or is too large", status=422)
_HALF = Problem("invalid_argument", "a text in the body has half a character, a lone surrogate", status=422)


def objection(body: bytes) -> Problem | None:
    """Why a body is refused before anything looks for what it asks; None if it isn't.

    Examples:
        >>> objection(b'{"epsilon": 1, "epsilon": 2}').message, objection(b"[0, 1]"), objection(b"no JSON")
        ('the body says something twice', None, None)
        >>> objection('{"epsilon": 1}'.encode("utf-16")).message
        "the body isn't in UTF-8"
    """
    if len(body) > MOST_BYTES:
        return Problem("too_large", f"a body has at most {MOST_BYTES:,} bytes", status=413)
    if body.count(b"{") + body.count(b"[") > _MOST_BRACKETS:
        return Problem("too_large", f"a body opens at most {_MOST_BRACKETS:,} brackets", status=413)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _NOT_UTF8
    # JSON in UTF-16 or 32 has null bytes, and is read as such, whatever its head says. JSON in UTF-8 never has any.
    return _NOT_UTF8 if text[:1] == "\ufeff" or "\0" in text else _objection_to(text)


def _objection_to(text: str) -> Problem | None:
    """The same of a body that can be read, if it is JSON."""
    try:
        if _values(text) > MOST_VALUES:
            return Problem("too_large", f"a body has at most {MOST_VALUES:,} values", status=413)
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
            refusal = Problem("too_slow", f"a body may take {_MOST_SECONDS} seconds", status=408).reply()
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        if body is None:
            return  # the client is gone
        if found := objection(body):
            await found.reply()(scope, receive, send)
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
