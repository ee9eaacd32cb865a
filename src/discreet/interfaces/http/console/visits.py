"""Visits: who signed in and what they sent, the pages that they are shown, and how they sign in and out.

A form counts only if it came from a page of the same session. In a page, whatever isn't ours is text and nothing else.
No token is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from discreet.errors import AccessError, DiscreetError, Forbidden, InvalidArgument, ProviderBusy, Unauthenticated
from discreet.interfaces.http.middleware.safe_headers import SAFE
from discreet.interfaces.http.problems import CODE, problem
from discreet.interfaces.http.requests import Serving
from discreet.printable import printable
from discreet.service import ALLOWED, RETURN, Action, Caller, Service, fresh_name

if TYPE_CHECKING:
    from discreet.ledger import Entry


Fields = Mapping[str, str]
"""What a form or an address says, by name."""

_MOST_FIELDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Somebody who signed in.

    Args:
        service: that answers.
        caller: who it is.
        form: what each form brings along.
    """

    service: Service
    caller: Caller
    form: str

    def may(self, action: str) -> bool:
        """Whether a page is worth a link; whether it is shown, the service decides."""
        return Action[action] in ALLOWED[self.caller.role]


def cookie_name(request: Request) -> str:
    """What the session's cookie is called; by TLS, browsers take it from this host alone."""
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
    """Whose request this is.

    Raises:
        Unauthenticated: nobody's who is signed in.
    """
    session, caller = service.sessions.resume(request.cookies.get(cookie_name(request), ""))
    request.state.token = caller.token  # for the log
    return Visit(service=service, caller=caller, form=session.form)


Visiting = Annotated[Visit, Depends(visit_of)]


def queried(request: Request) -> Fields:
    """What the address says."""
    return _fields(request.url.query)


Queried = Annotated[Fields, Depends(queried)]


async def sent(request: Request) -> Fields:
    """What a form says, which a page of ours has sent.

    Raises:
        Forbidden: another site's page did.
        InvalidArgument: it can't be read.
    """
    check_same_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise InvalidArgument("this isn't a form")
    try:
        return _fields((await request.body()).decode("ascii"))
    except UnicodeDecodeError:
        raise InvalidArgument("this form isn't written as forms are") from None


Sent = Annotated[Fields, Depends(sent)]


def _filled(fields: Sent, visit: Visiting) -> Fields:
    """What a form of this session says.

    Raises:
        Forbidden: it is from another session, or from no page of ours.
    """
    check_form(fields, visit.form)
    return fields


Filled = Annotated[Fields, Depends(_filled)]


def check_form(fields: Fields, expected: str) -> None:
    """Refuse a form that doesn't bring along what its page had.

    Raises:
        Forbidden: it doesn't.
    """
    if not compare_digest(fields.get("form", "").encode(), expected.encode()):
        raise Forbidden("this form is of another session", hint="load the page again, and send it from there")


def check_same_origin(request: Request) -> None:
    """Refuse what a page of another site has sent; browsers say so in two ways.

    Raises:
        Forbidden: it did, or the browser doesn't say.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "")
    host = _host(origin)
    foreign = origin not in {"", "null"} and (not host or host != request.headers.get("host"))
    # Our pages send no referrer, so browsers say "null" of where their forms come from, and are asked the other way.
    if foreign or site not in {None, "same-origin"} or (origin == "null" and site is None):
        raise Forbidden("this was sent from a page of another site", hint="open the console, and send it from there")


def _host(origin: str) -> str:
    """The host and port of an origin; empty if it isn't one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # a bracket that nothing closes
        return ""


def _fields(text: str) -> Fields:
    """The fields of a form or an address.

    Raises:
        InvalidArgument: they can't be read, or one is said twice.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidArgument("what was sent can't be read") from None
    found = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(found) != len(pairs):
        raise InvalidArgument("a field was sent twice")
    return found


SIGN_IN = "/sign-in"


@cache
def _templates() -> Environment:
    """The templates. All text is escaped, and a name that isn't there is an error."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(query=urlencode, number=number, moment=moment, amounts=amounts, shown=shown)
    return found


def page(template: str, visit: Visit | None, status: int = 200, **context: object) -> HTMLResponse:
    """A page.

    Args:
        template: its name, without its ending.
        visit: of whoever looks at it; None before they signed in.
        status: of HTTP.
        context: what the template shows.
    """
    return HTMLResponse(_templates().get_template(f"{template}.html").render(visit=visit, **context), status, SAFE)


def see(path: str) -> RedirectResponse:
    """On to another page of ours, after a form was sent."""
    return RedirectResponse(path, 303)


def download(content: str, kind: str, name: str) -> Response:
    """A file to keep; browsers don't show it as a page."""
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def as_page(request: Request, reply: JSONResponse) -> Response:
    """What went wrong: as a page for a browser, as it is for others. Who isn't signed in is asked to sign in."""
    if request.url.path.startswith("/v1") or "text/html" not in request.headers.get("accept", ""):
        return reply
    found = json.loads(bytes(reply.body))
    if found["code"] == Unauthenticated.code:
        response = see(f"{SIGN_IN}?ended" if cookie_name(request) in request.cookies else SIGN_IN)
        response.delete_cookie(cookie_name(request), path="/", secure=request.app.state.secure, httponly=True)
        return response
    try:
        visit = visit_of(request, request.app.state.service)
    except DiscreetError:
        visit = None
    problem_page = page("problem", visit, reply.status_code, problem=found)
    problem_page.headers.update({name: reply.headers[name] for name in (CODE, "retry-after") if name in reply.headers})
    return problem_page


def said(error: DiscreetError) -> dict[str, Any]:
    """What went wrong, for a page: as much as the API says of it, so that what isn't the reader's affair stays here."""
    found: dict[str, Any] = json.loads(bytes(problem(error).body))
    return found


def number(value: float | Fraction | None, digits: int = 6) -> str:
    """A number to read: digits in groups, and no more of them than say something."""
    if value is None:
        return "∞"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{float(value):,.{digits}g}"


def amounts(entry: Entry) -> str:
    """What a question has cost, to read: in ε if it has one, else in ρ, and a δ beside it; nothing of anything else."""
    if (cost := entry.cost) is None:
        return ""
    said = f"ε = {number(cost.epsilon, 4)}" if cost.epsilon is not None else f"ρ = {number(cost.rho, 4)}"
    return f"{said}, δ = {number(cost.delta, 4)}" if cost.delta else said


def shown(value: object) -> str:
    """What others wrote, to read; what a form sends back is left as it is."""
    return printable(str(value))


def moment(at: datetime) -> str:
    """A moment to read, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


ROUTES = APIRouter()

_ADVICE = "Check that all of it was copied; ask the custodian for a new one otherwise."


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
        raise InvalidArgument("nobody signs in here by OpenID Connect", hint="sign in with a token")
    name, address = provider.sign_in.begin()
    response = RedirectResponse(address, 303)
    # The provider's page sends the browser back, so this cookie has to come along from there: of reading, not of forms.
    set_cookie(request, response, _attempt(request), name, samesite="lax")
    return response


@ROUTES.get(RETURN)
def from_provider(request: Request, queried: Queried, service: Serving) -> Response:
    """Begin a session for whoever the provider vouches for."""
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
            refused="that sign-in didn’t come to its end" if unknown else error.message,
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
    """A session in the place of any that this browser had: a name that somebody gave it beforehand is worth nothing."""
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
    """What the cookie is called that comes with the form."""
    return f"{cookie_name(request)}-form"


def _attempt(request: Request) -> str:
    """What the cookie is called of somebody who was sent to the provider."""
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
