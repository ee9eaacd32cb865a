"""Requests: questions above a ceiling, which analysts request and custodians approve or deny."""

from __future__ import annotations

from fastapi import APIRouter, Response

from discreet.errors import InvalidArgument
from discreet.interfaces.http.console.asking import offered_in, terms_of
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.visits import Filled, Visiting

ROUTES = APIRouter()


@ROUTES.get("/requests")
def requests(visit: Visiting) -> Response:
    """What was requested: one's own; for custodian and auditor, everything; the last first."""
    return page("requests", visit, requests=list(reversed(visit.service.requests(visit.caller))))


@ROUTES.post("/requests")
def request(visit: Visiting, fields: Filled) -> Response:
    """Request approval for a question, for its plan as it is now."""
    offered = offered_in(fields)
    visit.service.request(visit.caller, offered["question"], terms_of(offered), fields.get("purpose", ""))
    return see("/requests")


@ROUTES.post("/requests/{name}/answer")
def answer(name: str, visit: Visiting, _: Filled) -> Response:
    """Ask what was approved: the question of the request, and no other."""
    found = next((each for each in visit.service.requests(visit.caller) if each["id"] == name), None)
    if found is None:
        raise InvalidArgument("there is no such request of yours", hint="the list has all that there are")
    ticket = visit.service.ask(
        visit.caller, found["question"], found["terms"], digest=found["digest"], approval=found["id"]
    )
    return see(f"/answers/{ticket.id}")


@ROUTES.post("/requests/{name}/approval")
def approve(name: str, visit: Visiting, fields: Filled) -> Response:
    """Let it be asked: once, at this plan, by who requested it."""
    days = fields.get("days", "")
    if not days.isdecimal() or len(days) > 4:  # noqa: PLR2004 — digits
        raise InvalidArgument("days is a whole number", hint="7, for example")
    visit.service.approve(visit.caller, name, days=int(days), any_version="any_version" in fields)
    return see("/requests")


@ROUTES.post("/requests/{name}/denial")
def deny(name: str, visit: Visiting, fields: Filled) -> Response:
    """Deny it, or take back an approval that wasn't used."""
    visit.service.deny(visit.caller, name, fields.get("reason", ""))
    return see("/requests")
