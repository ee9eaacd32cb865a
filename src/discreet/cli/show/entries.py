"""Entries of an account: questions and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from discreet.cli.show.screen import width
from discreet.cli.show.sheets import Sheet
from discreet.cli.show.words import cut
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.accounting import Charge
    from discreet.interfaces.client import RemoteEntry
    from discreet.ledger import Entry
    from discreet.results import Cost

Line: TypeAlias = "Entry | RemoteEntry"
"""An entry of an account here or on a server."""

_TEXT, _LEAST = 32, 12
"""How many characters of a question a table shows if it can, leaving out the time of the day for it; and at least."""


_DAY = 10
"""The characters of a day."""


def as_asked(entry: Line) -> str:
    """An entry in words, with its question as it was typed."""
    said = [
        "" if entry.number is None else f"entry {entry.number}",
        f"{entry.at:%Y-%m-%d %H:%M} UTC",
        entry.analyst or "",
        "" if entry.cost is None else price(entry.cost),
        _became(entry),
    ]
    lines = [f"  {printable(line)}" for line in entry.text.splitlines()]
    return "\n".join([printable(", ".join(filter(None, said))), *lines])


def brief(entries: Sequence[Line]) -> Sheet:
    """An entry a line, cut to fit the screen; without the analysts' column if no entry names one."""
    wide = width()
    columns = {
        "entry": ["" if entry.number is None else str(entry.number) for entry in entries],
        "when (UTC)": [f"{entry.at:%Y-%m-%d %H:%M}" for entry in entries],
        "analyst": [printable(entry.analyst or "") for entry in entries],
        "what": [" ".join(entry.text.split()) for entry in entries],
        "cost": ["" if entry.cost is None else price(entry.cost) for entry in entries],
        "state": [_became(entry) for entry in entries],
    }
    if not any(columns["analyst"]):
        del columns["analyst"]
    if wide is not None:
        others = sum(max(map(len, [name, *cells])) + 2 for name, cells in columns.items() if name != "what")
        if wide - others < _TEXT:
            columns["when (UTC)"] = [when[:_DAY] for when in columns["when (UTC)"]]
            others -= len(" 00:00")
        columns["what"] = [cut(text, max(_LEAST, wide - others)) for text in columns["what"]]
    return Sheet(tuple(columns), list(zip(*columns.values(), strict=True)))


def _became(entry: Line) -> str:
    """A question's outcome, or the kind of another entry."""
    return printable(entry.became(datetime.now(UTC))) or entry.kind


def whole(entries: Sequence[Line]) -> Sheet:
    """Entries whole, with exact amounts, for programs."""
    names = ("entry", "at", "kind", "analyst", "text", "epsilon", "rho", "delta", "state")
    rows = []
    for entry in entries:
        amount = [None if entry.cost is None else getattr(entry.cost, name) for name in ("epsilon", "rho", "delta")]
        exact = [None if one is None else str(one) for one in amount]
        state = None if entry.state is None else str(entry.state)
        rows.append([entry.number, entry.at.isoformat(), entry.kind, entry.analyst, entry.text, *exact, state])
    return Sheet(names, rows)


def price(charge: Charge | Cost) -> str:
    """The cost of one question, as it was offered: in ε, or in ρ where ε isn't finite; and δ, if any.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> price(Charge(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**9)))
        'ρ = 0.005, δ = 1e-09'
    """
    name, amount = ("ρ", charge.rho) if charge.epsilon is None else ("ε", charge.epsilon)
    shown = f"{name} = {float(amount):.4g}" if amount is not None else f"{name} = ∞"
    return f"{shown}, δ = {float(charge.delta):.3g}" if charge.delta else shown
