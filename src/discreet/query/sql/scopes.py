"""Names and scopes: which column a name means, where it stands in the question, and what all SELECTs have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol, TypeAlias

from discreet.errors import SqlSyntax, TypeMismatch, UnknownColumn, UnknownTable, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.sql.places import offset_of
from discreet.tables import Table

if TYPE_CHECKING:
    from sqlglot import exp


_KEYWORDS = {
    *("AND", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "LIKE", "LIMIT"),
    *("NOT", "OFFSET", "ON", "OR", "ORDER", "SELECT", "WHERE", "WITH"),
}


def check_alias(alias: exp.Expression | None) -> None:
    """Refuse a keyword as an alias: `FROM people GROUP` lacks its BY.

    Raises:
        SqlSyntax: with the place.
    """
    if alias is not None and alias.name.upper() in _KEYWORDS and not alias.args.get("quoted"):
        raise SqlSyntax(f"something is missing or wrong at {alias.name!r}", at=offset_of(alias))


_TYPOGRAPHIC = set("‘’“”„«»")
"""Quotes that word processors put in the place of straight ones."""

MOST_SHOWN = 70
"""How much of a text is repeated in a hint."""

_SHOWN = 10
"""How many names fit a line."""


def meant(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """The nearest of the public names, or the first few.

    Args:
        name: that means nothing.
        known: those that there are.
        shown: how one is written where it is meant to be read.

    Examples:
        >>> meant("educaton", ["age", "education"])
        'did you mean education?'
    """
    names = list(known)
    close = get_close_matches(name.casefold()[:100], [known.casefold() for known in names], n=1, cutoff=0.6)
    if close:
        return f"did you mean {shown(next(known for known in names if known.casefold() == close[0]))}?"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there are: {', '.join(map(shown, names[:_SHOWN]))}{more}"


_PLAIN = re.compile(r"[^\W\d]\w*")


def in_sql(name: str) -> str:
    """A name as a question spells it: in double quotes, if it isn't a single word.

    Examples:
        >>> in_sql("age"), in_sql("hours-per-week")
        ('age', '"hours-per-week"')
    """
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def column_meant(name: str, known: Iterable[str]) -> str:
    """The nearest of the columns: also one of several words, of which this name is one.

    Examples:
        >>> column_meant("hours", ["age", "hours-per-week"])
        'did you mean "hours-per-week"? such a name stands in double quotes'
    """
    names = list(known)
    for each in names:
        if in_sql(each) != each and name.casefold() in re.split(r"\W+", each.casefold()):
            return f"did you mean {in_sql(each)}? such a name stands in double quotes"
    return meant(name, names, in_sql)


class Names:
    """Gives out names, each once, in any case."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The name wanted, or that with the first free number behind it.

        Examples:
            >>> names = Names()
            >>> names.take("n"), names.take("N")
            ('n', 'N_1')
        """
        folded = wanted.casefold()
        number = self._numbers.get(folded, 0)
        name = f"{wanted}_{number}" if number else wanted
        while number and name.casefold() in self._numbers:
            number += 1
            name = f"{wanted}_{number}"
        self._numbers[folded] = number + 1
        self._numbers.setdefault(name.casefold(), 1)
        return name


UNIT = "the unit"
"""The entity of columns that hold a unit's id."""

MOST_SCANS = 32
"""How many times tables may be read in one question, each use of a WITH counted."""

Common: TypeAlias = "Mapping[str, CommonTable]"
"""What WITH defines, by name in lower case."""


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


Schema: TypeAlias = tuple[str, ...]
"""The names before a table's own, as in `project.dataset.table`, in lower case."""

_CATALOGUES = {"information_schema", "pg_catalog", "sys"}
"""Schemas of databases' own tables, which no declared table is in."""


def schema_of(node: exp.Expression) -> Schema:
    """The names before the table's in a table's or column's node; SQL Server leaves one out between two points."""
    names = [getattr(node.args.get(part), "name", "") for part in ("catalog", "db")]
    return tuple(name.casefold() for name in names if name)


def agree(schema: Schema, other: Schema) -> bool:
    """Whether two ways to name a schema can mean the same: as far as both say it, from the right.

    Examples:
        >>> agree(("project", "sales"), ("sales",)), agree((), ("sales",)), agree(("hr",), ("sales",))
        (True, True, False)
    """
    return all(a == b for a, b in zip(reversed(schema), reversed(other), strict=False))


