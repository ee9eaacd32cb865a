"""Signing in, by a token or at a provider of identities, and out."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import AccessError, InvalidArgument, ProviderBusy, Unauthenticated
from discreet.interfaces.http.console.forms import Filled, Queried, Sent, check_form
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.problems import SIGN_IN
from discreet.interfaces.http.console.session import cookie_name, set_cookie
from discreet.interfaces.http.requests import Serving
from discreet.service import RETURN, fresh_name

ROUTES = APIRouter()

_ADVICE = "Check that you copied all of it; otherwise ask the custodian for a new one."


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
    response = _begun(request, service, name, see("/"))
    response.delete_cookie(_before(request), path="/", secure=request.app.state.secure, httponly=True)
    return response


@ROUTES.get("/sign-in/openid")
def to_provider(request: Request, service: Serving) -> Response:
    """Send the browser to the provider; it keeps the name of this attempt, and nobody else has it."""
    provider = service.settings.openid
    if provider is None or provider.sign_in is None:
        raise InvalidArgument("this server has no sign-in through OpenID Connect", hint="sign in with a token")
    name, address = provider.sign_in.begin()
    response = RedirectResponse(address, 303)
    # The provider's page sends the browser back, so this cookie has to come along from there: of reading, not of forms.
    set_cookie(request, response, _attempt(request), name, samesite="lax")
    return response


@ROUTES.get(RETURN)
def from_provider(request: Request, queried: Queried, service: Serving) -> Response:
    """Begin a session for the person whom the provider vouches for."""
    try:
        if service.settings.openid is None:
            raise Unauthenticated
        caller = service.settings.openid.signed_in(request.cookies.get(_attempt(request), ""), queried)
    except ProviderBusy:
        raise  # its attempt is still good, so the browser keeps it
    except AccessError as error:
        unknown = isinstance(error, Unauthenticated)
        response = _form(
            request,
            refused="that sign-in wasn’t completed" if unknown else error.message,
            advice="Begin again. If that doesn’t help, tell the custodian." if unknown else f"{error.hint}.",
            status=401 if unknown else 403,
        )
    else:
        # Browsers send a session's cookie with no request that another site began, this one included; so our own page
        # leads on. Always to the start: no address that came along says where.
        response = _begun(request, service, service.sessions.begin_of(caller), page("signed_in", None))
        response.headers["Refresh"] = "0; url=/"
    response.delete_cookie(_attempt(request), path="/", secure=request.app.state.secure, httponly=True)
    return response


def _begun(request: Request, service: Serving, name: str, response: Response) -> Response:
    """Replace any session that this browser had, so that a name planted there before is worth nothing."""
    service.sessions.end(request.cookies.get(cookie_name(request), ""))
    set_cookie(request, response, cookie_name(request), name)
    return response


@ROUTES.post("/sign-out")
def sign_out(request: Request, _: Filled, service: Serving) -> Response:
    """End the session."""
    service.sessions.end(request.cookies.get(cookie_name(request), ""))
    response = see(SIGN_IN)
    response.delete_cookie(cookie_name(request), path="/", secure=request.app.state.secure, httponly=True)
    return response


def _before(request: Request) -> str:
    """The name of the cookie that comes with the form."""
    return f"{cookie_name(request)}-form"


def _attempt(request: Request) -> str:
    """The name of the cookie that a browser takes along to the provider."""
    return f"{cookie_name(request)}-openid"


def _form(
    request: Request, *, ended: bool = False, refused: str = "", advice: str = _ADVICE, status: int = 200
) -> Response:
    """The form, and the cookie that goes with it."""
    form, provider = fresh_name(), request.app.state.service.settings.openid
    way = None if provider is None or provider.sign_in is None else provider.sign_in.name
    response = page("sign_in", None, status, form=form, ended=ended, refused=refused, advice=advice, provider=way)
    set_cookie(request, response, _before(request), form)
    return response
