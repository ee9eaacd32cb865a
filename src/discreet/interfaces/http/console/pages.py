"""Pages: HTML from templates, in which whatever isn't ours is text and nothing else; and what browsers may load."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from discreet.errors import DiscreetError, Unauthenticated
from discreet.interfaces.http.console.visits import Visit, cookie_name, visit_of
from discreet.interfaces.http.middleware import Middleware
from discreet.interfaces.http.problems import problem
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.ledger import Entry

SIGN_IN = "/sign-in"

SAFE = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


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
    return page("problem", visit, reply.status_code, problem=found)


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


class SafeHeaders(Middleware):
    """Adds them to each reply, whoever made it."""

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add to the head of its reply."""

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SAFE)
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        await self._app(scope, receive, safely)
