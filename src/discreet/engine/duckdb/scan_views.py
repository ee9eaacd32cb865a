"""Scan views: the rows that a question reads of each table, as `scan0, scan1, …`.

A scan has the rows of a table within what is declared of them, and only the columns that the question needs.

Snapshots hold values of the columns' kinds. The scan brings them within declared bounds: what lies outside is moved to
the nearer end. Ids and periods are the exception: moving them would make one unit of several people, so what lies
outside is NULL there, and the row is left out.

Guarantee: no value of a column's kind makes an expression of this file, or of `bounded_values`, raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.bounded_values import bounded, identified
from discreet.engine.duckdb.raw_views import list_keys
from discreet.engine.scan_view import ScanView, unit_columns, units_of
from discreet.privacy import Unit
from discreet.tables import Column, Hop, Owner, Table
from discreet.tables.admission import RawView, RawViews


def all_units(scan: str) -> str:
    """The twin of a scan view that has the rows of all units, whatever the view itself is narrowed to."""
    return f"{scan}_all"


def show_units(scan: str, unit: Sequence[str], units: str) -> str:
    """The statement that narrows a scan view to the units of a table."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)} SEMI JOIN {units} USING ({', '.join(unit)})"


def show_all_units(scan: str) -> str:
    """The statement by which a scan view shows all units, at first or again."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)}"


def make_scan_view(session: Connection, scan: ScanView, views: RawViews) -> None:
    """Make a scan view; where rows have a unit without a code, one of all of them that may be narrowed later.

    Args:
        session: see `scan_rows`.
        scan: which table, and what is asked of it.
        views: see `scan_rows`.
    """
    rows = scan_rows(session, scan, views)
    if not scan.unit or scan.is_coded:
        session.execute(f"CREATE TEMP VIEW {scan.name} AS {rows}")
        return
    session.execute(f"CREATE TEMP VIEW {all_units(scan.name)} AS {rows}")
    session.execute(show_all_units(scan.name))


def scan_rows(session: Connection, scan: ScanView, views: RawViews) -> str:
    """The rows of a scan view, in SQL: the unit, each column as `c…` with its keys enforced, or as `r…` without.

    Rows whose unit isn't known are left out here, before anything else is asked about them.

    Args:
        session: with the raw rows in it, and the lists of keys.
        scan: which table, and what is asked of it.
        views: of the table, and of those in which its owners are found.
    """
    stages = _Stages(session, scan.name, scan.table, views[scan.table.name.casefold()])
    if scan.owner is not None and scan.owner.hops and not stages.raw.is_noted:
        _add_owners(stages, scan.owner, views)
    elif scan.owner is not None:
        ids = _noted_ids(stages, scan.owner) if scan.owner.hops else _own_ids(stages, scan.owner.unit)
        if scan.is_coded:
            stages.read += ["code", "size"]
            ids = ["code", "size", *ids]
        stages.final += (f"{value} AS {name}" for value, name in zip(ids, scan.unit, strict=True))
    _add_columns(stages, scan)
    return stages.sql()


@dataclass(slots=True)
class _Stages:
    """Two projections of a table, one of the other, so that no value is computed twice; joins and conditions between.

    Args:
        session: where it is all made.
        prefix: of the names of the tables that are made for it.
        table: whose rows.
        raw: those rows.
    """

    session: Connection
    prefix: str
    table: Table
    raw: RawView
    read: list[str] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def sql(self) -> str:
        """The query. Where nothing but the number of rows matters, it has one constant column."""
        read, final = (", ".join(stage) or "1 AS one" for stage in (self.read, self.final))
        conditions = " AND ".join(self.conditions) or "true"
        return f"SELECT {final} FROM (SELECT {read} FROM {self.raw.sql}) {' '.join(self.joins)} WHERE {conditions}"

    def read_column(self, column: Column, name: str) -> None:
        """Read a column, within its bounds."""
        self.read.append(f"{bounded(column, self.raw.column(column))} AS {name}")

    def identify(self, column: Column, name: str, held: str | None = None) -> None:
        """Read a column that tells whose a row is, or when; rows that lack it, or lie outside, are left out.

        Args:
            column: as declared.
            name: what to call it.
            held: the column that has its values; None for itself.
        """
        self.read.append(f"{identified(column, held or self.raw.column(column))} AS {name}")
        self.conditions.append(f"{name} IS NOT NULL")
        if column.keys is not None:
            listed = self.list_keys(column, f"{name}s")
            self.joins.append(f"SEMI JOIN {listed} ON {name} = {listed}.v")

    def list_keys(self, column: Column, suffix: str) -> str:
        """Make a table of a column's declared keys."""
        listed = f"{self.prefix}_{suffix}"
        list_keys(self.session, listed, column.kind, enumerate(column.keys or ()))
        return listed


