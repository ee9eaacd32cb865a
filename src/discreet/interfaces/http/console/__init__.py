"""The console: pages for people, at `/`, made by the server. They show what the service says, and decide nothing.

    visits     who signed in, and what their forms say
    pages      how a page is made, and what it may load
    asking     a question, its plan, its answer      ─┐
    building   a question without SQL                 │
    overview   tables, budget, history                ├─ each calls the service in the name of who signed in
    custody    tokens, admissions                     │
    requests   questions that need an approval        │
    auditing   whether the ledger holds              ─┘

Templates, and the files that browsers load, are in the folders beside them.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from discreet.interfaces.http.console import asking, auditing, building, custody, overview, requests, signing_in
from discreet.interfaces.http.console.headers import SafeHeaders
from discreet.interfaces.http.console.pages import as_page

__all__ = ["SafeHeaders", "add_console", "as_page"]


def add_console(app: FastAPI, *, secure: bool) -> None:
    """Add the console's pages to an app that has a service.

    Args:
        app: of the API.
        secure: whether browsers reach it by TLS, so that the session's cookie never travels without.
    """
    app.state.secure = secure
    for part in (signing_in, overview, asking, building, custody, requests, auditing):
        app.include_router(part.ROUTES, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
