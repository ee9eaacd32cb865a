"""Contributions: from the rows of a question to what each adds to its measures, as a relation that limits read.

It takes two stages, so that no value is computed twice: rows with what they bring, and what counts of it.

Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.duckdb.session import Connection
from discreet.duckdb.sql_text import SQL_TYPES, bigint
from discreet.engine.duckdb.aggregation import CONTRIBUTIONS, SOURCE_ROWS, Shape, adds_of, rows_at_most, shape_of
from discreet.engine.duckdb.bounded_values import numeric_ends
from discreet.engine.duckdb.clauses import key_lookup
from discreet.engine.duckdb.join_limits import JoinLimits
from discreet.engine.duckdb.raw_views import list_keys
from discreet.engine.duckdb.reading import Reading
from discreet.engine.duckdb.steps import as_number, clamped_steps, in_range
from discreet.engine.expression_compiler import guarded, selected
from discreet.engine.relation_compiler import JoinLimit, RelationCompiler
from discreet.engine.rewrites import eliminate_owner_joins, follow_noted_links, push_filters_down
from discreet.engine.scan_view import ScanView, listed_keys, scan_views_of, scanned_column, unit_columns
from discreet.exact.rounding import nearest
from discreet.privacy import KeyValue
from discreet.query.ir import (
    Call,
    Column,
    DistinctValues,
    Exact,
    Expr,
    Histogram,
    Join,
    Key,
    Literal,
    PerUnit,
    Sum,
    Units,
    name_of,
    nodes,
)
from discreet.tables import Kind, Table
from discreet.tables.admission import RawViews, Snapshot
from discreet.tables.schema.column import LONGEST_TEXT

_OfRows: TypeAlias = Sum | DistinctValues | Histogram
"""A measure to which each row contributes a value."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A question as it is carried out, with or without rows: a function of the plan and of what is noted beside rows.

    Args:
        exact: with all that can be said more shortly, and filters where they spare most.
        shape: of its limits.
        views: of its scans.
        rows: the SQL of its rows; None where that isn't known before tables are looked at.
        reading: of a snapshot.
    """

    exact: Exact
    shape: Shape
    views: tuple[ScanView, ...]
    rows: str | None
    reading: Reading

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables to read: those on the way to the units only where units are found anew."""
        scanned = {scan.table.name: scan.table for scan in self.exact.scans}
        return tuple(scanned.values()) if self.reading.ids else self.exact.tables

    @property
    def joins_as_written(self) -> bool:
        """Whether joins are made in their order: where several private tables meet, or keys are looked up before."""
        meet = len([scan for scan in self.exact.scans if scan.owner is not None]) > 1
        return meet or bool(self.shape.early)

    @property
    def aggregates(self) -> int:
        """How many values it adds up, about."""
        per_unit = (len(node.columns) for node in nodes(self.exact.source) if isinstance(node, PerUnit))
        return len(self.exact.measures) + sum(per_unit)

    @classmethod
    def of(cls, asked: Exact, snapshot: Snapshot) -> Compiled:
        """A question, compiled for a snapshot."""
        reading, exact = Reading.of(asked, snapshot), asked
        if any(isinstance(node, Join) for node in nodes(asked.source)):  # only these leave anything to rewrite
            if reading.ids:  # there is nothing to look up, and a row of several units is there once for each
                linked = follow_noted_links(asked, reading.is_unique)
                exact = linked if reading.keeps_sizes(linked) else asked
            else:
                exact = eliminate_owner_joins(asked)
            exact = push_filters_down(exact)
        is_coded = reading.keeps_sizes(exact)
        views = scan_views_of(exact, is_coded=is_coded)
        shape = shape_of(asked, is_coded=is_coded)
        early = tuple(key for view in views for _, key in view.numbered)
        shape = replace(shape, early=early, late=tuple(key for key in shape.late if key not in early))
        return cls(exact, shape, views, plain_rows(exact, views, is_coded), reading)


def plain_rows(exact: Exact, views: Sequence[ScanView], is_coded: bool) -> str | None:
    """The SQL of a question's rows; None where it depends on the rows that are joined, see `JoinLimits`.

    Args:
        exact: the question.
        views: the scan views of the question.
        is_coded: whether joins make no rows.
    """
    joins = not is_coded and any(isinstance(node, Join) for node in nodes(exact.source))
    return None if joins else _select(exact, views, None)


