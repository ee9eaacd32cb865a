"""`discreet ask`, a private answer; and `discreet explain`, what it would cost and how accurate it would be."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import counting, working
from discreet.cli.common.sheets import refuse_binary_to_screen
from discreet.cli.common.waiting import patiently


@reported
def ask(  # noqa: PLR0913 — each is an option of the command
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
    analyst: options.Analyst = None,
    confidence: options.Confidence = 0.95,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    dialect: options.Dialect = "duckdb",
) -> None:
    """Answer a question privately, with ±, and pay for it.

    The cost is reserved before rows are read for the answer, and never comes back. The same question again, at the same
    offer and of the same data, gives the same answer and costs nothing. EXPLAIN before it shows its plan instead, and
    costs nothing either.
    """
    from discreet.cli.common.answers import show_answer, show_plan
    from discreet.exact.rational import probability
    from discreet.query.sql import explained

    probability(confidence, "confidence")
    refuse_binary_to_screen(format_)
    inner = explained(question)
    with working("planning"):
        tables = options.opened(config)
        plan = tables.plan(
            question if inner is None else inner,
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
    if inner is not None:
        show_plan(plan, format_)
    else:
        with counting("reading") as progress:
            patiently(lambda: tables.admissions.first(progress=progress))
        with working("asking"):
            answer = patiently(lambda: tables.ask(plan, analyst=analyst))
        show_answer(answer, tables, format_, confidence)
    tables.close()


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
    from discreet.cli.common.answers import show_plan
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    plan = options.opened(config).plan(
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
