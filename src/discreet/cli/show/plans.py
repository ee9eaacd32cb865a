"""Plans: what a question would cost, and whether the budget pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, show_json
from discreet.cli.show.standing import here
from discreet.printable import printable
from discreet.results import prospect

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan

_HANG = 10
"""The column where the text of a plan begins, after its titles."""


def show_plan(plan: Plan | RemotePlan, tables: Protected | Remote, as_format: Format, *, raw: bool = False) -> None:
    """Write what a question would cost, the ± to expect, and whether the budget pays for it, to standard output.

    As CSV or Arrow: the error to expect of each column.
    """
    expected = Sheet(
        ("column", "error", "rows", "ranks", "share"),
        [(one.column, one.error, one.rows, one.ranks, one.share) for one in plan.expected],
    )
    match as_format:
        case Format.TABLE:
            _, words = prospect_of(plan, tables)
            for line in (*plan.explain().splitlines(), *words):
                say(printable(line), _HANG)
        case Format.JSON:
            noise = {} if plan.choice is None else {"noise": str(plan.choice)}
            left, _ = prospect_of(plan, tables)
            show_json({**plan.to_dict(), **noise, **left, "expected": expected.records()})
        case Format.CSV | Format.ARROW:
            expected.show(as_format, raw=raw)


def prospect_of(plan: Plan | RemotePlan, tables: Protected | Remote) -> tuple[dict[str, object], list[str]]:
    """The entries that already answer a plan, or how many times the budget pays for it; nothing for a server's."""
    protected = here(tables)
    if protected is None:
        return {}, []
    from discreet.gateway import cost_of

    made = cast("Plan", plan)
    if made.answered_by:
        return {"answered_by": list(made.answered_by)}, []
    cost, analyst = cost_of([made]), made.request.analyst
    found = protected.affordable(cost, analyst)
    words = prospect(found.times, found.after or "")
    return found.to_dict(), [f"budget    {words}"] if words else []
