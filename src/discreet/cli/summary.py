"""`discreet summary`: a table's columns at a glance, privately."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from discreet.cli.ask import IdempotencyKey, answered, beside, read_first
from discreet.cli.common import columns as naming
from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.terms import offering
from discreet.cli.common.where import Where, private_tables, somewhere
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.cli.show.summaries import show_summary, show_summary_plan
from discreet.cli.show.waiting import working
from discreet.results import Summary

TableName: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="TABLE", help="Which table; it may be left out where there is one private table."),
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="COLUMNS",
        help="Which columns, separated by commas; all if left out. The fewer, the more accurate.",
    ),
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Show what it would cost, and the ± to expect; spends nothing.")
]


@reported
@offering
@somewhere
def summary(  # noqa: PLR0913 — what may be said beside a table, each by name
    table: TableName = None,
    *,
    columns: Columns = None,
    dry_run: DryRun = False,
    terms: dict[str, Any],
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    where: Where,
    idempotency_key: IdempotencyKey = None,
) -> None:
    """Summarize a table: rows, and of each column what is missing, usual and frequent; and pay for it once.

    Numbers with bounds have mean, standard deviation and quartiles, and columns with keys have counts by key. With
    --delta, the most frequent texts of columns without keys are looked for. Which questions these are follows from what
    is declared alone; `discreet ask "SUMMARIZE census"` asks the same. The same summary again costs nothing.

    As CSV or Arrow: each number in a row of its own, with the ends of its interval.
    """
    from discreet.results import summarize

    said = beside(where, idempotency_key=idempotency_key)
    refuse_binary_to_screen(format_)
    with working("planning"):
        tables = where.opened()
        plan = tables.plan(summarize(private_tables(tables), table, naming.names(columns)), **terms)
    if dry_run:
        show_summary_plan(plan, tables, format_, raw=raw)
    else:
        read_first(tables)
        found = answered(tables, plan, said)
        if not isinstance(found, Summary):
            raise AssertionError("a statement that summarizes one table has a summary")
        show_summary(found, tables, format_, raw=raw)
    tables.close()
