"""`discreet budget`: the standing of the account on the screen, for programs, or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.budget.page import page
from discreet.cli.common import options
from discreet.cli.common.files import refuse_to_replace, write_text
from discreet.cli.common.reporting import reported
from discreet.cli.common.said import as_said
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show import pages
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.cli.show.standing import here, of_each, show_standing
from discreet.cli.show.waiting import working
from discreet.printable import printable


@reported
@somewhere
def budget(  # noqa: PLR0913 — each is an option of the command
    context: typer.Context,
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Also write a page: spending over time, by analyst, and the proof."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    where: Where,
) -> None:
    """Show the budget, what was spent and what is left: for everyone together, and for each analyst.

    It also shows how many questions have failed since the custodian last looked into failures. A server shows what is
    spent by everyone together, and by the token's holder.

    The page has what the command's user may see: all questions of the account on its own machine, for which it also
    verifies the ledger; of a server, those that its token lets them see.
    """
    refuse_binary_to_screen(format_)
    if html is not None:
        refuse_to_replace(html, force=force, endings=pages.ENDINGS)
    with where.opened() as tables:
        everyone, analysts = of_each(tables)
        if html is not None:
            with working("verifying"):
                own = here(tables)
                proof = None if own is None else (own.verify(), own.signing.public)
            write_text(html, page(as_said(context), everyone, analysts, tables.history(), proof))
    show_standing(everyone, analysts, format_, raw=raw)
    if html is not None and format_ is Format.TABLE:
        say(f"\nWritten to {printable(str(html))}")
