"""`discreet declare`: put the declarations in force as they are now."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.show.screen import say
from discreet.printable import printable


@reported
def declare(  # noqa: PLR0913 — what may be weakened, each by name
    *,
    publish: Annotated[
        list[str] | None, typer.Option("--publish", metavar="TABLE", help="Everyone may know every row of this table.")
    ] = None,
    narrow: Annotated[
        list[str] | None,
        typer.Option("--narrow", metavar="TABLE.COLUMN", help="Bounds, or a table's row ceiling, may be tighter."),
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option("--keys", metavar="TABLE.COLUMN", help="The column may have new keys.")
    ] = None,
    budget: Annotated[bool, typer.Option("--budget", help="The budget may be larger.")] = False,
    failures: Annotated[bool, typer.Option("--failures", help="More questions may fail.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Put in force what the configuration declares, and show what changed.

    Every command notices changes, and writes each to the ledger. Once something has been spent, a change that weakens
    the promise to the people in the tables is refused, unless it is named here. Name only what is public knowledge: a
    bound or a list of keys that was read off the data gives away what is in it.
    """
    from discreet.gateway import load

    named = {"publish": publish or (), "narrow": narrow or (), "keys": keys or ()}
    weaken = [f"{option} {place.casefold()}" for option, places in named.items() for place in places]
    weaken += [name for name, said in (("budget", budget), ("failures", failures)) if said]
    with load(config, weaken=weaken) as tables:
        changes = tables.changes
    for each in changes:
        say(printable(f"{each.words}{' (weakened by name)' if each.weakens in weaken else ''}"))
    if not changes:
        say("nothing has changed")
