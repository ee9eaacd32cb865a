"""Scopes: which column a name means, where several relations stand side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.errors import UnknownColumn, UnknownTable, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.sql.names import meant
from discreet.query.sql.places import Place, place_of

if TYPE_CHECKING:
    from sqlglot import exp

UNIT = "the unit"
"""The entity of columns that hold a unit's id."""


@dataclass(slots=True)
class Facts:
    """What is known of the columns of one question's relations, by alias and name.

    Args:
        entities: of columns whose value decides whose a row is: which entity it names. Columns of one entity that
            are equal belong to one unit.
        unique: columns of public tables in which no value occurs twice.
    """

    entities: dict[tuple[str, str], str] = field(default_factory=dict)
    unique: set[tuple[str, str]] = field(default_factory=set)

    def entity(self, expr: ir.Expr) -> str | None:
        """The entity that an expression names, if it is a column that does."""
        return self.entities.get((expr.table, expr.name)) if isinstance(expr, ir.Column) else None

    def hand_on(self, column: ir.Column, expr: ir.Expr) -> None:
        """Note that a new column holds what the expression does."""
        if isinstance(expr, ir.Column):
            source, target = (expr.table, expr.name), (column.table, column.name)
            if source in self.entities:
                self.entities[target] = self.entities[source]
            if source in self.unique:
                self.unique.add(target)


@dataclass(slots=True)
class Item:
    """What stands in FROM under one name.

    Args:
        called: the name, as it is written.
        columns: by name in lower case, in order.
        merged: names that USING gives to the columns of an earlier item.
        place: where it stands in the question.
    """

    called: str
    columns: dict[str, ir.Column]
    merged: set[str] = field(default_factory=set)
    place: Place | None = None


class Scope:
    """What names mean in one SELECT."""

    def __init__(self, text: str, facts: Facts, items: Iterable[Item], outer: Scope | None = None) -> None:
        """Names in these items, else in the outer scope.

        Args:
            text: the question, for places.
            facts: about all columns of the question.
            items: of FROM.
            outer: of the SELECT around a correlated subquery.
        """
        self.text = text
        self.facts = facts
        self.items = list(items)
        self._outer = outer

    def column(self, node: exp.Column) -> ir.Column:
        """The column that a name means.

        Raises:
            UnknownColumn: there is none of that name, or several.
            UnknownTable: the name before the dot is nothing here.
        """
        place = place_of(self.text, node)
        if node.args.get("db") or node.args.get("catalog"):
            raise Unsupported("a column's name has at most the table's before it", place=place)
        items = self._called(node.table) if node.table else self.items
        name = node.name.casefold()
        found = [item for item in items if name in item.columns and (node.table or name not in item.merged)]
        if len(found) == 1:
            return found[0].columns[name]
        if found:
            called = [item.called for item in found]
            raise UnknownColumn(
                f"column {node.name!r} is in {' and in '.join(map(repr, called))}",
                hint=f"write {called[0]}.{node.name}",
                place=place,
            )
        if self._outer is not None and (not node.table or not items):
            return self._outer.column(node)
        raise self._unknown(node, items)

    def narrow(self, known: Mapping[ir.Column, ir.Type]) -> None:
        """Use what conditions say of columns from here on."""
        for item in self.items:
            for name, column in item.columns.items():
                if column in known:
                    item.columns[name] = ir.Column(column.table, column.name, known[column])

    def holds(self, column: ir.Column) -> bool:
        """Whether the column is of this SELECT, not of one around it."""
        name = (column.table, column.name)
        return any((each.table, each.name) == name for item in self.items for each in item.columns.values())

    def _called(self, name: str) -> list[Item]:
        """The items of that name."""
        return [item for item in self.items if item.called.casefold() == name.casefold()]

    def _unknown(self, node: exp.Column, items: list[Item]) -> UnknownColumn | UnknownTable:
        """The error for a name that means nothing here."""
        place = place_of(self.text, node)
        if node.table and not items:
            called = [item.called for item in self.items]
            return UnknownTable(f"no table here is called {node.table!r}", hint=meant(node.table, called), place=place)
        names = [column.name for item in items for column in item.columns.values()]
        where = f"{items[0].called!r} has no" if len(items) == 1 else "no table here has a"
        return UnknownColumn(f"{where} column {node.name!r}", hint=meant(node.name, names), place=place)


def is_unit(expr: ir.Expr, facts: Facts, unit: Unit) -> bool:
    """Whether an expression is the unit's id, and the unit is no more than that."""
    return unit.per is None and facts.entity(expr) == UNIT
