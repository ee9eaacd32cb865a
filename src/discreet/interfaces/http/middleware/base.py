"""What all middleware has in common: it takes requests, and lets the rest of what a server has to say go past."""

from __future__ import annotations

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send


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
