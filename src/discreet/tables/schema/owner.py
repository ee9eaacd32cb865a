"""Owners: the units that a table's rows belong to, with the links that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.privacy import Period, Unit
from discreet.tables.schema.column import Kind
from discreet.tables.schema.table import Table


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
    """The way from a table's rows to their unit.

    Args:
        unit: its columns are those of the table where the hops end; of the table itself, if there are none.
        hops: the links to follow, in order. A link that ends at the id itself isn't followed: the id is there already.
    """

    unit: Unit
    hops: tuple[Hop, ...] = ()

    def signature(self, table: Table) -> tuple[Kind | None, Period | None]:
        """The id's kind and the period, which must be alike before the units of two tables can be equal.

        Args:
            table: whose rows this is the owner of.
        """
        last = self.hops[-1].table if self.hops else table
        return None if self.unit.column is None else last.column(self.unit.column).kind, self.unit.per

    def words(self, table: Table) -> str:
        """The unit and the way to it in lower case; of a period, with the time zone in which it is told.

        Args:
            table: whose rows this is the owner of.
        """
        last = self.hops[-1].table if self.hops else table
        zone = None if self.unit.at is None else last.column(self.unit.at).time_zone
        return f"{self}{'' if zone is None else f', in {zone}'}".casefold()

    def __str__(self) -> str:
        way = "".join(f"{hop.column} → {hop.table.name}.{hop.to} → " for hop in self.hops)
        return f"{way}{self.unit}"


def identifying(table: Table, tables: Sequence[Table]) -> frozenset[str]:
    """The columns, in lower case, that tell units apart, or rows that links lead from or to."""
    own = {link.column for link in table.links}
    if table.unit is not None and table.unit.column is not None:
        own.add(table.unit.column)
    own |= {link.to for other in tables for link in other.links if link.table.casefold() == table.name.casefold()}
    return frozenset(column.casefold() for column in own)
