"""Questions as canonical text; and with grouping sets, as one question for each set.

*Canonical text* is the same for questions that differ in spelling only, and different for all others. Case, white
space, comments, aliases of tables, redundant parentheses and the grouping of AND, OR and || don't show; names and order
of the answer's columns do. Names and texts are quoted, so nothing inside of them can pass for something else. Answers
are stored under a hash of it, and certificates show it.

*Grouping sets* (ROLLUP, CUBE and GROUPING SETS) leave some of the keys out and answer them as NULL. Each set is
measured on its own, with its share of the offer, so its sums need not add up to those of another set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from discreet.query.ir import tree
from discreet.tables import Kind

MOST_GROUPING_SETS = 64
"""Each set takes its share of the offer, so many would leave nothing to any of them."""

MARK = "\x00grouping"
"""Ends the names under which GROUPING's values are kept: no question can spell it."""


def canonical(question: tree.Question) -> str:
    """The question in canonical form, on one line."""
    return " ".join(_clauses(question))


def _clauses(question: tree.Question) -> Iterator[str]:
    """The clauses that the question has, in SQL's order."""
    names = {name: f"key({expr})" for name, expr in question.keys}
    names |= {name: f"rolled({_quoted(name)})" for name in question.rolled}
    names |= {aggregate.name: str(aggregate) for aggregate in question.aggregates}
    yield "select " + ", ".join(f"{_quoted(out.name)} = {_text(out.expr, names)}" for out in question.outputs)
    relation, predicates = question.source, []
    while isinstance(relation, tree.Where):
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
        yield "rolled " + ", ".join(map(_quoted, question.rolled))
    if question.having is not None:
        yield f"having {_text(question.having, names)}"
    if question.order:
        yield "order " + ", ".join(_order(order, names) for order in question.order)
    if question.limit is not None:
        yield f"limit {question.limit}"
    if question.offset:
        yield f"offset {question.offset}"


def _order(order: tree.Order, names: dict[str, str]) -> str:
    """One ORDER BY term, with both of its choices."""
    direction = "down" if order.descending else "up"
    return f"{_text(order.expr, names)} {direction} nulls {'first' if order.nulls_first else 'last'}"


def _text(expr: tree.Expr, names: dict[str, str]) -> str:
    """An expression over released values, each by what it is instead of its name."""
    match expr:
        case tree.Released(name=name):
            return names[name] if name in names else f"grouping({names[name.removesuffix(MARK)]})"
        case tree.Call(function=function, args=args):
            return f"{function.name}({', '.join(_text(arg, names) for arg in args)})"
        case tree.Margin(side=side, of=of, confidence=confidence):
            return f"{side}({_text(of, names)}, {confidence})"
        case _:
            return str(expr)


def _quoted(name: str) -> str:
    """A name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def grouping_sets_of(question: tree.Question) -> tuple[tree.Question, ...]:
    """One question for each grouping set, in order; the question itself, if it has none."""
    if not question.sets:
        return (question,)
    names = [name for name, _ in question.keys]
    return tuple(
        replace(
            question,
            keys=tuple((name, key) for name, key in question.keys if name in kept),
            rolled=tuple(name for name in names if name not in kept),
            sets=(),
        )
        for kept in question.sets
    )


def grouping(name: str) -> tree.Released:
    """GROUPING(key): 1 where the grouping set leaves the key out, else 0."""
    return tree.Released(name + MARK, tree.Type(Kind.INTEGER, nullable=False, values=(0, 1)))
