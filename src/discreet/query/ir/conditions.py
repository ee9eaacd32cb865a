"""Conditions: a predicate's parts, and what is known of the rows for which all of them hold.

What a filter says narrows the types of the columns behind it: `WHERE age BETWEEN 18 AND 65` bounds a sum of ages, and
`WHERE sex = 'Female'` leaves one group. A wrong conclusion here would cost accuracy or a group, never privacy: what a
row adds is clamped to the range of its expression in any case, and rows whose key isn't listed are left out.

What is
called impossible holds for no row of any tables that keep to their declarations, as questions meet them: values beyond
bounds were moved to the ends, and what isn't among keys is NULL. Where nothing proves it, it is taken for possible.

Three ways are tried, within a bounded number of steps: the type that all conditions together leave a column; the
outcomes that each condition can have (TRUE, FALSE or NULL) by the ranges of what it compares; and all combinations of
values, where these are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.errors import QueryError
from discreet.query.ir.domains import Trial, column_type, public_values
from discreet.query.ir.expressions import Call, Column, Expr, Function, Literal, Type, columns_in
from discreet.query.ir.functions import call
from discreet.query.ir.literals import from_python, is_null, literal
from discreet.query.ir.ranges import EXACT, within
from discreet.query.ir.relations import Join, JoinKind, PerUnit, Relation, Scan, Union, Where, owner_of, sources
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
        for column, change in _changes(condition):
            after = change(found.get(column, column.type))
            if _is_consistent(after):
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


def _changes(condition: Expr) -> Iterator[tuple[Column, Callable[[Type], Type]]]:
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


def _is_consistent(known: Type) -> bool:
    """Whether anything can be of the type; if not, no row passes what led to it."""
    return known.values != () and (known.lo is None or known.hi is None or known.lo <= known.hi)


Outcomes = frozenset[bool | None]
"""What a condition can be; None is NULL."""

_Known = Mapping[tuple[str, str], Type]
"""The types of columns, by alias and name."""

_ANY: Outcomes = frozenset({True, False, None})
_MEETING = (JoinKind.INNER, JoinKind.SEMI)


def contradiction(relation: Relation, trial: Trial | None = None) -> tuple[Expr, ...] | None:
    """Conditions of which no row can meet all, so that the relation has no rows; None if it may have some.

    Args:
        relation: of which rows.
        trial: which has so many steps left; a new one, if it is left out.
    """
    trial = trial or Trial()
    match relation:
        case Scan():
            return None
        case Join(kind=JoinKind.LEFT | JoinKind.ANTI, left=left):
            return contradiction(left, trial)
        case Union(parts=parts):
            empty = [contradiction(part, trial) for part in parts]
            return empty[0] if None not in empty else None
        case PerUnit(keys=()) if owner_of(relation) is None:
            return None  # one row, also of no rows
        case _:
            empty = [contradiction(each, trial) for each in sources(relation)]
            below = next((each for each in empty if each is not None), None)
            if below is not None or not isinstance(relation, Where | Join):
                return below
            return impossible(list(_conditions(relation)), trial)


def impossible(conditions: Sequence[Expr], trial: Trial) -> tuple[Expr, ...] | None:
    """Those of some conditions that can't all be true of one row; None if all of them may be.

    Args:
        conditions: on one row.
        trial: which has so many steps left.

    Examples:
        >>> from discreet.query.ir.literals import literal
        >>> from discreet.tables import Kind
        >>> age = Column("people", "age", Type(Kind.INTEGER, Fraction(0), Fraction(110)))
        >>> print(*impossible([call("gt", age, literal(50)), call("gt", age, literal(200))], Trial()))
        gt("people"."age", integer:200)
    """
    flat = [part for each in conditions for part in conjuncts(each)]
    alone = next((each for each in flat if True not in outcomes(each) or not trial.may_hold(each)), None)
    if alone is not None:
        return (alone,)
    known = _known(flat)
    if isinstance(known, tuple):
        return known
    narrowed = [_retyped(each, known) for each in flat]
    for before, after in zip(flat, narrowed, strict=True):
        if True not in outcomes(after):
            return _about(flat, before)
    for part in _connected(narrowed):
        if len(part) > 1 and not trial.may_hold(call("and", *(narrowed[place] for place in part))):
            return tuple(flat[place] for place in part)
    return None


def outcomes(condition: Expr) -> Outcomes:
    """What a condition can be, by the types in it; those that it can't be for sure are left out."""
    found = _by_structure(condition)
    return found if condition.type.nullable else found - {None}


