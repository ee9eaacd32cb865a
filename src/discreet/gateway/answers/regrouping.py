"""Regrouping: how the groups of an answer make up other groups, as far as their keys tell.

A filter or a key of the new question that is computed from the old keys alone has one value for each old group, and
that can be worked out: `WHERE region = 'north'`, `GROUP BY age // 10`. A key that has another value for each value of a
column, such as `COALESCE(sex, 'unknown')`, tells that column too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from operator import itemgetter

from discreet.gateway.answers.released import public_groups
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.ir import Value, python_value

_MOST_STEPS = 100_000
"""How many function values may be computed for one old answer: some tenths of a second."""

_Key = tuple[KeyValue, ...]
_Program = Callable[[Sequence[Value]], Value]


class _UnknownError(Exception):
    """The old keys don't tell, or Python can't be trusted to compute what an engine would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouping:
    """A way in which groups make up other groups.

    Args:
        groups: the old groups that each new one is made of; none, where the new one has no rows for certain.
        drops: whether some old group belongs to no new one.
    """

    groups: Mapping[_Key, tuple[_Key, ...]]
    drops: bool

    @property
    def most(self) -> int:
        """The most old groups that are added up for one new one."""
        return max(map(len, self.groups.values()), default=0)

    @property
    def merges(self) -> bool:
        """Whether some new group is made of several old ones."""
        return self.most > 1

    @property
    def renames(self) -> bool:
        """Whether each new group is one old one."""
        return all(len(parts) == 1 for parts in self.groups.values())


def regrouped(old: Sequence[ir.Key], new: Sequence[ir.Key], extra: Sequence[ir.Expr]) -> Regrouping | None:
    """Find how the old groups make up the new ones; None if their keys don't say.

    A row that is in none of the old groups, because a key of it is NULL and NULL isn't among the public values, must
    be in none of the new ones either; otherwise there is no regrouping.

    Args:
        old: keys with public values.
        new: keys with public values.
        extra: filters of the new question that the old one doesn't have.
    """
    if not extra and _listed(old) == _listed(new):  # of any size
        return Regrouping(groups={group: (group,) for group in public_groups(new)}, drops=False)
    if prod(len(_possible(key)) for key in old) * (1 + len(new) + len(extra)) > _MOST_STEPS:
        return None
    try:
        known = _known(old)
        conditions = [_program(condition, known) for condition in extra]
        keys = [_program(key.expr, known) for key in new]
        return _collected(old, new, lambda group: _place(group, conditions, keys))
    except _UnknownError:
        return None


def _listed(keys: Sequence[ir.Key]) -> list[tuple[str, object]]:
    """Keys with their values."""
    return [(str(key.expr), key.values) for key in keys]


def _collected(
    old: Sequence[ir.Key], new: Sequence[ir.Key], place: Callable[[_Key], Sequence[Value] | None]
) -> Regrouping | None:
    """The groups, by where each old one belongs."""
    listed = [set(key.values or ()) for key in old]
    found: dict[_Key, list[_Key]] = {group: [] for group in public_groups(new)}
    drops = False
    for group in product(*map(_possible, old)):
        goal = place(group)
        belongs = goal is not None and goal in found
        if any(value not in values for value, values in zip(group, listed, strict=True)):
            if belongs:
                return None
        elif belongs:
            found[goal].append(group)  # type: ignore[index]  # a goal that is found is a key
        else:
            drops = True
    return Regrouping(groups={goal: tuple(groups) for goal, groups in found.items()}, drops=drops)


def _place(group: _Key, conditions: Sequence[_Program], keys: Sequence[_Program]) -> tuple[Value, ...] | None:
    """The new group that an old one's rows are in; None if a filter leaves them out."""
    if any(condition(group) is not True for condition in conditions):
        return None
    return tuple(key(group) for key in keys)


def _possible(key: ir.Key) -> tuple[KeyValue, ...]:
    """All that a row's key can be: the public values, and NULL if it can be that."""
    values = key.values or ()
    return (*values, None) if key.expr.type.nullable and None not in values else values


def _known(old: Sequence[ir.Key]) -> Mapping[str, _Program]:
    """By expression, a function from an old group to its value: of the keys, and of columns that a key tells."""
    found: dict[str, _Program] = {}
    for place, key in enumerate(old):
        columns = {str(column): column for column in ir.columns_in(key.expr)}
        values = next(iter(columns.values())).type.values if len(columns) == 1 else None
        if values is not None and str(key.expr) not in columns:
            ((name, column),) = columns.items()
            found.setdefault(name, partial(_told, place, _inverse(key, column, values)))
    return found | {str(key.expr): itemgetter(place) for place, key in enumerate(old)}


def _inverse(key: ir.Key, column: ir.Column, values: Sequence[KeyValue]) -> Mapping[Value, KeyValue]:
    """What the only column of a key is, by the key; empty, if two of its values have the same key, or nobody knows."""
    possible = (*values, None) if column.type.nullable and None not in values else tuple(values)
    try:
        program = _program(key.expr, {str(column): itemgetter(0)})
        found = {program((value,)): value for value in possible}
    except _UnknownError:
        return {}
    return found if len(found) == len(possible) else {}


def _told(place: int, inverse: Mapping[Value, KeyValue], group: Sequence[Value]) -> KeyValue:
    """The column's value in a group."""
    if group[place] not in inverse:
        raise _UnknownError
    return inverse[group[place]]


def _program(expr: ir.Expr, known: Mapping[str, _Program]) -> _Program:
    """A function from an old group to an expression's value for all of its rows."""
    program = known.get(str(expr))
    if program is not None:
        return program
    match expr:
        case ir.Literal():
            constant = python_value(expr)
            return lambda _group: constant
        case ir.Call(function=function, args=args):
            parts = [_program(arg, known) for arg in args]
            return lambda group: _checked(function, [part(group) for part in parts])
        case _:
            raise _UnknownError


def _checked(function: ir.Function, values: Sequence[Value]) -> Value:
    """The function's value, if Python can tell."""
    if not function.agrees(*values):
        raise _UnknownError
    value: Value = function.evaluate(*values)
    return value
