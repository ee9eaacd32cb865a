"""What went wrong, as a page."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from discreet.errors import DiscreetError, Unauthenticated
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import cookie_name, visit_of
from discreet.interfaces.http.problems import CODE, problem

SIGN_IN = "/sign-in"


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
