"""Statistics: where in SQL's syntax there are aggregates, of an answer or of one unit's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.query.sql.forms import is_form

if TYPE_CHECKING:
    from sqlglot import exp

_SUMMARIES = {"Min", "Max", "Median", "LogicalOr", "LogicalAnd", "AnyValue"}


def is_aggregate(node: exp.Expression) -> bool:
    """Whether a syntax node is an aggregate, of an answer or of one unit's rows."""
    return type(node).__name__ in _SUMMARIES or is_form(node)


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT makes groups, or anything else of its rows than rows."""
    clauses = ("group", "having", "distinct", "qualify", "limit", "offset")
    return any(select.args.get(clause) for clause in clauses) or any(map(holds_aggregate, select.expressions))


def holds_aggregate(node: exp.Expression) -> bool:
    """Whether there is an aggregate in the node, outside of windows and subqueries."""
    from sqlglot import exp

    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, (exp.Window, exp.Query)):
            continue
        if isinstance(part, exp.AggFunc) or is_aggregate(part):
            return True
        stack.extend(part.iter_expressions())
    return False
