"""Joins: the columns in which joined rows are equal, and the most rows that can be joined. All of it is public."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from discreet.errors import unforeseen
from discreet.query.ir.expressions import Call, Column, Expr
from discreet.query.ir.relations import (
    Distinct,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Union,
    Where,
    Window,
)

Name: TypeAlias = tuple[str, str]
"""A column of a question: the alias of its relation, and its name in lower case."""

Names: TypeAlias = frozenset[Name]


def name_of(column: Column) -> Name:
    """The name under which a column is found."""
    return column.table, column.name.casefold()


def equal_columns(predicate: Expr | None) -> list[tuple[Name, Name]]:
    """The pairs of columns of one kind that must be equal for a predicate to be true, whatever else it says."""
    match predicate:
        case Call(args=args) if predicate.function.name == "and":
            return [pair for arg in args for pair in equal_columns(arg)]
        case Call(args=(Column() as one, Column() as other)) if (
            predicate.function.name == "eq" and one.type.kind is other.type.kind
        ):
            return [(name_of(one), name_of(other))]
        case _:  # it may be true whatever the columns are
            return []


def visible(relation: Relation) -> frozenset[str]:
    """The aliases under which a relation's columns are referred to."""
    match relation:
        case Scan(alias=alias) | Project(alias=alias) | Union(alias=alias) | PerUnit(alias=alias):
            return frozenset({alias})
        case Join(left=left, kind=kind) if not kind.has_both_sides:
            return visible(left)
        case Join(left=left, right=right):
            return visible(left) | visible(right)
        case Window(source=source, alias=alias):
            return visible(source) | {alias}
        case Where(source=source) | Distinct(source=source):
            return visible(source)
        case _:
            raise unforeseen(relation)


def joined_on(join: Join) -> Names:
    """The columns of either side in which joined rows equal one of the other side.

    Columns of one side that are equal to each other say nothing of how many rows meet, though one of them be unique.
    """
    left, right = visible(join.left), visible(join.right)
    return frozenset(
        column
        for (one, other) in equal_columns(join.predicate)
        if (one[0] in left and other[0] in right) or (one[0] in right and other[0] in left)
        for column in (one, other)
    )


def makes_pairs(join: Join) -> bool:
    """Whether a join tries pairs of rows; to look up whether a row has a partner makes none."""
    return join.kind.has_both_sides or not _is_plain(join.predicate, joined_on(join))


def _is_plain(predicate: Expr | None, on: Names) -> bool:
    """Whether a predicate is nothing but equalities of columns of both sides."""
    match predicate:
        case Call(args=args) if predicate.function.name == "and":
            return all(_is_plain(arg, on) for arg in args)
        case _:  # anything else isn't one
            pairs = equal_columns(predicate)
            return bool(pairs) and all(on.issuperset(pair) for pair in pairs)


def is_unique(relation: Relation, names: Names, is_key: Callable[[Scan, Names], bool]) -> bool:  # noqa: PLR0911 — one case for each kind of relation
    """Whether no unit has two rows with equal values in these columns; for a public relation, whether no two rows have.

    Args:
        relation: whose rows.
        names: the columns.
        is_key: the same of a table, as far as tables are known; False where it isn't known.
    """
    match relation:
        case Scan():
            return is_key(relation, names)
        case Where(source=source) | Window(source=source):
            return is_unique(source, names, is_key)
        case Project(alias=alias, columns=columns, source=source):
            below = (
                name_of(expr)
                for name, expr in columns
                if (alias, name.casefold()) in names and isinstance(expr, Column)
            )
            return is_unique(source, frozenset(below), is_key)
        case PerUnit(alias=alias, keys=keys):
            return all((alias, name.casefold()) in names for name, _ in keys)
        case Join(left=left, kind=kind) if not kind.has_both_sides:
            return is_unique(left, names, is_key)
        case Join(left=left, right=right, kind=kind):
            on = joined_on(relation)
            if is_unique(left, names, is_key) and is_unique(right, on, is_key):
                return True
            return not kind.keeps_lonely and is_unique(right, names, is_key) and is_unique(left, on, is_key)
        case Union() | Distinct():
            return False
        case _:
            raise unforeseen(relation)
