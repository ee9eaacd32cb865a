"""Released numbers: the groups of an answer, and what is computed of them.

Everything here works on numbers that are public already, in plain Python: post-processing costs nothing
(Dwork & Roth 2014, Proposition 2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.query import ir
from discreet.query.estimates import Condition, Noisy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from discreet.privacy import KeyValue
    from discreet.query.planner import Draft, Plan

Values: TypeAlias = dict[str | ir.Margin, Any]
"""The released values of one group, by name, and its margins: how far the noise may have carried each value."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How a group came to be shown or left out, as far as its noise decided that.

    Args:
        share: of the groups among which ORDER BY and LIMIT picked, how many had their lot.
        conditions: that its noisy numbers met; no two rest on one number. A threshold's own is among them.
    """

    share: float = 1.0
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One released group.

    Args:
        key: its key, in the order of the question's keys.
        noisy: its released integers, by measure.
        level: which grouping set it belongs to, counted from 0.
        before: how what it follows from was shown in other answers; None if it follows from none that picks.
    """

    key: tuple[KeyValue, ...]
    noisy: Noisy
    level: int = 0
    before: Shown | None = None


def unmeasured(plan: Plan) -> list[Group]:
    """The groups of a question of which nothing is measured: all that are public."""
    drafts = [level.draft for level in plan.levels]
    return [group for number, draft in enumerate(drafts) for group in _unmeasured(draft, number)]


def _unmeasured(draft: Draft, number: int) -> list[Group]:
    """The groups of one level."""
    return in_order(draft, (Group(key, {}, number) for key in public_groups(draft.keys)))


def public_groups(keys: Sequence[ir.Key]) -> Iterator[tuple[KeyValue, ...]]:
    """Every combination of the public values of keys; the empty one if there are none."""
    return product(*(key.values for key in keys if key.values is not None))


def in_order(draft: Draft, groups: Iterable[Group]) -> list[Group]:
    """The groups by key: whose row came first, which an engine's order may tell, must not show."""
    return sorted(groups, key=_key_order(draft))


def evaluate(expr: ir.Expr, values: Values) -> Any:  # noqa: ANN401 — the value of an SQL expression
    """The value of an expression over released values."""
    match expr:
        case ir.Released(name=name):
            return values[name]
        case ir.Margin():
            return values[expr]
        case ir.Literal(value=Fraction() as value):
            return float(value)
        case ir.Literal(value=value):
            return value
        case ir.Call(function=function, args=args):
            return function.evaluate(*(evaluate(arg, values) for arg in args))
        case ir.Column():
            raise AssertionError("a row's own value can't be released")


def _key_order(draft: Draft) -> Callable[[Group], tuple[Any, ...]]:
    """The default order of groups: that of the public lists, else by value, NULL last."""
    ranks = [
        None if key.values is None else {value: rank for rank, value in enumerate(key.values)} for key in draft.keys
    ]

    def order(group: Group) -> tuple[Any, ...]:
        return tuple(
            (value is None, "" if value is None else value) if rank is None else rank[value]
            for value, rank in zip(group.key, ranks, strict=True)
        )

    return order
