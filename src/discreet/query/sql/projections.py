"""Projections: those that change nothing are left out, and no column is read that the question doesn't use.

So questions that are written in layers mean the same as plain ones, and have the same answer. `SELECT COUNT(*) FROM
(SELECT * FROM people WHERE age > 40)` becomes `SELECT COUNT(*) FROM people WHERE age > 40`; and a key that is computed
in a subquery has the public values that it has in GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from discreet.query import ir
from discreet.query.ir import listed

_Known: TypeAlias = Mapping[tuple[str, str], ir.Expr]
"""What a column of a projection is below all of them."""

MOST_CALLS = 200
"""Projections that compute more than this, wherever they are used, are left as they are."""

_Names: TypeAlias = set[tuple[str, str]]


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
        """What a column is below."""
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


def pruned(relation: ir.Relation, used: Iterable[ir.Expr]) -> ir.Relation:
    """The relation without the columns that nothing uses.

    Args:
        relation: what the question's rows are.
        used: the expressions over these rows.
    """
    needed: _Names = set()
    _need(needed, *used)
    # A relation that occurs twice may be needed for more on its second visit, so this goes on until nothing is new.
    before = -1
    while before < len(needed):
        before = len(needed)
        _collect(relation, needed)
    return _rebuilt(relation, needed)


def _need(needed: _Names, *exprs: ir.Expr | None) -> None:
    """Note the columns of expressions."""
    for expr in exprs:
        if expr is not None:
            needed.update((column.table, column.name) for column in ir.columns_in(expr))


def _collect(relation: ir.Relation, needed: _Names) -> None:
    """Note what a relation needs of those below it, for what is needed of it."""
    _need(needed, *_used(relation, needed))
    match relation:
        case ir.Union(alias=alias, columns=typed, parts=parts):
            for number, (name, _) in enumerate(typed):
                if (alias, name) in needed:
                    needed.update((part.alias, part.columns[number][0]) for part in parts)
        case ir.Distinct(source=ir.Project(alias=alias) | ir.Union(alias=alias)):
            needed.update((alias, name) for name, *_ in relation.source.columns)
        case _:
            pass
    for below in ir.sources(relation):
        _collect(below, needed)


def _used(relation: ir.Relation, needed: _Names) -> Iterator[ir.Expr | None]:
    """The expressions over what is below that a relation computes, for what is needed of it."""
    match relation:
        case ir.Where(predicate=predicate) | ir.Join(predicate=predicate):
            yield predicate
        case ir.Project(alias=alias, columns=named):
            yield from (expr for name, expr in named if (alias, name) in needed)
        case ir.PerUnit(alias=alias, keys=keys, columns=summarized):
            yield from (expr for _, expr in keys)
            yield from (each.argument for each in summarized if (alias, each.name) in needed)
        case ir.Window(alias=alias, partition=partition, columns=windowed):
            yield from partition
            for each in windowed:
                if (alias, each.name) in needed:
                    yield each.argument
                    yield from (term.expr for term in each.order)
        case _:
            pass


def _rebuilt(relation: ir.Relation, needed: _Names) -> ir.Relation:  # noqa: PLR0911 — one case for each kind of relation
    """The relation with what is needed of it."""
    match relation:
        case ir.Scan(table=table, alias=alias):
            return replace(relation, columns=tuple(each.name for each in table.columns if (alias, each.name) in needed))
        case ir.Join(left=left, right=right):
            return replace(relation, left=_rebuilt(left, needed), right=_rebuilt(right, needed))
        case ir.Union(parts=parts, columns=typed, alias=alias):
            kept = [number for number, (name, _) in enumerate(typed) if (alias, name) in needed]
            rebuilt = tuple(_rebuilt(part, needed) for part in parts)
            return replace(relation, parts=rebuilt, columns=tuple(typed[number] for number in kept))  # type: ignore[arg-type]  # projections, as they were
        case ir.Project(alias=alias, columns=named, source=source):
            kept_columns = tuple((name, expr) for name, expr in named if (alias, name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=kept_columns)
        case ir.PerUnit(alias=alias, columns=summarized, source=source):
            used = tuple(each for each in summarized if (alias, each.name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=used)
        case ir.Window(alias=alias, columns=windowed, source=source):
            wanted = tuple(each for each in windowed if (alias, each.name) in needed)
            below = _rebuilt(source, needed)
            return replace(relation, source=below, columns=wanted) if wanted else below
        case ir.Where(source=source) | ir.Distinct(source=source):
            return replace(relation, source=_rebuilt(source, needed))  # type: ignore[arg-type]  # of the kind it was
