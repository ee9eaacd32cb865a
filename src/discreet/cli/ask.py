"""`discreet ask`: a private answer."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import working
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
    analyst: options.Analyst = None,
    confidence: options.Confidence = 0.95,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
    dialect: options.Dialect = "duckdb",
) -> None:
    """Answer a question privately, with ±, and pay for it.

    The cost is reserved before the data is touched and never comes back. The same question again gives the same
    answer and costs nothing.
    """
    from discreet.cli.common.answers import show_answer
    from discreet.cli.common.opening import opened
    from discreet.exact.rational import probability

    probability(confidence, "confidence")
    refuse_binary_to_screen(format_)
    with working("asking"):
        tables = opened(config)
        plan = tables.plan(
            question, epsilon=epsilon, delta=delta, rho=rho, within=options.widths(within), dialect=dialect
        )
        answer = patiently(lambda: tables.ask(plan, analyst=analyst))
    show_answer(answer, tables, format_, confidence)
    tables.close()
