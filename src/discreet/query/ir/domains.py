"""Domains: the values that an expression can have, as far as public facts tell.

For a column, they follow from its declaration. For a grouping expression, they are listed if the list is short. A list
that is too long costs accuracy (a group without rows is answered with noise); one that lacks a value drops its rows.
Neither costs privacy, since both come from public facts alone. Three ways are tried, the most exact first: the
expression's value for each combination of its columns' values; its function's value for each combination of the
arguments' values; all whole numbers or days in its range.

A filter narrows the types of the columns behind it: `WHERE age BETWEEN 18 AND 65` bounds a sum of ages, and `WHERE sex
= 'Female'` leaves one group. A wrong conclusion here would cost accuracy or a group, never privacy: what a row adds is
clamped to the range of its expression in any case, and rows whose key isn't listed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, prod

from discreet.privacy import KeyValue
from discreet.query.ir.expressions import (
    Call,
    Column,
    Expr,
    Function,
    Literal,
    Margin,
    Released,
    Type,
    columns_in,
    is_null,
)
from discreet.query.ir.functions import call
from discreet.query.ir.functions.application import from_python
from discreet.query.ir.literals import Value, literal, python_value
from discreet.query.ir.ordinals import day_of
from discreet.query.ir.ranges import EXACT, within
from discreet.tables import Kind

MOST_VALUES = 10_000
"""A longer list isn't taken for a list of keys."""

_MOST_STEPS = 50_000
"""How many function values may be worked out for one list: some 30 ms of planning."""

_LISTED_IN_A_STEP = 8
"""About how many values are listed in the time of one step."""

_EXACT = Fraction(-EXACT), Fraction(EXACT)
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_TRUE = literal(True)  # noqa: FBT003 — SQL's TRUE


class _UndeterminedError(Exception):
    """Python can't tell what an engine would compute, or not within the steps allowed."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that an expression can have.

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


@dataclass(slots=True)
class Trial:
    """Tries conditions on all values of their columns, within one allowance of steps for all of them.

    Args:
        steps_left: how many function values may be worked out; as many as for one domain, if it is left out.
    """

    steps_left: int = _MOST_STEPS

    def may_hold(self, condition: Expr) -> bool:
        """Whether a condition is true for some values of its columns, as far as the steps that are left tell."""
        if self.steps_left < 0:
            return True
        columns = list(dict.fromkeys(columns_in(condition)))
        found = [_column(column) for column in columns]
        inputs = [each.inputs for each in found if each is not None]
        self.steps_left -= sum(map(len, inputs)) // _LISTED_IN_A_STEP
        if len(inputs) < len(found):
            return True
        holds, size = _program(condition, {column: at for at, column in enumerate(columns)}), _size(condition) + 1
        try:
            for row in product(*inputs):
                self.steps_left -= size
                if self.steps_left < 0 or holds([value for value, _ in row]) is True:
                    return True
        except _UndeterminedError:
            return True
        return False


class _Work:
    """The search for one domain, with the steps it may still take."""

    def __init__(self) -> None:
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
        """All combinations of the parts' values, unless there are too many at this number of steps each."""
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
    """The domain that the type already lists."""
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


def conjuncts(predicate: Expr) -> Iterator[Expr]:
    """The conditions that all hold where the predicate does.

    A condition that all branches of an OR demand is one of its own: `(k = j AND a) OR (k = j AND b)` joins on k = j.
    """
    match predicate:
        case Call(function=Function(name="and"), args=args):
            for arg in args:
                yield from conjuncts(arg)
        case Call(function=Function(name="or"), args=args):
            branches = [list(conjuncts(arg)) for arg in args]
            common = [each for each in branches[0] if all(each in branch for branch in branches[1:])]
            rests = [conjunction(each for each in branch if each not in common) for branch in branches]
            yield from common
            if all(rest is not None for rest in rests):
                yield call("or", *(rest for rest in rests if rest is not None)) if common else predicate
        case _:  # a condition is one of itself
            yield predicate


def conjunction(conditions: Iterable[Expr]) -> Expr | None:
    """All conditions as one; None if there are none, or nothing but TRUE."""
    parts = [each for each in dict.fromkeys(conditions) if each != _TRUE]
    return None if not parts else parts[0] if len(parts) == 1 else call("and", *parts)


def narrowed(conditions: Iterable[Expr]) -> Mapping[Column, Type]:
    """The types of columns where all these conditions are true.

    Examples:
        >>> age = Column("people", "age", Type(Kind.INTEGER, Fraction(0), Fraction(110)))
        >>> narrowed([call("lt", age, literal(18))])[age].hi
        Fraction(17, 1)
    """
    found: dict[Column, Type] = {}
    conditions = list(conditions)
    for condition in conditions:
        for column, change in changes(condition):
            after = change(found.get(column, column.type))
            if is_consistent(after):
                found[column] = after
    for one, other in (pair for condition in conditions for pair in _equal_columns(condition)):
        known, theirs = found.get(one, one.type), found.get(other, other.type)
        if public_values(replace(one, type=known)) is None and known.kind is theirs.kind and theirs.values:
            found[one] = replace(known, values=theirs.values)
    return found


