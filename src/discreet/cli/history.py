"""`discreet history`: the questions asked, by whom, at what cost, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.entries import Line, as_asked, brief, whole
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.errors import InvalidArgument


@reported
@somewhere
def history(  # noqa: PLR0913 — what may be said, each by name
    entry: Annotated[
        int | None, typer.Argument(metavar="ENTRY", min=1, help="Only the entry of this number, in full.")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Show each question in full, as it was asked.")] = False,
    last: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Only this many, the latest.")] = None,
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    where: Where,
) -> None:
    """Show the questions asked: when, by whom, at what cost, and what became of them.

    A question without an answer (`lost` or `failed`) stays paid for. On a terminal, long questions are cut. A server
    shows analysts only their own questions.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        entries: Sequence[Line] = tables.history()
    shown = _numbered(entries, entry) if entry is not None else entries[-last:] if last else entries
    if format_ is not Format.TABLE:
        whole(shown).show(format_, raw=raw)
    elif full or entry is not None:
        say("\n\n".join(map(as_asked, shown)))
    else:
        brief(shown).show(format_)


def _numbered(entries: Sequence[Line], number: int) -> Sequence[Line]:
    """The entry with this number, alone.

    Raises:
        InvalidArgument: there is none.
    """
    found = [each for each in entries if each.number == number]
    if not found:
        numbers = [each.number for each in entries if each.number is not None]
        there = f"there are {numbers[0]} to {numbers[-1]}" if numbers else "nothing has been asked yet"
        raise InvalidArgument(f"there is no entry {number}", hint=there)
    return found
