"""Counts and logs each reply, and gives each request its name."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.interfaces.http.middleware.base import Middleware
from discreet.interfaces.http.problems import CODE
from discreet.service import Event, Service, fresh_name


def address_of(scope: Scope, *, behind_proxy: bool) -> str:
    """The address that a request came from, for the log; empty if unknown.

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


_ELSEWHERE = "none"
"""The route of requests to no path of the API: what strangers type mustn't get into names."""

_NAME = 16
"""How many hexadecimal digits a request's name has, in the log and in its reply."""


class Observed(Middleware):
    """Counts and logs replies when they leave, by the declared path and not the one that was sent.

    Args:
        app: what is observed.
        service: whose metrics and log these are.
        behind_proxy: whether a proxy says whose requests these are.
    """

    def __init__(self, app: ASGIApp, service: Service, *, behind_proxy: bool) -> None:
        super().__init__(app)
        self._service, self._behind_proxy = service, behind_proxy

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on; whose it is stands in its state by the time that the reply begins.

        For refused calls the line says why and from where, so that one person trying tokens looks unlike many people.
        """
        state, name = scope.setdefault("state", {}), fresh_name()[:_NAME]
        address = address_of(scope, behind_proxy=self._behind_proxy)

        async def seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                headers = MutableHeaders(scope=message)
                headers["Request-Id"] = name
                route = getattr(scope.get("route"), "path", _ELSEWHERE)
                refused = status >= HTTPStatus.BAD_REQUEST
                self._service.metrics.count("discreet_requests", route=route, status=f"{status // 100}xx")
                self._service.log.write(
                    Event.REQUEST,
                    route=route,
                    status=status,
                    token=state.get("token", ""),
                    entry=int(headers.get("discreet-entry", 0)),
                    code=headers.get(CODE, "") if refused else "",
                    address=address if refused else "",
                    request=name,
                )
                del headers[CODE]
            await send(message)

        await self._app(scope, receive, seen)
