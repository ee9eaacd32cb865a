"""`discreet verify`: whether the ledger is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import ExitCode, reported
from discreet.cli.common.screen import printable, say, working
from discreet.cli.common.sheets import show_json


@reported
def verify(
    *,
    kept: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head that was printed before and kept elsewhere.")
    ] = None,
    format_: options.TextOrJson = options.TextFormat.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Recompute the ledger's hash chain and every loss in it.

    Prints the hash of the last entry, the head. Keep it elsewhere and give it to a later verification (`--kept`): that
    shows an end that was cut off, too. Exit code 4 if anything doesn't hold.
    """
    from discreet.cli.common.opening import opened

    with working("verifying"), opened(config) as tables:
        found = tables.verify(kept=kept)
    problems = [str(problem) for problem in found.problems]
    if format_ is options.TextFormat.JSON:
        show_json({"whole": not problems, "entries": found.entries, "head": found.head, "problems": problems})
    elif problems:
        say(f"the ledger does not hold: {len(problems)} of its {found.entries} entries are wrong or missing")
        for problem in problems:
            say(f"  {printable(problem)}")
    else:
        say(f"{found.entries} entries; the chain and every loss hold")
        say(f"head {found.head}")
    if problems:
        raise typer.Exit(ExitCode.LEDGER)
