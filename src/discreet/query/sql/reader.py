"""The reader: what all SELECTs of one question have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from discreet.errors import QueryError, TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.sql.names import Names
from discreet.query.sql.places import place_of
from discreet.query.sql.scopes import UNIT, Facts, Scope
from discreet.tables import Table

if TYPE_CHECKING:
    from sqlglot import exp

MOST_SCANS = 32
"""How many times tables may be read in one question, each use of a WITH counted."""

Common: TypeAlias = "Mapping[str, Shared]"
"""What WITH defines, by name in lower case."""


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
class Shared:
    """A subquery that WITH names: read once, and used any number of times."""

    query: exp.Query
    common: Common
    names: tuple[str, ...]
    derived: Derived | None = None
    used: bool = False


@dataclass(slots=True)
class Reader:
    """What all SELECTs of one question have in common.

    Args:
        text: the question.
        tables: those it may read.
        derive: reads a subquery.
        facts: about the columns of all relations.
        aliases: given to relations, in the order in which they are met.
        scans: how many there are so far.
    """

    text: str
    tables: Sequence[Table]
    derive: Derive
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


def note_columns(reader: Reader, scan: ir.Scan) -> None:
    """Note which of a table's columns say whose a row is, and which are unique."""
    table, facts = scan.table, reader.facts
    facts.unique |= {(scan.alias, table.column(name).name) for name in table.unique}
    if scan.owner is None:
        return
    for other in reader.tables:
        for link in other.links:
            if link.table.casefold() == table.name.casefold():
                facts.entities[(scan.alias, table.column(link.to).name)] = _entity(table, link.to)
    for link in table.links:
        target = next((each for each in reader.tables if each.name.casefold() == link.table.casefold()), None)
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


@contextmanager
def placed(text: str, node: exp.Expression) -> Iterator[None]:
    """Give an error the place of the node, if it has none."""
    try:
        yield
    except QueryError as error:
        error.place = error.place or place_of(text, node)
        raise
