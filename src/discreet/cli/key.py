"""`discreet key`: the public key by which signed answers and heads are verified."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json


@reported
def key(
    *,
    new: Annotated[bool, typer.Option("--new", help="Make a new key, which signs from now on.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Also show earlier keys, the oldest first.")] = False,
    format_: options.TextOrJson = TextFormat.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the account's public key, which verifies signed answers and heads.

    Publish it where nobody else can write. The private key is a file that only its owner can read: beside a ledger that
    is a file (`NAME.ledger.key`), otherwise beside the configuration. An old ledger without a key gets one. After
    `--new`, restart servers; what was signed before is verified with the old key, which `--all` shows.
    """
    with opened(config) as tables:
        made = tables.signing.make(anew=new)
        found = tables.signing.all() if all_ else [made]
    if format_ is TextFormat.JSON:
        show_json([each.to_json() for each in found] if all_ else made.to_json())
    else:
        say("\n".join(each.text for each in found))
