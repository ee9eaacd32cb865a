"""Clauses on what is released: ORDER BY, LIMIT and OFFSET, of a question or of a SELECT above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.sql.places import place_of

if TYPE_CHECKING:
    from sqlglot import exp


def position_of(text: str, node: exp.Expression, clause: str, columns: int) -> int | None:
    """Which of the answer's columns a number means, counted from 0; None if the node isn't a number.

    Raises:
        UnknownColumn: there aren't so many.
    """
    if type(node).__name__ != "Literal" or node.args.get("is_string"):
        return None
    position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0  # noqa: PLR2004 — no more columns than that
    if not 1 <= position <= columns:
        raise UnknownColumn(
            f"{clause} {node.name[:20]}: the answer has columns 1 to {columns}", place=place_of(text, node)
        )
    return position - 1


def order_of(
    text: str,
    order: exp.Expression | None,
    bind: Callable[[exp.Expression], ir.Expr],
    outputs: Sequence[ir.Output],
) -> tuple[ir.Order, ...]:
    """The terms of ORDER BY.

    Raises:
        Unsupported: a kind of it that isn't offered.
        QueryError: a term means nothing.
    """
    if order is None:
        return ()
    if order.args.get("siblings") or order.args.get("this"):
        raise Unsupported("ORDER SIBLINGS isn't offered", hint="leave it out")
    return tuple(_term(text, term, bind, outputs) for term in order.expressions)


def _term(
    text: str, term: exp.Expression, bind: Callable[[exp.Expression], ir.Expr], outputs: Sequence[ir.Output]
) -> ir.Order:
    """One term of ORDER BY."""
    if term.args.get("with_fill") or type(term).__name__ != "Ordered":
        raise Unsupported("WITH FILL isn't offered", hint="leave it out", place=place_of(text, term))
    node = cast("exp.Expression", term.this)
    position = position_of(text, node, "ORDER BY", len(outputs))
    expr = bind(node) if position is None else outputs[position].expr
    return ir.Order(expr=expr, descending=bool(term.args.get("desc")), nulls_first=bool(term.args.get("nulls_first")))


def count_of(text: str, part: str, clause: Any) -> int | None:  # noqa: ANN401 — a part of a node, or none
    """The number after LIMIT or OFFSET; None without one.

    Raises:
        Unsupported: it isn't a whole number that is written out.
    """
    if clause is None:
        return None
    node, extra = clause.args.get("expression"), {key for key, value in clause.args.items() if value}
    digits = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if extra - {"expression"} or not digits.isdigit() or len(digits) > 18:  # noqa: PLR2004 — 64 bits
        raise Unsupported(f"{part.upper()} takes a whole number", place=place_of(text, clause))
    return int(digits)
