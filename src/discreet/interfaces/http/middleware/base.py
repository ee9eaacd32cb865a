"""The base of all middleware: it takes requests, and lets whatever else a server has to say go past."""

from __future__ import annotations

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send


class Middleware(ABC):
    """Stands before an application and sees each request; whatever else a server has to say goes past it.

    Args:
        app: the application.
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
