"""The views `door0, door1, …`: the rows of a table as the door lets them in, with only the columns a question needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.engine.door import bounded, identified
from discreet.engine.limiting import everybody, let_in
from discreet.engine.listing import list_keys
from discreet.engine.usage import Door
from discreet.engine.views import View, Views
from discreet.privacy import Unit
from discreet.tables import Column, Hop, Owner, Table
from discreet.tables.session import Session


def make_door(session: Session, door: Door, views: Views) -> None:
    """Make a door: the unit in `u0, u1`, each column as `c…` with its keys enforced, or as `r…` without.

    Rows whose unit isn't known are left out here, before anything else is asked about them. Where rows have a unit, the
    door is a view of all of them that may be narrowed later.

    Args:
        session: with the raw rows in it.
        door: which table, and what is asked of it.
        views: of the table, and of those in which its owners are found.
    """
    stages = _Stages(session, door.name, door.table, views[door.table.name.casefold()])
    if door.owner is not None and door.owner.hops:
        _let_owned_in(stages, door.owner, views)
    elif door.owner is not None:
        _let_units_in(stages, door.owner.unit)
    _let_columns_in(stages, door)
    if not door.units:
        session.execute(f"CREATE TEMP VIEW {door.name} AS {stages.sql()}")
        return
    session.execute(f"CREATE TEMP VIEW {everybody(door.name)} AS {stages.sql()}")
    for statement in let_in([door.name]):
        session.execute(statement)


@dataclass(slots=True)
class _Stages:
    """Two projections of a table, one of the other, so that no value is computed twice; joins and conditions between.

    Args:
        session: where it is all made.
        prefix: of the names of the tables that are made for it.
        table: whose rows.
        raw: those rows.
    """

    session: Session
    prefix: str
    table: Table
    raw: View
    read: list[str] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def sql(self) -> str:
        """The query. Where nothing but the number of rows matters, it has one constant column."""
        read, final = (", ".join(stage) or "1 AS one" for stage in (self.read, self.final))
        conditions = " AND ".join(self.conditions) or "true"
        return f"SELECT {final} FROM (SELECT {read} FROM {self.raw.name}) {' '.join(self.joins)} WHERE {conditions}"

    def let_in(self, column: Column, name: str) -> None:
        """Let in a column, within its bounds."""
        self.read.append(f"{bounded(column, self.raw.column(column))} AS {name}")

    def identify(self, column: Column, name: str) -> None:
        """Let in a column that tells whose a row is, or when; rows that lack it, or lie outside, are left out."""
        self.read.append(f"{identified(column, self.raw.column(column))} AS {name}")
        self.conditions.append(f"{name} IS NOT NULL")
        if column.keys is not None:
            listed = self.list_keys(column, f"{name}s")
            self.joins.append(f"SEMI JOIN {listed} ON {name} = {listed}.v")

    def list_keys(self, column: Column, suffix: str) -> str:
        """Make a table of a column's declared keys."""
        listed = f"{self.prefix}_{suffix}"
        list_keys(self.session, listed, column.kind, enumerate(column.keys or ()))
        return listed


def _let_units_in(stages: _Stages, unit: Unit) -> list[str]:
    """Whose a row is: the id, and the beginning of the period in which the time lies. Returns the columns' names."""
    if unit.column is None:
        return []
    stages.identify(stages.table.column(unit.column), "i0")
    stages.final.append("i0 AS u0")
    if unit.at is None:
        return ["u0"]
    stages.identify(stages.table.column(unit.at), "i1")
    stages.final.append(f"date_trunc('{unit.per}', CAST(i1 AS TIMESTAMP)) AS u1")
    return ["u0", "u1"]


def _let_owned_in(stages: _Stages, owner: Owner, views: Views) -> list[str]:
    """Whose a row is: all owners that the first link leads to. Returns the columns' names."""
    hop, *further = owner.hops
    found = f"{stages.prefix}_owners"
    units = _find_owners(stages, found, hop, Owner(owner.unit, tuple(further)), views)
    stages.identify(stages.table.column(hop.column), "l")
    stages.joins.append(f"JOIN {found} ON l = {found}.link")
    stages.final += units
    return units


def _find_owners(stages: _Stages, found: str, hop: Hop, owner: Owner, views: Views) -> list[str]:
    """Make a table of what a link leads to: each value in `link`, with each owner once. Returns the owners' columns.

    Args:
        stages: of the table that is left.
        found: what to call the table.
        hop: the link.
        owner: of the rows in the table that is entered.
        views: of all tables.
    """
    entered = _Stages(stages.session, found, hop.table, views[hop.table.name.casefold()])
    entered.identify(hop.table.column(hop.to), "h")
    entered.final.append("h AS link")
    units = _let_owned_in(entered, owner, views) if owner.hops else _let_units_in(entered, owner.unit)
    stages.session.execute(f"CREATE TEMP TABLE {found} AS SELECT DISTINCT * FROM ({entered.sql()})")
    return units


def _let_columns_in(stages: _Stages, door: Door) -> None:
    """What is asked about a row."""
    for number in sorted({*door.checked, *door.unchecked}):
        column = door.table.columns[number]
        stages.let_in(column, f"r{number}")
    stages.final += [f"r{number}" for number in door.unchecked]
    for number in door.checked:
        column = door.table.columns[number]
        if column.keys is None:
            stages.final.append(f"r{number} AS c{number}")
        else:
            listed = stages.list_keys(column, f"keys{number}")
            stages.joins.append(f"LEFT JOIN {listed} ON r{number} = {listed}.v")
            stages.final.append(f"{listed}.v AS c{number}")
