"""`discreet ask`, a private answer; and `discreet explain`, what it would cost and how accurate it would be."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import Abandoned, counting, patiently, working
from discreet.cli.common.sheets import refuse_binary_to_screen

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan

Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="Pay also where a warning says that the question may not be what was meant.")
]


Version: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--version",
        metavar="NUMBER",
        min=1,
        help="Give what is stored of this version of the tables, as certificates name it; nothing is paid.",
    ),
]
Approval: TypeAlias = Annotated[
    str | None,
    typer.Option("--approval", metavar="REQUEST", help="Of a server: by the approval of this request of yours."),
]
IdempotencyKey: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="Of a server: what is asked again under the same key is paid for once. A random one if left out.",
    ),
]


@reported
@options.offering
@options.somewhere
def ask(  # noqa: PLR0913 — what may be said beside a question, each by name
    question: options.Question,
    *,
    format_: options.Formatted = options.Format.TABLE,
    where: options.Where,
    version: Version = None,
    approval: Approval = None,
    idempotency_key: IdempotencyKey = None,
    yes: Yes = False,
    terms: dict[str, Any],
) -> None:
    """Answer a question privately, with ±, and pay for it.

    The cost is reserved before rows are read for the answer, and never comes back. The same question again, at the same
    offer and of the same data, gives the same answer and costs nothing. EXPLAIN before it shows its plan instead, and
    costs nothing either. Nor does what declared keys and bounds answer by themselves.

    Where a condition can hold for no row, or names no key, it warns, and on a terminal it asks before it pays;
    elsewhere it pays with --yes only.
    """
    from discreet.cli.common.answers import show_answer, show_plan
    from discreet.cli.common.standing import of_everyone
    from discreet.errors import InvalidArgument
    from discreet.exact.rational import probability
    from discreet.query.sql import explained

    beside = {"approval": approval, "idempotency_key": idempotency_key}
    said: dict[str, Any] = {name: value for name, value in beside.items() if value is not None}
    if where.server is not None:
        from discreet.interfaces.client import fresh_key

        said.setdefault("idempotency_key", fresh_key())
    elif said:
        raise InvalidArgument("approvals and keys are a server's", hint="--server says which")
    probability(terms["confidence"], "confidence")
    refuse_binary_to_screen(format_)
    inner = explained(question)
    with working("planning"):
        tables = where.opened()
        plan = tables.plan(question if inner is None else inner, **terms)
    if inner is not None:
        show_plan(plan, tables, format_)
    else:
        if version is None:
            if not yes:
                _confirm(plan)
            _read_first(tables)
        with working("asking"):
            try:
                answer = patiently(lambda: tables.ask(plan, version=version, **said))
            except Abandoned as left:
                if said:
                    left.hint = f"to have its answer, and pay once: --idempotency-key {quote(said['idempotency_key'])}"
                raise
        show_answer(answer, of_everyone(tables), format_, terms["confidence"])
    tables.close()


def _read_first(tables: Protected | Remote) -> None:
    """Admit tables that are here, where they weren't yet; a server has done so."""
    from discreet.cli.common.standing import here

    if (protected := here(tables)) is not None:
        with counting("reading") as progress:
            patiently(lambda: protected.admissions.first(progress=progress))


def _confirm(plan: Plan | RemotePlan) -> None:
    """Let nobody pay by mistake for a question that warns.

    Raises:
        InvalidArgument: nobody sits before a terminal to be asked.
        Abort: somebody has thought better of it.
    """
    from discreet.errors import InvalidArgument
    from discreet.printable import printable

    if plan.is_free or not plan.warnings:
        return
    if not _may_ask():
        raise InvalidArgument(
            f"this question may not be what was meant: {'; '.join(plan.warnings)}", hint="--yes asks it all the same"
        )
    for warning in plan.warnings:
        typer.echo(printable(f"warning: {warning}"), err=True)
    typer.confirm(f"Pay {plan.cost} for it all the same?", abort=True, err=True)


def _may_ask() -> bool:
    """Whether somebody can answer; standard output may go elsewhere."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@reported
@options.offering
@options.somewhere
def explain(
    question: options.Question,
    *,
    format_: options.Formatted = options.Format.TABLE,
    where: options.Where,
    terms: dict[str, Any],
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no private data.

    As CSV or Arrow: the error to expect of each column.
    """
    from discreet.cli.common.answers import show_plan
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        show_plan(tables.plan(explained(question) or question, **terms), tables, format_)
