"""Observed replies: each is counted and logged when it leaves, by its declared path, not the one that was sent."""

from __future__ import annotations

from discreet.interfaces.http.bodies import ASGIApp, Message, Receive, Scope, Send
from discreet.service import Event, Service

_ELSEWHERE = "none"
"""The route of what was sent to no path of the API: what strangers type there doesn't get into names."""


class Observed:
    """Middleware: counts and logs replies.

    Args:
        app: what is observed.
        service: whose metrics and log these are.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        """Keep the parts."""
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on; whose it is stands in its state by the time that the reply begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                route = getattr(scope.get("route"), "path", _ELSEWHERE)
                self._service.metrics.count("discreet_requests", route=route, status=f"{status // 100}xx")
                self._service.log.write(
                    Event.REQUEST,
                    route=route,
                    status=status,
                    token=state.get("token", ""),
                    entry=int(dict(message["headers"]).get(b"discreet-entry", 0)),
                )
            await send(message)

        await self._app(scope, receive, seen)