def _own_ids(stages: _Stages, unit: Unit) -> list[str]:
    """Read each row's unit, from the row itself: the id, and the beginning of its period."""
    if unit.column is None:
        return []
    stages.identify(stages.table.column(unit.column), "i0")
    if unit.at is None:
        return ["i0"]
    stages.identify(stages.table.column(unit.at), "i1")
    return ["i0", f"date_trunc('{unit.per}', CAST(i1 AS TIMESTAMP))"]


def _noted_ids(stages: _Stages, owner: Owner) -> list[str]:
    """Read each row's unit as admission noted it, where links lead there, and what both ends of the first allow."""
    first, last = owner.hops[0], owner.hops[-1].table
    stages.identify(stages.table.column(first.column), "l")
    stages.identify(first.table.column(first.to), "h", stages.raw.column(stages.table.column(first.column)))
    stages.identify(last.column(owner.unit.column or ""), "i0", "u0")
    if owner.unit.at is None:
        return ["i0"]
    stages.read.append("u1")
    return ["i0", "u1"]


def _add_owners(stages: _Stages, owner: Owner, views: RawViews) -> list[str]:
    """Add the unit of each row: all owners that the first link leads to. Returns the columns' names."""
    hop, *further = owner.hops
    found = f"{stages.prefix}_owners"
    units = _find_owners(stages, found, hop, Owner(owner.unit, tuple(further)), views)
    stages.identify(stages.table.column(hop.column), "l")
    stages.joins.append(f"JOIN {found} ON l = {found}.link")
    stages.final += units
    return units


def _find_owners(stages: _Stages, found: str, hop: Hop, owner: Owner, views: RawViews) -> list[str]:
    """Make a table of a link's ends: each value in `link`, with each owner once. Returns the owners' columns.

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
    if owner.hops:
        units = _add_owners(entered, owner, views)
    else:
        units, ids = list(unit_columns(units_of(owner), is_coded=False)), _own_ids(entered, owner.unit)
        entered.final += (f"{value} AS {name}" for value, name in zip(ids, units, strict=True))
    stages.session.execute(f"CREATE TEMP TABLE {found} AS SELECT DISTINCT * FROM ({entered.sql()})")
    return units


def _add_columns(stages: _Stages, scan: ScanView) -> None:
    """Add the columns that the question reads."""
    for number in sorted({*scan.checked, *scan.unchecked}):
        column = scan.table.columns[number]
        stages.read_column(column, f"r{number}")
    keys = dict(scan.numbered)
    for number in scan.unchecked:
        if number in keys:
            listed = f"keys{keys[number]}"
            stages.joins.append(f"LEFT JOIN {listed} ON r{number} = {listed}.v")
        stages.final.append(f"{listed}.i AS r{number}" if number in keys else f"r{number}")
    for number in scan.checked:
        column = scan.table.columns[number]
        if column.keys is None:
            stages.final.append(f"r{number} AS c{number}")
        else:
            listed = stages.list_keys(column, f"keys{number}")
            stages.joins.append(f"LEFT JOIN {listed} ON r{number} = {listed}.v")
            stages.final.append(f"{listed}.v AS c{number}")
