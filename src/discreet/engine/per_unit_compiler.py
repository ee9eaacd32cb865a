"""Aggregates and window functions over the rows of one unit, as Ibis tables.

Rows that a window's ORDER BY leaves equal are told apart by all of their columns. Those still equal then are the same
row twice, and it makes no difference which of them comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engine.aggregate_compiler import Aggregation, aggregation, within_range
from discreet.engine.expression_compiler import Names, Rows, selected
from discreet.errors import unforeseen
from discreet.query import ir


def per_unit(below: Rows, node: ir.PerUnit, names: Names) -> Rows:
    """One row for each unit and value of the keys."""
    keys = names.of(node.alias, (name for name, _ in node.keys))
    columns = names.of(node.alias, (each.name for each in node.columns))
    places = _places(each.argument for each in node.columns)
    keyed = dict(zip(keys.values(), (expr for _, expr in node.keys), strict=True))
    table = below.computed(keyed | {place: expr for expr, place in places.items()})
    aggregations = {}
    for each, column in zip(node.columns, columns.values(), strict=True):
        value, of = (table, each.type) if each.argument is None else (table[places[each.argument]], each.argument.type)
        aggregations[column] = aggregation(each.summary, value, of, each.type, each.grid)
    by = [*below.unit, *keys.values()]
    aggregates = _parts(aggregations)
    grouped = table.group_by(by).aggregate(**aggregates) if by else table.aggregate(**aggregates)
    finished = {column: grouped[column] for column in by} | _finished(aggregations, grouped)
    return Rows(selected(grouped, finished), below.unit, keys | columns)


def window(below: Rows, node: ir.Window, names: Names) -> Rows:
    """The rows with further columns, each computed from rows of the same unit and partition."""
    columns = names.of(node.alias, (each.name for each in node.columns))
    looked_at = [each.argument for each in node.columns]
    places = _places([*node.partition, *looked_at, *(term.expr for each in node.columns for term in each.order)])
    table = below.computed({place: expr for expr, place in places.items()}, beside=True)
    rows = _Partition(
        table=table,
        by=[table[column] for column in (*below.unit, *(places[expr] for expr in node.partition))],
        columns=[table[column] for column in below.names.values()],
        values={expr: table[place] for expr, place in places.items()},
    )
    aggregations = {column: _windowed(each, rows) for each, column in zip(node.columns, columns.values(), strict=True)}
    kept = [*below.unit, *below.names.values()]
    beside = selected(table, {column: table[column] for column in kept} | _parts(aggregations))
    finished = {column: beside[column] for column in kept} | _finished(aggregations, beside)
    return Rows(selected(beside, finished), below.unit, {**below.names, **columns})


def _places(exprs: Iterable[ir.Expr | None]) -> dict[ir.Expr, str]:
    """A column for each different expression."""
    return {expr: f"a{number}" for number, expr in enumerate(dict.fromkeys(each for each in exprs if each is not None))}


def _parts(aggregations: Mapping[str, Aggregation]) -> dict[str, Any]:
    """The aggregates that the results are made of, by name."""
    return {
        f"{column}_{number}": part for column, each in aggregations.items() for number, part in enumerate(each.parts)
    }


def _finished(aggregations: Mapping[str, Aggregation], table: Any) -> dict[str, Any]:  # noqa: ANN401 — Ibis tables and values
    """The results, from the table with the aggregates."""
    return {
        column: each.finish(*(table[f"{column}_{number}"] for number in range(len(each.parts))))
        for column, each in aggregations.items()
    }


@dataclass(frozen=True, slots=True)
class _Partition:
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
    values: Mapping[ir.Expr, Any]


def _windowed(column: ir.Windowed, rows: _Partition) -> Aggregation:
    """How a window function is computed."""
    if isinstance(column.function, ir.Summary):
        return _summary(column, column.function, rows)
    return _ranking(column, column.function, rows)


def _summary(column: ir.Windowed, summary: ir.Summary, rows: _Partition) -> Aggregation:
    """A summary of the whole partition; with an order, of the rows up to the last that is equal in it."""
    import ibis

    frame = {"range": (None, 0)} if column.order else {}
    window = ibis.window(group_by=rows.by, order_by=_order(column, rows), **frame)
    value = rows.table if column.argument is None else rows.values[column.argument]
    found = aggregation(summary, value, _type(column), column.type, column.grid)
    return Aggregation(tuple(part.over(window) for part in found.parts), found.finish)


def _ranking(column: ir.Windowed, ranking: ir.Ranking, rows: _Partition) -> Aggregation:
    """A row's place, or a value from its neighbours."""
    import ibis

    order = _order(column, rows)
    ties = [ibis.asc(each, nulls_first=False) for each in rows.columns]
    peers = ibis.window(group_by=rows.by, order_by=order)
    total = ibis.window(group_by=rows.by, order_by=[*order, *ties])
    match ranking:
        case ir.Ranking.ROW_NUMBER:
            return Aggregation((ibis.row_number().over(total),), lambda before: before + 1)
        case ir.Ranking.RANK:
            return Aggregation((ibis.rank().over(peers),), lambda before: before + 1)
        case ir.Ranking.DENSE_RANK:
            return Aggregation((ibis.dense_rank().over(peers),), lambda before: before + 1)
    if column.argument is None:
        raise TypeError("what isn't a row's place is taken from another row")
    value = rows.values[column.argument]
    match ranking:
        case ir.Ranking.LAG:
            found = value.lag(column.offset).over(total)
        case ir.Ranking.LEAD:
            found = value.lead(column.offset).over(total)
        case ir.Ranking.FIRST_VALUE:
            found = value.first(include_null=True).over(total)
        case ir.Ranking.LAST_VALUE:  # the frame ends with the last row that is equal in the order
            equal = [rows.values[term.expr] for term in column.order]
            found = value.last(include_null=True).over(ibis.window(group_by=[*rows.by, *equal], order_by=ties))
        case _:
            raise unforeseen(ranking)
    return Aggregation((found,), lambda value: within_range(value, _type(column), column.type))


def _order(column: ir.Windowed, rows: _Partition) -> list[Any]:
    """The ORDER BY of a window. Of two terms about one expression the first counts, not the last as in Ibis."""
    import ibis

    terms = {term.expr: term for term in reversed(column.order)}
    return [
        (ibis.desc if term.descending else ibis.asc)(rows.values[expr], nulls_first=term.nulls_first)
        for expr, term in reversed(terms.items())
    ]


def _type(column: ir.Windowed) -> ir.Type:
    """The type of a window's argument; the result's type, if it has none."""
    return column.type if column.argument is None else column.argument.type