def make_key_lists(session: Connection, exact: Exact) -> None:
    """Make a table of each public list of keys, `keys0, keys1, …`."""
    for number, key in enumerate(exact.keys):
        if key.values is not None:
            list_keys(session, f"keys{number}", key.expr.type.kind, _listed_values(key, exact))


def make_contributions(  # noqa: PLR0913 — a question and where it is asked
    session: Connection, exact: Exact, shape: Shape, views: Sequence[ScanView], *, keep: bool, rows: str | None = None
) -> Shape:
    """Make what the limiting SQL reads, and say what it is called.

    Args:
        session: with the scan views and the lists of keys in it.
        exact: the question.
        shape: the question's shape.
        views: the scan views of the question.
        keep: whether the rows are costly to come by, so that they are kept: limits read them several times.
        rows: their SQL, as `plain_rows` gives it, if that was made before.
    """
    unit = list(unit_columns(shape.units, is_coded=shape.is_coded))
    values = _contributed(exact)
    read = list(unit)
    for number, key in enumerate(exact.keys):
        read.append(
            f"k{number}" if number in shape.early else f"{_as_key(f'k{number}', key.expr, key.values)} AS k{number}"
        )
    read += [f"{_as_read(column, measure)} AS {column}" for column, measure in values.items()]
    rows = rows or _select(exact, views, JoinLimits(session, exact, views).limited)
    source_rows = f"SELECT {', '.join(read) or 'one'} FROM ({rows})"
    if keep or shape.reads_source_rows:
        session.execute(f"CREATE TEMP {'TABLE' if keep else 'VIEW'} {SOURCE_ROWS} AS {source_rows}")
        source_rows = f"FROM {SOURCE_ROWS}"
    counted, joins = unit, []
    for number, key in enumerate(exact.keys):
        if key.values is None or number in {*shape.early, *shape.late}:
            counted.append(f"k{number}")
        else:
            joins.append(key_lookup(number))
            counted.append(f"keys{number}.i AS k{number}")
    for column, measure in values.items():
        if isinstance(measure, Histogram) and measure.values is not None:
            list_keys(session, f"bins_{column}", measure.value.type.kind, enumerate(measure.values))
            joins.append(f"LEFT JOIN bins_{column} ON {column} IS NOT DISTINCT FROM bins_{column}.v")
        counted.append(f"{_as_counted(column, measure, exact)} AS {column}")
    public = [f"k{number} IS NOT NULL" for number in shape.early]
    where = f"WHERE {' AND '.join(public)}" if public else ""
    found = f"SELECT {', '.join(counted) or 'one'} FROM ({source_rows}) {' '.join(joins)} {where}"
    if any(adds.is_of_values for adds in shape.measures):  # then many statements read it, and each would parse it
        session.execute(f"CREATE TEMP VIEW {CONTRIBUTIONS} AS {found}")
        return shape
    return replace(shape, contributions=f"({found}) AS {CONTRIBUTIONS}")


def _contributed(exact: Exact) -> Mapping[str, _OfRows]:
    """The measures to which each row contributes a value, by the column with it."""
    return {
        f"v{number}": measure
        for number, (measure, adds) in enumerate(zip(exact.measures, adds_of(exact.measures), strict=True))
        if not isinstance(measure, Units) and adds.has_column
    }


def _select(exact: Exact, views: Sequence[ScanView], limit: JoinLimit | None) -> str:
    """A SELECT of all rows of a question: the unit, the keys `k0, k1, …`, and the values under their names.

    It has one constant column, if there are none of these.
    """
    import ibis

    rows = RelationCompiler(views, limit).rows(exact.source)
    chosen = rows.units
    for number, key in enumerate(exact.keys):
        if isinstance(key.expr, Column) and listed_keys(key, exact) is not None:
            chosen[f"k{number}"] = rows.table[rows.unchecked[name_of(key.expr)]]
        else:
            chosen[f"k{number}"] = guarded(key.expr, rows.columns)
    chosen |= {name: guarded(measure.value, rows.columns) for name, measure in _contributed(exact).items()}
    return str(ibis.to_sql(selected(rows.table, chosen), dialect="duckdb"))


