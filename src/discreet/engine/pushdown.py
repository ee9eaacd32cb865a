"""Predicate pushdown: filters go below the joins they stand above, so that rows they leave out are never joined. Pure.

Engines do that themselves, but not across tables that are made in between, as a limit on joins takes: there, rows of a
unit that no answer needs would count among its pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.engine.predicates import about, filtered, part, parts, visible
from discreet.query.ir import (
    Distinct,
    Exact,
    Expr,
    Join,
    JoinKind,
    Relation,
    Scan,
    Union,
    Where,
)


def push_filters_down(exact: Exact) -> Exact:
    """The same question, its filters as far down in joins as they go."""
    return replace(exact, source=_Pushdown().of(exact.source))


class _Pushdown:
    """One pass; a relation that is used several times is rewritten once, as long as nothing is pushed into it."""

    def __init__(self) -> None:
        """Nothing is rewritten yet."""
        self._done: dict[int, tuple[Relation, Relation]] = {}

    def of(self, relation: Relation) -> Relation:
        """The relation on rewritten ones."""
        if id(relation) not in self._done:
            self._done[id(relation)] = relation, self._rewritten(relation)
        return self._done[id(relation)][1]

    def _rewritten(self, relation: Relation) -> Relation:
        """The relation, its filters further down."""
        match relation:
            case Scan():
                return relation
            case Where() | Join():
                return self._below(relation, ())
            case Union(parts=united):
                return replace(relation, parts=tuple(replace(each, source=self.of(each.source)) for each in united))
            case Distinct(source=source):
                return replace(relation, source=self.of(source))  # type: ignore[arg-type]  # of the kind it was
            case _:
                return replace(relation, source=self.of(relation.source))

    def _below(self, relation: Relation, filters: Sequence[Expr]) -> Relation:
        """A relation under filters, which are brought as far down as its kind lets them through.

        What is said of one side alone may be asked of that side first: of the left one above any join, since each of
        its rows comes with its own values or not at all; of the right one above an inner join, and in the condition of
        every join, where it says which rows can be partners.
        """
        match relation:
            case Where(source=source, predicate=predicate):
                return self._below(source, (predicate, *filters))
            case Join(left=left, right=right, kind=kind, predicate=predicate):
                on_left, on_right = about(visible(left)), about(visible(right))
                rest = parts(filters, lambda each: not on_left(each))
                if kind is JoinKind.INNER:
                    theirs, rest = parts(rest, on_right), parts(rest, lambda each: not on_right(each))
                else:
                    theirs = []
                theirs += parts([] if predicate is None else [predicate], on_right)
                joined = replace(
                    relation,
                    left=self._below(left, parts(filters, on_left)),
                    right=self._below(right, theirs),
                    predicate=None if predicate is None else part(predicate, lambda each: not on_right(each)),
                )
                return filtered(joined, rest)
            case _:
                return filtered(self.of(relation), filters)
