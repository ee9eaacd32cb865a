"""The tables `asked` and `entries`: from the rows of a question to what each brings to its measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from discreet.engine.crowds import Crowds
from discreet.engine.door import kept
from discreet.engine.expressions import guarded, name_of
from discreet.engine.limiting import ASKED, ENTRIES, Adds, Shape, looked_up
from discreet.engine.listing import list_keys, listed_values
from discreet.engine.relations import Compiler
from discreet.engine.rows import selected
from discreet.engine.steps import constant_steps, first_stage, second_stage
from discreet.engine.usage import Door, listed_keys, units_of
from discreet.privacy import KeyValue
from discreet.query.ir import Column, DistinctValues, Exact, Expr, Histogram, Join, Measure, Sum, Units, nodes
from discreet.tables import Kind
from discreet.tables.admission.column_casts import LONGEST_TEXT
from discreet.tables.kinds import SQL_TYPES
from discreet.tables.session import Session
from discreet.tables.sql_text import bigint

_Brings: TypeAlias = Sum | DistinctValues | Histogram
"""A measure to which each row brings a value."""


def shape_of(exact: Exact) -> Shape:
    """What the limiting SQL depends on."""
    groups: int | None = 1
    for key in exact.keys:
        groups = None if groups is None or key.values is None else groups * len(key.values)
    is_row = exact.owner.unit.is_row
    late = (number for number, key in enumerate(exact.keys) if is_row and listed_keys(key, exact) is not None)
    return Shape(
        units=units_of(exact.owner),
        keys=len(exact.keys),
        measures=tuple(map(_adds, exact.measures)),
        groups=groups,
        late=tuple(late),
        limits=exact.limits,
        salt=exact.salt,
    )


def plain_rows(exact: Exact, doors: Sequence[Door]) -> str | None:
    """The SQL of a question's rows, where nothing is joined; None where it depends on what is joined, see `Crowds`.

    Args:
        exact: the question.
        doors: those of the question.
    """
    return None if any(isinstance(node, Join) for node in nodes(exact.source)) else _select(exact, doors, None)


def make_entries(  # noqa: PLR0913 — a question and where it is asked
    session: Session, exact: Exact, shape: Shape, doors: Sequence[Door], *, keep: bool, rows: str | None = None
) -> None:
    """Make what the limiting SQL reads.

    Args:
        session: with the doors in it.
        exact: the question.
        shape: the question's shape.
        doors: those of the question.
        keep: whether the rows are costly to come by, so that they are kept: limits read them several times.
        rows: their SQL, as `plain_rows` gives it, if that was made before.
    """
    unit = [f"u{number}" for number in range(shape.units)]
    brought = _brought(exact)
    asked = list(unit)
    for number, key in enumerate(exact.keys):
        listed = None if number in shape.late else key.values
        asked.append(f"{_as_key(f'k{number}', key.expr, listed)} AS k{number}")
    asked += [f"{_as_brought(column, measure)} AS {column}" for column, measure in brought.items()]
    rows = rows or _select(exact, doors, Crowds(session, exact, doors))
    session.execute(
        f"CREATE TEMP {'TABLE' if keep else 'VIEW'} {ASKED} AS SELECT {', '.join(asked) or 'one'} FROM ({rows})"
    )
    entries, joins = unit, []
    for number, key in enumerate(exact.keys):
        if key.values is not None:
            list_keys(session, f"list{number}", key.expr.type.kind, listed_values(key, exact))
        if key.values is None or number in shape.late:
            entries.append(f"k{number}")
        else:
            joins.append(looked_up(number))
            entries.append(f"list{number}.i AS k{number}")
    for column, measure in brought.items():
        if isinstance(measure, Histogram) and measure.values is not None:
            list_keys(session, f"bins_{column}", measure.value.type.kind, enumerate(measure.values))
            joins.append(f"LEFT JOIN bins_{column} ON {column} IS NOT DISTINCT FROM bins_{column}.v")
        entries.append(f"{_as_counted(column, measure)} AS {column}")
    session.execute(
        f"CREATE TEMP VIEW {ENTRIES} AS SELECT {', '.join(entries) or 'one'} FROM {ASKED} {' '.join(joins)}"
    )


def _brought(exact: Exact) -> Mapping[str, _Brings]:
    """The measures to which each row brings a value, by the column with it."""
    return {
        f"v{number}": measure
        for number, measure in enumerate(exact.measures)
        if not isinstance(measure, Units) and _adds(measure).what != "constant"
    }


def _select(exact: Exact, doors: Sequence[Door], crowds: Crowds | None) -> str:
    """A SELECT of all rows of a question: the unit, the keys `k0, k1, …`, and the values under their names.

    It has one constant column, if there are none of these.
    """
    import ibis

    rows = Compiler(doors, crowds).rows(exact.source)
    chosen = rows.units
    for number, key in enumerate(exact.keys):
        if isinstance(key.expr, Column) and listed_keys(key, exact) is not None:
            chosen[f"k{number}"] = rows.table[rows.unchecked[name_of(key.expr)]]
        else:
            chosen[f"k{number}"] = guarded(key.expr, rows.columns)
    chosen |= {name: guarded(measure.value, rows.columns) for name, measure in _brought(exact).items()}
    return str(ibis.to_sql(selected(rows.table, chosen), dialect="duckdb"))


def _adds(measure: Measure) -> Adds:
    """What a measure adds up."""
    match measure:
        case Sum():
            constant = constant_steps(measure)
            if constant is not None:
                return Adds("constant", greatest=abs(constant), constant=constant)
            if measure.lo == measure.hi:
                return Adds("present", greatest=abs(measure.lo), constant=measure.lo)
            return Adds("values", greatest=max(abs(measure.lo), abs(measure.hi)))
        case Units():
            return Adds("units", greatest=1)
        case DistinctValues():
            return Adds("distinct", greatest=1)
        case Histogram(grid=grid):
            return Adds("histogram", greatest=2**-grid, constant=2**-grid)


def _as_brought(value: str, measure: _Brings) -> str:
    """What a row brings to a measure: a number, or a value as a key would be let in."""
    if isinstance(measure, Sum):
        return first_stage(value, measure)
    return _as_key(value, measure.value)


def _as_counted(value: str, measure: _Brings) -> str:
    """What counts of it: steps of the grid, the value itself, or the number of its bin."""
    if isinstance(measure, Sum):
        return second_stage(value, measure)
    if isinstance(measure, DistinctValues):
        return value
    if measure.values is not None:
        return f"CAST(bins_{value}.i AS BIGINT)"
    return f"CASE WHEN {value} BETWEEN 0 AND {bigint(measure.size - 1)} THEN {value} END"


def _as_key(value: str, expr: Expr, listed: Sequence[KeyValue] | None = None) -> str:
    """A value as one of its kind, as the door would let it in: no NaN, no year that Python doesn't know.

    Equal keys must be one value, so there is only one zero. A long text needs no cut where it is looked up in a list of
    texts that are all shorter than a cut one.
    """
    kind = expr.type.kind
    if kind is Kind.TEXT and listed and all(len(str(each)) < LONGEST_TEXT for each in listed):
        return f"TRY_CAST({value} AS {SQL_TYPES[kind]})"
    kept_value = kept(kind, f"TRY_CAST({value} AS {SQL_TYPES[kind]})")
    return f"CASE WHEN {kept_value} = 0 THEN 0 ELSE {kept_value} END" if kind is Kind.REAL else kept_value
