"""Questions: `discreet ask`, a private answer; and `discreet explain`, what it would cost and how accurate it would be.

Every noisy value is shown with its ±, beside what it cost and what is left.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from shlex import quote
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast

import typer

from discreet.cli.account import Standing, here, of_everyone
from discreet.cli.app import reported
from discreet.cli.common import options
from discreet.cli.common.screen import (
    Abandoned,
    Sheet,
    cell,
    counting,
    is_number,
    refuse_binary_to_screen,
    say,
    show_json,
    show_table,
    working,
)
from discreet.cli.common.tables import say_incomplete
from discreet.errors import InvalidArgument
from discreet.printable import printable
from discreet.results import cell_texts, prospect, with_ends

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan
    from discreet.results import Answer, AnswerColumn

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
    raw: options.Raw = False,
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
        show_plan(plan, tables, format_, raw=raw)
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
        show_answer(answer, of_everyone(tables), format_, terms["confidence"], raw=raw)
    tables.close()


def _read_first(tables: Protected | Remote) -> None:
    """Admit tables that are here, where they weren't yet; a server has done so."""
    if (protected := here(tables)) is not None:
        with counting("reading") as progress:
            done = patiently(lambda: protected.admissions.first(progress=progress))
        say_incomplete(done)


def _confirm(plan: Plan | RemotePlan) -> None:
    """Let nobody pay by mistake for a question that warns.

    Raises:
        InvalidArgument: nobody sits before a terminal to be asked.
        Abort: somebody has thought better of it.
    """
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
    raw: options.Raw = False,
    where: options.Where,
    terms: dict[str, Any],
) -> None:
    """Show what a question would cost and the ± to expect; spends nothing, and touches no private data.

    As CSV or Arrow: the error to expect of each column.
    """
    from discreet.query.sql import explained

    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        show_plan(tables.plan(explained(question) or question, **terms), tables, format_, raw=raw)


# ── Plans and answers, shown ──────────────────────────────────────────────────────────────────────────────────────────

Interval: TypeAlias = tuple[float, float] | None

_HANG = 10
"""Where the text of a plan begins, behind its titles."""

_UNDER = 11
"""The same of the lines under an answer."""


def show_plan(
    plan: Plan | RemotePlan, tables: Protected | Remote, as_format: options.Format, *, raw: bool = False
) -> None:
    """Write what a question would cost, the ± to expect, and whether the budget pays for it, to standard output.

    As CSV or Arrow: the error to expect of each column.
    """
    expected = Sheet(
        ("column", "error", "rows", "ranks", "share"),
        [(one.column, one.error, one.rows, one.ranks, one.share) for one in plan.expected],
    )
    match as_format:
        case options.Format.TABLE:
            _, words = _prospect(plan, tables)
            for line in (*plan.explain().splitlines(), *words):
                say(printable(line), _HANG)
        case options.Format.JSON:
            noise = {} if plan.choice is None else {"noise": str(plan.choice)}
            left, _ = _prospect(plan, tables)
            show_json({**plan.to_dict(), **noise, **left, "expected": expected.records()})
        case options.Format.CSV | options.Format.ARROW:
            expected.show(as_format, raw=raw)


def _prospect(plan: Plan | RemotePlan, tables: Protected | Remote) -> tuple[dict[str, object], list[str]]:
    """By what a plan is answered already, or what the budget says to it, as data and in words; a server has said it."""
    protected = here(tables)
    if protected is None:
        return {}, []
    from discreet.gateway import cost_of

    made = cast("Plan", plan)
    if made.answered_by:
        return {"answered_by": list(made.answered_by)}, []
    cost, analyst = cost_of([made]), made.request.analyst
    found = protected.affordable(cost, analyst)
    words = prospect(found.times, found.after or "")
    return found.to_dict(), [f"budget    {words}"] if words else []


def show_answer(
    answer: Answer, standing: Standing, as_format: options.Format, confidence: float, *, raw: bool = False
) -> None:
    """Write an answer to standard output.

    A table ends with cost, spent and remaining. JSON has `rows`, `intervals`, `cost`, `spent`, `entry`, `reused` and
    `origin`: the entries that the answer follows from, if it was worked out from others; `warnings`, if any;
    `certificate` and `signature`.
    In CSV and Arrow the ends of a column's intervals follow it, as `name_low` and `name_high`.

    Args:
        answer: what was released.
        standing: of the account, for what is spent and left.
        as_format: how to write it.
        confidence: of the intervals, in (0, 1).
        raw: leave texts in CSV as they are.
    """
    intervals = {name: answer.interval(name, confidence) for name in answer.names}
    match as_format:
        case options.Format.TABLE:
            _show_table(answer, intervals)
            _show_account(answer, standing)
        case options.Format.JSON:
            data = answer.to_json(confidence)
            found = {name: data.pop(name) for name in ("columns", "rows", "intervals", "confidence", "cost")}
            show_json({**found, "spent": standing.data["spent"], **data})
        case options.Format.CSV | options.Format.ARROW:
            names, rows = with_ends(answer, confidence)
            Sheet(tuple(names), rows, {column.name: column.kind for column in answer.columns}).show(as_format, raw=raw)


def _show_table(answer: Answer, intervals: dict[str, list[Interval]]) -> None:
    """Print the values, each with its error."""
    columns = [with_errors(answer.column(name), intervals[name]) for name in answer.names]
    right = [any(intervals[name]) or all(map(is_number, answer[name])) for name in answer.names]
    show_table(answer.names, list(zip(*columns, strict=True)), right=right)


def _show_account(answer: Answer, standing: Standing) -> None:
    """Print what belongs under the answer, and what is left."""
    for title, words in answer.notes("cli"):
        say(printable(f"{title:<11}{words}"), _UNDER)
    say(f"spent      {standing.spent}, of {standing.budget}")
    say(f"remaining  {standing.remaining}")


def with_errors(column: AnswerColumn, intervals: Sequence[Interval]) -> list[str]:
    """Each value with its error, to the digits that the error leaves meaningful; nothing that a terminal would obey.

    Args:
        column: of an answer.
        intervals: around each value; None where there is none.

    Examples:
        >>> from discreet.results import AnswerColumn
        >>> with_errors(AnswerColumn("a", "real", (38.58164, None)), [(38.34, 38.82), None])
        ['38.58 ± 0.24', 'NULL']
    """
    texts = cell_texts(column, intervals)
    return [
        cell(value) if ends is None and column.is_informative(value, ends) else printable(text)
        for value, ends, text in zip(column.values, intervals, texts, strict=True)
    ]


# ── Ctrl-C ────────────────────────────────────────────────────────────────────────────────────────────────────────────

T = TypeVar("T")

_BLINK = 0.1
"""Seconds between two looks at whether Ctrl-C was pressed, where waiting alone can't be interrupted."""


def patiently(work: Callable[[], T]) -> T:
    """Do the work in a thread of its own, and wait for it.

    While DuckDB computes it is deaf to Ctrl-C, sometimes until it is done. Then the main thread at least must be free.

    Args:
        work: what takes its time. Its errors are raised here.

    Raises:
        Abandoned: Ctrl-C was pressed; the work is still going on.

    Examples:
        >>> patiently(lambda: 6 * 7)
        42
    """
    results: list[T] = []
    errors: list[BaseException] = []
    done = Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 — nothing is caught: it is raised again by who waits
            errors.append(error)
        finally:
            done.set()

    Thread(target=run, daemon=True).start()
    try:
        while not done.wait(_BLINK):
            pass
    except KeyboardInterrupt:
        raise Abandoned from None
    if errors:
        raise errors[0]
    return results[0]
