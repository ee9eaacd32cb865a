"""Inlining: projections below a question that change nothing are left out.

A key that is computed in a subquery has the public values that it has in GROUP BY, and `SELECT COUNT(*) FROM (SELECT *
FROM people WHERE age > 40)` becomes `SELECT COUNT(*) FROM people WHERE age > 40`: they mean the same, and have the same
answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from discreet.query import ir
from discreet.query.ir import listed

_Known: TypeAlias = Mapping[tuple[str, str], ir.Expr]
"""From a projection's column to the expression over the rows below all projections."""

MOST_CALLS = 200
"""Projections that compute more than this, wherever they are used, are left as they are."""


class _NarrowedError(Exception):
    """A filter has narrowed what a projection computes, and the narrower type would be lost."""


def inlined(question: ir.Question) -> ir.Question:
    """The question without the projections above its rows.

    Only those between the question and the first join, union or other step are looked at: above it, each name has one
    meaning. A column keeps the type that it has above, because filters in between may have narrowed it.
    """
    chain, base = _chain(question.source, computing=True)
    try:
        return _without(question, chain, base)
    except _NarrowedError:
        return _without(question, *_chain(question.source, computing=False))


def _chain(relation: ir.Relation, *, computing: bool) -> tuple[list[ir.Where | ir.Project], ir.Relation]:
    """The filters and projections above a relation's first other step, from above; and that step."""
    chain = list[ir.Where | ir.Project]()
    while isinstance(relation, ir.Where) or (isinstance(relation, ir.Project) and (computing or _hands_on(relation))):
        chain.append(relation)
        relation = relation.source
    return chain, relation


def _without(question: ir.Question, chain: Sequence[ir.Where | ir.Project], base: ir.Relation) -> ir.Question:
    """The question on the base, with the filters of the chain, and without its projections."""
    if all(isinstance(each, ir.Where) for each in chain):
        return question
    known: dict[tuple[str, str], ir.Expr] = {}
    relation, replaced = base, _Replaced(known)
    for each in reversed(chain):
        if isinstance(each, ir.Where):
            relation = ir.Where(relation, replaced(each.predicate))
        else:
            known |= {(each.alias, name): replaced(expr) for name, expr in each.columns}
    return replace(
        question,
        source=relation,
        keys=tuple((name, listed(replaced(key))) for name, key in question.keys),
        aggregates=tuple(
            replace(
                one,
                argument=None if one.argument is None else replaced(one.argument),
                other=None if one.other is None else replaced(one.other),
            )
            for one in question.aggregates
        ),
    )


def _hands_on(projection: ir.Project) -> bool:
    """Whether a projection computes nothing."""
    return all(isinstance(expr, ir.Column) for _, expr in projection.columns)


class _Replaced:
    """Puts what columns are below in their places; shared parts stay shared."""

    def __init__(self, known: _Known) -> None:
        """Replace what is known; it may grow."""
        self._known = known
        self._done: dict[int, tuple[ir.Expr, ir.Expr]] = {}
        self._calls = 0

    def __call__(self, expr: ir.Expr) -> ir.Expr:
        """The expression with the columns of projections by what they are below.

        Raises:
            _NarrowedError: it can't be, or would become too large.
        """
        if isinstance(expr, ir.Column):
            return self._column(expr)
        if not isinstance(expr, ir.Call):
            return expr
        if id(expr) not in self._done:
            self._done[id(expr)] = expr, replace(expr, args=tuple(map(self, expr.args)))
        return self._done[id(expr)][1]

    def _column(self, column: ir.Column) -> ir.Expr:
        found = self._known.get((column.table, column.name), column)
        if isinstance(found, ir.Column):
            return replace(found, type=column.type)
        self._calls += _calls(found)
        if found.type != column.type or self._calls > MOST_CALLS:
            raise _NarrowedError
        return found


def _calls(expr: ir.Expr) -> int:
    """How many calls an expression compiles to, about; no more than are of interest."""
    waiting, number = [expr], 0
    while waiting and number <= MOST_CALLS:
        part = waiting.pop()
        if isinstance(part, ir.Call):
            number += part.function.copies
            waiting += part.args
    return number
