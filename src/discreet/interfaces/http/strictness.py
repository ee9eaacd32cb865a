"""Strictness: requests that two readers could understand in two ways are refused, before anything else is looked at.

A proxy in front and the server behind it must read the same request. Where they needn't, one may check what the other
doesn't do: the second of two tokens, a body by another length, a path that is written in another way.
"""

from __future__ import annotations

import json

from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.interfaces.http.problems import described

_SINGLE = {
    b"authorization", b"content-encoding", b"content-length", b"content-type", b"host", b"idempotency-key", b"origin",
    b"transfer-encoding",
}  # fmt: skip
_DOUBTFUL = (b"//", b"/./", b"/../", b"\\", b";", b"%00", b"%2e", b"%2f", b"%5c", b"%25")


class Strict:
    """Middleware: refuses ambiguous requests.

    Args:
        app: what is protected.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Keep the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
