"""`discreet verify`: whether the ledger is whole, and the snapshot that questions are asked of."""

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
    """Recompute the ledger's hash chain and every loss in it, and the hashes of the admitted tables' files.

    Prints the hash of the last entry, the head. Keep it elsewhere and give it to a later verification (`--kept`): that
    shows an end that was cut off, too. Exit code 4 if anything doesn't hold.
    """
    from discreet.cli.common.opening import opened

    with working("verifying"), opened(config) as tables:
        found = tables.verify(kept=kept)
        problems = [str(problem) for problem in found.problems]
        damaged = [] if problems else tables.admissions.damaged()  # the ledger says what they are compared with
    if format_ is options.TextFormat.JSON:
        outcome = {"whole": not problems and not damaged, "entries": found.entries, "head": found.head}
        show_json(outcome | {"problems": problems, "damaged": damaged})
    elif problems:
        say(f"the ledger does not hold: {len(problems)} of its {found.entries} entries are wrong or missing")
        for problem in problems:
            say(f"  {printable(problem)}")
    else:
        say(f"{found.entries} entries; the chain and every loss hold")
        say("the admitted tables hold" if not damaged else "the admitted tables do not hold")
        for each in damaged:
            say(f"  {printable(each)}")
        say(f"head {found.head}")
    if problems or damaged:
        raise typer.Exit(ExitCode.LEDGER)
