"""Rows of one unit brought together: one row for each group of them, or each row with what its neighbours say.

Both take three steps: compute what is looked at, aggregate, and finish. So nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.engine.rows import Names, Rows, selected
from discreet.engine.summaries import Recipe, recipe
from discreet.engine.windows import Partition, windowed
from discreet.query.ir import Expr, PerUnit, Window


def per_unit(below: Rows, node: PerUnit, names: Names) -> Rows:
    """One row for each unit and value of the keys."""
    keys = names.of(node.alias, (name for name, _ in node.keys))
    columns = names.of(node.alias, (each.name for each in node.columns))
    places = _places(each.argument for each in node.columns)
    keyed = dict(zip(keys.values(), (expr for _, expr in node.keys), strict=True))
    table = below.computed(keyed | {place: expr for expr, place in places.items()})
    recipes = {}
    for each, column in zip(node.columns, columns.values(), strict=True):
        value, of = (table, each.type) if each.argument is None else (table[places[each.argument]], each.argument.type)
        recipes[column] = recipe(each.summary, value, of, each.type, each.grid)
    by = [*below.unit, *keys.values()]
    aggregates = _parts(recipes)
    grouped = table.group_by(by).aggregate(**aggregates) if by else table.aggregate(**aggregates)
    finished = {column: grouped[column] for column in by} | _finished(recipes, grouped)
    return Rows(selected(grouped, finished), below.unit, keys | columns)


def window(below: Rows, node: Window, names: Names) -> Rows:
    """The rows with further columns, each computed from rows of the same unit and partition."""
    columns = names.of(node.alias, (each.name for each in node.columns))
    looked_at = [each.argument for each in node.columns]
    places = _places([*node.partition, *looked_at, *(term.expr for each in node.columns for term in each.order)])
    table = below.computed({place: expr for expr, place in places.items()}, beside=True)
    rows = Partition(
        table=table,
        by=[table[column] for column in (*below.unit, *(places[expr] for expr in node.partition))],
        columns=[table[column] for column in below.names.values()],
        values={expr: table[place] for expr, place in places.items()},
    )
    recipes = {column: windowed(each, rows) for each, column in zip(node.columns, columns.values(), strict=True)}
    kept = [*below.unit, *below.names.values()]
    beside = selected(table, {column: table[column] for column in kept} | _parts(recipes))
    finished = {column: beside[column] for column in kept} | _finished(recipes, beside)
    return Rows(selected(beside, finished), below.unit, {**below.names, **columns})


def _places(exprs: Iterable[Expr | None]) -> dict[Expr, str]:
    """A column for each different expression."""
    return {expr: f"a{number}" for number, expr in enumerate(dict.fromkeys(each for each in exprs if each is not None))}


def _parts(recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """The aggregates that the results are made of, by name."""
    return {f"{column}_{number}": part for column, each in recipes.items() for number, part in enumerate(each.parts)}


def _finished(recipes: Mapping[str, Recipe], table: Any) -> dict[str, Any]:  # noqa: ANN401 — Ibis tables and values
    """The results, of the table with the aggregates."""
    return {
        column: each.finish(*(table[f"{column}_{number}"] for number in range(len(each.parts))))
        for column, each in recipes.items()
    }
