"""The console: pages for people, at `/`, made by the server. They show what the service says, and decide nothing.

    session     whose request it is                 sign_in     by a token or at a provider, and out
    forms       what they say, and from where       asking      a question in SQL, and its plan; proposals for its words
    pages       how they are made                   building    a question from parts, without SQL
    problems    what went wrong, as a page          answers     what became of it, as tables and charts
    examples    questions from declarations         account     tables, history, budget, certificates, verification
    exactness   the steps of a slider               home        what each role looks at first
    standing    what is left for whom, how long     dashboard   stored answers to questions that have names
    copying     an answer as what others paste
                                                    requests    what is approved; tokens, admissions

Templates, and the files that browsers load, are in the folders beside them.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from discreet.interfaces.http.console import (
    account,
    admissions,
    answers,
    asking,
    building,
    dashboard,
    home,
    proposals,
    requests,
    sign_in,
    tokens,
)
from discreet.interfaces.http.console.problems import as_page

__all__ = ["add_console", "as_page"]


def add_console(app: FastAPI, *, secure: bool) -> None:
    """Add the console's pages to an app that has a service.

    Args:
        app: of the API.
        secure: whether browsers reach it by TLS, so that the session's cookie never travels without.
    """
    app.state.secure = secure
    for part in (sign_in, home, account, tokens, requests, admissions, asking, building, proposals, answers, dashboard):
        app.include_router(part.ROUTES, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
