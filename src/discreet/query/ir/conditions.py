"""Conditions: a predicate's parts, and what is known of the rows for which all of them hold.

What a filter says narrows the types of the columns behind it: `WHERE age BETWEEN 18 AND 65` bounds a sum of ages, and
`WHERE sex = 'Female'` leaves one group. A wrong conclusion here would cost accuracy or a group, never privacy: what a
row adds is clamped to the range of its expression in any case, and rows whose key isn't listed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.query.ir.domains import public_values
from discreet.query.ir.expressions import Call, Column, Expr, Function, Literal, Type
from discreet.query.ir.functions import call
from discreet.query.ir.literals import from_python, is_null, literal
from discreet.query.ir.ranges import EXACT, within
from discreet.tables import Kind

_EXACT = Fraction(-EXACT), Fraction(EXACT)
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def conjuncts(predicate: Expr) -> Iterator[Expr]:
    """The conditions that all hold where the predicate does.

    What all branches of an OR demand is a condition of its own: `(k = j AND a) OR (k = j AND b)` joins on k = j.
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
        case _:
            yield predicate


def conjunction(conditions: Iterable[Expr]) -> Expr | None:
    """All conditions as one; None if there are none, or nothing but TRUE."""
    true = literal(True)  # noqa: FBT003 — SQL's TRUE
    parts = [each for each in dict.fromkeys(conditions) if each != true]
    return None if not parts else parts[0] if len(parts) == 1 else call("and", *parts)


def narrowed(conditions: Iterable[Expr]) -> Mapping[Column, Type]:
    """What is known of columns where all these conditions are true.

    Examples:
        >>> age = Column("people", "age", Type(Kind.INTEGER, Fraction(0), Fraction(110)))
        >>> narrowed([call("lt", age, literal(18))])[age].hi
        Fraction(17, 1)
    """
    found: dict[Column, Type] = {}
    conditions = list(conditions)
    for condition in conditions:
        for column, change in changes_of(condition):
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
    """What one condition does to the type of one column."""

    def __init__(self, name: str, constants: tuple[Literal, ...]) -> None:
        """Keep the comparison and what is compared with."""
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
            return any(call("eq", read, each) == literal(True) for each in self._constants)  # noqa: FBT003 — SQL's TRUE
        return call(self._name, read, *self._constants) == literal(True)  # noqa: FBT003 — SQL's TRUE

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


def changes_of(condition: Expr) -> Iterator[tuple[Column, Callable[[Type], Type]]]:
    """The columns of which one condition says something, with what it does to the type of each."""
    match condition:
        case Column():
            yield condition, _Change("eq", (literal(True),))  # noqa: FBT003 — SQL's TRUE
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
            # Of whole numbers that large, several are one real number.
            known = tuple(each for each in constants if within((each.type.lo, each.type.hi), _EXACT))
            known = known if len(known) == len(constants) else ()
            yield column, _Change(name, known) if known else _Change("not_null", ())


def is_consistent(known: Type) -> bool:
    """Whether anything can be of the type; if not, no row passes what led to it."""
    return known.values != () and (known.lo is None or known.hi is None or known.lo <= known.hi)
