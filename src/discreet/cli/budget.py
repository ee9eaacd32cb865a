"""`discreet budget`: what was granted, what was spent and what is left, for everyone and for each analyst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, refuse_binary_to_screen, show_json
from discreet.cli.show.standing import Standing, of_each

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote


@reported
@somewhere
def budget(*, format_: options.Formatted = Format.TABLE, raw: options.Raw = False, where: Where) -> None:
    """Show the budget, what was spent and what is left: for everyone together, and for each analyst.

    It also shows how many questions have failed since the custodian last looked into failures. A server shows what is
    spent by everyone together, and by the token's holder.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        show_budget(tables, format_, raw=raw)


def show_budget(tables: Protected | Remote, as_format: Format, *, raw: bool = False) -> None:
    """Write the standing of everyone and of each analyst to standard output."""
    everyone, analysts = of_each(tables)
    match as_format:
        case Format.TABLE:
            say("\n\n".join(one.words() for one in (everyone, *analysts)))
        case Format.JSON:
            show_json({**everyone.data, "analysts": {one.who: one.data for one in analysts}})
        case Format.CSV | Format.ARROW:
            _flat([everyone, *analysts]).show(as_format, raw=raw)


def _flat(standings: list[Standing]) -> Sheet:
    """A row for each account holder, a column for each amount."""
    parts = [(part, name) for part in ("budget", "spent", "remaining") for name in ("epsilon", "rho", "delta")]
    rows = [[one.who, *(one.data[part][name] for part, name in parts), one.data.get("renews")] for one in standings]
    return Sheet(("who", *(f"{part}_{name}" for part, name in parts), "renews"), rows)
