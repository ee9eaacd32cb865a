"""Small questions for engines, made by hand: no SQL, no planner, and four functions of their own."""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.engine import Engine
from discreet.privacy import Keys, KeyValue, Limits, Unit
from discreet.query.ir import Call, Exact, Expr, Function, Key, Literal, Measure, Scan, Sum, Type, Where, functions
from discreet.query.ir import Column as Reference
from discreet.tables import Column, Kind, Source, Table, owner_of
from support.engines import engine_as_if_admitted

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("who", pa.string()),
        ("at", pa.timestamp("us")),
        ("g", pa.string()),
        ("h", pa.int64()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
        ("x", pa.int64()),
        ("y", pa.float64()),
    ]
)
KINDS = {
    "id": Kind.INTEGER,
    "who": Kind.TEXT,
    "at": Kind.TIMESTAMP,
    "g": Kind.TEXT,
    "h": Kind.INTEGER,
    "b": Kind.BOOLEAN,
    "d": Kind.DATE,
    "x": Kind.INTEGER,
    "y": Kind.REAL,
}
ONE_ROW = Limits(rows=1)


def table_of(
    *, unit: Unit | None = None, limits: Limits = ONE_ROW, source: Source | None = None, **declared: Column
) -> Table:
    """A table of all columns above, some with declarations."""
    columns = (declared.get(name, Column(name=name, kind=kind)) for name, kind in KINDS.items())
    return Table(
        name="t",
        source=source or Source(kind="memory", location="t"),
        columns=tuple(columns),
        unit=unit or Unit.row(),
        limits=limits,
    )


def declared(name: str, **declaration: Any) -> Column:
    """One of the columns above, with bounds or keys."""
    return Column(name=name, kind=KINDS[name], **declaration)


def column(name: str) -> Reference:
    """A column in an expression."""
    return Reference("t", name, Type(KINDS[name]))


def literal(value: Any) -> Literal:
    """A constant in an expression."""
    kinds = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.REAL, str: Kind.TEXT, datetime: Kind.TIMESTAMP}
    kind = kinds.get(type(value), Kind.DATE if isinstance(value, date) else Kind.REAL)
    return Literal(Fraction(value) if isinstance(value, float) else value, Type(kind))


def _strict(compute: Callable[..., Any]) -> Callable[..., Any]:
    """NULL for NULL."""
    return lambda *values: None if None in values else compute(*values)


def _function(name: str, compute: Callable[..., Any], evaluate: Callable[..., Any] | None = None) -> Function:
    """A function without a type rule: trees are typed by hand here."""
    made = Function(name, infer=lambda _: Type(Kind.REAL), compile=compute, evaluate=evaluate or _strict(compute))
    _MADE[id(made)] = made
    return made


_MADE: dict[int, Function] = {}


def _made(number: int) -> Function:
    """A function of ours, as it is pickled and read again in this process, by tasks of Sail."""
    return _MADE[number]


def _reduced(function: Function) -> tuple[Callable[..., Function], tuple[object]]:
    """How any function is pickled: those of ours by their identity, the language's by their names."""
    return (_made, (id(function),)) if id(function) in _MADE else (functions._named, (function.name,))


copyreg.pickle(Function, _reduced)


TIMES = _function("times", operator.mul)
AT_LEAST = _function("at_least", operator.ge)
IS_NULL = _function("is_null", lambda value: value.isnull(), lambda value: value is None)
PLUS = _function("plus", operator.add, lambda a, b: None if None in {a, b} or a + b >= 2**63 else a + b)
"""Not total either: it overflows."""
EQUAL = _function("eq", operator.eq)
LESS = _function("lt", operator.lt)
BOTH = _function("and", operator.and_, lambda a, b: False if False in {a, b} else None if None in {a, b} else True)
BROKEN = _function("broken", lambda value: value.cast("int64"), lambda _: None)
"""A function that isn't total, as no allowed one may be: it raises on any text that is no number."""


def call(function: Function, *args: Expr) -> Call:
    """A function of expressions."""
    kinds = {"times": Kind.REAL, "plus": Kind.INTEGER, "broken": Kind.INTEGER}
    return Call(function, args, Type(kinds.get(function.name, Kind.BOOLEAN)))


def count(name: str = "n") -> Sum:
    """COUNT(*)."""
    return Sum(name=name, value=literal(1), grid=0, lo=0, hi=1)


def total(name: str, value: Expr, *, grid: int = 0, lo: int, hi: int) -> Sum:
    """A sum of an expression."""
    return Sum(name=name, value=value, grid=grid, lo=lo, hi=hi)


def key(name: str, values: Sequence[KeyValue] | None = None) -> Key:
    """A column as a grouping key."""
    return Key(name=name, expr=column(name), values=None if values is None else tuple(values))


def exact(  # noqa: PLR0913 — one argument per part of a question
    table: Table,
    measures: Sequence[Measure],
    *,
    keys: Sequence[Key] = (),
    where: Sequence[Expr] = (),
    limits: Limits | None = None,
    salt: str = "salt",
) -> Exact:
    """The exact part of a question."""
    source: Scan | Where = Scan(table=table, columns=tuple(KINDS), owner=owner_of(table, [table]), alias="t")
    for predicate in where:
        source = Where(source, predicate)
    return Exact(source=source, keys=tuple(keys), measures=tuple(measures), limits=limits or table.limits, salt=salt)


def arrow(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows as an Arrow table; what a row doesn't mention is NULL."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMA)


def run(
    question: Exact, rows: Sequence[dict[str, Any]] | pa.Table, **settings: Any
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The engine's answer about rows that are taken for admitted, by group and measure."""
    data = rows if isinstance(rows, pa.Table) else arrow(rows)
    (table,) = question.tables
    return by_group(engine_as_if_admitted([table], {table.source.location: data}, **settings), question)


def by_group(engine: Engine, question: Exact) -> dict[tuple[Any, ...], dict[str, Any]]:
    """An engine's answer, by group and measure."""
    result = engine.run(question)
    assert len(set(result.keys)) == len(result.keys)
    columns = {**result.measures, **result.histograms}
    return {
        group: {name: values[number] for name, values in columns.items()} for number, group in enumerate(result.keys)
    }


def keys_of(*values: KeyValue) -> Keys:
    """Declared keys."""
    return Keys(values)