def _equal_columns(condition: Expr) -> Iterator[tuple[Column, Column]]:
    """The two columns of `a = b`, either way: a column without a list of values has those of the other one."""
    match condition:
        case Call(function=Function(name="eq"), args=(Column() as one, Column() as other)):
            yield from ((one, other), (other, one))


class _Change:
    """How one condition narrows the type of one column."""

    def __init__(self, name: str, constants: tuple[Literal, ...]) -> None:
        self._name = name
        self._constants = constants

    def __call__(self, before: Type) -> Type:
        """The type afterwards."""
        known = replace(before, nullable=False, hidden=False)
        if self._name == "not_null":
            return known
        values = None if before.values is None else tuple(each for each in before.values if self._holds(each, before))
        lo, hi = self._ends(before)
        if self._name in {"eq", "in"} and before.kind is Kind.TEXT and before.values is None:
            values = tuple(dict.fromkeys(each.value for each in self._constants if isinstance(each.value, str)))
        return replace(known, lo=lo, hi=hi, values=values)

    def _holds(self, value: object, before: Type) -> bool:
        """Whether a listed value passes; one that can't be compared does."""
        read = from_python(value, before.kind)  # type: ignore[arg-type]  # a key is a value
        if read is None or any(is_null(each) for each in self._constants):
            return True
        if self._name == "in":
            return any(call("eq", read, each) == _TRUE for each in self._constants)
        return call(self._name, read, *self._constants) == _TRUE

    def _ends(self, before: Type) -> tuple[Fraction | None, Fraction | None]:
        """The range afterwards."""
        los = [each.type.lo for each in self._constants]
        his = [each.type.hi for each in self._constants]
        lo, hi = before.lo, before.hi
        whole = before.kind in {Kind.INTEGER, Kind.DATE}
        if self._name in {"eq", "in", "gt", "ge"} and None not in los and before.kind is not Kind.TEXT:
            least = min(each for each in los if each is not None)
            if whole:
                least = Fraction(floor(least) + 1) if self._name == "gt" else Fraction(ceil(least))
            lo = least if lo is None else max(lo, least)
        if self._name in {"eq", "in", "lt", "le"} and None not in his and before.kind is not Kind.TEXT:
            most = max(each for each in his if each is not None)
            if whole:
                most = Fraction(ceil(most) - 1) if self._name == "lt" else Fraction(floor(most))
            hi = most if hi is None else min(hi, most)
        return lo, hi


def changes(condition: Expr) -> Iterator[tuple[Column, Callable[[Type], Type]]]:
    """The columns of which one condition says something, with what it does to the type of each."""
    match condition:
        case Column():
            yield condition, _Change("eq", (_TRUE,))
        case Call(function=Function(name="not"), args=(Column() as column,)):
            yield column, _Change("eq", (literal(False),))  # noqa: FBT003 — SQL's FALSE
        case Call(function=Function(name="not"), args=(Call(function=Function(name="is_null"), args=args),)):
            yield from ((arg, _Change("not_null", ())) for arg in args if isinstance(arg, Column))
        case Call(function=Function(name="in"), args=(left, *listed)):
            constants = tuple(each for each in listed if isinstance(each, Literal) and not is_null(each))
            yield from _of(left, "in", constants)
        case Call(function=Function(name=name), args=(left, right)) if name in _FLIPPED:
            if isinstance(right, Literal):
                yield from _of(left, name, (right,))
            elif isinstance(left, Literal):
                yield from _of(right, _FLIPPED[name], (left,))
            else:
                yield from ((each, _Change("not_null", ())) for each in (left, right) if isinstance(each, Column))


def _of(expr: Expr, name: str, constants: tuple[Literal, ...]) -> Iterator[tuple[Column, _Change]]:
    """A comparison with constants, if it is one of a column, perhaps read as a real number or a timestamp."""
    match expr:
        case Column():
            yield expr, _Change(name, constants) if constants else _Change("not_null", ())
        case Call(function=Function(name="real"), args=(Column() as column,)):
            # At that size, several whole numbers are one real number.
            known = tuple(each for each in constants if within((each.type.lo, each.type.hi), _EXACT))
            known = known if len(known) == len(constants) else ()
            yield column, _Change(name, known) if known else _Change("not_null", ())


def is_consistent(known: Type) -> bool:
    """Whether anything can be of the type; if not, no row passes what led to it."""
    return known.values != () and (known.lo is None or known.hi is None or known.lo <= known.hi)
