"""`discreet history`: the entries of the account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.sheets import Sheet, cut, refuse_binary_to_screen

if TYPE_CHECKING:
    from discreet.ledger import Entry

_TEXT = 32
"""How much of a question is shown in a table."""


@reported
def history(
    *,
    last: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Only the last so many.")] = None,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show what was asked, when, by whom, what it cost, and what became of it.

    For the custodian: a question without an answer (`reserved` or `failed`) stays paid.
    """
    from discreet.cli.common.opening import opened

    refuse_binary_to_screen(format_)
    with opened(config) as tables:
        entries = tables.history()
        shown = entries[-last:] if last else entries
        if format_ is options.Format.TABLE:
            _brief(shown).show(format_)
        else:
            _whole(shown).show(format_)


def _brief(entries: Sequence[Entry]) -> Sheet:
    """What fits a screen: questions on one line, cut; who asked only where somebody said so."""
    from discreet.cli.common.amounts import price

    rows = [
        {
            "entry": "" if entry.number is None else str(entry.number),
            "when (UTC)": f"{entry.at:%Y-%m-%d %H:%M}",
            "analyst": entry.analyst or "",
            "what": cut(entry.text, _TEXT),
            "cost": "" if entry.cost is None else price(entry.cost),
            "state": entry.kind if entry.state is None else str(entry.state),
        }
        for entry in entries
    ]
    anonymous = not any(row["analyst"] for row in rows)
    names = [
        name
        for name in ("entry", "when (UTC)", "analyst", "what", "cost", "state")
        if name != "analyst" or not anonymous
    ]
    return Sheet(tuple(names), [[row[name] for name in names] for row in rows])


def _whole(entries: Sequence[Entry]) -> Sheet:
    """All of it, with exact amounts."""
    names = ("entry", "at", "kind", "analyst", "text", "epsilon", "rho", "delta", "state")
    rows = []
    for entry in entries:
        cost = {} if entry.cost is None else entry.cost.to_dict()
        amounts = [cost.get(name) for name in ("epsilon", "rho", "delta")]
        state = None if entry.state is None else str(entry.state)
        rows.append([entry.number, entry.at.isoformat(), entry.kind, entry.analyst, entry.text, *amounts, state])
    return Sheet(names, rows)
