"""Relations by brute force: which rows there are, by the words of `query.ir.relations`, as plain loops.

It takes one thing from the engine: rows that a window's order leaves equal come in the order of all their columns,
ascending, NULL last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import floor, inf, isfinite, isnan
from typing import Any

from discreet.privacy import Unit
from discreet.query.ir import (
    Call,
    Distinct,
    Expr,
    Join,
    JoinKind,
    Literal,
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Sorting,
    Summary,
    Type,
    Union,
    Where,
    Window,
    Windowed,
)
from discreet.query.ir import Column as Reference
from discreet.tables import Column, Kind, Owner, Table
from discreet.tables.schema.column import LONGEST_TEXT

Row = Mapping[str, Any]
"""A row of a table as it lies there, by the names of its columns."""

Values = dict[tuple[str, str], Any]
"""A row of a relation, by alias and name."""

Owned = tuple[Hashable, Values]
"""A row of a relation with its unit; None if it is public."""

Data = Mapping[str, Sequence[Row]]
"""The rows of each table, by its name."""


def rows_of(relation: Relation, data: Data) -> list[Owned]:  # noqa: PLR0911 — one case for each kind of relation
    """The rows of a relation, in no particular order."""
    match relation:
        case Scan():
            return list(_scanned(relation, data))
        case Where():
            return [each for each in rows_of(relation.source, data) if evaluate(relation.predicate, each[1]) is True]
        case Project(alias=alias, columns=columns):
            return [
                (unit, {(alias, name): fit(expr, row) for name, expr in columns})
                for unit, row in rows_of(relation.source, data)
            ]
        case Join():
            return list(_joined(relation, rows_of(relation.left, data), rows_of(relation.right, data)))
        case Union(alias=alias, columns=columns):
            names = [(alias, name) for name, _ in columns]
            return [
                (unit, dict(zip(names, row.values(), strict=True)))
                for part in relation.parts
                for unit, row in rows_of(part, data)
            ]
        case Distinct():
            found = rows_of(relation.source, data)
            return list({(unit, tuple(row.values())): (unit, row) for unit, row in found}.values())
        case PerUnit():
            return list(_summarized(relation, rows_of(relation.source, data)))
        case Window():
            return list(_windowed(relation, rows_of(relation.source, data)))


def _scanned(scan: Scan, data: Data) -> Iterator[Owned]:
    """The rows of a table, once for each of their owners."""
    for number, row in enumerate(data[scan.table.name]):
        values = {(scan.alias, name): door(scan.table.column(name), row.get(name)) for name in scan.columns}
        if scan.owner is None:
            yield None, values
        elif scan.owner.unit.is_row:
            yield (scan.table.name, number), values
        else:
            yield from ((unit, values) for unit in owners(scan.table, scan.owner, row, data))


def owners(table: Table, owner: Owner, row: Row, data: Data) -> set[Hashable]:
    """Whose a row is: all units that its links lead to."""
    if not owner.hops:
        unit = unit_of(table, owner.unit, row)
        return set() if unit is None else {unit}
    hop, *further = owner.hops
    link = identified(table.column(hop.column), row.get(hop.column))
    beyond = Owner(owner.unit, tuple(further))
    return {
        unit
        for other in data[hop.table.name]
        if link is not None and identified(hop.table.column(hop.to), other.get(hop.to)) == link
        for unit in owners(hop.table, beyond, other, data)
    }


def unit_of(table: Table, unit: Unit, row: Row) -> tuple[Any, ...] | None:
    """Whose a row is by its own columns; None if nobody's."""
    names = [name for name in (unit.column, unit.at) if name is not None]
    parts = [identified(table.column(name), row.get(name)) for name in names]
    if None in parts:
        return None
    if unit.per is not None:
        parts[1] = period(unit.per, parts[1])
    return tuple(parts)


def identified(column: Column, value: Any) -> Any:
    """A value that tells one thing from another: NULL, where it is out of bounds, instead of being moved."""
    found = door(Column(name=column.name, kind=column.kind, keys=column.keys), value)
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return None
    if found is None or (column.bounds is not None and not column.bounds.lo <= found <= column.bounds.hi):
        return None
    return found


def period(per: str, at: date) -> datetime:
    """The beginning of the period in which a time lies."""
    time = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    starts = {
        "hour": time.replace(minute=0, second=0, microsecond=0),
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": day.replace(day=1, month=day.month - (day.month - 1) % 3),
        "year": day.replace(day=1, month=1),
    }
    return starts[per]


