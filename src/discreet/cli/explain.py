"""`discreet explain`: what a question would cost, and how accurate its answer would be."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.sheets import refuse_binary_to_screen


@reported
def explain(  # noqa: PLR0913 — each is an option of the command
    question: options.Question,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    rho: options.Rho = None,
    within: options.Within = None,
    weights: options.Weights = None,
    limits: options.LimitsOption = None,
    bounds: options.BoundsOption = None,
    consistent: options.Consistent = False,
    cut_off: options.CutOff = False,
    confidence: options.Confidence = 0.95,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    dialect: options.Dialect = "duckdb",
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no data.

    As CSV or Arrow: the error to expect of each column.
    """
    from discreet.cli.common.opening import opened
    from discreet.cli.common.plans import show_plan
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    plan = opened(config).plan(
        explained(question) or question,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        within=options.by_column(within),
        weights=options.by_column(weights),
        confidence=confidence,
        limits=options.limits_of(limits),
        bounds=options.bounds_of(bounds),
        consistent=consistent,
        cut_off=cut_off,
        dialect=dialect,
    )
    show_plan(plan, format_)
