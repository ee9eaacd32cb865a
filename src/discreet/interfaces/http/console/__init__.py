"""The console: pages for people, at `/`, made by the server. They show what the service says, and decide nothing.

    visits   how people sign in, what their forms say, how a page is made and what it may load
    account  tables, budget, history, certificates; tokens, approvals, admissions  ─┐
    asking   a question, in SQL or built without, and its plan                      ├─ in the name of who signed in
    answers  what became of it, as tables and charts                               ─┘

Templates, and the files that browsers load, are in the folders beside them.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from discreet.interfaces.http.console import account, answers, asking, sign_in
from discreet.interfaces.http.console.problems import as_page

__all__ = ["add_console", "as_page"]


def add_console(app: FastAPI, *, secure: bool) -> None:
    """Add the console's pages to an app that has a service.

    Args:
        app: of the API.
        secure: whether browsers reach it by TLS, so that the session's cookie never travels without.
    """
    app.state.secure = secure
    for part in (sign_in, account, asking, answers):
        app.include_router(part.ROUTES, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
