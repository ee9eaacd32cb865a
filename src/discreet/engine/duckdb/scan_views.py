"""Views that a question reads: the tables of a snapshot as `raw0, raw1, …`, and its scans as `scan0, scan1, …`.

A scan has the rows of a table within what is declared of them, and only the columns that the question needs.

Snapshots hold values of the columns' kinds. The scan brings them within declared bounds: what lies outside is moved to
the nearer end. Ids and periods are the exception: moving them would make one unit of several people, so what lies
outside is NULL there, and the row is left out.

Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias, cast

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import SQL_TYPES, bigint, double, moment, name, parquet
from discreet.engine.interface import GREATEST, LEAST
from discreet.engine.relation_compiler import ScanView
from discreet.exact.rounding import nearest
from discreet.privacy import Bounds, KeyValue, Unit
from discreet.tables import Column, Hop, Kind, Owner, Table
from discreet.tables.admission import Snapshot

_CODES = (("UTINYINT", 2**8), ("USMALLINT", 2**16), ("UINTEGER", 2**32))
_INT64 = range(LEAST, GREATEST + 1)


# ── Tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class RawView:
    """An admitted table, readable in one session.

    Args:
        name: of the view with its rows.
        names: of its columns, by their names in lower case.
    """

    name: str
    names: Mapping[str, str]

    def column(self, column: Column) -> str:
        """A declared column, in SQL."""
        return name(self.names[column.name.casefold()])


RawViews: TypeAlias = Mapping[str, RawView]
"""By the lower-case name of the table."""


def raw_views_of(session: Session, tables: Sequence[Table], snapshot: Snapshot) -> RawViews:
    """Make tables of a snapshot readable in a session, and lock the session.

    Args:
        session: a fresh one.
        tables: that a question reads.
        snapshot: in which they are; with the files open that any of them lie in.
    """
    files = {table.name.casefold(): snapshot.files(table) for table in tables}
    session.lock(allowed=[file for each in files.values() for file in each])
    found = {}
    for number, (table, paths) in enumerate(files.items()):
        view, held = f"raw{number}", snapshot.tables[table]
        if paths:
            session.execute(f"CREATE TEMP VIEW {view} AS FROM {parquet(paths)}")
        else:
            session.register(view, held.data)
        found[table] = RawView(view, {column.name.casefold(): column.name for column in held.columns})
    return found


def without_rows(session: Session, tables: Sequence[Table]) -> RawViews:
    """The same tables without rows: a function of what is declared, for which no snapshot is opened.

    Args:
        session: that is locked, within a transaction.
        tables: that a question reads.
    """
    found = {}
    for number, table in enumerate(tables):
        view = f"raw{number}"
        columns = ", ".join(f"{name(column.name)} {SQL_TYPES[column.kind]}" for column in table.columns)
        session.execute(f"CREATE TEMP TABLE {view} ({columns})")
        found[table.name.casefold()] = RawView(view, {column.name.casefold(): column.name for column in table.columns})
    return found


def list_keys(session: Session, table: str, kind: Kind, values: Iterable[tuple[int, KeyValue]]) -> None:
    """Create a table of public values `v` and their numbers `i`. Values enter as parameters, not as SQL.

    Args:
        session: where.
        table: the new table's name.
        kind: of the values.
        values: each with its number; None for NULL.
    """
    # No column can hold an integer beyond 64 bits, so such a key has no rows.
    rows = [(number, value) for number, value in values if not isinstance(value, int) or value in _INT64]
    code = next(name for name, size in _CODES if all(number < size for number, _ in rows))
    session.execute(f"CREATE TEMP TABLE {table} (i {code}, v {SQL_TYPES[kind]})")
    if rows:
        numbers, keys = map(list, zip(*rows, strict=True))
        session.execute(f"INSERT INTO {table} SELECT unnest(?), unnest(?)", [numbers, keys])


# ── Scans ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def all_units(scan: str) -> str:
    """The twin of a scan view that has the rows of all units, whatever the view itself is narrowed to."""
    return f"{scan}_all"


def show_units(scan: str, unit: Sequence[str], units: str) -> str:
    """The statement that narrows a scan view to the units of a table."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)} SEMI JOIN {units} USING ({', '.join(unit)})"


