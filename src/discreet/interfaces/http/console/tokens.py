"""Tokens: who holds them and what they spent, and a form to make one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.exact.rational import rational
from discreet.interfaces.http.console.forms import Fields, Filled, days_in
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.console.standing import amount_of, measure_of, questions_of
from discreet.interfaces.http.problems import Problem, problem_of
from discreet.privacy import Budget
from discreet.service import ALL, Caller, Issued, PublicError, Role, role_of, share_of

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant


ROUTES = APIRouter()


@ROUTES.get("/tokens")
def tokens(visit: Visiting) -> Response:
    """Who holds tokens, and a form to make one."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A token, and what its holder made of it.

    Args:
        grant: the token as the ledger knows it.
        caller: what it allows.
        last: when its holder asked last, with any token; None for never.
        spent: by its holder; where their share renews, in this month.
        share: the most that they may spend; None for what the account allows.
    """

    grant: Grant
    caller: Caller
    last: datetime | None
    spent: Fraction
    share: Fraction | None


def _holders(visit: Visit, measure: str, now: datetime) -> list[Holder]:
    """All tokens with what their holders spent, by name; the latest of one name first."""
    asked: dict[str, list[tuple[Entry, Fraction]]] = {}
    for entry in questions_of(visit):
        asked.setdefault(entry.analyst or "", []).append((entry, amount_of(entry, measure)))
    found = []
    for grant, caller in reversed(visit.service.tokens(visit.caller)):
        own = asked.get(caller.subject, []) if caller.role is Role.ANALYST else []
        share = grant.content.get("share") or {}
        months = [cost for entry, cost in own if f"{entry.at.astimezone(UTC):%Y-%m}" == f"{now:%Y-%m}"]
        found.append(
            Holder(
                grant=grant,
                caller=caller,
                last=own[-1][0].at if own else None,
                spent=sum(months if "renews" in share else (cost for _, cost in own), Fraction(0)),
                share=Fraction(share[measure]) if measure in share else None,
            )
        )
    return sorted(found, key=lambda each: each.caller.subject.casefold())


def _tokens_page(
    visit: Visit,
    *,
    issued: Issued | None = None,
    problem: Problem | None = None,
    fields: object = None,
    status: int = 200,
) -> Response:
    """The tokens in force, a form, and those that are over."""
    usual, now, budget = {"role": "analyst", "days": "90"}, datetime.now(UTC), visit.service.budget(visit.caller)
    measure = measure_of(budget)
    holders = _holders(visit, measure, now)
    in_force = [each for each in holders if each.grant.revoked is None and each.caller.expires > now]
    return page(
        "tokens", visit, status,
        in_force=in_force, over=[each for each in holders if each not in in_force],
        issued=issued, problem=problem, roles=[str(role) for role in Role], fields=fields or usual,
        total=Fraction(budget["allowed"][measure] or 0), sign="ε" if measure == "epsilon" else "ρ",
        dataset=visit.service.dataset(visit.caller)["name"], now=now,
    )  # fmt: skip
