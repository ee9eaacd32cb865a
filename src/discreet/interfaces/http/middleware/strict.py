"""Requests that two readers could understand in two ways: refused before anything else is looked at.

A proxy in front and the server behind it must read the same request. Where they needn't, one may check what the other
doesn't do: the second of two tokens, a body by another length, a path that is written in another way.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from starlette.types import Receive, Scope, Send

from discreet.interfaces.http.middleware.base import Middleware
from discreet.interfaces.http.problems import Problem

_SINGLE = {
    b"authorization", b"content-encoding", b"content-length", b"content-type", b"host", b"idempotency-key", b"origin",
    b"transfer-encoding",
}  # fmt: skip
_DOUBTFUL = (b"//", b"/./", b"/../", b"\\", b";")

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([^\"';\s]*)", re.IGNORECASE)
_UTF8 = {b"utf-8", b"utf8", b"us-ascii"}


class Strict(Middleware):
    """Refuses ambiguous requests."""

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if doubt := _doubt(scope):
            refusal = Problem("ambiguous", f"the request can be read in two ways: {doubt}", status=400).reply()
            refusal.headers["Connection"] = "close"  # what follows it on the connection may be meant as another one
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _doubt(scope: Scope) -> str:
    """Why a request is ambiguous; empty if it isn't."""
    names = [name.lower() for name, _ in scope["headers"]]
    twice = sorted(name for name in _SINGLE if names.count(name) > 1)
    if twice:
        return f"{twice[0].decode()} is given twice"
    if b"content-length" in names and b"transfer-encoding" in names:
        return "its length is given in two ways"
    path, query = scope.get("raw_path", b"").partition(b"?")[0], scope.get("query_string", b"")
    # The console reads its addresses itself, and says so in a page.
    return _doubt_of_body(scope) or _doubt_of_path(path) or (_doubt_of_query(query) if path.startswith(b"/v1") else "")


def _doubt_of_query(query: bytes) -> str:
    """A query may be read in two ways if it names something twice: readers take the first, or the last."""
    names = [unquote_plus(part.partition(b"=")[0].decode("latin-1")) for part in query.split(b"&") if part]
    return "its address says something twice" if len(names) != len(set(names)) else ""


def _doubt_of_body(scope: Scope) -> str:
    """A body may be read in two ways if it is packed, or isn't in UTF-8."""
    said = {name.lower(): value for name, value in scope["headers"]}
    if said.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        return "its body is packed"
    charsets = _CHARSET.findall(said.get(b"content-type", b""))
    return "" if _UTF8.issuperset(map(bytes.lower, charsets)) else "its body is in another encoding than UTF-8"


def _doubt_of_path(path: bytes) -> str:
    """A path may be read in two ways if it could be written more simply."""
    if b"%" in path:
        return "its path has an escaped character, and none here needs one"
    doubtful = any(each in path for each in _DOUBTFUL) or path.endswith((b"/.", b"/.."))
    return "its path can be written more simply" if doubtful else ""
