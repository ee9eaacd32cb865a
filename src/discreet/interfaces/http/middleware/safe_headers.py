"""Headers by which a browser loads nothing that isn't ours, and shows our pages nowhere else."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.interfaces.http.middleware.base import Middleware

SAFE = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

TLS_ONLY = "max-age=31536000"
"""For a year, browsers come to this host by TLS alone."""


class SafeHeaders(Middleware):
    """Adds these headers to every reply.

    Args:
        app: the application.
        secure: whether browsers reach it by TLS; then they are told to come by nothing else.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        super().__init__(app)
        self._headers = {**SAFE, "Strict-Transport-Security": TLS_ONLY} if secure else SAFE

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add to the head of its reply."""

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        await self._app(scope, receive, safely)
