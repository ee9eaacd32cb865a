"""`discreet explain`: the cost of a question and the ± to expect, before anything is spent."""

from __future__ import annotations

from typing import Any

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.terms import offering
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.formats import Format
from discreet.cli.show.plans import show_plan
from discreet.cli.show.sheets import refuse_binary_to_screen


@reported
@offering
@somewhere
def explain(
    question: options.Question,
    *,
    terms: dict[str, Any],
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    where: Where,
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no private data.

    CSV and Arrow hold the ± to expect of each column.
    """
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        show_plan(tables.plan(explained(question) or question, **terms), tables, format_, raw=raw)
