"""Callers: the service that answers a request, and whoever sent it, as each route takes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request

from discreet.errors import Unauthenticated
from discreet.service import Caller, Service

_BEARER = "Bearer "


def _service(request: Request) -> Service:
    """The service that answers."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(request: Request, service: Serving, authorization: Annotated[str, Header()] = "") -> Caller:
    """Whoever sent the request."""
    if not authorization.startswith(_BEARER):
        raise Unauthenticated
    caller = service.caller(authorization.removeprefix(_BEARER))
    request.state.token = caller.token  # for the log
    return caller


Who = Annotated[Caller, Depends(_who)]
