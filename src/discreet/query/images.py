"""Images: all values a grouping expression can take, where that is a short list known in public.

A list that is too long costs accuracy (a group without rows is answered with noise); one that lacks a value drops its
rows. Neither costs privacy, since both come from public facts alone. Three ways are tried, the most exact first: the
expression's value for each combination of its columns' values; its function's value for each combination of the
arguments' values; all whole numbers or days in its range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.literals import Value, day_of, python_value
from discreet.tables import Kind

MOST_VALUES = 10_000
"""A longer list isn't taken for a list of keys."""

_MOST_STEPS = 50_000
"""How many function values may be worked out for one list: some 30 ms of planning."""


class _UndeterminedError(Exception):
    """Python can't tell what an engine would compute, or not within the steps allowed."""


@dataclass(frozen=True, slots=True)
class Image:
    """What an expression can be.

    Args:
        values: all values but NULL, each once.
        null: whether NULL makes a group of its own.
        hidden: whether NULL can also come from a value that isn't among a column's keys; that makes no group.
    """

    values: tuple[Value, ...]
    null: bool
    hidden: bool = False

    @property
    def inputs(self) -> tuple[tuple[Value, bool], ...]:
        """The values to compute with; each with whether it is a NULL that makes no group.

        A condition's TRUE comes first, so that the results of CASE come in the order they are written in.
        """
        nulls = ((None, False),) * self.null + ((None, True),) * self.hidden
        values = (True, False) if self.values == (False, True) else self.values
        return *((value, False) for value in values), *nulls


def listed(expr: ir.Expr) -> ir.Expr:
    """The grouping expression with its public values and its NULL group in its type, if they are a short list."""
    found = image(expr)
    if found is None:
        return expr
    nullable, hidden = found.null or found.hidden, found.hidden and not found.null
    # Grouping expressions are neither real nor timestamps, so their values can be keys.
    known = replace(expr.type, values=found.values, nullable=nullable, hidden=hidden)  # type: ignore[arg-type]  # images are key values
    return replace(expr, type=known)


def public_values(expr: ir.Expr) -> tuple[KeyValue, ...] | None:
    """The public values of a grouping expression, None for its NULL group, or nothing if they aren't public."""
    values = expr.type.values
    if values is None and expr.type.kind is Kind.INTEGER and expr.type.lo is not None and expr.type.hi is not None:
        first, last = int(expr.type.lo), int(expr.type.hi)
        values = tuple(range(first, last + 1)) if last - first < MOST_VALUES else None
    if values is None:
        return None
    return (*values, None) if expr.type.nullable and not expr.type.hidden else values


@lru_cache(maxsize=256)
def image(expr: ir.Expr) -> Image | None:
    """All values of an expression of a row, or None if they aren't known or are too many."""
    return _Work().image(expr)


class _Work:
    """The search for one image, with the steps it may still take."""

    def __init__(self) -> None:
        """Start with all steps allowed."""
        self._steps_left = _MOST_STEPS

    def image(self, expr: ir.Expr) -> Image | None:
        """All values of an expression."""
        if isinstance(expr, ir.Literal):
            value = python_value(expr)
            return Image((), null=True) if value is None else Image((value,), null=False)
        if isinstance(expr, ir.Column):
            return _column(expr)
        if not isinstance(expr, ir.Call):
            return None
        if expr.type.values is not None:
            return _listed(expr.type)
        return self._by_columns(expr) or self._by_arguments(expr) or _by_range(expr)

    def _by_columns(self, expr: ir.Call) -> Image | None:
        """The expression's value for each combination of its columns' values."""
        found = list(dict.fromkeys(ir.columns_in(expr)))
        rows = self._inputs(found, _size(expr))
        if rows is None:
            return None
        return _collected(rows, _program(expr, {column: at for at, column in enumerate(found)}))

    def _by_arguments(self, expr: ir.Call) -> Image | None:
        """The function's value for each combination of its arguments' values."""
        rows = self._inputs(expr.args, 1)
        return None if rows is None else _collected(rows, lambda row: _checked(expr.function, row))

    def _inputs(self, parts: Sequence[ir.Expr], steps: int) -> Iterable[Sequence[tuple[Value, bool]]] | None:
        """All combinations of the parts' values, if there aren't too many at so many steps for each."""
        inputs = []
        for part in parts:
            found = self.image(part)
            if found is None:
                return None
            inputs.append(found.inputs)
        cost = prod(map(len, inputs)) * steps
        if cost > self._steps_left:
            return None
        self._steps_left -= cost
        return product(*inputs)


def _column(column: ir.Column) -> Image | None:
    """A column's keys, or all values within its bounds."""
    return _by_range(column) if column.type.values is None else _listed(column.type)


def _listed(of: ir.Type) -> Image:
    """What the type lists already."""
    return Image(of.values or (), null=of.nullable and not of.hidden, hidden=of.nullable and of.hidden)


def _by_range(expr: ir.Expr) -> Image | None:
    """All whole numbers or days in the range, or both truths."""
    kind, lo, hi = expr.type.kind, expr.type.lo, expr.type.hi
    if kind is Kind.BOOLEAN:
        return Image((False, True), null=expr.type.nullable)
    if kind not in {Kind.INTEGER, Kind.DATE} or lo is None or hi is None or hi - lo >= MOST_VALUES:
        return None
    whole = range(int(lo), int(hi) + 1)
    return Image(tuple(whole) if kind is Kind.INTEGER else tuple(map(day_of, whole)), null=expr.type.nullable)


def _collected(
    rows: Iterable[Sequence[tuple[Value, bool]]], compute: Callable[[Sequence[Value]], Value]
) -> Image | None:
    """All values computed: numbers, dates and truths in order, texts as they come."""
    found: dict[Value, None] = {}
    null = hidden = False
    try:
        for row in rows:
            value = compute([value for value, _ in row])
            if value is not None:
                found[value] = None
            elif any(is_hidden for _, is_hidden in row):
                hidden = True
            else:
                null = True
    except _UndeterminedError:
        return None
    if len(found) > MOST_VALUES:
        return None
    values = list(found)
    if not any(isinstance(value, str) for value in values):
        values.sort()  # they are of one kind, and none is NULL
    return Image(tuple(values), null=null, hidden=hidden)


def _program(expr: ir.Expr, places: Mapping[ir.Column, int]) -> Callable[[Sequence[Value]], Value]:
    """A function from a row of column values to the expression's value."""
    if isinstance(expr, ir.Column):
        place = places[expr]
        return lambda row: row[place]
    if isinstance(expr, ir.Literal):
        constant = python_value(expr)
        return lambda _row: constant
    if isinstance(expr, (ir.Released, ir.Margin)):
        raise _UndeterminedError
    function, args = expr.function, [_program(arg, places) for arg in expr.args]
    return lambda row: _checked(function, [arg(row) for arg in args])


def _checked(function: ir.Function, values: Sequence[Value]) -> Value:
    """The function's value, if Python can tell."""
    if not function.agrees(*values):
        raise _UndeterminedError
    value: Value = function.evaluate(*values)
    return value


def _size(expr: ir.Expr) -> int:
    """How many functions an expression calls."""
    return 1 + sum(map(_size, expr.args)) if isinstance(expr, ir.Call) else 0
