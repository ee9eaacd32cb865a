"""Requests: the questions that need approval, and what becomes of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import InvalidArgument
from discreet.interfaces.http.console.asking import offered_in, questions_in, terms_of
from discreet.interfaces.http.console.forms import Filled, days_in
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import Visiting
from discreet.query.planner import Request
from discreet.service import Ask

ROUTES = APIRouter()


@ROUTES.get("/requests")
def requests(visit: Visiting) -> Response:
    """Requests, latest first: an analyst's own; for custodians and auditors, all of them."""
    # The command line sends all terms, also those at their defaults, which tell a reader nothing.
    found = [
        {**each, "terms": {name: value for name, value in each["terms"].items() if not _is_unsaid(name, value)}}
        for each in reversed(visit.service.requests(visit.caller))
    ]
    return page("requests", visit, requests=found)


def _is_unsaid(name: str, value: Any) -> bool:  # noqa: ANN401 — JSON
    with suppress(InvalidArgument):  # an earlier version may have taken what this one doesn't
        return Request.read({name: value}, as_sent=True) == Request()
    return False


@ROUTES.post("/requests")
def request(visit: Visiting, fields: Filled) -> Response:
    """Request approval for a question, for its plan as it is now."""
    offered = offered_in(fields)
    if not isinstance(questions_in(offered["question"]), str):
        raise InvalidArgument("approval can be requested for only one question", hint="request each one separately")
    visit.service.request(visit.caller, offered["question"], terms_of(offered), fields.get("purpose", ""))
    return see("/requests")


@ROUTES.post("/requests/{name}/answer")
def answer(name: str, visit: Visiting, _: Filled) -> Response:
    """Ask what was approved: the question of the request, and no other."""
    found = next((each for each in visit.service.requests(visit.caller) if each["id"] == name), None)
    if found is None:
        raise InvalidArgument("you have no such request", hint="the list shows all of them")
    asked = Ask(found["question"], found["terms"], digest=found["digest"], approval=found["id"])
    ticket = visit.service.ask(visit.caller, asked)
    return see(f"/answers/{ticket.id}")


@ROUTES.post("/requests/{name}/approval")
def approve(name: str, visit: Visiting, fields: Filled) -> Response:
    """Let it be asked: once, at this plan, by who requested it."""
    visit.service.approve(visit.caller, name, days=days_in(fields), any_version="any_version" in fields)
    return see("/requests")


@ROUTES.post("/requests/{name}/denial")
def deny(name: str, visit: Visiting, fields: Filled) -> Response:
    """Deny it, or take back an approval that wasn't used."""
    visit.service.deny(visit.caller, name, fields.get("reason", ""))
    return see("/requests")