def is_always_null(expr: Expr, trial: Trial) -> bool:
    """Whether an expression of a row is NULL for every row, as far as the steps that are left tell."""
    match expr:
        case Literal(value=value):
            return value is None
        case Call(function=Function(name="if"), args=(*pairs, otherwise)):
            taken = [pairs[n + 1] for n in range(0, len(pairs), 2) if impossible([pairs[n]], trial) is None]
            return all(map(is_null, (*taken, otherwise)))
        case _:
            return not trial.may_hold(call("not", call("is_null", expr)))


def is_always_zero(expr: Expr, trial: Trial) -> bool:
    """Whether a number of a row is 0 or NULL for every row, as far as the steps that are left tell."""
    match expr:
        case Literal(value=value):
            return value is None or value == 0
        case Call(function=Function(name="real"), args=(arg,)):
            return is_always_zero(arg, trial)
        case Call(function=Function(name="if"), args=(*pairs, otherwise)):
            taken = [pairs[n + 1] for n in range(0, len(pairs), 2) if impossible([pairs[n]], trial) is None]
            return all(is_always_zero(each, trial) for each in (*taken, otherwise))
        case _:
            return expr.type.lo == expr.type.hi == 0


def _by_structure(condition: Expr) -> Outcomes:  # noqa: PLR0911 — one case for each kind of condition
    """What a condition can be, by what it is made of."""
    match condition:
        case Literal(value=bool() | None as value):
            return frozenset({value})
        case Column(type=Type(values=values, nullable=nullable)) if values is not None:
            return frozenset(value for value in values if isinstance(value, bool)) | ({None} if nullable else set())
        case Call(function=Function(name="not"), args=(arg,)):
            return frozenset(None if each is None else not each for each in outcomes(arg))
        case Call(function=Function(name="and"), args=args):
            found = _connected_outcomes(args, decisive=False)
            is_apart = True in found and isinstance(_known([part for arg in args for part in conjuncts(arg)]), tuple)
            return found - {True} if is_apart else found
        case Call(function=Function(name="or"), args=args):
            return _connected_outcomes(args, decisive=True)
        case Call(function=Function(name="is_null"), args=(arg,)):
            return frozenset({True, False} if arg.type.nullable else {False})
        case Call(function=Function(name="in"), args=(value, *listed)):
            equal = [_compared("eq", value, each) for each in listed]
            return frozenset().union(*equal) if any(True in each for each in equal) else frozenset({False, None})
        case Call(function=Function(name="distinct"), args=(left, right)) if left == right:
            return frozenset({False})
        case Call(function=Function(name=name), args=(left, right)) if name in _COMPARED:
            return _compared(name, left, right)
        case _:
            return _ANY


def _connected_outcomes(args: Sequence[Expr], *, decisive: bool) -> Outcomes:
    """What AND or OR can be; one that is decisive decides."""
    found, other = [outcomes(arg) for arg in args], not decisive
    result: set[bool | None] = set()
    if any(decisive in each for each in found):
        result.add(decisive)
    if all(other in each for each in found):
        result.add(other)
    if any(None in each for each in found) and all(each - {decisive} for each in found):
        result.add(None)
    return frozenset(result)


def _overlap(left: Type, right: Type) -> bool:
    """Whether two values can be equal."""
    if left.values is not None and right.values is not None and not set(left.values) & set(right.values):
        return False
    return _at_most(left.lo, right.hi) and _at_most(right.lo, left.hi)


def _at_most(low: Fraction | None, high: Fraction | None) -> bool:
    """Whether a low end lies below a high one, as far as is known."""
    return low is None or high is None or low <= high


def _below(low: Fraction | None, high: Fraction | None) -> bool:
    """Whether a low end lies strictly below a high one, as far as is known."""
    return low is None or high is None or low < high


def _is_one(left: Type, right: Type) -> bool:
    """Whether both are one and the same number or time for sure."""
    return left.lo is not None and left.lo == left.hi == right.lo == right.hi


_COMPARED: Mapping[str, tuple[Callable[[Type, Type], bool], Callable[[Type, Type], bool]]] = {
    "eq": (_overlap, lambda left, right: not _is_one(left, right)),
    "ne": (lambda left, right: not _is_one(left, right), _overlap),
    "lt": (lambda left, right: _below(left.lo, right.hi), lambda left, right: _at_most(right.lo, left.hi)),
    "le": (lambda left, right: _at_most(left.lo, right.hi), lambda left, right: _below(right.lo, left.hi)),
    "gt": (lambda left, right: _below(right.lo, left.hi), lambda left, right: _at_most(left.lo, right.hi)),
    "ge": (lambda left, right: _at_most(right.lo, left.hi), lambda left, right: _below(left.lo, right.hi)),
}
"""For each comparison: whether it can be true, and whether it can be false, of values of two types."""


