"""`discreet explain`: what a question would cost, and how accurate its answer would be."""

from __future__ import annotations

from typing import Any

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.sheets import refuse_binary_to_screen


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
    from discreet.cli.common.opening import opened
    from discreet.cli.common.plans import show_plan
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    plan = opened(config).plan(explained(question) or question, **terms)
    show_plan(plan, format_)
