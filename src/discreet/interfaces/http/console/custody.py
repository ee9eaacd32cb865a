"""Custody: who may come in, and what is admitted. What forms say is handed to the service, which decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.interfaces.http.console.pages import page, said, see
from discreet.interfaces.http.console.visits import Filled, Visit, Visiting
from discreet.service import Issued, Role, role_of

ROUTES = APIRouter()


@ROUTES.get("/tokens")
def tokens(visit: Visiting) -> Response:
    """Who may come in, and a form to let somebody in."""
    return _page(visit)


@ROUTES.post("/tokens")
def issue(visit: Visiting, fields: Filled) -> Response:
    """Make a token; this page shows it, and none after it."""
    days = fields.get("days", "")
    try:
        if not days.isdecimal() or len(days) > 4:  # noqa: PLR2004 — digits
            raise InvalidArgument("days is a whole number", hint="90, for example")
        issued = visit.service.issue(
            visit.caller,
            fields.get("subject", ""),
            role_of(fields.get("role", "")),
            days=int(days),
            most_epsilon=fields.get("most_epsilon") or None,
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return _page(visit, problem=said(error), fields=fields, status=422)
    return _page(visit, issued=issued)


@ROUTES.post("/tokens/{name}/revocation")
def revoke(name: str, visit: Visiting, _: Filled) -> Response:
    """Let a token in no more."""
    if visit.service.revoke(visit.caller, name) is None:
        raise InvalidArgument("there is no such token", hint="the list of tokens has all that there are")
    return see("/tokens")


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
    visit.service.admit(visit.caller, at_most_unreadable=fields.get("at_most_unreadable") or 1)
    return see("/admissions")


def _page(
    visit: Visit,
    *,
    issued: Issued | None = None,
    problem: Mapping[str, Any] | None = None,
    fields: object = None,
    status: int = 200,
) -> Response:
    """The list of tokens, and the form."""
    usual = {"subject": "", "role": "analyst", "days": "90", "most_epsilon": ""}
    return page(
        "tokens", visit, status,
        tokens=list(reversed(visit.service.tokens(visit.caller))),
        issued=issued, problem=problem, roles=[str(role) for role in Role], fields=fields or usual,
    )  # fmt: skip
