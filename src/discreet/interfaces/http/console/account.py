"""The account: what may be asked about, what was asked, what is left of the budget, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.interfaces.http.console.answers import readable
from discreet.interfaces.http.console.forms import Filled, Queried
from discreet.interfaces.http.console.pages import download, page
from discreet.interfaces.http.console.pictures import picture
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.results import verify_certificate
from discreet.results.charts import spending
from discreet.service import Action, Role, check_allowed

if TYPE_CHECKING:
    from discreet.ledger import Entry


ROUTES = APIRouter()

_ROWS = 50
"""How many entries a page of the history has."""

_MOST_STEPS = 500
"""How many questions the picture of the budget shows: the latest ones."""


@ROUTES.get("/")
def home(visit: Visiting) -> Response:
    """What may be asked about: tables, columns, units, bounds, keys."""
    if visit.caller.role is Role.OPERATOR:
        return page("operator", visit)
    return page("tables", visit, dataset=visit.service.dataset(visit.caller), budget=visit.service.budget(visit.caller))


@ROUTES.get("/history")
def history(visit: Visiting, queried: Queried) -> Response:
    """The history, latest first."""
    entries = visit.service.history(visit.caller)
    start = int(given) if (given := queried.get("from", "0")).isdecimal() and len(given) < 10 else 0  # noqa: PLR2004 — digits
    now = datetime.now(UTC)
    shown = [(entry, _again(entry), entry.became(now)) for entry in reversed(entries)][start : start + _ROWS]
    later = start + _ROWS if start + _ROWS < len(entries) else None
    earlier = max(0, start - _ROWS) if start else None
    return page("history", visit, entries=shown, count=len(entries), start=start, later=later, earlier=earlier)


@ROUTES.get("/budget")
def budget(visit: Visiting, queried: Queried) -> Response:
    """The budget: what is left, and what was spent over time and by each analyst."""
    found = visit.service.budget(visit.caller)
    measure = "epsilon" if found["budget"].startswith("ε") else "rho"
    sign = "ε" if measure == "epsilon" else "ρ"
    whose, now = queried.get("analyst"), datetime.now(UTC)
    everything = [entry for entry in visit.service.history(visit.caller) if entry.cost is not None]
    asked = [entry for entry in everything if whose is None or (entry.analyst or "") == whose]
    amounts = [(entry, _amount(entry, measure)) for entry in asked]
    spent = Fraction(found["spent"][measure] or 0)
    return page(
        "budget", visit, budget=found, measure=sign, asked=asked,
        spent=spent, left=found["remaining"][measure], total=float(spent) + (found["remaining"][measure] or 0),
        own=_own(found, measure), whose=whose,
        analysts=_by_analyst([(entry, _amount(entry, measure)) for entry in everything]),
        spending=_spending(amounts, float(spent) + (found["remaining"][measure] or 0), sign, now),
    )  # fmt: skip


@ROUTES.get("/history/{entry}")
def certificate(entry: str, visit: Visiting) -> Response:
    """The certificate of a question that was paid for, no matter who asked it; never its answer."""
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
    """The page with what vouches for an entry.

    Raises:
        InvalidArgument: there is none of that number.
    """
    number = int(entry) if entry.isdecimal() and len(entry) < 10 else 0  # noqa: PLR2004 — digits
    found = visit.service.certificate(visit.caller, number)
    if found is None:
        raise InvalidArgument("there is no question with that number", hint="the history lists all questions")
    return found


@ROUTES.get("/verification")
def verification(visit: Visiting) -> Response:
    """A page that says what a verification does, with a button to begin one: it reads the whole ledger."""
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
    """The cost of a question, as the budget counts; 0 where it counts otherwise."""
    return (getattr(entry.cost, measure) if entry.cost is not None else None) or Fraction(0)


def _own(found: Any, measure: str) -> dict[str, Any] | None:  # noqa: ANN401 — JSON
    """The analyst's own spending in all and, if their share renews, this month; and what is left of it."""
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


def _spending(amounts: Sequence[tuple[Entry, Fraction]], total: float, sign: str, now: datetime) -> str:
    """Spending over time until now, as a picture; only for the latest questions if there are many."""
    if not amounts:
        return ""
    spent = [0.0, *map(float, accumulate(amount for _, amount in amounts))]
    moments = [entry.at.astimezone(UTC) for entry, _ in (amounts[0], *amounts)]
    climbed, last = [*spent, spent[-1]][-_MOST_STEPS:], [*moments, now][-_MOST_STEPS:]
    return picture(partial(spending, climbed, list(accumulate(last, max)), total, sign))


def _again(entry: Entry) -> str:
    """The address that asks a question again for free; "" for any other entry."""
    if entry.cost is None:
        return ""
    offer = "epsilon" if entry.cost.epsilon is not None else "rho"
    said = {"question": entry.text, "offer": offer, "amount": str(getattr(entry.cost, offer))}
    return urlencode(said | ({"delta": str(entry.cost.delta)} if entry.cost.delta else {}))
