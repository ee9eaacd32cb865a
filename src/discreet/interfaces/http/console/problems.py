"""Problems as pages."""

from __future__ import annotations

from fastapi import Request, Response

from discreet.errors import DiscreetError, Unauthenticated
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import cookie_name, visit_of
from discreet.interfaces.http.problems import Problem

SIGN_IN = "/sign-in"


def as_page(request: Request, problem: Problem) -> Response:
    """A problem: as a page for a browser, as JSON for others. Who isn't signed in is asked to sign in."""
    if request.url.path.startswith("/v1") or "text/html" not in request.headers.get("accept", ""):
        return problem.reply()
    if problem.code == Unauthenticated.code:
        on = see(f"{SIGN_IN}?ended" if cookie_name(request) in request.cookies else SIGN_IN)
        on.delete_cookie(cookie_name(request), path="/", secure=request.app.state.secure, httponly=True)
        return on
    try:
        visit = visit_of(request, request.app.state.service)
    except DiscreetError:
        visit = None
    response = page("problem", visit, problem.status, problem=problem)
    response.headers.update(problem.head)
    return response
