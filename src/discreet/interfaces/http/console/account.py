"""The account: what may be asked about, what was asked, what is left of the budget, and whether it holds.

And what custodians decide: who may come in, what is approved, what is admitted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, LedgerCorrupt, Unauthenticated
from discreet.exact.rational import rational
from discreet.interfaces.http.console.answers import HEIGHT, WIDTH, readable, steps
from discreet.interfaces.http.console.asking import offered_in, questions_in, terms_of
from discreet.interfaces.http.console.forms import Fields, Filled, Queried
from discreet.interfaces.http.console.pages import download, page, see
from discreet.interfaces.http.console.problems import said
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.privacy import Budget
from discreet.results import verify_certificate
from discreet.service import ALL, Action, Issued, Role, check_allowed, role_of, share_of

if TYPE_CHECKING:
    from discreet.ledger import Entry

ROUTES = APIRouter()

_ROWS = 50
"""How many entries a page of the history has."""

_MOST_STEPS = 500
"""How many questions the picture of the budget has at the most: the last ones."""


@ROUTES.get("/")
def home(visit: Visiting) -> Response:
    """What may be asked about: tables, columns, units, bounds, keys."""
    if visit.caller.role is Role.OPERATOR:
        return page("operator", visit)
    return page("tables", visit, dataset=visit.service.dataset(visit.caller), budget=visit.service.budget(visit.caller))


@ROUTES.get("/history")
def history(visit: Visiting, queried: Queried) -> Response:
    """What was asked, the last first."""
    entries = visit.service.history(visit.caller)
    start = int(given) if (given := queried.get("from", "0")).isdecimal() and len(given) < 10 else 0  # noqa: PLR2004 — digits
    now = datetime.now(UTC)
    shown = [(entry, _again(entry), entry.became(now)) for entry in reversed(entries)][start : start + _ROWS]
    later = start + _ROWS if start + _ROWS < len(entries) else None
    earlier = max(0, start - _ROWS) if start else None
    return page("history", visit, entries=shown, count=len(entries), start=start, later=later, earlier=earlier)


@ROUTES.get("/budget")
def budget(visit: Visiting, queried: Queried) -> Response:
    """What is left, and how it went: over time, and for each analyst."""
    found = visit.service.budget(visit.caller)
    measure = "epsilon" if found["budget"].startswith("ε") else "rho"
    whose, now = queried.get("analyst"), datetime.now(UTC)
    everything = [entry for entry in visit.service.history(visit.caller) if entry.cost is not None]
    asked = [entry for entry in everything if whose is None or (entry.analyst or "") == whose]
    amounts = [(entry, _amount(entry, measure)) for entry in asked]
    spent = Fraction(found["spent"][measure] or 0)
    return page(
        "budget", visit, budget=found, measure="ε" if measure == "epsilon" else "ρ", asked=asked,
        spent=spent, left=found["remaining"][measure], total=float(spent) + (found["remaining"][measure] or 0),
        own=_own(found, measure), whose=whose,
        analysts=_by_analyst([(entry, _amount(entry, measure)) for entry in everything]), width=WIDTH, height=HEIGHT,
        line=_line(amounts, float(spent) + (found["remaining"][measure] or 0), now), now=now,
    )  # fmt: skip


@ROUTES.get("/history/{entry}")
def certificate(entry: str, visit: Visiting) -> Response:
    """What vouches for a question that was paid for, whoever asked it; never its answer."""
    found = _certificate(visit, entry)
    checked = verify_certificate(found, visit.service.key) if found["certificate"] else None
    proof = readable(found["certificate"]) if found["certificate"] else None
    return page("certificate", visit, found=found, proof=proof, checked=checked)


@ROUTES.get("/history/{entry}/certificate.json")
def certificate_file(entry: str, visit: Visiting) -> Response:
    """The same to keep, signed."""
    content = json.dumps(_certificate(visit, entry), indent=1, ensure_ascii=False)
    return download(content, "application/json", f"certificate-{entry}.json")


def _certificate(visit: Visit, entry: str) -> Mapping[str, Any]:
    """What vouches for an entry.

    Raises:
        InvalidArgument: there is none of that number.
    """
    number = int(entry) if entry.isdecimal() and len(entry) < 10 else 0  # noqa: PLR2004 — digits
    found = visit.service.certificate(visit.caller, number)
    if found is None:
        raise InvalidArgument("there is no question of that number", hint="the history has all that there are")
    return found


@ROUTES.get("/verification")
def verification(visit: Visiting) -> Response:
    """What a verification does, and a button to begin one: it reads the whole ledger."""
    check_allowed(visit.caller.role, Action.VERIFY)
    return page("verification", visit, found=None, head=_head(visit))


@ROUTES.post("/verification")
def verify(visit: Visiting, _: Filled) -> Response:
    """Recompute the ledger's hash chain, and every loss in it."""
    return page("verification", visit, found=visit.service.verify(visit.caller), head=_head(visit))


