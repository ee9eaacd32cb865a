"""`discreet ask`, a private answer; and `discreet explain`, what it would cost and how accurate it would be."""

from __future__ import annotations

from typing import Any

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import counting, working
from discreet.cli.common.sheets import refuse_binary_to_screen
from discreet.cli.common.waiting import patiently


@reported
@options.offering
def ask(
    question: options.Question,
    *,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    terms: dict[str, Any],
) -> None:
    """Answer a question privately, with ±, and pay for it.

    The cost is reserved before rows are read for the answer, and never comes back. The same question again, at the same
    offer and of the same data, gives the same answer and costs nothing. EXPLAIN before it shows its plan instead, and
    costs nothing either.
    """
    from discreet.cli.common.answers import show_answer, show_plan
    from discreet.exact.rational import probability
    from discreet.query.sql import explained

    probability(terms["confidence"], "confidence")
    refuse_binary_to_screen(format_)
    inner = explained(question)
    with working("planning"):
        tables = options.opened(config)
        plan = tables.plan(question if inner is None else inner, **terms)
    if inner is not None:
        show_plan(plan, format_)
    else:
        with counting("reading") as progress:
            patiently(lambda: tables.admissions.first(progress=progress))
        with working("asking"):
            answer = patiently(lambda: tables.ask(plan))
        show_answer(answer, tables, format_, terms["confidence"])
    tables.close()


@reported
@options.offering
def explain(
    question: options.Question,
    *,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    terms: dict[str, Any],
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no data.

    As CSV or Arrow: the error to expect of each column.
    """
    from discreet.cli.common.answers import show_plan
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    plan = options.opened(config).plan(explained(question) or question, **terms)
    show_plan(plan, format_)
