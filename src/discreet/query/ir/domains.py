"""Domains: the values that an expression can have, as far as public facts tell.

Of a column, they follow from its declaration. Of a grouping expression, they are listed where the list is short. A list
that is too long costs accuracy (a group without rows is answered with noise); one that lacks a value drops its rows.
Neither costs privacy, since both come from public facts alone. Three ways are tried, the most exact first: the
expression's value for each combination of its columns' values; its function's value for each combination of the
arguments' values; all whole numbers or days in its range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, prod

from discreet.privacy import KeyValue
from discreet.query.ir.expressions import Call, Column, Expr, Function, Literal, Margin, Released, Type, columns_in
from discreet.query.ir.literals import Value, day_of, ordinal, python_value
from discreet.query.ir.ranges import INT64, UNKNOWN, Interval, outward
from discreet.tables import Column as TableColumn
from discreet.tables import Kind

MOST_VALUES = 10_000
"""A longer list isn't taken for a list of keys."""

_MOST_STEPS = 50_000
"""How many function values may be worked out for one list: some 30 ms of planning."""


_LISTED_IN_A_STEP = 8
"""How many values are listed in the time of one step, about."""


class _UndeterminedError(Exception):
    """Python can't tell what an engine would compute, or not within the steps allowed."""


@dataclass(frozen=True, slots=True)
class Domain:
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


def listed(expr: Expr) -> Expr:
    """The grouping expression with its public values and its NULL group in its type, if they are a short list."""
    found = domain(expr)
    if found is None:
        return expr
    nullable, hidden = found.null or found.hidden, found.hidden and not found.null
    # Grouping expressions are neither real nor timestamps, so their values can be keys.
    known = replace(expr.type, values=found.values, nullable=nullable, hidden=hidden)  # type: ignore[arg-type]  # these are key values
    return replace(expr, type=known)


def public_values(expr: Expr) -> tuple[KeyValue, ...] | None:
    """The public values of a grouping expression, None for its NULL group, or nothing if they aren't public."""
    values = expr.type.values
    if values is None and expr.type.kind is Kind.INTEGER and expr.type.lo is not None and expr.type.hi is not None:
        first, last = int(expr.type.lo), int(expr.type.hi)
        values = tuple(range(first, last + 1)) if last - first < MOST_VALUES else None
    if values is None:
        return None
    return (*values, None) if expr.type.nullable and not expr.type.hidden else values


@lru_cache(maxsize=256)
def domain(expr: Expr) -> Domain | None:
    """All values of an expression of a row, or None if they aren't known or are too many."""
    return _Work().domain(expr)


