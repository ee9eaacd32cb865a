"""Serving: whether the exact part of a question is there already, under that of an answer that was released.

Both must be about the same rows, up to filters of the new question that the old keys decide; and limits must make the
same of them:

- Nothing is limited where no unit has two rows, so any regrouping will do.
- The same groups under the same limits are the same.
- Under a limit on the rows of a unit over all groups, a unit counts in merged groups what it counts in their parts, up
  to rounding by less than a step of the grid for each part. Groups must not be dropped: their rows count towards the
  limit too.
- Under a limit on groups, and on rows in each, that is no less than their number no group is left out, and each is
  limited on its own: groups may be dropped, but not merged.

Groups that a threshold selected serve only where they would be selected by the same threshold, of the same count.

A filter or a key of the new question that is computed from the old keys alone has one value for each old group, and
that can be worked out: `WHERE region = 'north'`, `GROUP BY age // 10`.

A question reads the columns that it uses and no others, so two questions about one table rarely have equal relations.
Their rows are the same if the relations have the same shape, and agree on every column that both have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import TypeVar

from discreet.errors import unforeseen
from discreet.gateway.answers.released import Group, Shown, public_groups
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.ir import Value, conjuncts, has_one_row, python_value
from discreet.query.planner import CONFIDENCE, Draft

MOST_STEPS = 100_000
"""How many function values may be worked out for one old answer: some tenths of a second."""

ROUNDED = 1 + 1e-9
"""Errors that are equal but for the rounding of floats count as equal."""

_Key = tuple[KeyValue, ...]
_Program = Callable[[Sequence[Value]], Value]


class _UnknownError(Exception):
    """The old keys don't tell, or Python can't be trusted to compute what an engine would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouping:
    """How groups make up other groups.

    Args:
        groups: the old groups that each new one is made of; none, where the new one has no rows for certain.
        drops: whether some old group belongs to no new one.
    """

    groups: Mapping[_Key, tuple[_Key, ...]]
    drops: bool

    @property
    def most(self) -> int:
        """How many old groups are added up, at the most."""
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
    """How the old groups make up the new ones; None if their keys don't tell.

    A row that is in none of the old groups, because a key of it is NULL and NULL isn't among the public values, must
    be in none of the new ones either; otherwise there is no regrouping.

    Args:
        old: keys with public values.
        new: keys with public values.
        extra: filters of the new question that the old one doesn't have.
    """
    if prod(len(_possible(key)) for key in old) * (1 + len(new) + len(extra)) > MOST_STEPS:
        return None
    places = {str(key.expr): place for place, key in enumerate(old)}
    try:
        conditions = [_program(condition, places) for condition in extra]
        keys = [_program(key.expr, places) for key in new]
        return _collected(old, new, lambda group: _place(group, conditions, keys))
    except _UnknownError:
        return None


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


def _program(expr: ir.Expr, places: Mapping[str, int]) -> _Program:
    """A function from an old group to an expression's value for all of its rows."""
    place = places.get(str(expr))
    if place is not None:
        return lambda group: group[place]
    match expr:
        case ir.Literal():
            constant = python_value(expr)
            return lambda _group: constant
        case ir.Call(function=function, args=args):
            parts = [_program(arg, places) for arg in args]
            return lambda group: _checked(function, [part(group) for part in parts])
        case _:
            raise _UnknownError


def _checked(function: ir.Function, values: Sequence[Value]) -> Value:
    """The function's value, if Python can tell."""
    if not function.agrees(*values):
        raise _UnknownError
    value: Value = function.evaluate(*values)
    return value


_Named = TypeVar("_Named")


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """One level of an answer that was released.

    Args:
        draft: how it was made.
        groups: what was released.
        entry: the number of its debit.
        shown: how a group came to be shown, or left out, by its key, where noise picked; None where it didn't.
    """

    draft: Draft
    groups: Sequence[Group]
    entry: int
    shown: Callable[[_Key], Shown | None] | None = None


def serving(draft: Draft, old: Released, *, any_threshold: bool = False) -> Regrouping | None:
    """How the groups of an answer make up those of a question; None if they don't.

    Args:
        draft: of the question.
        old: of the same data, in the same declarations.
        any_threshold: whether groups may be selected by another threshold than the question's own.
    """
    extra = _extra_filters(draft.question.source, old.draft.question.source)
    if extra is None or (draft.unit, draft.adjacency) != (old.draft.unit, old.draft.adjacency):
        return None
    if draft.has_private_keys or old.draft.has_private_keys:
        return None if extra else _selected(draft, old, any_threshold=any_threshold)
    how = regrouped(old.draft.keys, draft.keys, extra)
    return how if how is not None and _is_limited_alike(draft, old.draft, how) else None


def is_unlimited(draft: Draft) -> bool:
    """Whether no unit has two rows, so that there is nothing to limit."""
    return draft.unit.is_row or has_one_row(draft.question.source)


