"""A console of two pages, sound unless told otherwise: what attacks through browsers are tried on."""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from support.attacked import App

SESSION, FORM = "session-of-somebody", "form-of-that-session"
_SAFE = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def with_console(app: App, *, checks_forms: bool = True, escapes: bool = True, framed: bool = False) -> FastAPI:
    """A console in front of an API.

    Args:
        app: the API.
        checks_forms: whether a form must be of the same session, and of this site.
        escapes: whether what strangers say is escaped.
        framed: whether other sites may show its pages.
    """
    console = FastAPI(openapi_url=None)
    write: Any = escape if escapes else str

    def page(content: str, status: int = 200) -> Response:
        return HTMLResponse(f"<!doctype html><title>x</title>{content}", status, {} if framed else _SAFE)

    async def sent(request: Request) -> dict[str, str] | None:
        fields = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        if checks_forms and (
            fields.get("form") != FORM
            or "evil" in request.headers.get("origin", "")
            or request.headers.get("content-type") != "application/x-www-form-urlencoded"
        ):
            return None
        return fields

    @console.get("/")
    def first(request: Request, question: str = "") -> Response:
        if request.cookies.get("session") != SESSION:
            return RedirectResponse("/sign-in", 303)
        return page(
            f'<p>{write(question)}</p><a href="/">again</a><form action="/"><input name="question"></form>'
            f'<form method="post" action="/sign-out"><input type="hidden" name="form" value="{FORM}"></form>'
        )

    @console.get("/sign-in")
    def sign_in() -> Response:
        hidden = f'<input type="hidden" name="form" value="{FORM}">'
        return page(f'<form method="post" action="/sign-in">{hidden}<input type="password" name="token"></form>')

    @console.post("/sign-in")
    async def signed_in(request: Request) -> Response:
        fields = await sent(request)
        if fields is None or not fields.get("token", "").startswith("dsc_"):
            return page("no", 403)
        reply = RedirectResponse("/", 303)
        reply.set_cookie("session", SESSION, httponly=True, samesite="strict")
        return reply

    @console.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        return page("no", 403) if await sent(request) is None else RedirectResponse("/sign-in", 303)

    console.mount("/", app)
    return console