def show_all_units(scan: str) -> str:
    """The statement by which a scan view shows all units, at first or again."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)}"


def make_scan_view(session: Session, scan: ScanView, views: RawViews) -> None:
    """Make a scan view: the unit in `u0, u1`, each column as `c…` with its keys enforced, or as `r…` without.

    Rows whose unit isn't known are left out here, before anything else is asked about them. Where rows have a unit, the
    view is one of all of them that may be narrowed later.

    Args:
        session: with the raw rows in it.
        scan: which table, and what is asked of it.
        views: of the table, and of those in which its owners are found.
    """
    stages = _Stages(session, scan.name, scan.table, views[scan.table.name.casefold()])
    if scan.owner is not None and scan.owner.hops:
        _add_owners(stages, scan.owner, views)
    elif scan.owner is not None:
        _add_units(stages, scan.owner.unit)
    _add_columns(stages, scan)
    if not scan.units:
        session.execute(f"CREATE TEMP VIEW {scan.name} AS {stages.sql()}")
        return
    session.execute(f"CREATE TEMP VIEW {all_units(scan.name)} AS {stages.sql()}")
    session.execute(show_all_units(scan.name))


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
    raw: RawView
    read: list[str] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def sql(self) -> str:
        """The query. Where nothing but the number of rows matters, it has one constant column."""
        read, final = (", ".join(stage) or "1 AS one" for stage in (self.read, self.final))
        conditions = " AND ".join(self.conditions) or "true"
        return f"SELECT {final} FROM (SELECT {read} FROM {self.raw.name}) {' '.join(self.joins)} WHERE {conditions}"

    def read_column(self, column: Column, name: str) -> None:
        """Read a column, within its bounds."""
        self.read.append(f"{bounded(column, self.raw.column(column))} AS {name}")

    def identify(self, column: Column, name: str) -> None:
        """Read a column that tells whose a row is, or when; rows that lack it, or lie outside, are left out."""
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


def _add_units(stages: _Stages, unit: Unit) -> list[str]:
    """Add each row's unit, the id and the beginning of its period. Returns the columns' names."""
    if unit.column is None:
        return []
    stages.identify(stages.table.column(unit.column), "i0")
    stages.final.append("i0 AS u0")
    if unit.at is None:
        return ["u0"]
    stages.identify(stages.table.column(unit.at), "i1")
    stages.final.append(f"date_trunc('{unit.per}', CAST(i1 AS TIMESTAMP)) AS u1")
    return ["u0", "u1"]


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
    units = _add_owners(entered, owner, views) if owner.hops else _add_units(entered, owner.unit)
    stages.session.execute(f"CREATE TEMP TABLE {found} AS SELECT DISTINCT * FROM ({entered.sql()})")
    return units


def _add_columns(stages: _Stages, scan: ScanView) -> None:
    """Add the columns that the question reads."""
    for number in sorted({*scan.checked, *scan.unchecked}):
        column = scan.table.columns[number]
        stages.read_column(column, f"r{number}")
    stages.final += [f"r{number}" for number in scan.unchecked]
    for number in scan.checked:
        column = scan.table.columns[number]
        if column.keys is None:
            stages.final.append(f"r{number} AS c{number}")
        else:
            listed = stages.list_keys(column, f"keys{number}")
            stages.joins.append(f"LEFT JOIN {listed} ON r{number} = {listed}.v")
            stages.final.append(f"{listed}.v AS c{number}")


# ── Values within bounds ──────────────────────────────────────────────────────────────────────────────────────────────


def bounded(column: Column, value: str) -> str:
    """The values of an admitted column, within its bounds.

    Args:
        column: as declared.
        value: the column in SQL; a plain name, for it is repeated.
    """
    if column.bounds is not None:
        return moved(value, *_ends(column.kind, column.bounds))
    if column.kind is Kind.TEXT and column.keys is not None:
        # Longer than all keys, it is none of them; one sign more is enough to tell, and joins may write it out often.
        longest = max((len(str(key).encode()) for key in column.keys), default=0) + 1
        return f"CASE WHEN strlen({value}) > {longest} THEN left({value}, {longest}) ELSE {value} END"
    return value


def identified(column: Column, value: str) -> str:
    """The values of an admitted column that tells units apart; NULL where they lie outside its bounds."""
    return value if column.bounds is None else within(value, *_ends(column.kind, column.bounds))


def moved(value: str, lo: str, hi: str) -> str:
    """The value, or the nearer end. NULL stays NULL, which least() and greatest() don't promise.

    The usual case is tested first, so that only the others pay for the rest.
    """
    inside = f"{value} BETWEEN {lo} AND {hi}"
    return f"CASE WHEN {inside} THEN {value} WHEN {value} < {lo} THEN {lo} WHEN {value} > {hi} THEN {hi} END"


def within(value: str, lo: str, hi: str) -> str:
    """The value if it lies between the ends, else NULL."""
    return f"CASE WHEN {value} BETWEEN {lo} AND {hi} THEN {value} END"


def _ends(kind: Kind, bounds: Bounds) -> tuple[str, str]:
    """The bounds as constants: for integers the whole numbers within, for reals the nearest doubles."""
    if kind.is_time:
        return moment(bounds.lo), moment(bounds.hi)  # type: ignore[arg-type]  # a column's bounds are of its kind
    lo, hi = cast("Fraction", bounds.lo), cast("Fraction", bounds.hi)
    if kind is Kind.REAL:
        return double(nearest(lo)), double(nearest(hi))
    return bigint(min(max(ceil(lo), LEAST), GREATEST)), bigint(max(min(floor(hi), GREATEST), LEAST))