def _as_read(value: str, measure: _OfRows) -> str:
    """A row's contribution to a measure: a number, or a value as a key has it."""
    if isinstance(measure, Sum):
        return as_number(value, measure)
    return _as_key(value, measure.value)


def _as_counted(value: str, measure: _OfRows, exact: Exact) -> str:
    """The contribution as it counts: steps of the grid, the value itself, or the number of its bin."""
    if isinstance(measure, Sum):
        steps = clamped_steps(value, measure, _scanned_ends(measure.value, exact))
        return f"{bigint(measure.hi)} - {steps}" if measure.is_rest else steps
    if isinstance(measure, DistinctValues):
        return value
    number = f"bins_{value}.i"
    if measure.values is None:
        number = f"CASE WHEN {value} BETWEEN 0 AND {bigint(measure.size - 1)} THEN {value} END"
    return f"CAST({number} AS {'INTEGER' if measure.size <= 2**31 else 'BIGINT'})"


_MONOTONE = {"real", "negate", "add", "subtract", "multiply"}
"""With constants beside one value. The nearest double to a result never decreases where the result doesn't."""


def _scanned_ends(value: Expr, exact: Exact) -> tuple[float, float] | None:
    """The ends between which a value lies since the scan moved the column that it is computed of; None if not known.

    A value of cells is one of such: a column's place between its bounds, times a constant. Its ends are computed as the
    engine does, in doubles.
    """
    column = scanned_column(value, exact)
    if column is not None:
        return None if column.bounds is None else numeric_ends(column.kind, column.bounds)
    if not isinstance(value, Call) or value.function.name not in _MONOTONE or value.type.kind is not Kind.REAL:
        return None
    numbers = [
        nearest(arg.value) if isinstance(arg, Literal) and isinstance(arg.value, Fraction) else None
        for arg in value.args
    ]
    others = [arg for arg, number in zip(value.args, numbers, strict=True) if number is None]
    ends = _scanned_ends(others[0], exact) if len(others) == 1 else None
    if ends is None:
        return None
    found = [value.function.evaluate(*(end if number is None else number for number in numbers)) for end in ends]
    return None if None in found else (min(found), max(found))


def _listed_values(key: Key, exact: Exact) -> list[tuple[int, KeyValue]]:
    """The values of a public key with their numbers; without those that the scan would turn into NULL.

    A plain column's declared keys are enforced here, if the scan leaves that to the list (see `listed_keys`).
    """
    numbered, declared = list(enumerate(key.values or ())), listed_keys(key, exact)
    if declared is None:
        return numbered
    kept = frozenset(declared)
    return [(number, value) for number, value in numbered if value in kept]


def _as_key(value: str, expr: Expr, listed: Sequence[KeyValue] | None = None) -> str:
    """A value as one of its kind, as an admitted column has it: no NaN, no year that Python doesn't know.

    Equal keys must be one value, so there is only one zero. A long text needs no cut where it is looked up in a list of
    texts that are all shorter than a cut one.
    """
    kind = expr.type.kind
    if kind is Kind.TEXT and listed and all(len(str(each)) < LONGEST_TEXT for each in listed):
        return f"TRY_CAST({value} AS {SQL_TYPES[kind]})"
    kept_value = in_range(kind, f"TRY_CAST({value} AS {SQL_TYPES[kind]})")
    return f"CASE WHEN {kept_value} = 0 THEN 0 ELSE {kept_value} END" if kind is Kind.REAL else kept_value


def most_rows(session: Connection, exact: Exact, views: Sequence[ScanView], raw: RawViews) -> int:
    """How many rows the question can have, from how many its tables have."""
    counts = {}
    for scan in exact.scans:
        view, held = next(each for each in views if each.is_of(scan)), raw[scan.table.name.casefold()]
        is_multiplied = scan.owner is not None and bool(scan.owner.hops) and not held.is_noted
        known = None if is_multiplied else held.rows
        counts[scan.alias] = rows_in(session, view.name if is_multiplied else held.sql) if known is None else known
        if view.is_coded:  # the others make no rows
            return counts[scan.alias]
    return rows_at_most(exact.source, counts)


def rows_in(session: Connection, table: str) -> int:
    """How many rows a table has."""
    ((count,),) = session.execute(f"SELECT count(*) FROM {table}")
    return int(count)
