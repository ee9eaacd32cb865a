"""The account: `discreet budget`, what is left; `history`, its entries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.answers import price
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import ENDLESS, say, width
from discreet.cli.common.sheets import Sheet, cut, refuse_binary_to_screen, show_json
from discreet.cli.common.standing import Standing, of_each
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.interfaces.client import RemoteEntry
    from discreet.ledger import Entry

Line: TypeAlias = "Entry | RemoteEntry"
"""An entry of an account that is here, or behind a server."""

_TEXT, _OTHERS = 32, 48
"""How much of a question is shown in a table at the least, and what the other columns take."""


@reported
@options.somewhere
def budget(*, format_: options.Formatted = options.Format.TABLE, where: options.Where) -> None:
    """Show the budget, what was spent of it, and what is left: of all together, and of each analyst.

    Of a server: of all together, and of whoever holds the token.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        everyone, analysts = of_each(tables)
    match format_:
        case options.Format.TABLE:
            say("\n\n".join(one.words() for one in (everyone, *analysts)))
        case options.Format.JSON:
            show_json({**everyone.data, "analysts": {one.who: one.data for one in analysts}})
        case options.Format.CSV | options.Format.ARROW:
            _flat([everyone, *analysts]).show(format_)


def _flat(standings: list[Standing]) -> Sheet:
    """One row for each, one column for each amount."""
    parts = [(part, name) for part in ("budget", "spent", "remaining") for name in ("epsilon", "rho", "delta")]
    rows = [[one.who, *(one.data[part][name] for part, name in parts), one.data.get("renews")] for one in standings]
    return Sheet(("who", *(f"{part}_{name}" for part, name in parts), "renews"), rows)


@reported
@options.somewhere
def history(
    entry: Annotated[
        int | None, typer.Argument(metavar="ENTRY", min=1, help="Only the entry of this number, as it was asked.")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Show each question as it was asked, all of it.")] = False,
    last: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Only the last so many.")] = None,
    format_: options.Formatted = options.Format.TABLE,
    where: options.Where,
) -> None:
    """Show what was asked, when, by whom, what it cost, and what became of it.

    A question without an answer (`lost` or `failed`) stays paid. A table on a terminal cuts long questions. A
    server shows analysts their own ones.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        entries: Sequence[Line] = tables.history()
    shown = _numbered(entries, entry) if entry is not None else entries[-last:] if last else entries
    if format_ is not options.Format.TABLE:
        _whole(shown).show(format_)
    elif full or entry is not None:
        say("\n\n".join(map(_as_asked, shown)))
    else:
        _brief(shown).show(format_)


def _numbered(entries: Sequence[Line], number: int) -> Sequence[Line]:
    """The entry of a number.

    Raises:
        InvalidArgument: there is none.
    """
    found = [each for each in entries if each.number == number]
    if not found:
        numbers = [each.number for each in entries if each.number is not None]
        there = f"there are {numbers[0]} to {numbers[-1]}" if numbers else "nothing was asked yet"
        raise InvalidArgument(f"there is no entry {number}", hint=there)
    return found


def _as_asked(entry: Line) -> str:
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


def _brief(entries: Sequence[Line]) -> Sheet:
    """Questions on one line, cut to what fits a screen, if it is one; who asked only where somebody said so."""
    wide = width()
    rows = [
        {
            "entry": "" if entry.number is None else str(entry.number),
            "when (UTC)": f"{entry.at:%Y-%m-%d %H:%M}",
            "analyst": entry.analyst or "",
            "what": cut(entry.text, ENDLESS if wide is None else max(_TEXT, wide - _OTHERS)),
            "cost": "" if entry.cost is None else price(entry.cost),
            "state": _became(entry),
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


def _became(entry: Line) -> str:
    """What became of a question, or what else an entry is."""
    return printable(entry.became(datetime.now(UTC))) or entry.kind


def _whole(entries: Sequence[Line]) -> Sheet:
    """All of it, with exact amounts."""
    names = ("entry", "at", "kind", "analyst", "text", "epsilon", "rho", "delta", "state")
    rows = []
    for entry in entries:
        amount = [None if entry.cost is None else getattr(entry.cost, name) for name in ("epsilon", "rho", "delta")]
        exact = [None if one is None else str(one) for one in amount]
        state = None if entry.state is None else str(entry.state)
        rows.append([entry.number, entry.at.isoformat(), entry.kind, entry.analyst, entry.text, *exact, state])
    return Sheet(names, rows)
