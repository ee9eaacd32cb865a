"""The account: what may be asked about, what was asked, what is left of the budget, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.interfaces.http.console.answers import readable
from discreet.interfaces.http.console.forms import Filled, Queried
from discreet.interfaces.http.console.pages import download, page
from discreet.interfaces.http.console.pictures import picture
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.console.standing import (
    Standing,
    amount_of,
    forecast,
    measure_of,
    questions_of,
    standings,
)
from discreet.results import verify_certificate
from discreet.results.charts import spending
from discreet.service import Action, check_allowed

if TYPE_CHECKING:
    from discreet.ledger import Entry


ROUTES = APIRouter()

_ROWS = 50
"""How many entries a page of the history has."""

_WIDE = 1040
"""The width of the picture of the budget, which has a page's width for itself."""

_MOST_STEPS = 500
"""How many questions the picture of the budget shows: the latest ones."""


@ROUTES.get("/tables")
def tables(visit: Visiting) -> Response:
    """What may be asked about: tables, columns, units, bounds, keys."""
    return page("tables", visit, dataset=visit.service.dataset(visit.caller), budget=visit.service.budget(visit.caller))


@ROUTES.get("/history")
def history(visit: Visiting, queried: Queried) -> Response:
    """The history, latest first."""
    entries = visit.service.history(visit.caller)
    start = int(given) if (given := queried.get("from", "0")).isdecimal() and len(given) < 10 else 0  # noqa: PLR2004 — digits
    now = datetime.now(UTC)
    shown = [(entry, again_of(entry), entry.became(now)) for entry in reversed(entries)][start : start + _ROWS]
    later = start + _ROWS if start + _ROWS < len(entries) else None
    earlier = max(0, start - _ROWS) if start else None
    return page("history", visit, entries=shown, count=len(entries), start=start, later=later, earlier=earlier)


@ROUTES.get("/budget")
def budget(visit: Visiting, queried: Queried) -> Response:
    """The budget: what is left, for the visitor first, and what was spent over time and by each analyst."""
    found, everyone, own = standings(visit)
    measure, whose, now = measure_of(found), queried.get("analyst"), datetime.now(UTC)
    everything = [(entry, amount_of(entry, measure)) for entry in questions_of(visit)]
    asked = [each for each in everything if whose is None or (each[0].analyst or "") == whose]
    share = None if own is None or own.left is None or own.left >= (everyone.left or 0) or own.renews else own
    return page(
        "budget", visit, budget=found, everyone=everyone, own=own, whose=whose, asked=asked,
        forecast=forecast(everything, own.left if own is not None else everyone.left, now),
        analysts=by_analyst(everything),
        spending=_spending(asked, share or everyone, "the whole budget" if share is None else "your share", now),
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


class Spender(NamedTuple):
    """An analyst, and what they asked.

    Args:
        name: empty for nobody named.
        questions: how many they asked.
        last: when they asked the latest one.
        spent: what all have cost.
    """

    name: str
    questions: int
    last: datetime
    spent: Fraction


def by_analyst(asked: Sequence[tuple[Entry, Fraction]]) -> list[Spender]:
    """How many questions each analyst asked, and what they have cost; the most costly first.

    Args:
        asked: questions with what each has cost, oldest first.
    """
    found: dict[str, Spender] = {}
    for entry, amount in asked:
        name = entry.analyst or ""
        known = found.get(name, Spender(name, 0, entry.at, Fraction(0)))
        found[name] = Spender(name, known.questions + 1, entry.at, known.spent + amount)
    return sorted(found.values(), key=lambda each: (-each.spent, each.name))


def _spending(amounts: Sequence[tuple[Entry, Fraction]], whole: Standing, words: str, now: datetime) -> str:
    """Spending over time until now, as a picture; only for the latest questions if there are many."""
    if not amounts:
        return ""
    spent = [0.0, *map(float, accumulate(amount for _, amount in amounts))]
    moments = [entry.at.astimezone(UTC) for entry, _ in (amounts[0], *amounts)]
    climbed, last = [*spent, spent[-1]][-_MOST_STEPS:], [*moments, now][-_MOST_STEPS:]
    drawn = partial(spending, climbed, list(accumulate(last, max)), whole.total, whole.sign, of=words)
    return picture(drawn, wide=_WIDE)


def again_of(entry: Entry) -> str:
    """The address that asks a question again for free; "" for any other entry."""
    if entry.cost is None:
        return ""
    offer = "epsilon" if entry.cost.epsilon is not None else "rho"
    said = {"question": entry.text, "offer": offer, "amount": str(getattr(entry.cost, offer))}
    return urlencode(said | ({"delta": str(entry.cost.delta)} if entry.cost.delta else {}))
