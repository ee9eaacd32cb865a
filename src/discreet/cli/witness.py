"""`discreet witness`: send the ledger's signed head elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show.screen import say


@reported
def witness(
    place: Annotated[
        str, typer.Argument(metavar="PLACE", help="A file elsewhere to append to, or an https:// address.")
    ],
    *,
    config: options.Config = options.CONFIG,
) -> None:
    """Send the ledger's signed head to a witness, once; run it on a schedule of your own, such as cron's.

    The witness keeps it out of reach of anyone who can write the ledger. Later it shows whether the ledger was cut off
    or exchanged (`verify --head`), and how much had been spent by then (`ledger restore`). A file gets a line of JSON;
    an address gets the same by POST.
    """
    from discreet.service import Witness

    with opened(config) as tables:
        head = tables.signing.head()
    Witness(place).send(head)
    say(f"sent entry {head['entries']}, head {head['head']}")
