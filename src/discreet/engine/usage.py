"""Which columns a question reads, and in which of the two forms that the door offers. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.dataset import Table
from discreet.query.ir import Call, Column, Exact, Expr, Key, Sum, Where


@dataclass(frozen=True, slots=True)
class Usage:
    """The columns that a question reads, by their position in the table.

    Args:
        checked: those whose declared keys the door must enforce, by turning what isn't listed into NULL.
        unchecked: those read only as a key whose public list leaves out what isn't listed anyway, so that enforcing
            it twice would be wasted.
    """

    checked: tuple[int, ...]
    unchecked: tuple[int, ...]


def usage(exact: Exact) -> Usage:
    """The columns of a question's predicates, keys and measures; those of the unit aren't counted in."""
    table = exact.table
    relied, listed = set(), set()
    for key in exact.keys:
        if is_listed(key, table):
            listed.add(_plain(key, table))
        else:
            relied.update(_columns(key.expr, table))
    for expr in (*_predicates(exact), *(measure.value for measure in exact.measures if isinstance(measure, Sum))):
        relied.update(_columns(expr, table))
    return Usage(tuple(sorted(relied)), tuple(sorted(listed)))


def is_listed(key: Key, table: Table) -> bool:
    """Whether a key is a plain column with declared keys, under a public list without NULL.

    What the column doesn't list would become NULL at the door, and the list leaves NULL out. So the list, cut down to
    the declared keys, does the door's work.
    """
    return (
        isinstance(key.expr, Column)
        and table.column(key.expr.name).keys is not None
        and key.values is not None
        and None not in key.values
    )


def position(name: str, table: Table) -> int:
    """The position of a column in its table; case doesn't matter."""
    return table.columns.index(table.column(name))


def _plain(key: Key, table: Table) -> int:
    """The position of a key's column, if the key is nothing else."""
    (column,) = _columns(key.expr, table)
    return column


def _predicates(exact: Exact) -> Iterator[Expr]:
    """The predicates between the question and its scan."""
    relation = exact.source
    while isinstance(relation, Where):
        yield relation.predicate
        relation = relation.source


def _columns(expr: Expr, table: Table) -> set[int]:
    """The positions of the columns that an expression mentions."""
    if isinstance(expr, Column):
        return {position(expr.name, table)}
    if isinstance(expr, Call):
        return set().union(*(_columns(arg, table) for arg in expr.args))
    return set()
