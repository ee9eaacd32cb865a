"""`discreet explain`: what a question would cost, and how accurate its answer would be."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import printable, say_folded
from discreet.cli.common.sheets import Sheet, refuse_binary_to_screen, show_json

_HANG = 10
"""Where the text of a plan begins, behind its titles."""


@reported
def explain(  # noqa: PLR0913 — each is an option of the command
    question: options.Question,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    rho: options.Rho = None,
    within: options.Within = None,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    dialect: options.Dialect = "duckdb",
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no data.

    As CSV or Arrow: the error to expect of each column.
    """
    from discreet.cli.common.opening import opened

    refuse_binary_to_screen(format_)
    plan = opened(config).plan(
        question, epsilon=epsilon, delta=delta, rho=rho, within=options.widths(within), dialect=dialect
    )
    expected = Sheet(("column", "error", "rows"), [(one.column, one.error, one.rows) for one in plan.expected])
    match format_:
        case options.Format.TABLE:
            for line in plan.explain().splitlines():
                say_folded(printable(line), _HANG)
        case options.Format.JSON:
            show_json({**plan.to_dict(), "expected": expected.records()})
        case options.Format.CSV | options.Format.ARROW:
            expected.show(format_)
