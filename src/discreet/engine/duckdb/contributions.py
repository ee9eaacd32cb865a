"""Contributions: from the rows of a question to what each adds to its measures, as two views that limits read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from discreet.engine.column_pruning import ScanView, listed_keys, units_of
from discreet.engine.duckdb.clamping import as_number, clamped_steps, constant_steps, in_range
from discreet.engine.duckdb.join_limits import JoinLimits
from discreet.engine.duckdb.limit_statements import CONTRIBUTIONS, SOURCE_ROWS, Adds, Shape, key_lookup
from discreet.engine.duckdb.scan_views import list_keys
from discreet.engine.expression_compiler import guarded, name_of, selected
from discreet.engine.relation_compiler import JoinLimit, RelationCompiler
from discreet.privacy import KeyValue
from discreet.query.ir import Column, DistinctValues, Exact, Expr, Histogram, Join, Key, Measure, Sum, Units, nodes
from discreet.tables import Kind
from discreet.tables.admission.column_casts import LONGEST_TEXT, SQL_TYPES
from discreet.tables.session import Session, bigint

_OfRows: TypeAlias = Sum | DistinctValues | Histogram
"""A measure to which each row contributes a value."""


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


def plain_rows(exact: Exact, views: Sequence[ScanView]) -> str | None:
    """The SQL of a question's rows, where nothing is joined; None where it depends on what is joined, see `JoinLimits`.

    Args:
        exact: the question.
        views: the scan views of the question.
    """
    return None if any(isinstance(node, Join) for node in nodes(exact.source)) else _select(exact, views, None)


def make_contributions(  # noqa: PLR0913 — a question and where it is asked
    session: Session, exact: Exact, shape: Shape, views: Sequence[ScanView], *, keep: bool, rows: str | None = None
) -> None:
    """Make what the limiting SQL reads.

    Args:
        session: with the scan views in it.
        exact: the question.
        shape: the question's shape.
        views: the scan views of the question.
        keep: whether the rows are costly to come by, so that they are kept: limits read them several times.
        rows: their SQL, as `plain_rows` gives it, if that was made before.
    """
    unit = [f"u{number}" for number in range(shape.units)]
    values = _contributed(exact)
    read = list(unit)
    for number, key in enumerate(exact.keys):
        listed = None if number in shape.late else key.values
        read.append(f"{_as_key(f'k{number}', key.expr, listed)} AS k{number}")
    read += [f"{_as_read(column, measure)} AS {column}" for column, measure in values.items()]
    rows = rows or _select(exact, views, JoinLimits(session, exact, views).limited)
    session.execute(
        f"CREATE TEMP {'TABLE' if keep else 'VIEW'} {SOURCE_ROWS} AS SELECT {', '.join(read) or 'one'} FROM ({rows})"
    )
    counted, joins = unit, []
    for number, key in enumerate(exact.keys):
        if key.values is not None:
            list_keys(session, f"keys{number}", key.expr.type.kind, _listed_values(key, exact))
        if key.values is None or number in shape.late:
            counted.append(f"k{number}")
        else:
            joins.append(key_lookup(number))
            counted.append(f"keys{number}.i AS k{number}")
    for column, measure in values.items():
        if isinstance(measure, Histogram) and measure.values is not None:
            list_keys(session, f"bins_{column}", measure.value.type.kind, enumerate(measure.values))
            joins.append(f"LEFT JOIN bins_{column} ON {column} IS NOT DISTINCT FROM bins_{column}.v")
        counted.append(f"{_as_counted(column, measure)} AS {column}")
    session.execute(
        f"CREATE TEMP VIEW {CONTRIBUTIONS} AS SELECT {', '.join(counted) or 'one'} FROM {SOURCE_ROWS} {' '.join(joins)}"
    )


def _contributed(exact: Exact) -> Mapping[str, _OfRows]:
    """The measures to which each row contributes a value, by the column with it."""
    return {
        f"v{number}": measure
        for number, measure in enumerate(exact.measures)
        if not isinstance(measure, Units) and _adds(measure).what != "constant"
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


def _as_read(value: str, measure: _OfRows) -> str:
    """What a row contributes to a measure: a number, or a value as a key has it."""
    if isinstance(measure, Sum):
        return as_number(value, measure)
    return _as_key(value, measure.value)


def _as_counted(value: str, measure: _OfRows) -> str:
    """What counts of it: steps of the grid, the value itself, or the number of its bin."""
    if isinstance(measure, Sum):
        return clamped_steps(value, measure)
    if isinstance(measure, DistinctValues):
        return value
    if measure.values is not None:
        return f"CAST(bins_{value}.i AS BIGINT)"
    return f"CASE WHEN {value} BETWEEN 0 AND {bigint(measure.size - 1)} THEN {value} END"


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
