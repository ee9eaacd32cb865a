"""`discreet ask`: a private answer, paid for."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.interrupt import Abandoned, patiently
from discreet.cli.common.reporting import reported
from discreet.cli.common.terms import offering
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.admissions import say_incomplete
from discreet.cli.show.answers import UNDER, show_answer
from discreet.cli.show.formats import Format
from discreet.cli.show.pictures import check_picture, write_picture
from discreet.cli.show.plans import show_plan
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import refuse_binary_to_screen
from discreet.cli.show.standing import here
from discreet.cli.show.summaries import show_summary
from discreet.cli.show.waiting import counting, working
from discreet.errors import InvalidArgument
from discreet.printable import printable
from discreet.results import Answer, Summary

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan

Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="Pay even if a warning says that the question may not be what you meant.")
]
Version: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--version",
        metavar="NUMBER",
        min=1,
        help="Give what is stored for this version of the tables, as certificates name it; nothing is paid.",
    ),
]
Approval: TypeAlias = Annotated[
    str | None,
    typer.Option("--approval", metavar="REQUEST", help="On a server: ask by the approval of this request of yours."),
]
IdempotencyKey: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="On a server: a question asked again under the same key is paid for once. A random one if left out.",
    ),
]


@reported
@offering
@somewhere
def ask(  # noqa: PLR0913 — what may be said beside a question, each by name
    question: options.Question,
    *,
    terms: dict[str, Any],
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    plot: options.Plot = None,
    where: Where,
    version: Version = None,
    approval: Approval = None,
    idempotency_key: IdempotencyKey = None,
    yes: Yes = False,
) -> None:
    """Answer a question privately, with ±, and pay for it.

    The cost is reserved before rows are read for the answer, and never comes back. Asked again with the same offer and
    of the same data, a question gets the same answer and costs nothing. EXPLAIN before it shows its plan, and costs
    nothing either; nor does a question that declared keys and bounds answer by themselves.

    With --plot, it also draws the answer, each value with its interval: as SVG, or as PNG with Matplotlib.

    If a condition can't hold for any row, or compares with a value that is no key, it warns. On a terminal it then asks
    before it pays; elsewhere it pays only with --yes.
    """
    from discreet.exact.rational import probability
    from discreet.query.sql import explained

    said = beside(where, approval=approval, idempotency_key=idempotency_key)
    probability(terms["confidence"], "confidence")
    refuse_binary_to_screen(format_)
    if plot is not None:
        check_picture(plot, painted=False)
    inner = explained(question)
    if inner is not None and plot is not None:
        raise InvalidArgument("a plan can't be drawn", hint="leave out --plot")
    with working("planning"):
        tables = where.opened()
        plan = tables.plan(question if inner is None else inner, **terms)
    if inner is not None:
        show_plan(plan, tables, format_, raw=raw)
    else:
        if version is None:
            if not yes:
                confirm(plan)
            read_first(tables)
        answer = answered(tables, plan, {"version": version, **said})
        if isinstance(answer, Summary):
            show_summary(answer, tables, format_, raw=raw)
        elif isinstance(answer, Answer):
            show_answer(answer, tables, format_, terms["confidence"], raw=raw)
        if plot is not None and isinstance(answer, (Answer, Summary)):
            words = write_picture(answer, plot)
            if format_ is Format.TABLE:
                say(printable(f"picture    {plot}, {words}"), UNDER)
    tables.close()


def beside(where: Where, **said: str | None) -> dict[str, Any]:
    """What is said to a server beside a question: a random key too, so that a question that is sent twice is paid once.

    Args:
        where: the question goes.
        said: an approval and a key, or None.

    Raises:
        InvalidArgument: there is no server that they could be said to.
    """
    found = {name: value for name, value in said.items() if value is not None}
    if where.server is not None:
        from discreet.interfaces.client import fresh_key

        found.setdefault("idempotency_key", fresh_key())
    elif found:
        raise InvalidArgument("approvals and keys are a server's", hint="name it with --server")
    return found


def answered(tables: Protected | Remote, plan: Plan | RemotePlan, said: dict[str, Any]) -> Answer | list[Answer]:
    """Carry out a plan, until Ctrl-C; of a server's question the error says how to get its answer later."""
    asking: Any = tables  # each takes plans of its own
    with working("asking"):
        try:
            found: Answer | list[Answer] = patiently(lambda: asking.ask(plan, **said))
        except Abandoned as left:
            if "idempotency_key" in said:
                left.hint = f"to get its answer and pay only once: --idempotency-key {quote(said['idempotency_key'])}"
            raise
    return found


def read_first(tables: Protected | Remote) -> None:
    """Admit local tables before their first question; a server has admitted its own."""
    if (protected := here(tables)) is not None:
        with counting("reading") as progress:
            done = patiently(lambda: protected.admissions.first(progress=progress))
        say_incomplete(done)


def confirm(plan: Plan | RemotePlan) -> None:
    """Ask before paying for a question that warns.

    Raises:
        InvalidArgument: there is no terminal to ask at.
        Abort: the answer was no.
    """
    if plan.is_free or not plan.warnings:
        return
    if not _may_ask():
        raise InvalidArgument(
            f"this question may not be what you meant: {'; '.join(plan.warnings)}", hint="--yes asks it anyway"
        )
    for warning in plan.warnings:
        typer.echo(printable(f"warning: {warning}"), err=True)
    typer.confirm(f"Pay {plan.cost} for it anyway?", abort=True, err=True)


def _may_ask() -> bool:
    """Whether there is a terminal to ask at; standard output may go elsewhere."""
    return sys.stdin.isatty() and sys.stderr.isatty()
