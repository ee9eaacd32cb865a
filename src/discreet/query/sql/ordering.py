"""ORDER BY: by expressions over what is released, or by the positions of the answer's columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from discreet.errors import UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.sql.places import offset_of

if TYPE_CHECKING:
    from sqlglot import exp


def position_of(node: exp.Expression, clause: str, columns: int) -> int | None:
    """The place of the column that a number means, from 0; None if the node isn't a number.

    Raises:
        UnknownColumn: the answer has fewer columns.
    """
    if type(node).__name__ != "Literal" or node.args.get("is_string"):
        return None
    position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0  # noqa: PLR2004 — no more columns than that
    if not 1 <= position <= columns:
        raise UnknownColumn(f"{clause} {node.name[:20]}: the answer has columns 1 to {columns}", at=offset_of(node))
    return position - 1


def order_of(
    order: exp.Expression | None,
    bind: Callable[[exp.Expression], ir.Expr],
    outputs: Sequence[ir.Output],
) -> tuple[ir.Order, ...]:
    """The terms of ORDER BY.

    Raises:
        Unsupported: a kind of it that isn't supported.
        QueryError: a term means nothing.
    """
    if order is None:
        return ()
    if order.args.get("siblings") or order.args.get("this"):
        raise Unsupported("ORDER SIBLINGS isn't supported", hint="leave it out")
    return tuple(_term(term, bind, outputs) for term in order.expressions)


def _term(term: exp.Expression, bind: Callable[[exp.Expression], ir.Expr], outputs: Sequence[ir.Output]) -> ir.Order:
    if term.args.get("with_fill") or type(term).__name__ != "Ordered":
        raise Unsupported("WITH FILL isn't supported", hint="leave it out", at=offset_of(term))
    node = cast("exp.Expression", term.this)
    position = position_of(node, "ORDER BY", len(outputs))
    expr = bind(node) if position is None else outputs[position].expr
    return ir.Order(expr=expr, descending=bool(term.args.get("desc")), nulls_first=bool(term.args.get("nulls_first")))
