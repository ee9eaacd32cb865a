"""Answers and plans, on the screen and for programs: every noisy value with its ±, what it cost, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias, cast

from discreet.cli.common.options import Format
from discreet.cli.common.screen import say
from discreet.cli.common.sheets import Sheet, cell, show_json, show_table
from discreet.printable import printable
from discreet.results import cell_text, prospect, with_ends

if TYPE_CHECKING:
    from discreet.accounting import Charge
    from discreet.cli.common.standing import Standing
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan
    from discreet.results import Answer, Cost

Interval: TypeAlias = tuple[float, float] | None

_HANG = 10
"""Where the text of a plan begins, behind its titles."""


def show_plan(plan: Plan | RemotePlan, tables: Protected | Remote, as_format: Format) -> None:
    """Write what a question would cost, the ± to expect, and whether the budget pays for it, to standard output.

    As CSV or Arrow: the error to expect of each column.
    """
    expected = Sheet(
        ("column", "error", "rows", "ranks", "share"),
        [(one.column, one.error, one.rows, one.ranks, one.share) for one in plan.expected],
    )
    match as_format:
        case Format.TABLE:
            _, words = _prospect(plan, tables)
            for line in (*plan.explain().splitlines(), *words):
                say(printable(line), _HANG)
        case Format.JSON:
            noise = {} if plan.choice is None else {"noise": str(plan.choice)}
            left, _ = _prospect(plan, tables)
            show_json({**plan.to_dict(), **noise, **left, "expected": expected.records()})
        case Format.CSV | Format.ARROW:
            expected.show(as_format)


def _prospect(plan: Plan | RemotePlan, tables: Protected | Remote) -> tuple[dict[str, object], list[str]]:
    """What the budget says to a plan, as data and in words; a server has said it with the plan."""
    from discreet.cli.common.standing import here

    protected = here(tables)
    if protected is None:
        return {}, []
    from discreet.gateway import cost_of

    made = cast("Plan", plan)
    cost, analyst = cost_of([made]), made.request.analyst
    found = protected.affordable(cost, analyst)
    words = prospect(found.times, found.after or "")
    return found.to_dict(), [f"budget    {words}"] if words else []


def show_answer(answer: Answer, standing: Standing, as_format: Format, confidence: float) -> None:
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
    """
    intervals = {name: answer.interval(name, confidence) for name in answer.names}
    match as_format:
        case Format.TABLE:
            _show_table(answer, intervals, confidence)
            _show_account(answer, standing)
        case Format.JSON:
            data = answer.to_json(confidence)
            found = {name: data.pop(name) for name in ("columns", "rows", "intervals", "confidence", "cost")}
            show_json({**found, "spent": standing.data["spent"], **data})
        case Format.CSV | Format.ARROW:
            names, rows = with_ends(answer, confidence)
            Sheet(tuple(names), rows, {column.name: column.kind for column in answer.columns}).show(as_format)


def _show_table(answer: Answer, intervals: dict[str, list[Interval]], confidence: float) -> None:
    """Print the values, each with its error."""
    columns = [with_errors(answer[name], intervals[name]) for name in answer.names]
    right = [any(intervals[name]) or _is_numeric(answer[name]) for name in answer.names]
    show_table(answer.names, list(zip(*columns, strict=True)), right=right)
    if any(any(ends) for ends in intervals.values()):
        say(printable(f"±          at {confidence * 100:.6g} %, {answer.coverage}"))
    if answer.cut_off is not None:
        say(printable(f"limits     {answer.cut_off}"))
    for moved in answer.moved:
        say(printable(f"bounds     {moved}"))
    for name, ends in answer.bounds.items():
        say(printable(f"bounds     values of {name} were moved into {ends}"))
    for warning in answer.warnings:
        say(printable(f"warning    {warning}"))


def _is_numeric(values: Sequence[object]) -> bool:
    """Whether a column holds numbers, and nothing else but NULL."""
    return all(
        value is None or (isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)) for value in values
    )


def _show_account(answer: Answer, standing: Standing) -> None:
    """Print what the answer cost and what is left."""
    cost = f"{answer.cost}, entry {answer.entry}"
    if answer.origin:
        cost = f"free: follows from {_entries(answer.origin)}"
    elif not answer.entry:
        cost = "none: it follows from what is declared"
    elif answer.reused:
        cost = f"none: the same answer again, paid for in entry {answer.entry}"
    say(f"cost       {cost}")
    say(f"spent      {standing.spent}, of {standing.budget}")
    say(f"remaining  {standing.remaining}")


def _entries(numbers: Sequence[int]) -> str:
    """Entries in words."""
    *most, last = map(str, numbers)
    return f"entries {', '.join(most)} and {last}" if most else f"entry {last}"


def with_errors(values: Sequence[object], intervals: Sequence[Interval]) -> list[str]:
    """Each value with its error, to the digits that the error leaves meaningful.

    Args:
        values: of one column.
        intervals: around each; None where there is none.

    Examples:
        >>> with_errors([14230, 38.58164, None], [(14201, 14259), (38.34, 38.82), None])
        ['14230 ± 29', '38.58 ± 0.24', 'NULL']
        >>> with_errors([3.0], [(2.5, 4.5)])
        ['3.0 (2.5 to 4.5)']
    """
    return [
        cell(value) if ends is None else printable(cell_text(value, ends))
        for value, ends in zip(values, intervals, strict=True)
    ]


def price(charge: Charge | Cost) -> str:
    """What one question cost, in the amount it was asked at: ε, or ρ where it has no finite ε; and δ if any.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> price(Charge(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**9)))
        'ρ = 0.005, δ = 1e-09'
    """
    name, amount = ("ρ", charge.rho) if charge.epsilon is None else ("ε", charge.epsilon)
    shown = f"{name} = {float(amount):.4g}" if amount is not None else f"{name} = ∞"
    return f"{shown}, δ = {float(charge.delta):.3g}" if charge.delta else shown
