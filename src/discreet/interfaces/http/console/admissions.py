"""Admissions: the versions of the tables, and how they are read again."""

from __future__ import annotations

from fastapi import APIRouter, Response

from discreet.interfaces.http.console.forms import Filled
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import Visiting

ROUTES = APIRouter()


@ROUTES.get("/admissions")
def admissions(visit: Visiting) -> Response:
    """The versions of the tables, and the report of the last admission; until it is there, the page loads itself."""
    found = visit.service.admissions(visit.caller)
    reply = page("admissions", visit, found=found)
    if (found["last"] or {}).get("state") == "running":
        reply.headers["Refresh"] = "2"
    return reply


@ROUTES.post("/admissions")
def admit(visit: Visiting, fields: Filled) -> Response:
    """Have the tables read again."""
    visit.service.admit(visit.caller, at_most_unreadable=fields.get("at_most_unreadable") or None)
    return see("/admissions")