def door(column: Column, value: Any) -> Any:
    """A value as it is admitted, and as its column lets it in."""
    if value is None:
        return None
    if isinstance(value, float):
        if not isfinite(value):
            return None
        value += 0.0  # of two zeros, the one without a sign
    if column.bounds is not None:
        lo, hi = (float(end) if column.kind is Kind.REAL else end for end in (column.bounds.lo, column.bounds.hi))  # type: ignore[arg-type]  # numbers, if the column is real
        value = max(lo, min(value, hi))
        value = int(value) if column.kind is Kind.INTEGER else value
    if column.kind is Kind.INTEGER and not -(2**63) <= value < 2**63:
        return None
    if column.keys is not None:
        return value if value in column.keys else None
    return value[:LONGEST_TEXT] if column.kind is Kind.TEXT else value


def evaluate(expr: Expr, row: Values) -> Any:
    """The value of an expression."""
    if isinstance(expr, Reference):
        return row[expr.table, expr.name]
    if isinstance(expr, Literal):
        return float(expr.value) if expr.type.kind is Kind.REAL and expr.value is not None else expr.value  # type: ignore[arg-type]  # a number
    assert isinstance(expr, Call)
    return expr.function.evaluate(*(evaluate(arg, row) for arg in expr.args))


def fit(expr: Expr, row: Values) -> Any:
    """The value of an expression as a column may hold it: no NaN, one zero, no text without end."""
    value = evaluate(expr, row)
    if isinstance(value, float):
        return None if isnan(value) else value + 0.0
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def _joined(join: Join, left: Sequence[Owned], right: Sequence[Owned]) -> Iterator[Owned]:
    """Pairs of rows; two private ones only of one unit."""
    nothing = dict.fromkeys(_names(join.right))
    for unit, row in left:
        partners = [
            (other_unit, other)
            for other_unit, other in right
            if None in {unit, other_unit} or unit == other_unit
            if join.predicate is None or evaluate(join.predicate, row | other) is True
        ]
        match join.kind:
            case JoinKind.INNER:
                yield from ((other_unit if unit is None else unit, row | other) for other_unit, other in partners)
            case JoinKind.LEFT:
                yield from ((unit, row | other) for _, other in partners or [(None, nothing)])
            case JoinKind.SEMI if partners:
                yield unit, row
            case JoinKind.ANTI if not partners:
                yield unit, row


def _names(relation: Relation) -> list[tuple[str, str]]:
    """The columns of a relation."""
    match relation:
        case Scan(alias=alias, columns=names):
            return [(alias, name) for name in names]
        case Project(alias=alias, columns=columns) | Union(alias=alias, columns=columns):
            return [(alias, name) for name, _ in columns]
        case PerUnit(alias=alias):
            return [(alias, name) for name, _ in relation.keys] + [(alias, each.name) for each in relation.columns]
        case Join(left=left, right=right, kind=kind):
            return _names(left) + (_names(right) if kind in {JoinKind.INNER, JoinKind.LEFT} else [])
        case Window(source=source, alias=alias):
            return _names(source) + [(alias, each.name) for each in relation.columns]
        case _:
            return _names(relation.source)


def _summarized(per_unit: PerUnit, rows: Sequence[Owned]) -> Iterator[Owned]:
    """One row for each unit and value of the keys; of a public relation without keys, one in any case."""
    groups: dict[Any, list[Values]] = defaultdict(list)
    for unit, row in rows:
        groups[unit, tuple(fit(expr, row) for _, expr in per_unit.keys)].append(row)
    if not groups and not per_unit.keys and _is_public(per_unit.source):
        groups[None, ()] = []
    for (unit, key), own in groups.items():
        found = {(per_unit.alias, name): value for (name, _), value in zip(per_unit.keys, key, strict=True)}
        for each in per_unit.columns:
            values = [None if each.argument is None else fit(each.argument, row) for row in own]
            found[per_unit.alias, each.name] = (
                len(own) if each.argument is None else summary(each.summary, values, each.argument.type, each)
            )
        yield unit, found


