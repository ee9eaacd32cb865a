"""Windows: what is computed of a row from those beside it, all of one unit.

Rows that an ORDER BY leaves equal are told apart by all of their columns. Those still equal then are the same row
twice, and it makes no difference which of them comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engine.summaries import Recipe, handed_on, recipe
from discreet.query.ir import Expr, Ranking, Summary, Type, Windowed


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows that a window looks at.

    Args:
        table: their Ibis table.
        by: what they have in common: the unit, and what the question adds.
        columns: all of their columns.
        values: the columns that hold what is sorted by, or looked at, by the expression.
    """

    table: Any
    by: Sequence[Any]
    columns: Sequence[Any]
    values: Mapping[Expr, Any]


def windowed(column: Windowed, rows: Partition) -> Recipe:
    """How a window function is computed."""
    if isinstance(column.function, Summary):
        return _summary(column, column.function, rows)
    return _ranking(column, column.function, rows)


def _summary(column: Windowed, summary: Summary, rows: Partition) -> Recipe:
    """A summary of the whole partition; with an order, of the rows up to the last that is equal in it."""
    import ibis

    frame = {"range": (None, 0)} if column.order else {}
    window = ibis.window(group_by=rows.by, order_by=_order(column, rows), **frame)
    value = rows.table if column.argument is None else rows.values[column.argument]
    found = recipe(summary, value, _type(column), column.type, column.grid)
    return Recipe(tuple(part.over(window) for part in found.parts), found.finish)


def _ranking(column: Windowed, ranking: Ranking, rows: Partition) -> Recipe:
    """A row's place, or a value from its neighbours."""
    import ibis

    order = _order(column, rows)
    ties = [ibis.asc(each, nulls_first=False) for each in rows.columns]
    peers = ibis.window(group_by=rows.by, order_by=order)
    total = ibis.window(group_by=rows.by, order_by=[*order, *ties])
    match ranking:
        case Ranking.ROW_NUMBER:
            return Recipe((ibis.row_number().over(total),), lambda before: before + 1)
        case Ranking.RANK:
            return Recipe((ibis.rank().over(peers),), lambda before: before + 1)
        case Ranking.DENSE_RANK:
            return Recipe((ibis.dense_rank().over(peers),), lambda before: before + 1)
    value = rows.values[column.argument] if column.argument is not None else None
    if value is None:
        raise TypeError
    match ranking:
        case Ranking.LAG:
            found = value.lag(column.offset).over(total)
        case Ranking.LEAD:
            found = value.lead(column.offset).over(total)
        case Ranking.FIRST_VALUE:
            found = value.first(include_null=True).over(total)
        case Ranking.LAST_VALUE:  # the frame ends with the last row that is equal in the order
            equal = [rows.values[term.expr] for term in column.order]
            found = value.last(include_null=True).over(ibis.window(group_by=[*rows.by, *equal], order_by=ties))
    return Recipe((found,), lambda value: handed_on(value, _type(column), column.type))


def _order(column: Windowed, rows: Partition) -> list[Any]:
    """The ORDER BY of a window. Of two terms for one expression the first counts; to Ibis, it would be the last."""
    import ibis

    terms = {term.expr: term for term in reversed(column.order)}
    return [
        (ibis.desc if term.descending else ibis.asc)(rows.values[expr], nulls_first=term.nulls_first)
        for expr, term in reversed(terms.items())
    ]


def _type(column: Windowed) -> Type:
    """The type of what a window looks at; of the result, if that is nothing but rows."""
    return column.type if column.argument is None else column.argument.type
