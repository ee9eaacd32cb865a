"""Joins: the columns in which rows that meet are equal, and the most rows that can meet. All of it is public."""

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
    """The pairs of columns of one kind that are equal wherever a predicate is true, whatever else it says."""
    match predicate:
        case Call(args=args) if predicate.function.name == "and":
            return [pair for arg in args for pair in equal_columns(arg)]
        case Call(args=(Column() as one, Column() as other)) if (
            predicate.function.name == "eq" and one.type.kind is other.type.kind
        ):
            return [(name_of(one), name_of(other))]
        case _:  # it may be true whatever the columns are
            return []


def joined_on(join: Join) -> Names:
    """The columns of both sides in which rows are equal that meet."""
    return frozenset(column for pair in equal_columns(join.predicate) for column in pair)


def makes_pairs(join: Join) -> bool:
    """Whether a join tries pairs of rows; to look up whether a row has a partner makes none."""
    return join.kind.has_both_sides or not _is_plain(join.predicate)


def _is_plain(predicate: Expr | None) -> bool:
    """Whether a predicate is nothing but equalities of columns."""
    match predicate:
        case Call(args=args) if predicate.function.name == "and":
            return all(map(_is_plain, args))
        case _:  # anything else isn't one
            return bool(equal_columns(predicate))


def is_unique(relation: Relation, names: Names, is_key: Callable[[Scan, Names], bool]) -> bool:  # noqa: PLR0911 — one case for each kind of relation
    """Whether no unit has two rows with equal values in these columns; of public relations, whether there are none.

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
