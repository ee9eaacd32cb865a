"""Callers: the service that answers a request, and whoever sent it, as each route takes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discreet.errors import Unauthenticated
from discreet.service import Caller, Service

_BEARER = HTTPBearer(
    scheme_name="token",
    description="A token that the custodian made, `dsc_…`; or the provider's, where people sign in by OpenID Connect.",
    auto_error=False,
)


async def _service(request: Request) -> Service:
    """The service that answers; looked up here and now, for a thread would take longer to come by."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(
    request: Request, service: Serving, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """Whoever sent the request."""
    if shown is None:
        raise Unauthenticated
    caller = service.caller(shown.credentials)
    request.state.token = caller.token  # for the log
    return caller


Who = Annotated[Caller, Depends(_who)]
