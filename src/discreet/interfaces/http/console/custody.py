"""Custody: who may come in, what is approved, what is admitted. What forms say the service decides about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.exact.rational import rational
from discreet.interfaces.http.console.asking import offered_in, questions_in, terms_of
from discreet.interfaces.http.console.pages import page, said, see
from discreet.interfaces.http.console.visits import Fields, Filled, Visit, Visiting
from discreet.privacy import Budget
from discreet.service import Issued, Role, role_of, share_of

ROUTES = APIRouter()


@ROUTES.get("/tokens")
def tokens(visit: Visiting) -> Response:
    """Who may come in, and a form to let somebody in."""
    return _page(visit)


@ROUTES.post("/tokens")
def issue(visit: Visiting, fields: Filled) -> Response:
    """Make a token; this page shows it, and none after it."""
    try:
        issued = visit.service.issue(
            visit.caller,
            fields.get("subject", ""),
            role_of(fields.get("role", "")),
            days=_days(fields),
            most_epsilon=_amount(fields, "most_epsilon", "Most ε"),
            most_rho=_amount(fields, "most_rho", "Most ρ"),
            share=_share(fields),
            datasets=[name.strip() for name in fields.get("datasets", "").split(",") if name.strip()],
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return _page(visit, problem=said(error), fields=fields, status=422)
    return _page(visit, issued=issued)


def _amount(fields: Fields, name: str, label: str) -> Fraction | None:
    """A number that a form may say; called as it is there, if it isn't one."""
    text = fields.get(name, "").strip()
    return rational(text, f"“{label}”") if text else None


def _days(fields: Fields) -> int:
    """For how many days something holds, as a form says it.

    Raises:
        InvalidArgument: it isn't a whole number.
    """
    days = fields.get("days", "")
    if not (days.isascii() and days.isdecimal()) or len(days) > 4:  # noqa: PLR2004 — digits
        raise InvalidArgument("days is a whole number", hint="90, for example")
    return int(days)


def _share(fields: Fields) -> Budget | None:
    """What the holder of a token may spend, in all or in each month; None for what the account allows.

    Raises:
        InvalidArgument: it has a δ and no ε, or renews and is none.
    """
    share, delta = _amount(fields, "share", "Share, ε"), _amount(fields, "share_delta", "Share, δ")
    if share is None and delta is not None:
        raise InvalidArgument("a share has an ε beside its δ", hint="ε = 1, δ = 1e-6, for example")
    return share_of(None if share is None else {"epsilon": share, "delta": delta}, fields.get("renews") or None)


@ROUTES.post("/tokens/{name}/revocation")
def revoke(name: str, visit: Visiting, _: Filled) -> Response:
    """Let a token in no more."""
    if visit.service.revoke(visit.caller, name) is None:
        raise InvalidArgument("there is no such token", hint="the list of tokens has all that there are")
    return see("/tokens")


@ROUTES.get("/requests")
def requests(visit: Visiting) -> Response:
    """What was requested: one's own; for custodian and auditor, everything; the last first."""
    found = [{**each, "terms": _said_of(each["terms"])} for each in reversed(visit.service.requests(visit.caller))]
    return page("requests", visit, requests=found)


_UNSAID: Mapping[str, frozenset[Any]] = {
    "confidence": frozenset({"0.95", "19/20", 0.95}),
    "consistent": frozenset({False}),
    "cut_off": frozenset({False}),
    "dialect": frozenset({"duckdb"}),
}
"""What terms are if nobody says them; the command line sends all of them."""


def _said_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms that say something, for a reader."""
    return {name: value for name, value in terms.items() if not _is_unsaid(name, value)}


def _is_unsaid(name: str, value: object) -> bool:
    """Whether a term is what it would be anyway."""
    return isinstance(value, str | float | bool) and value in _UNSAID.get(name, ())


@ROUTES.post("/requests")
def request(visit: Visiting, fields: Filled) -> Response:
    """Request approval for a question, for its plan as it is now."""
    offered = offered_in(fields)
    if not isinstance(questions_in(offered["question"]), str):
        raise InvalidArgument("approval is requested for one question", hint="request each by itself")
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
    visit.service.approve(visit.caller, name, days=_days(fields), any_version="any_version" in fields)
    return see("/requests")


@ROUTES.post("/requests/{name}/denial")
def deny(name: str, visit: Visiting, fields: Filled) -> Response:
    """Deny it, or take back an approval that wasn't used."""
    visit.service.deny(visit.caller, name, fields.get("reason", ""))
    return see("/requests")


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
    usual = {"role": "analyst", "days": "90"}
    return page(
        "tokens", visit, status,
        tokens=list(reversed(visit.service.tokens(visit.caller))),
        issued=issued, problem=problem, roles=[str(role) for role in Role], fields=fields or usual,
        dataset=visit.service.dataset(visit.caller)["name"], now=datetime.now(UTC),
    )  # fmt: skip