def summary(which: Summary, values: Sequence[Any], of: Type, column: Any) -> Any:  # noqa: PLR0911 — one for each
    """A summary of values, NULLs left out."""
    there = [value for value in values if value is not None]
    if which is Summary.COUNT:
        return len(there)
    if which is Summary.COUNT_DISTINCT:
        return len(set(there))
    if not there:
        return None
    match which:
        case Summary.SUM | Summary.AVG:
            return _added(which, there, of, column)
        case Summary.MIN | Summary.MAX:
            end = (min if which is Summary.MIN else max)(there, key=_sortable)
            return clamped(end, column.type) if of.kind.is_number else end
        case Summary.MEDIAN:
            there.sort()
            lo, hi = float(there[(len(there) - 1) // 2]), float(there[len(there) // 2])
            middle = lo if len(there) % 2 else lo * 0.5 + hi * 0.5
            return None if isnan(middle) else clamped(middle, column.type)
        case Summary.ANY:
            return any(there)
        case Summary.ALL:
            return all(there)


def _added(which: Summary, values: Sequence[Any], of: Type, column: Any) -> Any:
    """A sum or a mean, exact: of reals, in steps of the grid."""
    step = Fraction(2) ** column.grid if of.kind is Kind.REAL else Fraction(1)
    if of.kind is Kind.REAL:
        values = [_nearest(value, of, step) for value in values]
    total = sum(values)
    if which is Summary.AVG:
        return clamped(float(total) / float(len(values)) * float(step), column.type)
    if of.kind is Kind.REAL:
        return clamped(float(total) * float(step), column.type)
    total = clamped(total, column.type)
    return total if -(2**63) <= total < 2**63 else None


def _nearest(value: float, of: Type, step: Fraction) -> int:
    """A real in steps, rounded half away from zero, within the range of its type."""
    lo, hi = (far if end is None else _half_away(end / step) for end, far in ((of.lo, -(2**62)), (of.hi, 2**62)))
    return lo if value == -inf else hi if value == inf else min(max(_half_away(Fraction(value) / step), lo), hi)


def _half_away(number: Fraction) -> int:
    """The nearest whole number."""
    return floor(abs(number) + Fraction(1, 2)) * (1 if number >= 0 else -1)


def clamped(value: Any, of: Type) -> Any:
    """A number within the range of its type."""
    for end, pick in ((of.lo, max), (of.hi, min)):
        if end is not None:
            value = pick(value, float(end) if of.kind is Kind.REAL else int(end))
    return value


def _windowed(window: Window, rows: Sequence[Owned]) -> Iterator[Owned]:
    """The rows with what others of their partition say of them."""
    partitions: dict[Any, list[Values]] = defaultdict(list)
    for unit, row in rows:
        partitions[unit, tuple(fit(expr, row) for expr in window.partition)].append(row)
    for (unit, _), own in partitions.items():
        new: list[Values] = [{} for _ in own]
        for column in window.columns:
            for place, value in enumerate(_column(column, own)):
                new[place][window.alias, column.name] = value
        yield from ((unit, row | more) for row, more in zip(own, new, strict=True))


def _column(column: Windowed, rows: Sequence[Values]) -> list[Any]:
    """A window function's value for each row of a partition, in the order of the rows."""
    ranks = [tuple(_ranked(term, row) for term in column.order) for row in rows]
    order = sorted(range(len(rows)), key=lambda n: (ranks[n], [_sortable(value) for value in rows[n].values()]))
    values = [None if column.argument is None else fit(column.argument, row) for row in rows]
    found: list[Any] = [None] * len(rows)
    for place, n in enumerate(order):
        so_far = [m for m in order if ranks[m] <= ranks[n]] if column.order else order
        found[n] = _value(column, place, order=order, values=values, so_far=so_far, ranks=ranks)
    return found


def _value(  # noqa: PLR0911, PLR0913 — one case for each function, and all that it may look at
    column: Windowed,
    place: int,
    *,
    order: Sequence[int],
    values: Sequence[Any],
    so_far: Sequence[int],
    ranks: Sequence[Any],
) -> Any:
    """A window function's value for the row at a place."""
    here = ranks[order[place]]
    match column.function:
        case Ranking.ROW_NUMBER:
            return place + 1
        case Ranking.RANK:
            return 1 + sum(rank < here for rank in ranks)
        case Ranking.DENSE_RANK:
            return 1 + len({rank for rank in ranks if rank < here})
        case Ranking.LAG | Ranking.LEAD:
            other = place + (column.offset if column.function is Ranking.LEAD else -column.offset)
            return values[order[other]] if 0 <= other < len(order) else None
        case Ranking.FIRST_VALUE:
            return values[so_far[0]]
        case Ranking.LAST_VALUE:
            return values[so_far[-1]]
    if column.argument is None:
        return len(so_far)
    return summary(column.function, [values[n] for n in so_far], column.argument.type, column)


def _ranked(term: Sorting, row: Values) -> Any:
    """A row's place in an ORDER BY term."""
    value = fit(term.expr, row)
    if value is None:
        return (0,) if term.nulls_first else (2,)
    return 1, (_Reversed(_sortable(value)) if term.descending else _sortable(value))


class _Reversed:
    """A value that is sorted the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and self.value == other.value

    def __le__(self, other: _Reversed) -> bool:
        return self < other or self == other

    def __hash__(self) -> int:
        return hash(self.value)


def _sortable(value: Any) -> Any:
    """A value as engines sort it: text by its bytes, NULL last."""
    return value is None, value.encode() if isinstance(value, str) else value


def _is_public(relation: Relation) -> bool:
    """Whether no row of a relation belongs to anybody."""
    match relation:
        case Scan(owner=owner):
            return owner is None
        case Join(left=left, right=right):
            return _is_public(left) and _is_public(right)
        case Union(parts=parts):
            return _is_public(parts[0])
        case _:
            return _is_public(relation.source)
