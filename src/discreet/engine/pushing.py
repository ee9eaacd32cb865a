"""Pushing: filters brought below the joins they stand above, so that rows which they leave out are never joined.

Engines do that themselves, but not across tables that are made in between (see `crowds`). Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.query.ir import (
    Call,
    Column,
    Distinct,
    Exact,
    Expr,
    Join,
    JoinKind,
    PerUnit,
    Project,
    Relation,
    Scan,
    Union,
    Where,
    Window,
)

_MOST_FILTERS = 20
"""One above the other; more are brought together."""


def pushed(exact: Exact) -> Exact:
    """The same question, its filters as far down in joins as they go."""
    return replace(exact, source=_Pushing().of(exact.source))


class _Pushing:
    """One pass; a relation that is used several times is rewritten once, as long as nothing is pushed into it."""

    def __init__(self) -> None:
        """Nothing is rewritten yet."""
        self._done: dict[int, tuple[Relation, Relation]] = {}
        self._and: Call | None = None

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
            case Where(source=source, predicate=predicate):
                return self._below(source, self._parts(predicate))
            case Join():
                return self._below(relation, [])
            case Union(parts=parts):
                return replace(relation, parts=tuple(replace(part, source=self.of(part.source)) for part in parts))
            case Distinct(source=source):
                return replace(relation, source=self.of(source))  # type: ignore[arg-type]  # of the kind it was
            case _:
                return replace(relation, source=self.of(relation.source))

    def _below(self, relation: Relation, filters: list[Expr]) -> Relation:
        """A relation filtered, where its kind lets a filter through."""
        match relation:
            case Where(source=source, predicate=predicate):
                return self._below(source, [*self._parts(predicate), *filters])
            case Join(left=left, right=right, kind=kind, predicate=predicate):
                ours = [each for each in filters if _aliases(each) <= visible(left)]
                theirs = [each for each in filters if each not in ours and _aliases(each) <= visible(right)]
                theirs = theirs if kind is JoinKind.INNER else []
                rest = [each for each in filters if each not in [*ours, *theirs]]
                on = [] if predicate is None else self._parts(predicate)
                inside = [each for each in on if _aliases(each) and _aliases(each) <= visible(right)]
                joined = replace(
                    relation,
                    left=self._below(left, ours),
                    right=self._below(right, [*inside, *theirs]),
                    predicate=self._together([each for each in on if each not in inside]),
                )
                return self._filtered(joined, rest)
            case _:
                return self._filtered(self.of(relation), filters)

    def _parts(self, predicate: Expr) -> list[Expr]:
        """The conditions that all hold where a predicate does; how they were brought together is kept for later."""
        if not isinstance(predicate, Call) or predicate.function.name != "and":
            return [predicate]
        self._and = predicate
        return [part for arg in predicate.args for part in self._parts(arg)]

    def _together(self, conditions: Sequence[Expr]) -> Expr | None:
        """Conditions as one, by the function that brought some together before: in pairs of pairs, so none is deep."""
        if len(conditions) < 2 or self._and is None:  # noqa: PLR2004 — a pair
            return conditions[0] if conditions else None
        half = len(conditions) // 2
        pair = (self._together(conditions[:half]), self._together(conditions[half:]))
        return replace(self._and, args=tuple(each for each in pair if each is not None))

    def _filtered(self, relation: Relation, conditions: Sequence[Expr]) -> Relation:
        """A relation with one filter above it: one for each condition would be as deep a query as there are many."""
        if self._and is None:
            for each in conditions:
                relation = Where(relation, each)
            return relation
        predicate = self._together(conditions)
        return relation if predicate is None else Where(relation, predicate)


def visible(relation: Relation) -> frozenset[str]:
    """The aliases under which a relation's columns are referred to."""
    match relation:
        case Scan(alias=alias) | Project(alias=alias) | Union(alias=alias) | PerUnit(alias=alias):
            return frozenset({alias})
        case Join(left=left, kind=JoinKind.SEMI | JoinKind.ANTI):
            return visible(left)
        case Join(left=left, right=right):
            return visible(left) | visible(right)
        case Window(source=source, alias=alias):
            return visible(source) | {alias}
        case _:
            return visible(relation.source)


def _aliases(expr: Expr) -> frozenset[str]:
    """The aliases of all columns that an expression mentions."""
    if isinstance(expr, Column):
        return frozenset({expr.table})
    return frozenset[str]().union(*map(_aliases, expr.args)) if isinstance(expr, Call) else frozenset()
