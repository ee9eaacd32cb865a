"""Aggregates and window functions over the rows of one unit, exact and in any order of rows.

Each takes three steps: compute what is looked at, aggregate it over a group or a window, and finish the result from the
aggregates. So nothing is computed twice. Nothing here can raise: sums are of integers, and 128 bits hold those of all
rows there can be.

Rows that a window's ORDER BY leaves equal are told apart by all of their columns. Those still equal then are the same
row twice, and it makes no difference which of them comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, ldexp
from typing import Any

from discreet.engine.expression_compiler import Names, Rows, real, rounded, selected, whole
from discreet.query.ir import Expr, PerUnit, Ranking, Summary, Type, Window, Windowed
from discreet.tables import Kind
from discreet.tables.admission.column_casts import nearest

_WIDE = "decimal(38, 0)"
"""The type in which Ibis writes what 128 bits hold."""

_AGGREGATES = {
    Summary.COUNT: "count",
    Summary.COUNT_DISTINCT: "nunique",
    Summary.MEDIAN: "median",
    Summary.MIN: "min",
    Summary.MAX: "max",
    Summary.ANY: "any",
    Summary.ALL: "all",
}
"""What Ibis calls them."""

_MOST_STEPS = 2**62
_LEAST, _GREATEST = -(2**63), 2**63 - 1


def per_unit(below: Rows, node: PerUnit, names: Names) -> Rows:
    """One row for each unit and value of the keys."""
    keys = names.of(node.alias, (name for name, _ in node.keys))
    columns = names.of(node.alias, (each.name for each in node.columns))
    places = _places(each.argument for each in node.columns)
    keyed = dict(zip(keys.values(), (expr for _, expr in node.keys), strict=True))
    table = below.computed(keyed | {place: expr for expr, place in places.items()})
    aggregations = {}
    for each, column in zip(node.columns, columns.values(), strict=True):
        value, of = (table, each.type) if each.argument is None else (table[places[each.argument]], each.argument.type)
        aggregations[column] = _aggregation(each.summary, value, of, each.type, each.grid)
    by = [*below.unit, *keys.values()]
    aggregates = _parts(aggregations)
    grouped = table.group_by(by).aggregate(**aggregates) if by else table.aggregate(**aggregates)
    finished = {column: grouped[column] for column in by} | _finished(aggregations, grouped)
    return Rows(selected(grouped, finished), below.unit, keys | columns)


def window(below: Rows, node: Window, names: Names) -> Rows:
    """The rows with further columns, each computed from rows of the same unit and partition."""
    columns = names.of(node.alias, (each.name for each in node.columns))
    looked_at = [each.argument for each in node.columns]
    places = _places([*node.partition, *looked_at, *(term.expr for each in node.columns for term in each.order)])
    table = below.computed({place: expr for expr, place in places.items()}, beside=True)
    rows = _Partition(
        table=table,
        by=[table[column] for column in (*below.unit, *(places[expr] for expr in node.partition))],
        columns=[table[column] for column in below.names.values()],
        values={expr: table[place] for expr, place in places.items()},
    )
    aggregations = {column: _windowed(each, rows) for each, column in zip(node.columns, columns.values(), strict=True)}
    kept = [*below.unit, *below.names.values()]
    beside = selected(table, {column: table[column] for column in kept} | _parts(aggregations))
    finished = {column: beside[column] for column in kept} | _finished(aggregations, beside)
    return Rows(selected(beside, finished), below.unit, {**below.names, **columns})


def _places(exprs: Iterable[Expr | None]) -> dict[Expr, str]:
    """A column for each different expression."""
    return {expr: f"a{number}" for number, expr in enumerate(dict.fromkeys(each for each in exprs if each is not None))}


def _parts(aggregations: Mapping[str, _Aggregation]) -> dict[str, Any]:
    """The aggregates that the results are made of, by name."""
    return {
        f"{column}_{number}": part for column, each in aggregations.items() for number, part in enumerate(each.parts)
    }


def _finished(aggregations: Mapping[str, _Aggregation], table: Any) -> dict[str, Any]:  # noqa: ANN401 — Ibis tables and values
    """The results, of the table with the aggregates."""
    return {
        column: each.finish(*(table[f"{column}_{number}"] for number in range(len(each.parts))))
        for column, each in aggregations.items()
    }


@dataclass(frozen=True, slots=True)
class _Partition:
    """The rows that a window looks at.

    Args:
        table: their Ibis table.
        by: what they have in common: the unit, and what the question adds.
        columns: all of their columns.
        values: the columns that hold what is sorted by, or looked at, by the expression.
    """

    table: Any
    by: Sequence[Any]
    columns: Sequence[Any]
    values: Mapping[Expr, Any]


def _windowed(column: Windowed, rows: _Partition) -> _Aggregation:
    """How a window function is computed."""
    if isinstance(column.function, Summary):
        return _summary(column, column.function, rows)
    return _ranking(column, column.function, rows)


def _summary(column: Windowed, summary: Summary, rows: _Partition) -> _Aggregation:
    """A summary of the whole partition; with an order, of the rows up to the last that is equal in it."""
    import ibis

    frame = {"range": (None, 0)} if column.order else {}
    window = ibis.window(group_by=rows.by, order_by=_order(column, rows), **frame)
    value = rows.table if column.argument is None else rows.values[column.argument]
    found = _aggregation(summary, value, _type(column), column.type, column.grid)
    return _Aggregation(tuple(part.over(window) for part in found.parts), found.finish)


def _ranking(column: Windowed, ranking: Ranking, rows: _Partition) -> _Aggregation:
    """A row's place, or a value from its neighbours."""
    import ibis

    order = _order(column, rows)
    ties = [ibis.asc(each, nulls_first=False) for each in rows.columns]
    peers = ibis.window(group_by=rows.by, order_by=order)
    total = ibis.window(group_by=rows.by, order_by=[*order, *ties])
    match ranking:
        case Ranking.ROW_NUMBER:
            return _Aggregation((ibis.row_number().over(total),), lambda before: before + 1)
        case Ranking.RANK:
            return _Aggregation((ibis.rank().over(peers),), lambda before: before + 1)
        case Ranking.DENSE_RANK:
            return _Aggregation((ibis.dense_rank().over(peers),), lambda before: before + 1)
    value = rows.values[column.argument] if column.argument is not None else None
    if value is None:
        raise TypeError
    match ranking:
        case Ranking.LAG:
            found = value.lag(column.offset).over(total)
        case Ranking.LEAD:
            found = value.lead(column.offset).over(total)
        case Ranking.FIRST_VALUE:
            found = value.first(include_null=True).over(total)
        case Ranking.LAST_VALUE:  # the frame ends with the last row that is equal in the order
            equal = [rows.values[term.expr] for term in column.order]
            found = value.last(include_null=True).over(ibis.window(group_by=[*rows.by, *equal], order_by=ties))
    return _Aggregation((found,), lambda value: _within_range(value, _type(column), column.type))


