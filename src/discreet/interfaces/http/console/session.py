"""Sessions in a browser: whose request it is, by a cookie that no script reads. No token is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request, Response

from discreet.interfaces.http.requests import Serving
from discreet.service import ALLOWED, Action, Caller, Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request of a caller who is signed in.

    Args:
        service: that answers.
        caller: whose it is.
        form: the secret that each form of this session carries.
    """

    service: Service
    caller: Caller
    form: str

    def may(self, action: str) -> bool:
        """Whether a page is worth a link; whether it is shown, the service decides."""
        return Action[action] in ALLOWED[self.caller.role]


def cookie_name(request: Request) -> str:
    """The name of the session's cookie. With TLS, browsers take it from this host alone."""
    return "__Host-discreet" if request.app.state.secure else "discreet"


def set_cookie(
    request: Request, response: Response, name: str, value: str, *, samesite: Literal["strict", "lax"] = "strict"
) -> None:
    """Give the browser a cookie that no script reads, and that no other site's request brings along.

    Args:
        request: of the browser.
        response: by which it is given.
        name: of the cookie.
        value: of the cookie.
        samesite: lax, if it has to come along where another site sends the browser here.
    """
    secure = bool(request.app.state.secure)
    response.set_cookie(name, value, path="/", httponly=True, samesite=samesite, secure=secure)


def visit_of(request: Request, service: Serving) -> Visit:
    """The visit that a request belongs to.

    Raises:
        Unauthenticated: the sender isn't signed in.
    """
    session, caller = service.sessions.resume(request.cookies.get(cookie_name(request), ""))
    request.state.token = caller.token  # for the log
    return Visit(service=service, caller=caller, form=session.form)


Visiting = Annotated[Visit, Depends(visit_of)]