def declared_as(node: exp.Table, tables: Sequence[Table], schema: Schema) -> Table | None:
    """The declared table that a name in FROM means, with its schema or without; None if it is no declared one's.

    A table may have been declared by a name with a point in it, `sales.orders`. Such a name says of which schema the
    table is, so that `hr.orders` is not another word for it, nor for a table `orders` beside it.

    Args:
        node: the name.
        tables: the declared ones.
        schema: the one they are in; empty, if any will do.
    """
    written, name = schema_of(node), node.name.casefold()
    named = {table.name.casefold(): table for table in tables}
    for start in range(len(written)):
        found = named.get(".".join((*written[start:], name)))
        if found is not None:
            return found
    if not written or name not in named:
        return named.get(name)
    if not schema and (written[-1] in _CATALOGUES or any(other.endswith(f".{name}") for other in named)):
        return None
    return named[name] if agree(written, schema) else None


@dataclass(slots=True)
class Item:
    """What stands in FROM under one name.

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
    """What names mean in one SELECT."""

    def __init__(self, facts: Facts, items: Iterable[Item], outer: Scope | None = None) -> None:
        """Names in these items, else in the outer scope.

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
            return UnknownTable(f"no table here is called {name!r}", hint=meant(node.table, called), at=at)
        names = [column.name for item in items for column in item.columns.values()]
        where = f"{items[0].called!r} has no" if len(items) == 1 else "no table here has a"
        hint = column_meant(node.name, names)
        if _TYPOGRAPHIC & set(node.name):
            hint = "a text stands in straight quotes, as in 'text'"
        if node.this.args.get("quoted"):
            hint = f"a text stands in single quotes, as in '{node.name[:MOST_SHOWN]}'; {hint}"
        return UnknownColumn(f"{where} column {node.name!r}", hint=hint, at=at)


def is_unit(expr: ir.Expr, facts: Facts, unit: Unit) -> bool:
    """Whether an expression is the unit's id, and the unit is no more than that."""
    return unit.per is None and facts.entity(expr) == UNIT


@dataclass(frozen=True, slots=True)
class Derived:
    """A subquery's rows, with its columns by the names it gives them."""

    relation: ir.Relation
    columns: tuple[tuple[str, ir.Column], ...]


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


class Derive(Protocol):
    """Reads a subquery; handed in, because subqueries have FROM clauses of their own."""

    def __call__(self, query: exp.Query, common: Common) -> Derived:
        """The subquery's rows and columns."""
        ...


@dataclass(slots=True)
class CommonTable:
    """A subquery that WITH names: read once, and used any number of times."""

    query: exp.Query
    common: Common
    names: tuple[str, ...]
    derived: Derived | None = None
    used: bool = False


def common_of(query: exp.Query, common: Common) -> Common:
    """What a query's WITH defines, besides what is defined around it; each may use those before it."""
    clause = query.args.get("with_")
    if clause is None:
        return common
    if clause.args.get("recursive"):
        raise Unsupported("WITH RECURSIVE isn't offered: how often it repeats would depend on the rows")
    known = dict(common)
    for each in clause.expressions:
        alias = each.args["alias"]
        names = tuple(column.name for column in alias.args.get("columns") or ())
        known[alias.this.name.casefold()] = CommonTable(each.this, dict(known), names)
    return known


@dataclass(slots=True)
class SelectContext:
    """What all SELECTs of one question have in common.

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
            raise Unsupported(
                f"a question reads tables {MOST_SCANS} times at the most", hint="ask several smaller ones"
            )


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
    """What a link's end names: the unit itself, or a row of the table."""
    unit = table.unit
    if unit is not None and unit.per is None and column.casefold() == str(unit.column).casefold():
        return UNIT
    return f"{table.name}.{column}".casefold()


def renamed(held: tuple[tuple[str, ir.Column], ...], names: Sequence[str]) -> tuple[tuple[str, ir.Column], ...]:
    """Columns under the names that an alias lists, as far as it does.

    Raises:
        TypeMismatch: it lists more than there are.
    """
    if len(names) > len(held):
        raise TypeMismatch(f"{len(names)} names are listed for {len(held)} columns")
    return tuple((names[n] if n < len(names) else name, column) for n, (name, column) in enumerate(held))
