"""`discreet declare`: the declarations as they are now, put in force."""

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
        typer.Option("--narrow", metavar="TABLE.COLUMN", help="Its bounds, or a table's row ceiling, may be tighter."),
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option("--keys", metavar="TABLE.COLUMN", help="It may have new keys.")
    ] = None,
    budget: Annotated[bool, typer.Option("--budget", help="The budget may be larger.")] = False,
    failures: Annotated[bool, typer.Option("--failures", help="More questions may fail.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Put in force what the configuration declares, and show what changed.

    Each change is an entry of the ledger, by whichever command it is seen first. Once something was spent, a change
    that weakens what was promised to those who are in the tables is refused by all of them, but by this one where it is
    named. Name only what is public knowledge: a bound or a list of keys that was read off the data tells what is in it.
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
