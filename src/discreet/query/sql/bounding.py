"""Bounding: contribution_bounds_per_row, which clamps what each row adds, and _per_group, which isn't offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call, literal
from discreet.query.sql.moments import Bind
from discreet.query.sql.named import PER_GROUP, PER_ROW, PRIVATE
from discreet.query.sql.statistics import is_aggregate

if TYPE_CHECKING:
    from sqlglot import exp


def bounded(node: exp.Expression, bind: Bind) -> ir.Expr:
    """The first argument of an aggregate within its bounds; NULL stays NULL.

    Raises:
        TypeMismatch: not two numbers in order, or nothing that is aggregated.
        Unsupported: bounds per group, with the form that bounds a unit's total.
    """
    name = PRIVATE[node.name.casefold()]
    value, low, high = node.expressions
    if name == PER_GROUP:
        raise Unsupported(
            f"{PER_GROUP} bounds what a unit adds to a group in all, and rows are bounded here one by one",
            hint=f"bound the rows, {PER_ROW} => (0, 100); or add up each unit's rows in a subquery, grouped by the "
            "unit's id and the same keys, and clamp these sums: SUM(GREATEST(LEAST(total, 100), 0))",
        )
    above: Any = node.parent
    if above is None or not is_aggregate(above):
        raise TypeMismatch(f"{name} bounds what is aggregated", hint=f"SUM(x, {name} => (0, 100))")
    lo, hi, of = bind(low), bind(high), bind(value)
    if not _is_number(lo) or not _is_number(hi):
        raise TypeMismatch(f"{name} takes two numbers, written out", hint=f"{name} => (0, 100)")
    if (lo.type.lo or 0) > (hi.type.lo or 0):
        raise TypeMismatch(f"{name} takes the lower bound first", hint=f"{name} => (0, 100)")
    if not of.type.kind.is_number:
        raise TypeMismatch(f"{name} bounds numbers, not {of.type.kind}")
    clamped = call("greatest", call("least", of, hi), lo)
    return call("if", call("is_null", of), literal(None), clamped) if of.type.nullable else clamped


def _is_number(bound: ir.Expr) -> bool:
    """Whether a bound is a number that is known."""
    return isinstance(bound, ir.Literal) and bound.type.kind.is_number and bound.value is not None
