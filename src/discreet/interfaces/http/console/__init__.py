"""The console: pages for people, at `/`, made by the server. They show what the service says, and decide nothing.

    visits      who signed in, and what their forms say
    pages       how a page is made, and what it may load
    signing_in  with a token, or at a provider of OpenID Connect
    overview    tables, budget, history, certificates        ─┐
    building    words for the editor; a question without SQL  │
    asking      a question and its plan                       ├─ each calls the service in the name of who signed in
    answers     what became of it                             │
    custody     tokens, approvals, admissions                ─┘
    charts      where the marks of a picture stand

Templates, and the files that browsers load, are in the folders beside them.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from discreet.interfaces.http.console import answers, asking, building, custody, overview, signing_in
from discreet.interfaces.http.console.pages import SAFE, SafeHeaders, as_page

__all__ = ["SAFE", "SafeHeaders", "add_console", "as_page"]


def add_console(app: FastAPI, *, secure: bool) -> None:
    """Add the console's pages to an app that has a service.

    Args:
        app: of the API.
        secure: whether browsers reach it by TLS, so that the session's cookie never travels without.
    """
    app.state.secure = secure
    for part in (signing_in, overview, asking, answers, building, custody):
        app.include_router(part.ROUTES, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