def _head(visit: Visit) -> Mapping[str, Any] | None:
    """The head as it is now, signed; None where the ledger is damaged, and so there is none to be signed."""
    try:
        return visit.service.head(visit.caller)
    except LedgerCorrupt:
        return None


@ROUTES.get("/verification/head.json")
def head_file(visit: Visiting) -> Response:
    """The head as it is now, signed, to be kept elsewhere."""
    return download(json.dumps(visit.service.head(visit.caller)), "application/json", "head.json")


def _amount(entry: Entry, measure: str) -> Fraction:
    """What a question has cost, as the budget counts; nothing where it counts otherwise."""
    return (getattr(entry.cost, measure) if entry.cost is not None else None) or Fraction(0)


def _own(found: Any, measure: str) -> dict[str, Any] | None:  # noqa: ANN401 — JSON
    """What an analyst spent themselves, in all and, if their share renews, this month; and what is left of it."""
    if (own := found.get("own")) is None:
        return None
    left, renews = own.get("remaining"), own.get("renews")
    return {
        "spent": Fraction(own["spent"][measure] or 0),
        "left": None if left is None else left[measure],
        "this_month": None if renews is None else Fraction(own["this_month"][measure] or 0),
        "renews": None if renews is None else renews[:10],
    }


def _by_analyst(amounts: Sequence[tuple[Entry, Fraction]]) -> list[tuple[str, int, Fraction]]:
    """How many questions each analyst asked, and what they have cost; the most costly first."""
    found: dict[str, tuple[int, Fraction]] = {}
    for entry, amount in amounts:
        count, spent = found.get(entry.analyst or "", (0, Fraction(0)))
        found[entry.analyst or ""] = (count + 1, spent + amount)
    return sorted(((name, *each) for name, each in found.items()), key=lambda row: (-row[2], row[0]))


def _line(amounts: Sequence[tuple[Entry, Fraction]], total: float, now: datetime) -> str:
    """What was spent over time, until now, as the points of a line; of the last questions, where there are many."""
    if not amounts:
        return ""
    spent = [0.0, *map(float, accumulate(amount for _, amount in amounts))]
    moments = [entry.at.timestamp() for entry, _ in (amounts[0], *amounts)]
    climbed, last = [*spent, spent[-1]][-_MOST_STEPS:], [*moments, now.timestamp()][-_MOST_STEPS:]
    return steps(climbed, list(accumulate(last, max)), total)


def _again(entry: Entry) -> str:
    """What the address of a question says of it, to ask it again for nothing; "" of anything else."""
    if entry.cost is None:
        return ""
    offer = "epsilon" if entry.cost.epsilon is not None else "rho"
    said = {"question": entry.text, "offer": offer, "amount": str(getattr(entry.cost, offer))}
    return urlencode(said | ({"delta": str(entry.cost.delta)} if entry.cost.delta else {}))


# ── Who may come in, what is approved, what is admitted ───────────────────────────────────────────────────────────────


@ROUTES.get("/tokens")
def tokens(visit: Visiting) -> Response:
    """Who may come in, and a form to let somebody in."""
    return _tokens_page(visit)


@ROUTES.post("/tokens")
def issue(visit: Visiting, fields: Filled) -> Response:
    """Make a token; this page shows it, and none after it."""
    try:
        issued = visit.service.issue(
            visit.caller,
            fields.get("subject", ""),
            role_of(fields.get("role", "")),
            days=_days(fields),
            most_epsilon=_number_in(fields, "most_epsilon", "Most ε"),
            most_rho=_number_in(fields, "most_rho", "Most ρ"),
            share=_share(fields),
            datasets=[name.strip() for name in fields.get("datasets", "").split(",") if name.strip()],
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return _tokens_page(visit, problem=said(error), fields=fields, status=422)
    return _tokens_page(visit, issued=issued)


def _number_in(fields: Fields, name: str, label: str) -> Fraction | None:
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


def _share(fields: Fields) -> Budget | str | None:
    """What the holder of a token may spend, in all or in each month; `all` of the budget, or None where nobody says.

    Raises:
        InvalidArgument: it has a δ and no ε, or renews and is none.
    """
    if fields.get("share", "").strip() == ALL and not fields.get("share_delta") and not fields.get("renews"):
        return ALL
    share, delta = _number_in(fields, "share", "Share, ε"), _number_in(fields, "share_delta", "Share, δ")
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
    visit.service.admit(visit.caller, at_most_unreadable=fields.get("at_most_unreadable") or None)
    return see("/admissions")


def _tokens_page(
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