def _order(column: Windowed, rows: _Partition) -> list[Any]:
    """The ORDER BY of a window. Of two terms for one expression the first counts; to Ibis, it would be the last."""
    import ibis

    terms = {term.expr: term for term in reversed(column.order)}
    return [
        (ibis.desc if term.descending else ibis.asc)(rows.values[expr], nulls_first=term.nulls_first)
        for expr, term in reversed(terms.items())
    ]


def _type(column: Windowed) -> Type:
    """The type of what a window looks at; of the result, if that is nothing but rows."""
    return column.type if column.argument is None else column.argument.type


@dataclass(frozen=True, slots=True)
class _Aggregation:
    """How a summary is computed.

    Args:
        parts: aggregates, as Ibis values.
        finish: from the parts, once they are columns, to the result.
    """

    parts: tuple[Any, ...]
    finish: Callable[..., Any]


def _aggregation(summary: Summary, value: Any, of: Type, result: Type, grid: int) -> _Aggregation:  # noqa: ANN401 — an Ibis value
    """How a summary of a value is computed.

    Args:
        summary: which one.
        value: of each row, fit to be a column.
        of: its type.
        result: the summary's type, whose range the result is moved into.
        grid: for SUM and AVG of real numbers: the exponent of the step.
    """
    if summary in {Summary.SUM, Summary.AVG}:
        return _added(summary, value, of, result, grid)

    def finish(found: Any) -> Any:  # noqa: ANN401 — Ibis values
        """The result of the one aggregate."""
        if summary is Summary.MEDIAN:
            return _clamped(_number(found.cast("float64")), result)
        return _within_range(found, of, result) if summary in {Summary.MIN, Summary.MAX} else found

    return _Aggregation((getattr(value, _AGGREGATES[summary])(),), finish)


