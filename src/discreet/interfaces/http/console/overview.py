"""Overview: what may be asked about, what was asked, and what is left of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.interfaces.http.console.charts import HEIGHT, WIDTH, steps
from discreet.interfaces.http.console.pages import page
from discreet.interfaces.http.console.visits import Queried, Visiting
from discreet.service import Role

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
    shown = [(entry, _again(entry)) for entry in reversed(entries)][start : start + _ROWS]
    later = start + _ROWS if start + _ROWS < len(entries) else None
    earlier = max(0, start - _ROWS) if start else None
    return page("history", visit, entries=shown, count=len(entries), start=start, later=later, earlier=earlier)


@ROUTES.get("/budget")
def budget(visit: Visiting) -> Response:
    """What is left, and how it went: over time, and for each analyst."""
    found = visit.service.budget(visit.caller)
    measure = "epsilon" if found["budget"].startswith("ε") else "rho"
    asked = [entry for entry in visit.service.history(visit.caller) if entry.cost is not None]
    amounts = [(entry, _amount(entry, measure)) for entry in asked]
    spent = Fraction(found["spent"][measure] or 0)
    return page(
        "budget", visit, budget=found, measure="ε" if measure == "epsilon" else "ρ", asked=asked,
        spent=spent, left=found["remaining"][measure], total=float(spent) + (found["remaining"][measure] or 0),
        own=_own(found, measure), analysts=_by_analyst(amounts), width=WIDTH, height=HEIGHT,
        line=_line([amount for _, amount in amounts], float(spent) + (found["remaining"][measure] or 0)),
    )  # fmt: skip


def _amount(entry: Entry, measure: str) -> Fraction:
    """What a question has cost, as the budget counts; nothing where it counts otherwise."""
    return (getattr(entry.cost, measure) if entry.cost is not None else None) or Fraction(0)


def _own(found: Any, measure: str) -> dict[str, Any] | None:  # noqa: ANN401 — JSON
    """What an analyst spent themselves, and what is left of their share."""
    if "own" not in found:
        return None
    left = found["own"].get("remaining")
    return {
        "spent": Fraction(found["own"]["spent"][measure] or 0),
        "left": None if left is None else left[measure],
    }


def _by_analyst(amounts: Sequence[tuple[Entry, Fraction]]) -> list[tuple[str, int, Fraction]]:
    """How many questions each analyst asked, and what they have cost; the most costly first."""
    found: dict[str, tuple[int, Fraction]] = {}
    for entry, amount in amounts:
        count, spent = found.get(entry.analyst or "", (0, Fraction(0)))
        found[entry.analyst or ""] = (count + 1, spent + amount)
    return sorted(((name, *each) for name, each in found.items()), key=lambda row: (-row[2], row[0]))


def _line(amounts: Sequence[Fraction], total: float) -> str:
    """What was spent over time, as the points of a line; of the last questions, where there are many."""
    climbed = [0.0, *map(float, accumulate(amounts))]
    return steps(climbed[-_MOST_STEPS:], total)


def _again(entry: Entry) -> str:
    """What the address of a question says of it, to ask it again for nothing; "" of anything else."""
    if entry.cost is None:
        return ""
    offer = "epsilon" if entry.cost.epsilon is not None else "rho"
    said = {"question": entry.text, "offer": offer, "amount": str(getattr(entry.cost, offer))}
    return urlencode(said | ({"delta": str(entry.cost.delta)} if entry.cost.delta else {}))
