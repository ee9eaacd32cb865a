"""Limits on joins: how many pairs of rows one unit may make, so that none can make a question fail, or never end.

A hundred rows of one unit, joined with themselves six times, make a million million. An analyst who joins the rows of
one person like that learns by waiting whether there are any, however little noise is left to tell it. So a unit whose
rows would make more pairs in a join than the plan lets it contributes only as many rows as make that many, chosen by a
hash of these rows. Which rows are left out depends on the unit alone, not on any other's rows; limits are applied
afterwards, as always.

A unit may always make as many pairs as it has rows on either side. So joins that only hand rows on, as along a link,
leave nothing out; and it makes no difference to any answer whether they are known to be of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.aggregation import rows_at_most
from discreet.engine.expression_compiler import Rows
from discreet.engine.scan_view import ScanView, position
from discreet.query.ir import Exact, Join, Name, Scan, equal_columns, is_unique, joined_on, makes_pairs, scans


class JoinLimits:
    """Finds the joins in which one unit's rows may make many pairs, and sees to it that they don't.

    Args:
        session: with the scan views in it.
        exact: the question.
        views: its scan views.
    """

    def __init__(self, session: Connection, exact: Exact, views: Sequence[ScanView]) -> None:
        self._most = exact.most_pairs
        self._session = session
        self._views = views
        self._sizes: dict[str, int] = {}
        self._unique: dict[tuple[str, tuple[int, ...]], bool] = {}
        self._tables: dict[Any, Any] = {}
        links = [(link.table, link.to) for scan in exact.scans for link in scan.table.links]
        links += [(hop.table.name, hop.to) for scan in exact.scans for hop in (scan.owner.hops if scan.owner else ())]
        units = [(table.name, table.unit.column) for table in exact.tables if table.unit and table.unit.column]
        self._named = {(table.casefold(), column.casefold()) for table, column in (*links, *units)}

    def limited(self, join: Join, left: Rows, right: Rows) -> tuple[Rows, Rows]:
        """Both sides of a join, without a unit's surplus rows."""
        if not (left.unit or right.unit) or not makes_pairs(join) or not self._may_exceed(join):
            return left, right
        left, right = self._made(left), self._made(right)
        if left.unit:
            return self._limited(left, right, _meeting(join, left, right)), right
        return left, self._limited(right, left, _meeting(join, right, left))

    def _made(self, rows: Rows) -> Rows:
        """The rows as a table of the session, so that they are computed once, however often they are looked at."""
        import ibis

        if rows.table not in self._tables:
            name = f"side{len(self._tables)}"
            sql = ibis.to_sql(rows.table, dialect="duckdb")
            self._session.execute(f"CREATE TEMP TABLE {name} AS {sql}")
            self._tables[rows.table] = ibis.table(rows.table.schema(), name=name)
        return replace(rows, table=self._tables[rows.table])

    def _limited(self, private: Rows, others: Rows, on: Sequence[tuple[str, str]]) -> Rows:
        """The private side of a join, without the surplus rows of units that have too many there.

        Args:
            private: the rows of which some may be left out; made.
            others: those they are joined with, public or of the same unit; made.
            on: pairs of columns that are equal for certain. Conditions beside these leave fewer pairs, and are no
                matter.
        """
        import ibis

        same = [*zip(private.unit, others.unit, strict=False), *on]
        over = f"over{len(self._tables)}"
        rows, theirs = private.table.get_name(), others.table.get_name()
        for statement in _counting(rows, theirs, private.unit, same, over=over, most=self._most):
            self._session.execute(statement)
        if not self._session.execute(f"SELECT 1 FROM {over} LIMIT 1"):
            return private
        kept = f"kept{len(self._tables)}"
        self._session.execute(f"CREATE TEMP TABLE {kept} AS {_rows_within(rows, private, same, over)}")
        return replace(private, table=ibis.table(private.table.schema(), name=kept))

    def _may_exceed(self, join: Join) -> bool:
        """Whether the rows of a unit may make more pairs than they should."""
        sides = (join.left, join.right)
        sizes = {scan.alias: self._size(scan) for side in sides for scan in scans(side)}
        if prod(rows_at_most(side, sizes) for side in sides) <= self._most:
            return False
        return not any(is_unique(side, joined_on(join), self._is_key) for side in sides)

    def _is_key(self, scan: Scan, names: frozenset[Name]) -> bool:
        """Whether a table has at most one row of a unit for each value of some columns."""
        found = sorted(name for alias, name in names if alias == scan.alias)
        if any(name in found for name in map(str.casefold, scan.table.unique)):
            return True
        if not scan.table.public and not any((scan.table.name.casefold(), name) in self._named for name in found):
            return False  # not meant to be one, so it isn't worth looking
        view = self._view(scan)
        columns = tuple(position(name, scan.table) for name in found)
        if (view.name, columns) not in self._unique:
            values = [f"c{number}" for number in columns]
            units = list(view.unit)
            # Mostly no two rows of any units are equal there, which is seen sooner.
            self._unique[view.name, columns] = (
                bool(values) and self._are_different(view, values, values)
            ) or self._are_different(view, [*units, *values], values)
        return self._unique[view.name, columns]

    def _are_different(self, view: ScanView, by: Sequence[str], values: Sequence[str]) -> bool:
        """Whether no two rows are equal in some columns; those where a value is NULL equal none."""
        present = " AND ".join(f"{value} IS NOT NULL" for value in values) or "true"
        group = f"GROUP BY {', '.join(by)}" if by else ""
        return not self._session.execute(
            f"SELECT 1 FROM {view.name} WHERE {present} {group} HAVING count(*) > 1 LIMIT 1"
        )

    def _size(self, scan: Scan) -> int:
        """How many rows a table has."""
        view = self._view(scan).name
        if view not in self._sizes:
            ((self._sizes[view],),) = self._session.execute(f"SELECT count(*) FROM {view}")
        return self._sizes[view]

    def _view(self, scan: Scan) -> ScanView:
        return next(view for view in self._views if view.is_of(scan))


