"""Totality: whether expressions raise on any row, leave their range, or differ from what Python computes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from math import isnan
from typing import Any

from discreet.query import ir
from discreet.query.ir import literal, ordinal
from discreet.query.ir.domains import _program, _UndeterminedError
from discreet.tables import Kind
from support.poison import POOLS, Poisoned

ANY = tuple(pool.expr for pool in POOLS)
TRUTHS = tuple(expr for expr in ANY if expr.type.kind is Kind.BOOLEAN)
CONSTANTS = tuple(
    map(
        literal,
        (
            None,
            True,
            0,
            3,
            -7,
            2**62,
            Fraction(1, 10),
            "",
            "2000-01-03",
            "12",
            date(2000, 1, 1),
            datetime(2020, 1, 1, 1),
        ),
    )
)
PATTERNS = tuple(map(literal, ("", "%", "a", "A%", "_", "%a_%", "\\%", "é%")))

NOT_THEMSELVES = {date.min, date.max, datetime.min, datetime.max}
"""What DuckDB hands to Python for dates that Python can't hold."""

KINDS = {
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    float: Kind.REAL,
    str: Kind.TEXT,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
}
"""Of values as DuckDB hands them to Python."""

UNARY = ((ANY,),)
BINARY = ((ANY, ANY), (ANY, CONSTANTS), (CONSTANTS, ANY))
SHAPES: dict[str, tuple[tuple[tuple[ir.Expr, ...], ...], ...]] = {
    **dict.fromkeys(
        [
            "negate",
            "abs",
            "sqrt",
            "floor",
            "ceil",
            "round",
            "floor_real",
            "ceil_real",
            "round_real",
            "not",
            "is_null",
            "integer",
            "real",
            "single",
            "text",
            "boolean",
            "date",
            "timestamp",
            "upper",
            "lower",
            "trim",
            "ltrim",
            "rtrim",
            "length",
            "year",
            "quarter",
            "month",
            "week",
            "day",
            "day_of_year",
            "day_of_week",
            "iso_day_of_week",
            "hour",
            "minute",
            "second",
            "trunc_year",
            "trunc_quarter",
            "trunc_month",
            "trunc_week",
            "trunc_day",
            "trunc_hour",
            "trunc_minute",
            "trunc_second",
        ],
        UNARY,
    ),
    **dict.fromkeys(
        [
            "add",
            "subtract",
            "multiply",
            "divide",
            "quotient",
            "remainder",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "distinct",
            "coalesce",
            "least",
            "greatest",
            "concat",
            "days_between",
            "and",
            "or",
        ],
        BINARY,
    ),
    "round_digits": ((ANY, tuple(map(literal, (-15, -2, 1, 2, 15)))),),
    "in": ((ANY, CONSTANTS, CONSTANTS),),
    "if": ((TRUTHS, ANY, ANY), (TRUTHS, ANY, CONSTANTS), (TRUTHS, CONSTANTS, CONSTANTS)),
    "substring": (
        (ANY, tuple(map(literal, (1, 2, 10**6)))),
        (ANY, tuple(map(literal, (1, 3))), tuple(map(literal, (0, 2, 10**6)))),
    ),
    "add_days": ((ANY, tuple(map(literal, (-3_660_000, -90, 0, 1, 400, 3_660_000)))),),
    "add_months": ((ANY, tuple(map(literal, (-120_000, -13, 0, 1, 11, 120_000)))),),
    "add_seconds": ((ANY, tuple(map(literal, (-(10**11), -1, 0, 3600, 10**11)))),),
    "like": ((ANY, PATTERNS),),
    "ilike": ((ANY, PATTERNS),),
}


def names_of(expr: ir.Expr) -> tuple[str, ...]:
    """The columns an expression reads."""
    if isinstance(expr, ir.Column):
        return (expr.name,)
    return tuple(dict.fromkeys(n for arg in expr.args for n in names_of(arg))) if isinstance(expr, ir.Call) else ()


def lies_in(value: Any, type_: ir.Type) -> bool:
    """Whether a result is of the kind and in the range and list that its type says."""
    if value is None:
        return type_.nullable
    if isinstance(value, str) and type_.kind.is_time:  # a date that Python can't hold comes as text
        return not type_.is_bounded
    kind = KINDS[type(value)]
    if kind is not type_.kind or (isinstance(value, float) and isnan(value)):
        return False
    if type_.values is not None and value not in type_.values:
        return False
    if isinstance(value, (str, bool)) or (type_.lo is None and type_.hi is None):
        return True
    place = ordinal(value) if isinstance(value, date) else value
    return (type_.lo is None or type_.lo <= place) and (type_.hi is None or place <= type_.hi)


def same(value: Any, expected: Any) -> bool:
    """Equal, and of one kind."""
    return value == expected and type(value) is type(expected)


def check(engine: Poisoned, exprs: list[ir.Call], names: tuple[str, ...]) -> list[str]:
    """Everything that is wrong with the results of these expressions over the product of the columns' pools."""
    columns = [next(pool.expr for pool in POOLS if pool.column.name == name) for name in names]
    programs = [_in_python(expr, {column: at for at, column in enumerate(columns)}) for expr in exprs]
    wrong = []
    for row in engine.run(names, list(exprs)):
        given, results = row[: len(names)], row[len(names) :]
        strange = [
            column.type.kind.is_time and (isinstance(value, str) or value in NOT_THEMSELVES)
            for column, value in zip(columns, given, strict=True)
        ]  # these stand for dates that Python can't hold
        assert all(
            it_is or lies_in(value, column.type) for it_is, value, column in zip(strange, given, columns, strict=True)
        ), "the poison isn't what admission lets in"
        for expr, program, value in zip(exprs, programs, results, strict=True):
            if not lies_in(value, expr.type):
                wrong.append(f"{expr} of {given} is {value!r}, outside of {expr.type}")
            elif not any(strange) and (problem := disagreement(program, given, value)):
                wrong.append(f"{expr} of {given} is {value!r}; {problem}")
    return wrong


def _in_python(expr: ir.Call, places: dict[ir.Expr, int]) -> Callable[[tuple[Any, ...]], Any] | None:
    """What computes an expression of a row, if Python claims to know it."""
    try:
        return _program(expr, places)
    except _UndeterminedError:
        return None


def disagreement(program: Callable[[tuple[Any, ...]], Any] | None, row: tuple[Any, ...], value: Any) -> str:
    """What Python computes instead of the engine's value, if it claims to know it."""
    try:
        expected = value if program is None else program(row)
    except _UndeterminedError:
        return ""
    return "" if same(value, expected) else f"Python computes {expected!r}"
