"""The account: what may be asked about, what was spent, what was asked, and whether the ledger holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from discreet.interfaces.http.callers import Serving, Who

if TYPE_CHECKING:
    from discreet.ledger import Entry

ROUTES = APIRouter()


@ROUTES.get("/v1/dataset")
def dataset(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What may be asked about."""
    return service.dataset(who)


@ROUTES.get("/v1/budget")
def budget(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What was spent, and what is left."""
    return service.budget(who)


@ROUTES.get("/v1/history")
def history(service: Serving, who: Who) -> list[dict[str, Any]]:
    """What was asked: an analyst's own questions; for custodians and auditors, all entries."""
    return [_entry(entry) for entry in service.history(who)]


@ROUTES.get("/v1/verification")
def verification(service: Serving, who: Who) -> dict[str, Any]:
    """Whether the ledger holds: its hash chain, and every loss in it."""
    found = service.verify(who)
    return {"entries": found.entries, "head": found.head, "problems": [str(each) for each in found.problems]}


def _entry(entry: Entry) -> dict[str, Any]:
    """An entry of the account, as data."""
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "analyst": entry.analyst,
        "text": entry.text,
        "cost": None if entry.cost is None else entry.cost.to_dict(),
        "state": None if entry.state is None else str(entry.state),
    }
