"""Scopes: which column a name means in a SELECT, and what all SELECTs of a question have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.errors import UnknownColumn, UnknownTable, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.sql.names import Names, column_meant
from discreet.query.sql.places import offset_of
from discreet.query.sql.schemas import Schema, agree, schema_of
from discreet.query.sql.with_clause import Derive
from discreet.suggestions import did_you_mean
from discreet.tables import Table

if TYPE_CHECKING:
    from sqlglot import exp


_TYPOGRAPHIC = set("‘’“”„«»")
"""Quotes that word processors put in place of straight ones."""

_MOST_SHOWN = 70
"""How much of a text is repeated in a hint."""

UNIT = "the unit"
"""The entity of columns that hold a unit's id."""

MOST_SCANS = 32
"""How many times tables may be read in one question, each use of a WITH counted."""


@dataclass(slots=True)
class Facts:
    """Facts about the columns of a question's relations, by alias and name.

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
    """One item of FROM, with the name it goes by.

    Args:
        called: the name, as it is written.
        columns: by name in lower case, in order.
        merged: names that USING gives to the columns of an earlier item.
        at: the offset at which it stands in the question.
        schema: which columns may name before it; None for what is no declared table, or has an alias.
    """

    called: str
    columns: dict[str, ir.Column]
    merged: set[str] = field(default_factory=set)
    at: int | None = None
    schema: Schema | None = None


class Scope:
    """The meaning of names in one SELECT."""

    def __init__(self, facts: Facts, items: Iterable[Item], outer: Scope | None = None) -> None:
        """Look names up in these items, then in the outer scope.

        Args:
            facts: about all columns of the question.
            items: of FROM.
            outer: of the SELECT around a correlated subquery.
        """
        self.facts = facts
        self.items = list(items)
        self._outer = outer

    def column(self, node: exp.Column) -> ir.Column:
        """The column that a name means.

        Raises:
            UnknownColumn: there is none of that name, or several.
            UnknownTable: the name before the dot is nothing here.
        """
        at = offset_of(node)
        items = self.called(node) if node.table else self.items
        name = node.name.casefold()
        found = [item for item in items if name in item.columns and (node.table or name not in item.merged)]
        if len(found) == 1:
            return found[0].columns[name]
        if found:
            called = [item.called for item in found]
            raise UnknownColumn(
                f"column {node.name!r} is in {' and in '.join(map(repr, called))}",
                hint=f"write {called[0]}.{node.name}",
                at=at,
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

    def called(self, node: exp.Column) -> list[Item]:
        """The items that the name before a column means; with its schema, a table's own name alone does."""
        schema = schema_of(node)
        return [
            item
            for item in self.items
            if item.called.casefold() == node.table.casefold()
            and (not schema or (item.schema is not None and agree(schema, item.schema)))
        ]

    def _unknown(self, node: exp.Column, items: list[Item]) -> UnknownColumn | UnknownTable:
        """The error for a name that means nothing here."""
        at = offset_of(node)
        if node.table and not items:
            called = [item.called for item in self.items]
            name = ".".join((*schema_of(node), node.table))
            return UnknownTable(f"no table here is called {name!r}", hint=did_you_mean(node.table, called), at=at)
        names = [column.name for item in items for column in item.columns.values()]
        where = f"{items[0].called!r} has no" if len(items) == 1 else "no table here has a"
        hint = column_meant(node.name, names)
        if _TYPOGRAPHIC & set(node.name):
            hint = "a text stands in straight quotes, as in 'text'"
        if node.this.args.get("quoted"):
            hint = f"a text stands in single quotes, as in '{node.name[:_MOST_SHOWN]}'; {hint}"
        return UnknownColumn(f"{where} column {node.name!r}", hint=hint, at=at)


def is_unit(expr: ir.Expr, facts: Facts, unit: Unit) -> bool:
    """Whether an expression is the unit's id, and the unit is no more than that."""
    return unit.per is None and facts.entity(expr) == UNIT


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of one SELECT, filtered, with the scope for what is computed of them.

    Args:
        relation: the rows.
        scope: of their columns.
        correlated: conditions on columns of the SELECT around it, left to the join with that.
    """

    relation: ir.Relation
    scope: Scope
    correlated: tuple[ir.Expr, ...] = ()


@dataclass(slots=True)
class SelectContext:
    """The state that all SELECTs of one question share.

    Args:
        tables: those it may read.
        derive: reads a subquery.
        schema: that the tables are in; empty, if any will do.
        facts: about the columns of all relations.
        aliases: given to relations, in the order in which they are met.
        scans: how many there are so far.
    """

    tables: Sequence[Table]
    derive: Derive
    schema: Schema = ()
    facts: Facts = field(default_factory=Facts)
    aliases: Names = field(default_factory=Names)
    scans: int = 0

    def count(self, relation: ir.Relation) -> None:
        """Count the scans of what is used: a WITH that uses another twice, and so on, doubles them each time."""
        self.scans += sum(1 for _ in ir.scans(relation))
        if self.scans > MOST_SCANS:
            raise Unsupported(f"a question reads tables at most {MOST_SCANS} times", hint="ask several smaller ones")


def note_columns(context: SelectContext, scan: ir.Scan) -> None:
    """Note which of a table's columns say whose a row is, and which are unique."""
    table, facts = scan.table, context.facts
    facts.unique |= {(scan.alias, table.column(name).name) for name in table.unique}
    if scan.owner is None:
        return
    for other in context.tables:
        for link in other.links:
            if link.table.casefold() == table.name.casefold():
                facts.entities[(scan.alias, table.column(link.to).name)] = _entity(table, link.to)
    for link in table.links:
        target = next((each for each in context.tables if each.name.casefold() == link.table.casefold()), None)
        if target is not None and not target.public:
            facts.entities[(scan.alias, table.column(link.column).name)] = _entity(target, link.to)
    if not scan.owner.hops and scan.owner.unit.column is not None and scan.owner.unit.per is None:
        facts.entities[(scan.alias, table.column(scan.owner.unit.column).name)] = UNIT


def _entity(table: Table, column: str) -> str:
    """The entity at the end of a link: the unit itself, or a row of the table."""
    unit = table.unit
    if unit is not None and unit.per is None and column.casefold() == str(unit.column).casefold():
        return UNIT
    return f"{table.name}.{column}".casefold()