def _extra_filters(new: ir.Relation, old: ir.Relation) -> list[ir.Expr] | None:
    """The filters that only the new question has; None if their rows differ in more than that."""
    (new_base, new_filters), (old_base, old_filters) = filters(new), filters(old)
    known, wanted = _by_text(old_filters), _by_text(new_filters)
    if not known.keys() <= wanted.keys() or merged(new_base, old_base) is None:
        return None
    return [part for text, part in wanted.items() if text not in known]


def conditions(draft: Draft) -> frozenset[str]:
    """The filters on top of the rows of a level, as hashes: an answer serves no question that lacks one of its own."""
    _, found = filters(draft.question.source)
    return frozenset(hashlib.sha256(text.encode()).hexdigest()[:16] for text in _by_text(found))


def _by_text(predicates: Sequence[ir.Expr]) -> dict[str, ir.Expr]:
    """The conditions that predicates consist of, by their canonical form."""
    return {str(part): part for each in predicates for part in conjuncts(each)}


def _is_limited_alike(draft: Draft, old: Draft, how: Regrouping) -> bool:
    """Whether limits make the same of the rows."""
    if is_unlimited(draft):
        return True
    limits, before = draft.limits, old.limits
    if how.merges and how.drops:
        return False
    if limits.rows is not None:  # groups beside it matter to counts of units alone, which don't merge
        counts_units = any(isinstance(measure, ir.Units) for measure in draft.measures)
        same = limits.rows == before.rows and (not counts_units or limits.groups == before.groups)
        return same and not how.drops
    number = prod(len(key.values or ()) for key in old.keys)
    fits = limits.groups is not None and limits.groups >= number
    return limits == before and not how.merges and (fits or not how.drops)


def _selected(draft: Draft, old: Released, *, any_threshold: bool) -> Regrouping | None:
    """The groups that a threshold selected, if it is the one that would select them now."""
    before = old.draft
    places = {str(key.expr): place for place, key in enumerate(before.keys)}
    order = [places.get(str(key.expr)) for key in draft.keys]
    values = {str(key.expr): key.values for key in before.keys}
    alike = (
        len(draft.keys) == len(before.keys)
        and None not in order
        and all(key.values == values[str(key.expr)] for key in draft.keys)
        and before.threshold is not None
        and (any_threshold or draft.threshold == before.threshold)
        and _selector(draft) == _selector(before)
        and (is_unlimited(draft) or draft.limits == before.limits)
    )
    if not alike:
        return None
    groups: dict[tuple[KeyValue, ...], tuple[tuple[KeyValue, ...], ...]] = {
        tuple(group.key[place] for place in order if place is not None): (group.key,) for group in old.groups
    }
    return Regrouping(groups=groups, drops=False)


def _selector(draft: Draft) -> str:
    """What groups are selected by."""
    return meaning(next((measure for measure in draft.measures if measure.name == draft.selector), None))


def filters(relation: ir.Relation) -> tuple[ir.Relation, tuple[ir.Expr, ...]]:
    """The relation without the filters on top of it, and these filters."""
    found: list[ir.Expr] = []
    while isinstance(relation, ir.Where):
        found.append(relation.predicate)
        relation = relation.source
    return relation, tuple(found)


def reuse_key(source: ir.Relation) -> str:
    """The key under which answers are looked up for reuse: equal wherever one may follow from the other; a hash.

    It leaves out the columns that are used, and the filters on top.
    """
    return hashlib.sha256(_shape(filters(source)[0]).encode()).hexdigest()


def merged(one: ir.Relation, other: ir.Relation) -> ir.Relation | None:  # noqa: PLR0911 — one case for each kind
    """The relation with the columns of both; None if their rows aren't the same.

    Args:
        one: a relation.
        other: of the same tables, in the same declarations.
    """
    match one, other:
        case ir.Scan(), ir.Scan():
            same = (one.table, one.owner, one.alias) == (other.table, other.owner, other.alias)
            names = {*one.columns, *other.columns}
            ordered = tuple(column.name for column in one.table.columns if column.name in names)
            return replace(one, columns=ordered) if same else None
        case ir.Where(), ir.Where() if str(one.predicate) == str(other.predicate):
            return _over(one, other)
        case ir.Distinct(), ir.Distinct() if str(one) == str(other):
            return one
        case ir.Join(), ir.Join() if (one.kind, str(one.predicate)) == (other.kind, str(other.predicate)):
            left, right = merged(one.left, other.left), merged(one.right, other.right)
            return None if left is None or right is None else replace(one, left=left, right=right)
        case ir.Project(), ir.Project() if one.alias == other.alias:
            columns = _united(one.columns, other.columns, _name_of_pair)
            return None if columns is None else _over(one, other, columns=columns)
        case ir.PerUnit(), ir.PerUnit() if _shape_of_groups(one) == _shape_of_groups(other):
            summaries = _united(one.columns, other.columns, lambda each: each.name)
            return None if summaries is None else _over(one, other, columns=summaries)
        case ir.Window(), ir.Window() if _shape_of_window(one) == _shape_of_window(other):
            windowed = _united(one.columns, other.columns, lambda each: each.name)
            return None if windowed is None else _over(one, other, columns=windowed)
        case _:
            return one if str(one) == str(other) and isinstance(one, ir.Union) else None


