"""The dashboard: the stored answers to questions that have names. Looking at it costs nothing, however often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.interfaces.http.console.answers import answers_of, as_offered, shown, ticket_of
from discreet.interfaces.http.console.asking import offered_in, questions_in, terms_of
from discreet.interfaces.http.console.forms import Filled
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.problems import problem_of
from discreet.ledger import NamedQuestion
from discreet.results import is_summary
from discreet.service import Action, Ask, PublicError, check_allowed

ROUTES = APIRouter()

_ROWS = 10
"""Rows of an answer that its tile shows."""

_MOST_DRAWN = 200
"""Rows that the picture of a tile is made of, at most.

Of a longer answer no more is read than is shown: a page has many tiles, and others wait for the process that makes it.
"""


@ROUTES.get("/dashboard")
def dashboard(visit: Visiting) -> Response:
    """The visitor's named questions with their stored answers; of one that isn't there any more, why."""
    check_allowed(visit.caller.role, Action.ASK)
    left = visit.service.left(visit.caller)
    return page("dashboard", visit, tiles=[_tile(visit, each, left) for each in visit.service.named(visit.caller)])


@ROUTES.post("/names")
def name(visit: Visiting, fields: Filled) -> Response:
    """Give the question of an answer of the visitor's own a name."""
    ticket = ticket_of(visit, fields.get("answer", ""))
    if ticket.answer is None:
        raise InvalidArgument("only a question that was answered can have a name", hint="wait for its answer")
    content = as_offered(ticket.plan.text or ticket.asked.question, ticket.asked.terms)
    version = answers_of(ticket.answer)[0]["certificate"]["data_version"]
    visit.service.name(
        visit.caller, NamedQuestion(name=fields.get("name", "").strip(), content=content, version=version)
    )
    return see(f"/answers/{ticket.id}")


@ROUTES.post("/names/removal")
def unname(visit: Visiting, fields: Filled) -> Response:
    """Take a name away; the answer stays stored."""
    if not visit.service.unname(visit.caller, fields.get("name", "")):
        raise InvalidArgument("none of your questions has that name", hint="the dashboard shows all of them")
    return see("/dashboard")


def _tile(visit: Visit, named: NamedQuestion, left: str) -> dict[str, Any]:
    """A named question, with its stored answer or why there is none.

    Args:
        visit: whose it is.
        named: the question.
        left: of the budget, in words.
    """
    tile: dict[str, Any] = {
        "name": named.name,
        "question": named.content.get("question", ""),
        "version": named.version,
        "again": urlencode(named.content),
        "problem": None,
        "ticket": None,
        "part": None,
    }
    try:
        question = questions_in(tile["question"])
        ticket = visit.service.stored(
            visit.caller, named.name, Ask(question, terms_of(offered_in(named.content)), version=named.version)
        )
        if ticket.reply is not None and ticket.reply.error is not None:
            return {**tile, "problem": problem_of(ticket.reply.error)}
        answers = answers_of(ticket.answer)
        texts = [question] if isinstance(question, str) else question
        is_many = len(answers) > 1 or is_summary(texts[0])
        data, left_out = _begun(answers[0])
        part = shown(texts[0], data, left, rows=_ROWS, drawn=0 if is_many or left_out else _MOST_DRAWN)
        part["unseen"] += left_out
        return {**tile, "ticket": ticket, "part": part, "more": len(answers) - 1}
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return {**tile, "problem": problem_of(PublicError.of(error))}


def _begun(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """The first rows of an answer that is too long to be drawn, and how many others there are."""
    rows = data["rows"]
    if len(rows) <= _MOST_DRAWN:
        return data, 0
    intervals = {name: ends[:_ROWS] for name, ends in data["intervals"].items()}
    return {**data, "rows": rows[:_ROWS], "intervals": intervals}, len(rows) - _ROWS
