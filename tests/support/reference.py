"""Exact answers by brute force: what an engine must compute, as plain loops over Python rows.

It follows the words of `query.ir` one by one and knows nothing of SQL. The one thing it takes from the engine is the
order in which a unit over its limit on groups keeps them, because that is the engine's to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import floor, isinf, isnan
from typing import Any

from discreet.dataset import Column, Kind, Table
from discreet.query.ir import Call, Exact, Expr, Literal, Sum, Where
from discreet.query.ir import Column as Reference

Row = Mapping[str, Any]
Group = tuple[Any, ...]
Answer = dict[Group, dict[str, int]]
Order = Callable[[Hashable, Group], Any]
"""How a unit ranks its groups: those that come first are kept."""


def answer(exact: Exact, rows: Iterable[Row], order: Order) -> Answer:
    """The integers of a question: by group, and by measure."""
    table = exact.table
    entries = []
    for number, row in enumerate(rows):
        owner = number if table.unit.is_row else unit_of(table, row)
        let_in = {column.name: door(column, row.get(column.name)) for column in table.columns}
        if owner is None or not all(evaluate(each, let_in) is True for each in predicates(exact)):
            continue
        group = tuple(evaluate(key.expr, let_in) for key in exact.keys)
        if all(key.values is None or value in key.values for key, value in zip(exact.keys, group, strict=True)):
            entries.append(Entry(owner, group, tuple(added(each, let_in) for each in exact.measures)))
    return add_up(exact, entries, order)


@dataclass(frozen=True)
class Entry:
    """One row that counts: whose it is, in which group, and what it adds to each measure."""

    unit: Hashable
    group: Group
    adds: tuple[int, ...]


def unit_of(table: Table, row: Row) -> Hashable | None:
    """Whose a row is; None if nobody's. Ids and times outside their bounds are nobody's."""
    parts = []
    for name in (table.unit.column, table.unit.at):
        if name is None:
            continue
        column = table.column(name)
        value = door(Column(name=name, kind=column.kind, keys=column.keys), row.get(name))
        if value is None or (column.bounds is not None and not column.bounds.lo <= value <= column.bounds.hi):
            return None
        parts.append(value)
    if table.unit.per is not None:
        parts[1] = period(table.unit.per, parts[1])
    return tuple(parts)


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
    """A value as its column lets it in."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if column.bounds is not None:
        lo, hi = (float(end) if column.kind is Kind.REAL else end for end in (column.bounds.lo, column.bounds.hi))  # type: ignore[arg-type]  # numbers, if the column is real
        value = max(lo, min(value, hi))
        value = int(value) if column.kind is Kind.INTEGER else value
    if column.kind is Kind.INTEGER and not -(2**63) <= value < 2**63:
        return None
    return value if column.keys is None or value in column.keys else None


def predicates(exact: Exact) -> Iterable[Expr]:
    """All conditions on rows."""
    relation = exact.source
    while isinstance(relation, Where):
        yield relation.predicate
        relation = relation.source


def evaluate(expr: Expr, row: Row) -> Any:
    """The value of an expression."""
    if isinstance(expr, Reference):
        return row[expr.name]
    if isinstance(expr, Literal):
        return float(expr.value) if expr.type.kind is Kind.REAL and expr.value is not None else expr.value  # type: ignore[arg-type]  # a number
    assert isinstance(expr, Call)
    return expr.function.evaluate(*(evaluate(arg, row) for arg in expr.args))


def added(measure: Any, row: Row) -> int:
    """What a row adds to a measure, before limits."""
    return steps(evaluate(measure.value, row), measure) if isinstance(measure, Sum) else 1


def steps(value: float | None, measure: Sum) -> int:
    """A value in steps of the grid, rounded half away from zero, within the bounds; NULL and NaN add nothing."""
    if value is None or isnan(value):
        return 0
    if isinf(value):
        return measure.hi if value > 0 else measure.lo
    exact = Fraction(value) / Fraction(2) ** measure.grid
    nearest = floor(abs(exact) + Fraction(1, 2)) * (1 if exact >= 0 else -1)
    return min(max(nearest, measure.lo), measure.hi)


def add_up(exact: Exact, entries: Sequence[Entry], order: Order) -> Answer:
    """Limit each unit's entries, and add up by group."""
    totals: Answer = {} if exact.keys else {(): dict.fromkeys((each.name for each in exact.measures), 0)}
    by_unit: dict[Hashable, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_unit[entry.unit].append(entry)
    for unit, own in by_unit.items():
        for group, adds in contribution(exact, unit, own, order).items():
            total = totals.setdefault(group, dict.fromkeys((each.name for each in exact.measures), 0))
            for measure, add in zip(exact.measures, adds, strict=True):
                total[measure.name] += add
    return totals


def contribution(exact: Exact, unit: Hashable, entries: Sequence[Entry], order: Order) -> dict[Group, list[int]]:
    """What one unit adds to each group, after limits."""
    by_group: dict[Group, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_group[entry.group].append(entry)
    groups, most = exact.limits.groups, exact.limits.rows_per_group
    if exact.table.unit.is_row:
        return {group: _scaled(exact, own, 1, 1) for group, own in by_group.items()}
    if groups is None or most is None:
        return {group: _scaled(exact, own, len(entries), exact.limits.rows or 0) for group, own in by_group.items()}
    kept = sorted(by_group, key=lambda group: order(unit, group))[:groups]
    return {group: _scaled(exact, by_group[group], len(by_group[group]), most) for group in kept}


def _scaled(exact: Exact, entries: Sequence[Entry], rows: int, limit: int) -> list[int]:
    """What a unit's entries in one group add, scaled by limit/rows if there are more; towards zero."""
    adds = []
    for place, measure in enumerate(exact.measures):
        total = sum(entry.adds[place] for entry in entries)
        if not isinstance(measure, Sum):
            adds.append(1)
        elif rows > limit:
            adds.append(abs(total) * limit // rows * (1 if total >= 0 else -1))
        else:
            adds.append(total)
    return adds
