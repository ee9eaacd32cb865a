"""NULLs that a filter rules out: `WHERE age IS NOT NULL` leaves no NULL group to answer.

A wrong conclusion here would drop or add an empty group, never a row's protection: rows whose key isn't among the
public ones are left out in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from discreet.query import ir

_REJECTING = {"eq", "ne", "lt", "le", "gt", "ge", "in"}
"""Conditions that are never true of a NULL in their first argument; of comparisons, in either."""


def never_null(relation: ir.Relation) -> frozenset[ir.Column]:
    """The columns that are not NULL in any row that the filters let through."""
    found: set[ir.Column] = set()
    while isinstance(relation, ir.Where):
        found.update(column for part in _conjuncts(relation.predicate) for column in _ruled_out(part))
        relation = relation.source
    return frozenset(found)


def without_nulls(expr: ir.Expr, columns: AbstractSet[ir.Column]) -> ir.Expr:
    """The expression with its types inferred anew, knowing that these columns are never NULL."""
    match expr:
        case ir.Column() if expr in columns:
            return replace(expr, type=replace(expr.type, nullable=False))
        case ir.Call(function=function, args=args):
            known = tuple(without_nulls(arg, columns) for arg in args)
            return replace(expr, args=known, type=replace(expr.type, nullable=function.infer(known).nullable))
        case _:
            return expr


def _conjuncts(predicate: ir.Expr) -> Iterator[ir.Expr]:
    """The conditions that all hold where the predicate does."""
    if isinstance(predicate, ir.Call) and predicate.function.name == "and":
        for arg in predicate.args:
            yield from _conjuncts(arg)
    else:
        yield predicate


def _ruled_out(condition: ir.Expr) -> Iterator[ir.Column]:
    """The columns that aren't NULL where one condition is true."""
    match condition:
        case ir.Call(
            function=ir.Function(name="not"),
            args=(ir.Call(function=ir.Function(name="is_null"), args=(ir.Column() as column,)),),
        ):
            yield column
        case ir.Call(function=ir.Function(name="in"), args=(ir.Column() as column, *_)):
            yield column
        case ir.Call(function=ir.Function(name=name), args=args) if name in _REJECTING:
            yield from (arg for arg in args if isinstance(arg, ir.Column))
