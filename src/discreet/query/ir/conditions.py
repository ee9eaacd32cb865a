"""Conditions, and whether any row of tables as they are declared can meet them.

"Impossible" means: true of no row, in any tables that keep to their declarations, as questions meet them: values beyond
bounds were moved to the ends, and what isn't among keys is NULL; `column_type` says so of each column. Where nothing
proves it, it is taken for possible.

Three ways are tried, within a bounded number of steps: the type that all conditions together leave a column; the
outcomes that each condition can have (TRUE, FALSE or NULL) by the ranges of what it compares; and all combinations of
values, where these are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from discreet.errors import QueryError, unforeseen
from discreet.query.ir.column_types import column_type
from discreet.query.ir.domains import Trial, changes, conjuncts, is_consistent
from discreet.query.ir.expressions import Call, Column, Expr, Function, Literal, Type, columns_in, is_null
from discreet.query.ir.functions import call
from discreet.query.ir.ranges import at_most, below, intersection
from discreet.query.ir.relations import (
    Distinct,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Union,
    Where,
    Window,
    owner_of,
    sources,
)

Outcomes = frozenset[bool | None]
"""The outcomes that a condition can have; None is NULL."""

_ANY: Outcomes = frozenset({True, False, None})


def contradiction(relation: Relation, trial: Trial | None = None) -> tuple[Expr, ...] | None:
    """Conditions that no row can meet together, so that the relation is empty; None if it may have rows.

    Args:
        relation: of which rows.
        trial: the steps that are left; a new one, if it is left out.
    """
    if isinstance(relation, Scan):
        return None
    trial = trial or Trial()
    match relation:
        case Join(kind=kind, left=left) if kind.keeps_lonely:
            return contradiction(left, trial)
        case Union(parts=parts):
            empty = [contradiction(part, trial) for part in parts]
            return empty[0] if None not in empty else None
        case PerUnit(keys=()) if owner_of(relation) is None:
            return None  # one row, also of no rows
        case Scan() | Where() | Project() | Join() | Distinct() | PerUnit() | Window():
            empty = [contradiction(each, trial) for each in sources(relation)]
            below = next((each for each in empty if each is not None), None)
            if below is not None or not isinstance(relation, Where | Join):
                return below
            return impossible(list(_conditions(relation)), trial)
        case _:
            raise unforeseen(relation)


def impossible(conditions: Sequence[Expr], trial: Trial) -> tuple[Expr, ...] | None:
    """Find conditions that can't all be true of one row; None if all of them may be.

    Args:
        conditions: on one row.
        trial: the steps that are left.

    Examples:
        >>> from discreet.query.ir.literals import literal
        >>> from discreet.tables import Kind
        >>> from fractions import Fraction
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
    """The outcomes that a condition can have, by the types in it; those that are ruled out are missing."""
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
        case _:  # every other expression is tried out
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
        case _:  # for every other expression, its range says it
            return expr.type.lo == expr.type.hi == 0


def _by_structure(condition: Expr) -> Outcomes:  # noqa: PLR0911 — one case for each kind of condition
    """The outcomes that a condition can have, by what it is made of."""
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
        case _:  # nothing is known of it, so it may be anything
            return _ANY


def _connected_outcomes(args: Sequence[Expr], *, decisive: bool) -> Outcomes:
    """The outcomes of AND or OR, which one decisive argument settles."""
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
    return at_most(left.lo, right.hi) and at_most(right.lo, left.hi)


def _is_one(left: Type, right: Type) -> bool:
    """Whether both are one and the same number or time for sure."""
    return left.lo is not None and left.lo == left.hi == right.lo == right.hi


_COMPARED: Mapping[str, tuple[Callable[[Type, Type], bool], Callable[[Type, Type], bool]]] = {
    "eq": (_overlap, lambda left, right: not _is_one(left, right)),
    "ne": (lambda left, right: not _is_one(left, right), _overlap),
    "lt": (lambda left, right: below(left.lo, right.hi), lambda left, right: at_most(right.lo, left.hi)),
    "le": (lambda left, right: at_most(left.lo, right.hi), lambda left, right: below(right.lo, left.hi)),
    "gt": (lambda left, right: below(right.lo, left.hi), lambda left, right: at_most(left.lo, right.hi)),
    "ge": (lambda left, right: at_most(right.lo, left.hi), lambda left, right: below(left.lo, right.hi)),
}
"""For each comparison: whether it can be true, and whether it can be false, of values of two types."""


def _compared(name: str, left: Expr, right: Expr) -> Outcomes:
    """The outcomes that a comparison can have."""
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
    for _ in range(2):  # a column may hand on what it learns from another
        for condition in conditions:
            for column, change in changes(condition):
                name = (column.table, column.name)
                known[name] = change(known[name])
                if not is_consistent(known[name]):
                    return _about(conditions, column)
            match condition:
                case Call(function=Function(name="eq"), args=(Column() as one, Column() as other)):
                    names = (one.table, one.name), (other.table, other.name)
                    both = _both(known[names[0]], known[names[1]])
                    if not is_consistent(both):
                        return _about(conditions, condition)
                    known |= dict.fromkeys(names, both)
    return known


def _both(one: Type, other: Type) -> Type:
    """The type of what is of both types."""
    lo, hi = intersection((one.lo, one.hi), (other.lo, other.hi))
    values = one.values if other.values is None else other.values
    if one.values is not None and other.values is not None:
        values = tuple(filter(frozenset(other.values).__contains__, one.values))
    return replace(one, lo=lo, hi=hi, nullable=one.nullable and other.nullable, values=values)


def _about(conditions: Sequence[Expr], what: Expr) -> tuple[Expr, ...]:
    """The conditions on any of the columns in an expression."""
    names = {(column.table, column.name) for column in columns_in(what)}
    return tuple(
        each for each in conditions if any((column.table, column.name) in names for column in columns_in(each))
    )


def _retyped(expr: Expr, known: Mapping[tuple[str, str], Type]) -> Expr:
    """The expression with what is known of its columns, and what follows for its parts."""
    if isinstance(expr, Column):
        return replace(expr, type=known.get((expr.table, expr.name), expr.type))
    if not isinstance(expr, Call):
        return expr
    args = tuple(_retyped(arg, known) for arg in expr.args)
    try:
        found = expr.function.infer(args)
    except QueryError:  # a range rule that doesn't take the rest: its earlier result holds
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
    """Conditions that hold for every row of a relation, beyond what its columns' types say."""
    match relation:
        case Where(source=source, predicate=predicate):
            yield from conjuncts(predicate)
            yield from _conditions(source)
        case Join(kind=kind, left=left, right=right, predicate=predicate):
            yield from _conditions(left)
            if not kind.keeps_lonely:
                yield from () if predicate is None else conjuncts(predicate)
                yield from _conditions(right)
        case Scan(owner=owner):
            yield from () if owner is None else _identified(relation)
        case Project() | Union() | Distinct() | PerUnit() | Window():
            return
        case _:
            raise unforeseen(relation)


def _identified(scan: Scan) -> Iterable[Expr]:
    """Conditions that the columns by which a row's unit is found aren't NULL: rows without a unit are left out."""
    if scan.owner is None:
        return
    hops, unit = scan.owner.hops, scan.owner.unit
    for name in (hops[0].column,) if hops else (unit.column, unit.at):
        if name is not None:
            column = Column(scan.alias, name, column_type(scan.table.column(name)))
            yield call("not", call("is_null", column))