def _compared(name: str, left: Expr, right: Expr) -> Outcomes:
    """What a comparison can be."""
    can_hold, can_fail = _COMPARED[name]
    if () in {left.type.values, right.type.values}:
        return frozenset({None})
    if left == right:
        return frozenset({name in {"eq", "le", "ge"}, None})
    held = {True} if can_hold(left.type, right.type) else set[bool]()
    failed = {False} if can_fail(left.type, right.type) else set[bool]()
    return frozenset(held | failed | {None})


def _known(conditions: Sequence[Expr]) -> dict[tuple[str, str], Type] | tuple[Expr, ...]:
    """The types that conditions leave the columns in them; or those of them that leave one column no value."""
    known: dict[tuple[str, str], Type] = {}
    for column in (column for each in conditions for column in columns_in(each)):
        name = (column.table, column.name)
        known[name] = _both(known[name], column.type) if name in known else column.type
    for _ in range(2):  # what a column learns of another one, that may hand on
        for condition in conditions:
            for column, change in _changes(condition):
                name = (column.table, column.name)
                known[name] = change(known[name])
                if not _is_consistent(known[name]):
                    return _about(conditions, column)
            match condition:
                case Call(function=Function(name="eq"), args=(Column() as one, Column() as other)):
                    names = (one.table, one.name), (other.table, other.name)
                    both = _both(known[names[0]], known[names[1]])
                    if not _is_consistent(both):
                        return _about(conditions, condition)
                    known |= dict.fromkeys(names, both)
    return known


def _both(one: Type, other: Type) -> Type:
    """The type of what is of both types."""
    los, his = ([each for each in ends if each is not None] for ends in ((one.lo, other.lo), (one.hi, other.hi)))
    values = one.values if other.values is None else other.values
    if one.values is not None and other.values is not None:
        values = tuple(each for each in one.values if each in other.values)
    return replace(
        one,
        lo=max(los, default=None),
        hi=min(his, default=None),
        nullable=one.nullable and other.nullable,
        values=values,
    )


def _about(conditions: Sequence[Expr], what: Expr) -> tuple[Expr, ...]:
    """The conditions on any of the columns in an expression."""
    names = {(column.table, column.name) for column in columns_in(what)}
    return tuple(
        each for each in conditions if any((column.table, column.name) in names for column in columns_in(each))
    )


def _retyped(expr: Expr, known: _Known) -> Expr:
    """The expression with what is known of its columns, and what follows for its parts."""
    if isinstance(expr, Column):
        return replace(expr, type=known.get((expr.table, expr.name), expr.type))
    if not isinstance(expr, Call):
        return expr
    args = tuple(_retyped(arg, known) for arg in expr.args)
    try:
        found = expr.function.infer(args)
    except QueryError:  # a range rule that doesn't take what is left: then what it said before holds
        found = expr.type
    return replace(expr, args=args, type=found)


def _connected(conditions: Sequence[Expr]) -> Iterator[tuple[int, ...]]:
    """The places of those conditions that share columns, also by way of others."""
    waiting = {
        place: {(column.table, column.name) for column in columns_in(each)} for place, each in enumerate(conditions)
    }
    while waiting:
        place, names = next(iter(waiting.items()))
        found = {place: waiting.pop(place)}
        while more := {other: theirs for other, theirs in waiting.items() if theirs & names}:
            names = names.union(*more.values())
            found |= {other: waiting.pop(other) for other in more}
        yield tuple(sorted(found))


def _conditions(relation: Relation) -> Iterator[Expr]:
    """What is true of each row of a relation, besides what the types of its columns say."""
    match relation:
        case Where(source=source, predicate=predicate):
            yield from conjuncts(predicate)
            yield from _conditions(source)
        case Join(kind=kind, left=left, right=right, predicate=predicate):
            yield from _conditions(left)
            if kind in _MEETING:
                yield from () if predicate is None else conjuncts(predicate)
                yield from _conditions(right)
        case Scan(owner=owner) if owner is not None:
            yield from _identified(relation)
        case _:
            return


def _identified(scan: Scan) -> Iterable[Expr]:
    """That the columns by which a row's unit is found aren't NULL: rows without a unit are left out."""
    if scan.owner is None:
        return
    hops, unit = scan.owner.hops, scan.owner.unit
    for name in (hops[0].column,) if hops else (unit.column, unit.at):
        if name is not None:
            column = Column(scan.alias, name, column_type(scan.table.column(name)))
            yield call("not", call("is_null", column))
