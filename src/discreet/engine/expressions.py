"""Expressions: from the question's trees to one SELECT, through Ibis. Pure: it sees no session and no row."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Any

from discreet.dataset import Kind, Table
from discreet.engine.text import nearest
from discreet.engine.usage import is_listed, position
from discreet.query.ir import Call, Column, Exact, Expr, Literal, Where

DOOR = "door"
"""The view that the SELECT reads: the rows as the door let them in."""

_IBIS = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp(6)",
}

_LEAST, _GREATEST = -(2**63), 2**63 - 1


def select(exact: Exact, values: tuple[Expr, ...], units: int) -> str:
    """A SELECT from the door, of the rows for which all predicates hold.

    Each expression is wrapped in DuckDB's TRY. Functions are total already; this is a second wall, behind which a
    row that would make one raise counts as NULL.

    Args:
        exact: the question.
        values: what measures add up.
        units: in how many columns the door says whose a row is.

    Returns:
        SQL with the columns `u0, u1` of the unit, `k0, k1, …` of the keys and `v0, v1, …` of the values; or with one
        constant, if there are none of these.
    """
    import ibis

    table = exact.table
    schema = {f"u{number}": "string" for number in range(units)}  # ids are only handed on, so any type will do
    for number, column in enumerate(table.columns):
        schema |= dict.fromkeys((f"c{number}", f"r{number}"), _IBIS[column.kind])
    rows = door = ibis.table(schema, name=DOOR)
    relation = exact.source
    while isinstance(relation, Where):
        rows = rows.filter(_guarded(relation.predicate, table, door))
        relation = relation.source
    chosen = {f"u{number}": door[f"u{number}"] for number in range(units)}
    for number, key in enumerate(exact.keys):
        if isinstance(key.expr, Column) and is_listed(key, table):
            chosen[f"k{number}"] = door[f"r{position(key.expr.name, table)}"]
        else:
            chosen[f"k{number}"] = _guarded(key.expr, table, door)
    chosen |= {f"v{number}": _guarded(value, table, door) for number, value in enumerate(values)}
    return str(ibis.to_sql(rows.select(**(chosen or {"one": ibis.literal(1)})), dialect="duckdb"))


def _guarded(expr: Expr, table: Table, door: Any) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """The Ibis value of an expression on rows, NULL where it would raise."""
    value = _compile(expr, table, door)
    return _try(str(value.type()))(value) if isinstance(expr, Call) else value


def _compile(expr: Expr, table: Table, door: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The Ibis value of an expression on rows."""
    if isinstance(expr, Column):
        return door[f"c{position(expr.name, table)}"]
    if isinstance(expr, Literal):
        return _constant(expr)
    if isinstance(expr, Call):
        return expr.function.compile(*(_compile(arg, table, door) for arg in expr.args))
    raise TypeError("a released number has no rows")


def _constant(literal: Literal) -> Any:  # noqa: ANN401 — an Ibis scalar
    """A constant of exactly the value meant. Reals and times go through text, which DuckDB reads without rounding."""
    import ibis

    kind, value = literal.type.kind, literal.value
    if value is None:
        return ibis.null(_IBIS[kind])
    if isinstance(value, bool) or kind is Kind.TEXT:
        return ibis.literal(value)
    if isinstance(value, (int, Fraction)) and (kind is Kind.REAL or not _LEAST <= value <= _GREATEST):
        return ibis.literal(repr(nearest(Fraction(value)))).cast("float64")
    if isinstance(value, datetime):
        return ibis.literal(value.isoformat(sep=" ")).cast(_IBIS[kind])
    if isinstance(value, date):
        return ibis.literal(value.isoformat()).cast(_IBIS[kind])
    return ibis.literal(value, type=_IBIS[kind])


@cache
def _try(dtype: str) -> Any:  # noqa: ANN401 — an Ibis function
    """DuckDB's TRY, for values of one type: NULL where its argument would raise."""
    import ibis

    def guarded(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 — Ibis takes the types from the signature
        """Nothing: the engine has it built in."""

    kind = ibis.dtype(dtype)
    return ibis.udf.scalar.builtin(guarded, name="try", signature=((kind,), kind))
