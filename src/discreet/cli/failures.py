"""`discreet failures`: the questions that failed after they were paid for."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show.entries import brief, whole
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import refuse_binary_to_screen


@reported
def failures(
    *,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="Record that you have looked into them, so that questions go on.")
    ] = False,
    format_: options.Formatted = Format.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the questions that failed after they were paid for, since you last looked into failures.

    A failure can give away a fact about rows, without noise. So once as many have failed as the configuration allows
    (`failures`, 10), no new question is taken until you have looked: who asked them, how alike they are, whether time
    or memory is too short. `--acknowledge` is written to the ledger. A question that is running on this machine without
    a server then gets no answer.
    """
    refuse_binary_to_screen(format_)
    with opened(config) as tables:
        found = tables.acknowledge_failures() if acknowledge else tables.failures
        numbers = {*found.failed, *found.pending}
        shown = [entry for entry in tables.history() if entry.number in numbers]
        words = found.words(tables.dataset.failures)
    if format_ is Format.TABLE:
        if shown:
            brief(shown).show(format_)
        say(
            f"{words}; "
            f"{'looked into, as an entry of the ledger now says' if acknowledge else 'nobody has looked into them yet'}"
        )
    else:
        whole(shown).show(format_)