def _counting(  # noqa: PLR0913 — two tables, where they meet, and what to make
    rows: str, theirs: str, unit: Sequence[str], same: Sequence[tuple[str, str]], *, over: str, most: int
) -> tuple[str, str]:
    """Statements that count what rows meet, and find the units whose rows make too many pairs.

    Args:
        rows: of the private side.
        theirs: of the other one.
        unit: the columns that say whose a row is.
        same: pairs of columns in which rows are equal that meet.
        over: what to call the units; what their rows meet is called the same with `_met`.
        most: how many pairs are never too many.
    """
    their_columns = [f"{their} AS t{number}" for number, (_, their) in enumerate(same)]
    our_columns = list(dict.fromkeys([*unit, *(our for our, _ in same)]))
    met = f"SELECT {', '.join([*their_columns, 'count(*) AS met'])} FROM {theirs} GROUP BY ALL"
    own = f"SELECT {', '.join([*our_columns, 'count(*) AS own'])} FROM {rows} GROUP BY ALL"
    # As floats, which don't overflow, and are exact up to 2^53, far above any limit.
    sums = ", ".join(f"sum({each}::DOUBLE)" for each in ("own", "met"))
    most_of_unit = f"greatest({most}, {sums})"
    pairs = f"""
        SELECT {", ".join(unit)}, {most_of_unit} AS most FROM ({own}) JOIN {over}_met ON {_equal(same)}
        GROUP BY ALL HAVING sum(own::DOUBLE * met) > {most_of_unit}
    """
    return f"CREATE TEMP TABLE {over}_met AS {met}", f"CREATE TEMP TABLE {over} AS {pairs}"


def _rows_within(rows: str, private: Rows, same: Sequence[tuple[str, str]], over: str) -> str:
    """The rows without a unit's surplus: each unit keeps its first ones by a hash, which leaves it to chance.

    Equal hashes are told apart by the rows themselves; rows that are equal in all columns are one and the same.
    """
    columns = ", ".join([*private.unit, *private.names.values(), *private.unchecked.values()])
    unit = ", ".join(private.unit)
    in_order = f"PARTITION BY {unit} ORDER BY hash({columns}), {columns} ROWS UNBOUNDED PRECEDING"
    return f"""
        SELECT {columns} FROM {rows} ANTI JOIN {over} USING ({unit})
        UNION ALL
        SELECT {columns} FROM (
            SELECT * FROM {rows} JOIN {over} USING ({unit}) LEFT JOIN {over}_met ON {_equal(same)}
        ) QUALIFY sum(coalesce(met, 0)::DOUBLE) OVER ({in_order}) <= most
    """


def _equal(same: Sequence[tuple[str, str]]) -> str:
    """The condition under which rows meet what was counted."""
    return " AND ".join(f"{our} = t{number}" for number, (our, _) in enumerate(same)) or "true"


def _meeting(join: Join, private: Rows, others: Rows) -> list[tuple[str, str]]:
    """The columns that a join's predicate says are equal, as they are called in the tables of both sides."""
    found = []
    for pair in equal_columns(join.predicate):
        for one, other in (pair, pair[::-1]):
            if one in private.names and other in others.names:
                found.append((private.names[one], others.names[other]))
                break
    return found
