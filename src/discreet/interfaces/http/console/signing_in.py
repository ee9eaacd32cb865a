"""Signing in with a token, and out again. The token is looked at once, and not kept."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.errors import Unauthenticated
from discreet.interfaces.http.callers import Serving
from discreet.interfaces.http.console.pages import SIGN_IN, page, see
from discreet.interfaces.http.console.visits import (
    Filled,
    Queried,
    Sent,
    check_form,
    cookie_name,
    set_cookie,
)
from discreet.service import fresh_name

ROUTES = APIRouter()


@ROUTES.get(SIGN_IN)
def sign_in(request: Request, queried: Queried) -> Response:
    """Ask for a token."""
    return _form(request, ended="ended" in queried)


@ROUTES.post(SIGN_IN)
def signed_in(request: Request, fields: Sent, service: Serving) -> Response:
    """Look at the token, and begin a session."""
    # There is no session yet, so what the form brings along is compared with a cookie that came with the page.
    check_form(fields, request.cookies.get(_before(request), "") or fresh_name())
    try:
        name = service.sessions.begin(fields.get("token", "").strip())
    except Unauthenticated as error:
        return _form(request, refused=error.message, status=401)
    service.sessions.end(request.cookies.get(cookie_name(request), ""))
    response = see("/")
    set_cookie(request, response, cookie_name(request), name)
    response.delete_cookie(_before(request), path="/", secure=request.app.state.secure, httponly=True)
    return response


@ROUTES.post("/sign-out")
def sign_out(request: Request, _: Filled, service: Serving) -> Response:
    """End the session."""
    service.sessions.end(request.cookies.get(cookie_name(request), ""))
    response = see(SIGN_IN)
    response.delete_cookie(cookie_name(request), path="/", secure=request.app.state.secure, httponly=True)
    return response


def _before(request: Request) -> str:
    """What the cookie is called that comes with the form."""
    return f"{cookie_name(request)}-form"


def _form(request: Request, *, ended: bool = False, refused: str = "", status: int = 200) -> Response:
    """The form, and the cookie that goes with it."""
    form = fresh_name()
    response = page("sign_in", None, status, form=form, ended=ended, refused=refused)
    set_cookie(request, response, _before(request), form)
    return response
