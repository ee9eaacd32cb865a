"""Certificates: what was done to which data for one answer, for whoever must vouch for it later."""

from __future__ import annotations

from discreet.query.planner import Plan


def certificate(plan: Plan, *, version: int, entry: int, analyst: str | None, release: str) -> dict[str, object]:
    """What was done for one answer, as JSON-ready data: all of it public.

    Args:
        plan: how the answer was made: question, unit, adjacency, bounds, limits, mechanisms with exact parameters.
        version: the number of the last admission of a table that was read; it says nothing of what they hold.
        entry: the number of the debit in the ledger.
        analyst: who asked, if they said so.
        release: the software's version.
    """
    return {
        "discreet": release,
        "text": plan.question.text.strip(),
        "analyst": analyst,
        "data_version": version,
        "entry": entry,
        "plan": plan.to_dict(),
    }
