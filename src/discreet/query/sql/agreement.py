"""Agreement: whether what a question says of units and groups is what was declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import QueryError, UnknownColumn, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.ir import public_values
from discreet.query.sql.options import Options, Strategy
from discreet.query.sql.scopes import Scope, is_unit

if TYPE_CHECKING:
    from sqlglot import exp


def check_unit_column(options: Options, scope: Scope, unit: Unit) -> None:
    """Refuse a privacy_unit_column that isn't the unit's id: whose presence is hidden, the custodian declares.

    Raises:
        UnknownColumn: there is no such column.
        Unsupported: it isn't the unit's id, or the unit is something else.
    """
    path = options.privacy_unit_column
    if path is None:
        return
    try:
        if len(path) > 2:  # noqa: PLR2004 — a table and a column
            raise UnknownColumn("a column's name has at most the table's before it")
        if unit.column is None or unit.per is not None or not _is_declared(path, scope, unit):
            raise Unsupported(
                f"the unit of privacy is {_in_words(unit)}, not {'.'.join(path)!r}: the custodian declares it",
                hint="leave privacy_unit_column out",
            )
    except QueryError as error:
        error.place = options.place
        raise


def check_strategy(options: Options, question: ir.Question) -> None:
    """Refuse PUBLIC_GROUPS where the groups aren't.

    Raises:
        Unsupported: naming the key.
    """
    if options.group_selection_strategy is not Strategy.PUBLIC_GROUPS:
        return
    for name, key in question.keys:
        if public_values(key) is None:
            raise Unsupported(
                f"PUBLIC_GROUPS are asked for, and the values of {name!r} aren't public",
                hint=f"declare them as keys, say which in WHERE {name} IN (…), or take LAPLACE_THRESHOLD with a delta",
                place=options.place,
            )


def _is_declared(path: tuple[str, ...], scope: Scope, unit: Unit) -> bool:
    """Whether a name means the unit's id; a table that has none is linked to it, and then its name will do."""
    if len(path) == 1 and path[0].casefold() == str(unit.column).casefold():
        return True
    return is_unit(scope.column(_named(path)), scope.facts, unit)


def _named(path: tuple[str, ...]) -> exp.Column:
    """The name as a column."""
    from sqlglot import exp

    table, name = (path[0], path[1]) if len(path) > 1 else (None, path[0])
    return exp.Column(this=exp.to_identifier(name), table=None if table is None else exp.to_identifier(table))


def _in_words(unit: Unit) -> str:
    """The unit, for an error."""
    return "each row" if unit.is_row else str(unit)
