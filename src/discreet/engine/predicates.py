"""Predicates: split at AND by what their conditions are about, and which columns they say are equal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from discreet.query.ir import (
    Call,
    Column,
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
    columns_in,
)

Name: TypeAlias = tuple[str, str]
"""A column of a question: the alias of its relation, and its name in lower case."""


def name_of(column: Column) -> Name:
    """The name under which a column is found."""
    return column.table, column.name.casefold()


def about(aliases: frozenset[str]) -> Callable[[Expr], bool]:
    """Whether a condition mentions no columns but those of some aliases."""
    return lambda condition: aliases.issuperset(column.table for column in columns_in(condition))


def parts(predicates: Sequence[Expr], belongs: Callable[[Expr], bool]) -> list[Expr]:
    """What predicates say by conditions of some kind."""
    return [kept for each in predicates if (kept := part(each, belongs)) is not None]


def part(predicate: Expr, belongs: Callable[[Expr], bool]) -> Expr | None:
    """What a predicate says by conditions of some kind: all of it, or fewer of those that AND brings together."""
    if not isinstance(predicate, Call) or predicate.function.name != "and":
        return predicate if belongs(predicate) else None
    kept = parts(predicate.args, belongs)
    return replace(predicate, args=tuple(kept)) if len(kept) > 1 else next(iter(kept), None)


def filtered(relation: Relation, predicates: Sequence[Expr]) -> Relation:
    """A relation under filters."""
    for each in predicates:
        relation = Where(relation, each)
    return relation


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


def equal_columns(predicate: Expr | None) -> list[tuple[Name, Name]]:
    """The pairs of columns of one kind that are equal wherever a predicate is true, whatever else it says."""
    match predicate:
        case Call(args=args) if predicate.function.name == "and":
            return [pair for arg in args for pair in equal_columns(arg)]
        case Call(args=(Column() as one, Column() as other)) if (
            predicate.function.name == "eq" and one.type.kind is other.type.kind
        ):
            return [(name_of(one), name_of(other))]
        case _:
            return []
