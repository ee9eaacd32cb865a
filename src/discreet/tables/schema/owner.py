"""Owners: whose a row is, said by its own table or found along links from table to table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InvalidArgument
from discreet.privacy import Period, Unit
from discreet.tables.schema.column import Kind
from discreet.tables.schema.table import Link, Table

MOST_HOPS = 16
"""How many links may be followed to a row's owner. Each is a join in every question, so no honest schema needs more."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A link that is followed to a row's owner.

    Args:
        column: of the table left.
        table: the table entered.
        to: its column that is equal.
    """

    column: str
    table: Table
    to: str


@dataclass(frozen=True, slots=True)
class Owner:
    """How the unit of a table's rows is found.

    Args:
        unit: its columns are those of the table where the hops end; of the table itself, if there are none.
        hops: the links to follow, in order. A link that ends at the id itself isn't followed: the id is there already.
    """

    unit: Unit
    hops: tuple[Hop, ...] = ()

    def signature(self, table: Table) -> tuple[Kind | None, Period | None]:
        """What the units of two tables must have in common before they can be equal: the id's kind, and the period.

        Args:
            table: whose rows this is the owner of.
        """
        last = self.hops[-1].table if self.hops else table
        return None if self.unit.column is None else last.column(self.unit.column).kind, self.unit.per

    def __str__(self) -> str:
        """The unit, and the way to it."""
        way = "".join(f"{hop.column} → {hop.table.name}.{hop.to} → " for hop in self.hops)
        return f"{way}{self.unit}"


def owner_of(table: Table, tables: Sequence[Table]) -> Owner | None:
    """How the unit of a table's rows is found; None if the table is public.

    Guarantee: there is one way only. A table whose links lead to private tables in two ways is refused, because its
    rows would belong to two units, of which one would be protected and the other not.

    Args:
        table: whose rows.
        tables: all of the dataset.

    Raises:
        InvalidArgument: no link leads to a table with a unit, or two do; a link leads nowhere, to values of another
            kind, to a table where each row is a unit, or elsewhere than the table's own unit; or links lead in a
            circle, or beyond `MOST_HOPS`.
    """
    return SchemaGraph(tables).owner(table)


class SchemaGraph:
    """The tables of a dataset by name, and the links between them.

    Args:
        tables: all of the dataset.

    Raises:
        InvalidArgument: two tables have one name (names differ in more than case).
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        """Note the names."""
        self._tables: dict[str, Table] = {}
        for table in tables:
            if table.name.casefold() in self._tables:
                raise InvalidArgument(f"there are two tables of one name: {table.name!r}")
            self._tables[table.name.casefold()] = table

    def target(self, table: Table, link: Link) -> Table:
        """The table that a link leads to.

        Raises:
            InvalidArgument: there is no such table or column, or values of the two columns can't be equal.
        """
        target = self._tables.get(link.table.casefold())
        if target is None:
            raise InvalidArgument(
                f"table {table.name!r} is linked to {link.table!r}, which isn't declared",
                hint="declare that table too, or leave the link out",
            )
        if not target.has(link.to):
            raise InvalidArgument(
                f"table {table.name!r} is linked to the column {link.to!r}, which table {target.name!r} doesn't have",
                hint=f"it has {', '.join(column.name for column in target.columns)}",
            )
        kinds = table.column(link.column).kind, target.column(link.to).kind
        if kinds[0] is not kinds[1]:
            raise InvalidArgument(
                f"the link {link} of table {table.name!r} leads from {kinds[0]} values to {kinds[1]} values",
                hint="declare both columns as one kind",
            )
        return target

    def owner(self, table: Table) -> Owner | None:
        """How the unit of a table's rows is found; None if the table is public.

        Raises:
            InvalidArgument: as for `owner_of`.
        """
        if table.public:
            return None
        ways = [link for link in table.links if not self.target(table, link).public]
        if table.unit is None:
            return self._followed(table)
        own = Owner(table.unit)
        for link in ways:
            other = self._beyond(table, link)
            if table.unit.is_row or _folded(other) != _folded(own):
                raise InvalidArgument(
                    f"the unit of table {table.name!r} is {table.unit}, but its link {link} says that rows belong "
                    f"to another",
                    hint="leave out the link; or the unit, if the link says whose a row is",
                )
        return own

    def _followed(self, table: Table) -> Owner:
        """The owner of rows whose table has no unit of its own."""
        return self._beyond(table, self._way(table))

    def _way(self, table: Table) -> Link:
        """The one link to a private table."""
        ways = [link for link in table.links if not self.target(table, link).public]
        if not ways:
            raise InvalidArgument(
                f"nothing says whose the rows of table {table.name!r} are",
                hint="declare a unit, a link to a table that has one, or public = true",
            )
        if len(ways) > 1:
            raise InvalidArgument(
                f"the links {ways[0]} and {ways[1]} of table {table.name!r} both say whose its rows are",
                hint="keep the one that leads to those who are to be protected",
            )
        return ways[0]

    def _beyond(self, table: Table, link: Link) -> Owner:
        """The owner that is found where a link leads."""
        hops = [Hop(link.column, self.target(table, link), link.to)]
        while (unit := hops[-1].table.unit) is None:
            here = hops[-1].table
            if here.name == table.name or any(hop.table.name == here.name for hop in hops[:-1]):
                raise InvalidArgument(
                    f"the links of table {here.name!r} lead in a circle", hint="declare the unit in one of its tables"
                )
            if len(hops) == MOST_HOPS:
                raise InvalidArgument(
                    f"the links of table {table.name!r} lead further than {MOST_HOPS} tables",
                    hint="add the id itself to the table",
                )
            link = self._way(here)
            hops.append(Hop(link.column, self.target(here, link), link.to))
        if unit.is_row:
            raise InvalidArgument(
                f"each row of table {hops[-1].table.name!r} is a unit of its own, so no row of {table.name!r} "
                f"belongs to one",
                hint=f"declare {hops[-1].to!r} as the unit of {hops[-1].table.name!r}",
            )
        while hops and unit.per is None and hops[-1].to.casefold() == str(unit.column).casefold():
            unit = Unit(hops.pop().column)
        return Owner(unit, tuple(hops))


def _folded(owner: Owner) -> tuple[str, ...]:
    """What two owners have in common if they are the same: names of tables and columns differ in more than case."""
    return tuple(name.casefold() for hop in owner.hops for name in (hop.column, hop.table.name, hop.to)) + tuple(
        str(part).casefold() for part in (owner.unit.column, owner.unit.per, owner.unit.at)
    )