def computed(expr: Expr, columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> list[object] | None:
    """An expression's value for each of some rows; None if Python can't tell, or not within the steps allowed.

    Args:
        expr: over these columns.
        columns: of the rows, in order; told apart by alias and name alone.
        rows: as questions see them.
    """
    places = {(column.table, column.name): place for place, column in enumerate(columns)}
    used = {column: places[column.table, column.name] for column in columns_in(expr)}
    if len(rows) * (_size(expr) + 1) > _MOST_STEPS:
        return None
    value = _program(expr, used)
    try:
        return [value(row) for row in rows]  # type: ignore[arg-type]  # rows hold values
    except _UndeterminedError:
        return None


class Trial:
    """Tries conditions on all values of their columns; all of them together take no more steps than are allowed.

    Args:
        steps: how many function values may be worked out; as many as for one domain, if it is left out.
    """

    def __init__(self, steps: int = _MOST_STEPS) -> None:
        """Start with all steps allowed."""
        self._steps_left = steps

    def may_hold(self, condition: Expr) -> bool:
        """Whether a condition is true for some values of its columns, as far as the steps that are left tell."""
        if self._steps_left < 0:
            return True
        columns = list(dict.fromkeys(columns_in(condition)))
        found = [_column(column) for column in columns]
        inputs = [each.inputs for each in found if each is not None]
        self._steps_left -= sum(map(len, inputs)) // _LISTED_IN_A_STEP
        if len(inputs) < len(found):
            return True
        holds, size = _program(condition, {column: at for at, column in enumerate(columns)}), _size(condition) + 1
        try:
            for row in product(*inputs):
                self._steps_left -= size
                if self._steps_left < 0 or holds([value for value, _ in row]) is True:
                    return True
        except _UndeterminedError:
            return True
        return False


class _Work:
    """The search for one domain, with the steps it may still take."""

    def __init__(self) -> None:
        """Start with all steps allowed."""
        self._steps_left = _MOST_STEPS

    def domain(self, expr: Expr) -> Domain | None:
        """All values of an expression."""
        if isinstance(expr, Literal):
            value = python_value(expr)
            return Domain((), null=True) if value is None else Domain((value,), null=False)
        if isinstance(expr, Column):
            return _column(expr)
        if not isinstance(expr, Call):
            return None
        if expr.type.values is not None:
            return _listed_domain(expr.type)
        return self._by_columns(expr) or self._by_arguments(expr) or _by_range(expr)

    def _by_columns(self, expr: Call) -> Domain | None:
        """The expression's value for each combination of its columns' values."""
        found = list(dict.fromkeys(columns_in(expr)))
        rows = self._inputs(found, _size(expr))
        if rows is None:
            return None
        return _collected(rows, _program(expr, {column: at for at, column in enumerate(found)}))

    def _by_arguments(self, expr: Call) -> Domain | None:
        """The function's value for each combination of its arguments' values."""
        rows = self._inputs(expr.args, 1)
        return None if rows is None else _collected(rows, lambda row: _checked(expr.function, row))

    def _inputs(self, parts: Sequence[Expr], steps: int) -> Iterable[Sequence[tuple[Value, bool]]] | None:
        """All combinations of the parts' values, if there aren't too many at so many steps for each."""
        inputs = []
        for part in parts:
            found = self.domain(part)
            if found is None:
                return None
            inputs.append(found.inputs)
        cost = prod(map(len, inputs)) * steps
        if cost > self._steps_left:
            return None
        self._steps_left -= cost
        return product(*inputs)


def _column(column: Column) -> Domain | None:
    """A column's keys, or all values within its bounds."""
    return _by_range(column) if column.type.values is None else _listed_domain(column.type)


def _listed_domain(of: Type) -> Domain:
    """What the type lists already."""
    return Domain(of.values or (), null=of.nullable and not of.hidden, hidden=of.nullable and of.hidden)


def _by_range(expr: Expr) -> Domain | None:
    """All whole numbers or days in the range, or both truths."""
    kind, lo, hi = expr.type.kind, expr.type.lo, expr.type.hi
    if kind is Kind.BOOLEAN:
        return Domain((False, True), null=expr.type.nullable)
    if kind not in {Kind.INTEGER, Kind.DATE} or lo is None or hi is None or hi - lo >= MOST_VALUES:
        return None
    whole = range(int(lo), int(hi) + 1)
    return Domain(tuple(whole) if kind is Kind.INTEGER else tuple(map(day_of, whole)), null=expr.type.nullable)


def _collected(
    rows: Iterable[Sequence[tuple[Value, bool]]], compute: Callable[[Sequence[Value]], Value]
) -> Domain | None:
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
    return Domain(tuple(values), null=null, hidden=hidden)


def _program(expr: Expr, places: Mapping[Column, int]) -> Callable[[Sequence[Value]], Value]:
    """A function from a row of column values to the expression's value."""
    if isinstance(expr, Column):
        place = places[expr]
        return lambda row: row[place]
    if isinstance(expr, Literal):
        constant = python_value(expr)
        return lambda _row: constant
    if isinstance(expr, (Released, Margin)):
        raise _UndeterminedError
    function, args = expr.function, [_program(arg, places) for arg in expr.args]
    return lambda row: _checked(function, [arg(row) for arg in args])


def _checked(function: Function, values: Sequence[Value]) -> Value:
    """The function's value, if Python can tell."""
    if not function.agrees(*values):
        raise _UndeterminedError
    value: Value = function.evaluate(*values)
    return value


def _size(expr: Expr) -> int:
    """How many functions an expression calls."""
    return 1 + sum(map(_size, expr.args)) if isinstance(expr, Call) else 0


def column_type(column: TableColumn) -> Type:
    """The type of a column's values as questions meet them: clamped to its bounds, NULL unless among its keys.

    Of a public table it lists what the column holds, where that is known and a short list, and keys or bounds don't
    list values already.

    Ends are rounded away from the middle, to whole numbers or float64, so that the range holds whichever of the two
    neighbours the scan moves a value to.

    Examples:
        >>> from discreet.privacy import Bounds
        >>> column_type(TableColumn(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110))).hi
        Fraction(110, 1)
    """
    if column.keys is not None:
        listed = tuple(key for key in column.keys if key is not None)
        hidden = None not in column.keys.values
        return Type(column.kind, *_span(listed), nullable=True, values=listed, hidden=hidden)
    lo, hi = _bounds(column)
    is_long = column.kind not in {Kind.INTEGER, Kind.DATE} or lo is None or hi is None or hi - lo >= MOST_VALUES
    if column.values is not None and is_long and len(column.values) <= MOST_VALUES:
        held = tuple(value for value in column.values if value is not None)
        lo, hi = _span(held) if column.bounds is None else (lo, hi)
        return Type(column.kind, lo, hi, nullable=len(held) < len(column.values), values=held)
    truths = (False, True) if column.kind is Kind.BOOLEAN else None
    return Type(column.kind, lo, hi, nullable=column.nullable, values=truths)


def _span(values: tuple[KeyValue, ...]) -> Interval:
    """The least and greatest of a list of keys that have an order on a line."""
    ends = [ordinal(value) for value in values if isinstance(value, date)]
    ends += [Fraction(value) for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return (min(ends), max(ends)) if ends else UNKNOWN


def _bounds(column: TableColumn) -> Interval:
    """The declared bounds, outward; of integers, no further than 64 bits."""
    if column.bounds is None:
        return UNKNOWN
    lo, hi = (ordinal(end) if isinstance(end, date) else Fraction(end) for end in (column.bounds.lo, column.bounds.hi))
    if column.kind is Kind.REAL:
        return outward((lo, hi))
    least, most = INT64
    if column.kind is Kind.INTEGER and least is not None and most is not None:
        return min(max(Fraction(floor(lo)), least), most), max(min(Fraction(ceil(hi)), most), least)
    return lo, hi
