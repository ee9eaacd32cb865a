"""Standing: what whoever looks may still spend, of how much, and when it is gone if they go on as they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.interfaces.http.console.session import Visit

if TYPE_CHECKING:
    from discreet.ledger import Entry

_PATIENCE = 0.5
"""For how many seconds a page waits for another one of the same visitor's."""

_PACE = timedelta(days=30)
"""How far back a forecast looks."""

_LEAST_PACE = timedelta(hours=12)
"""From questions of a shorter time no pace is told."""

_FARTHEST = 20 * 365.0
"""Days, beyond which a forecast says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What may be spent, by one who looks or by everyone, in the way in which the budget counts.

    Args:
        sign: ε or ρ.
        spent: already; where a share renews, in this month.
        left: for the next question, at most; None without a share.
        in_all: what was ever spent.
        renews: the day on which a share does; empty if none does.
    """

    sign: str
    spent: Fraction
    left: float | None
    in_all: Fraction
    renews: str = ""

    @property
    def total(self) -> float:
        """The whole of it."""
        return float(self.spent) + (self.left or 0.0)


def measure_of(found: Mapping[str, Any]) -> str:
    """The way in which a budget counts, by its field: `epsilon` or `rho`."""
    return "epsilon" if found["allowed"]["epsilon"] is not None else "rho"


def standings(visit: Visit) -> tuple[Mapping[str, Any], Standing, Standing | None]:
    """The budget as the service tells it; what all may spend; and an analyst's own part, None for other roles."""
    found = visit.service.budget(visit.caller)
    measure = measure_of(found)
    sign = "ε" if measure == "epsilon" else "ρ"
    spent = Fraction(found["spent"][measure] or 0)
    everyone = Standing(sign=sign, spent=spent, left=found["remaining"][measure], in_all=spent)
    if (own := found.get("own")) is None:
        return found, everyone, None
    remaining, renews = own.get("remaining"), own.get("renews")
    mine = Fraction(own["spent"][measure] or 0)
    return found, everyone, Standing(
        sign=sign,
        spent=mine if renews is None else Fraction(own["this_month"][measure] or 0),
        left=None if remaining is None else remaining[measure],
        in_all=mine,
        renews="" if renews is None else renews[:10],
    )  # fmt: skip


def questions_of(visit: Visit) -> Sequence[Entry]:
    """The questions that the visitor may see, oldest first; a page in another window may be reading them just now.

    Raises:
        TooManyWaiting: it goes on doing so, or a third one waits already.
    """
    return [entry for entry in visit.service.history(visit.caller, _PATIENCE) if entry.cost is not None]


def amount_of(entry: Entry, measure: str) -> Fraction:
    """The cost of a question, as the budget counts; 0 where it counts otherwise."""
    return (getattr(entry.cost, measure) if entry.cost is not None else None) or Fraction(0)


def forecast(asked: Sequence[tuple[Entry, Fraction]], left: float | None, now: datetime) -> str:
    """The day on which what is left is spent, at the pace of the last thirty days; empty if none can be told.

    Args:
        asked: questions with what each has cost, oldest first.
        left: for those who asked them.
        now: in UTC.
    """
    recent = [(entry.at.astimezone(UTC), cost) for entry, cost in asked if entry.at.astimezone(UTC) > now - _PACE]
    spent = float(sum((cost for _, cost in recent), Fraction(0)))
    if not left or not spent or now - recent[0][0] < _LEAST_PACE:
        return ""
    days = left / spent * ((now - recent[0][0]) / timedelta(days=1))
    return f"{now + timedelta(days=days):%Y-%m-%d}" if days < _FARTHEST else ""