def _added(summary: Summary, value: Any, of: Type, result: Type, grid: int) -> _Aggregation:  # noqa: ANN401 — an Ibis value
    """A sum or a mean: of integers, which real numbers are put into steps for."""
    step = real(1.0)
    if of.kind is Kind.REAL:
        value, step = _steps(value, of, grid), real(ldexp(1.0, grid))
    if summary is Summary.AVG:
        return _Aggregation(
            (value.sum(), value.count()),
            lambda total, count: _clamped(total.cast("float64") / count.cast("float64") * step, result),
        )
    if of.kind is Kind.REAL:
        return _Aggregation((value.sum(),), lambda total: _clamped(total.cast("float64") * step, result))
    return _Aggregation((value.sum(),), lambda total: _clamped(total.cast(_WIDE), result).try_cast("int64"))


def _within_range(value: Any, of: Type, result: Type) -> Any:  # noqa: ANN401 — Ibis values
    """A value of one row that becomes the result; within its range, if that is another one than the value's."""
    return value if (of.lo, of.hi) == (result.lo, result.hi) else _clamped(value, result)


def _clamped(value: Any, result: Type) -> Any:  # noqa: ANN401 — Ibis values
    """A number within the range of its type, so that what a plan concludes from that is true; NULL stays NULL."""
    import ibis

    cases = []
    if result.kind.is_number and result.lo is not None:
        lo = _end(result, ceil, result.lo)
        cases.append((value < lo, lo))
    if result.kind.is_number and result.hi is not None:
        hi = _end(result, floor, result.hi)
        cases.append((value > hi, hi))
    return ibis.cases(*cases, else_=value) if cases else value


def _end(result: Type, towards: Callable[[Fraction], int], end: Fraction) -> Any:  # noqa: ANN401 — an Ibis scalar
    """An end of a range as a constant of the type: the nearest double, or a whole number inside."""
    if result.kind is Kind.REAL:
        return real(nearest(end))
    return whole(min(max(towards(end), _LEAST), _GREATEST))


def _steps(value: Any, of: Type, grid: int) -> Any:  # noqa: ANN401 — Ibis values
    """A real in steps of the grid, as an integer: the nearest one, within the range of the value's type.

    A product with a power of two is exact, unless it underflows, where it rounds to 0 anyway, or overflows, where it
    is an infinity, which the range moves.
    """
    import ibis

    steps = rounded()(value * real(ldexp(1.0, -grid)))
    lo, hi = (real(float(end)) for end in (_in_steps(of.lo, grid, -_MOST_STEPS), _in_steps(of.hi, grid, _MOST_STEPS)))
    return ibis.cases((steps < lo, lo), (steps > hi, hi), else_=steps).try_cast("int64")


def _in_steps(end: Fraction | None, grid: int, far: int) -> int:
    """An end of a range in steps; `far`, if there is none, and never further."""
    if end is None:
        return far
    steps = floor(abs(end) / Fraction(2) ** grid + Fraction(1, 2)) * (1 if end >= 0 else -1)
    return min(max(steps, -_MOST_STEPS), _MOST_STEPS)


def _number(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The value; NULL in place of what isn't a number, as is the middle between two infinities."""
    import ibis

    return ibis.cases((~value.isnan(), value))
