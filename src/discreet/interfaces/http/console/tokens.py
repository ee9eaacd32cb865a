"""Tokens: a list of them, and a form to make one."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.exact.rational import rational
from discreet.interfaces.http.console.forms import Fields, Filled, days_in
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.problems import Problem, problem_of
from discreet.privacy import Budget
from discreet.service import ALL, Issued, PublicError, Role, role_of, share_of

ROUTES = APIRouter()


@ROUTES.get("/tokens")
def tokens(visit: Visiting) -> Response:
    """A list of tokens, and a form to make one."""
    return _tokens_page(visit)


@ROUTES.post("/tokens")
def issue(visit: Visiting, fields: Filled) -> Response:
    """Make a token; this page shows it, and none after it."""
    try:
        issued = visit.service.issue(
            visit.caller,
            fields.get("subject", ""),
            role_of(fields.get("role", "")),
            days=days_in(fields),
            most_epsilon=_number_in(fields, "most_epsilon", "Most ε"),
            most_rho=_number_in(fields, "most_rho", "Most ρ"),
            share=_share(fields),
            datasets=[name.strip() for name in fields.get("datasets", "").split(",") if name.strip()],
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return _tokens_page(visit, problem=problem_of(PublicError.of(error)), fields=fields, status=422)
    return _tokens_page(visit, issued=issued)


def _number_in(fields: Fields, name: str, label: str) -> Fraction | None:
    """A number that a form may say; called as it is there, if it isn't one."""
    text = fields.get(name, "").strip()
    return rational(text, f"“{label}”") if text else None


def _share(fields: Fields) -> Budget | str | None:
    """The share of a token's holder, in all or for each month; `all` of the budget, or None if none is given.

    Raises:
        InvalidArgument: it has a δ and no ε, or renews and is none.
    """
    if fields.get("share", "").strip() == ALL and not fields.get("share_delta") and not fields.get("renews"):
        return ALL
    share, delta = _number_in(fields, "share", "Share, ε"), _number_in(fields, "share_delta", "Share, δ")
    if share is None and delta is not None:
        raise InvalidArgument("a share with a δ needs an ε too", hint="ε = 1, δ = 1e-6, for example")
    return share_of(None if share is None else {"epsilon": share, "delta": delta}, fields.get("renews") or None)


@ROUTES.post("/tokens/{name}/revocation")
def revoke(name: str, visit: Visiting, _: Filled) -> Response:
    """Let a token in no more."""
    if visit.service.revoke(visit.caller, name) is None:
        raise InvalidArgument("there is no such token", hint="the list of tokens shows all of them")
    return see("/tokens")


def _tokens_page(
    visit: Visit,
    *,
    issued: Issued | None = None,
    problem: Problem | None = None,
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
