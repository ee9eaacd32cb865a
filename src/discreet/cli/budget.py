"""`discreet budget`: what was granted, what was spent and what is left, for everyone and for each analyst."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.cli.show.standing import show_standing


@reported
@somewhere
def budget(*, format_: options.Formatted = Format.TABLE, raw: options.Raw = False, where: Where) -> None:
    """Show the budget, what was spent and what is left: for everyone together, and for each analyst.

    It also shows how many questions have failed since the custodian last looked into failures. A server shows what is
    spent by everyone together, and by the token's holder.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        show_standing(tables, format_, raw=raw)
