"""Canonical text of a question: the same for questions that differ in spelling only, and different for all others.

Case, white space, comments, aliases of tables, redundant parentheses and the grouping of AND, OR and || don't show;
names and order of the answer's columns do. Names and texts are quoted, so nothing inside them can pass for something
else. Answers are stored under a hash of it, and certificates show it.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.errors import unforeseen
from discreet.query.ir.expressions import (
    Call,
    Column,
    Expr,
    Literal,
    Margin,
    Released,
    quoted,
)
from discreet.query.ir.grouping_sets import MARK
from discreet.query.ir.questions import Order, Question
from discreet.query.ir.relations import (
    Where,
)


def canonical(question: Question) -> str:
    """The question in canonical form, on one line."""
    return " ".join(_clauses(question))


def _clauses(question: Question) -> Iterator[str]:
    """The clauses that the question has, in SQL's order."""
    names = {name: f"key({expr})" for name, expr in question.keys}
    names |= {name: f"rolled({quoted(name)})" for name in question.rolled}
    names |= {aggregate.name: str(aggregate) for aggregate in question.aggregates}
    yield "select " + ", ".join(f"{quoted(out.name)} = {_text(out.expr, names)}" for out in question.outputs)
    relation, predicates = question.source, []
    while isinstance(relation, Where):
        predicates.append(str(relation.predicate))
        relation = relation.source
    yield f"from {relation}"
    if predicates:
        yield "where " + ", ".join(reversed(predicates))
    if question.keys:
        yield "by " + ", ".join(str(expr) for _, expr in question.keys)
    if question.sets:
        yield "sets " + ", ".join("(" + ", ".join(names[name] for name in each) + ")" for each in question.sets)
    if question.rolled:
        yield "rolled " + ", ".join(map(quoted, question.rolled))
    if question.having is not None:
        yield f"having {_text(question.having, names)}"
    if question.order:
        yield "order " + ", ".join(_order(order, names) for order in question.order)
    if question.limit is not None:
        yield f"limit {question.limit}"
    if question.offset:
        yield f"offset {question.offset}"


def _order(order: Order, names: dict[str, str]) -> str:
    """One ORDER BY term, with both of its choices."""
    direction = "down" if order.descending else "up"
    return f"{_text(order.expr, names)} {direction} nulls {'first' if order.nulls_first else 'last'}"


def _text(expr: Expr, names: dict[str, str]) -> str:
    """An expression over released values, each by what it is instead of its name."""
    match expr:
        case Released(name=name):
            return names[name] if name in names else f"grouping({names[name.removesuffix(MARK)]})"
        case Call(function=function, args=args):
            return f"{function.name}({', '.join(_text(arg, names) for arg in args)})"
        case Margin(side=side, of=of, confidence=confidence):
            return f"{side}({_text(of, names)}, {confidence})"
        case Column() | Literal():
            return str(expr)
        case _:
            raise unforeseen(expr)