def _over(one: ir.Relation, other: ir.Relation, **changed: object) -> ir.Relation | None:
    """One of two relations with one below, over what both have below."""
    (first,), (second,) = ir.sources(one), ir.sources(other)
    below = merged(first, second)
    return None if below is None else replace(one, source=below, **changed)  # type: ignore[arg-type]  # a relation below and columns, as they were


def _united(one: Sequence[_Named], other: Sequence[_Named], name: Callable[[_Named], str]) -> tuple[_Named, ...] | None:
    """The columns of both; None if one name has two meanings."""
    known = {name(each): each for each in one}
    if any(name(each) in known and _text(known[name(each)]) != _text(each) for each in other):
        return None
    return (*one, *(each for each in other if name(each) not in known))


def _text(column: object) -> str:
    """What a column is, in canonical form."""
    return str(column[1]) if isinstance(column, tuple) else str(column)


def _name_of_pair(column: tuple[str, ir.Expr]) -> str:
    """The name of a computed column."""
    return column[0]


def _shape(relation: ir.Relation) -> str:
    """The relation in canonical form, without the columns that depend on what is used of it."""
    below = ", ".join(map(_shape, ir.sources(relation)))
    match relation:
        case ir.Scan() | ir.Distinct() | ir.Union():
            return str(relation)
        case ir.Where(predicate=predicate):
            return f"where({below}, {predicate})"
        case ir.Join(kind=kind, predicate=predicate):
            return f"{kind}({below}, {predicate})"
        case ir.Project(alias=alias):
            return f"project({below}, {alias!r})"
        case ir.PerUnit():
            return f"per_unit({below}, {_shape_of_groups(relation)})"
        case ir.Window():
            return f"window({below}, {_shape_of_window(relation)})"
        case _:
            raise unforeseen(relation)


def _shape_of_groups(relation: ir.PerUnit) -> str:
    """What a summary groups by."""
    return f"{relation.alias!r}, {[(name, str(expr)) for name, expr in relation.keys]}, {relation.single}"


def _shape_of_window(relation: ir.Window) -> str:
    """What a window partitions by."""
    return f"{relation.alias!r}, {[str(expr) for expr in relation.partition]}"


# ── What parts of an answer mean ──────────────────────────────────────────────────────────────────────────────────────


def meaning(measure: ir.Measure | ir.Vector | None) -> str:
    """What is measured, whatever the grid: equal for measures that give the same numbers of the same rows."""
    match measure:
        case ir.Sum(value=value):
            return f"sum({value})"
        case ir.Vector(values=values):
            return f"vector({', '.join(map(str, values))})"
        case ir.Histogram(value=value, size=size):
            return f"histogram({value}, {size})"
        case _:
            return str(measure)


def held(draft: Draft) -> dict[str, float]:
    """What the parts of an answer mean, each with its error: for a first look at what may serve."""
    totals = [{meaning(noise.measure): float(noise.radius(CONFIDENCE))} for noise in draft.noises]
    choices = [{meaning(one.measure): one.reach(CONFIDENCE)} for one in draft.selections]
    return least([*totals, *choices])


def wanted(draft: Draft) -> dict[str, float]:
    """What an answer must hold some part of to serve a question, and how much that part may err.

    A sum about another centre may err more, for a first look.
    """
    values = [measure.value for measure in draft.measures if isinstance(measure, ir.Sum)]
    bases = [base for value in values for base, centre in about(value) if centre]
    centred = {f"sum({each})": inf for base in bases for each in (base, summand(base))}
    return {meaning_: error * ROUNDED for meaning_, error in held(draft).items()} | centred


def least(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Of each meaning the least error."""
    found: dict[str, float] = {}
    for each in many:
        for name, error in each.items():
            found[name] = min(error, found.get(name, error))
    return found


def about(value: ir.Expr) -> Iterator[tuple[ir.Expr, Fraction]]:
    """What a sum may be of, and about which centre: x − c is a value about 0, and x about c."""
    yield value, Fraction(0)
    match value:
        case ir.Call(
            function=ir.Function(name="subtract"), args=(base, ir.Literal(value=int() | Fraction() as centre))
        ) if not isinstance(centre, bool):
            yield ir.uncast(base), Fraction(centre)


def summand(value: ir.Expr) -> ir.Expr:
    """What a value is the same as where it is added up: sums pass over NULL, so 0 in its place changes nothing."""
    match value:
        case ir.Call(function=ir.Function(name="coalesce"), args=(base, ir.Literal(value=0))):
            return base
        case _:
            return value
