"""Released numbers: what becomes of them after the noise, for nothing: HAVING, ORDER BY, LIMIT, arithmetic.

Everything here works on numbers that are public already, in plain Python: post-processing costs nothing
(Dwork & Roth 2014, Proposition 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.errors import QueryError
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimators import Noisy
from discreet.query.intervals import Interval


@dataclass(frozen=True, slots=True)
class Group:
    """One released group.

    Args:
        key: its key, in the order of the question's keys.
        noisy: its released integers, by measure.
    """

    key: tuple[KeyValue, ...]
    noisy: Noisy


def arrange(draft: Draft, groups: Sequence[Group]) -> list[tuple[Group, dict[str, Any]]]:
    """The groups that HAVING keeps, in the order asked for, within LIMIT; each with its released values."""
    question = draft.question
    rows = [(group, _values(draft, group)) for group in groups]
    if question.having is not None:
        rows = [row for row in rows if evaluate(question.having, row[1]) is True]
    for order in reversed(question.order):
        rows.sort(key=_order_key(order), reverse=order.descending)
    end = None if question.limit is None else question.offset + question.limit
    return rows[question.offset : end]


def in_order(draft: Draft, groups: Iterable[Group]) -> list[Group]:
    """The groups by key: whose row came first, which an engine's order may tell, must not show."""
    return sorted(groups, key=_key_order(draft))


def evaluate(expr: ir.Expr, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 — the value of an SQL expression
    """The value of an expression over released values."""
    match expr:
        case ir.Released(name=name):
            return values[name]
        case ir.Literal(value=Fraction() as value):
            return float(value)
        case ir.Literal(value=value):
            return value
        case ir.Call(function=function, args=args):
            return function.evaluate(*(evaluate(arg, values) for arg in args))
        case ir.Column():
            raise AssertionError("a row's own value can't be released")


def interval(draft: Draft, expr: ir.Expr, group: Group, confidence: float) -> Interval | None:
    """An interval for an output of one group, or None where there is no noise or no bound.

    An aggregate by itself has the interval of its estimator. In an expression of several, each gets its share of the
    error (Bonferroni) and the intervals go through the functions' range rules: it holds at least as often as said.
    """
    estimators = dict(draft.estimators)
    names = released_names(expr) & estimators.keys()
    if not names:
        return None
    noises = {noise.measure.name: noise for noise in draft.noises}
    share = 1 - (1 - confidence) / len(names)
    ranges = {name: estimators[name].interval(group.noisy, noises, share) for name in names}
    if isinstance(expr, ir.Released):
        return ranges[expr.name]
    try:
        spread = _retyped(expr, ranges).type
    except QueryError:  # a range rule that finds no bound, such as a division by what may be 0
        return None
    if not spread.kind.is_number or spread.lo is None or spread.hi is None:
        return None
    return Interval(float(spread.lo), float(spread.hi))


def released_names(expr: ir.Expr) -> set[str]:
    """The names of the released values an expression uses."""
    match expr:
        case ir.Released(name=name):
            return {name}
        case ir.Call(args=args):
            return set[str]().union(*map(released_names, args))
        case _:
            return set()


def _values(draft: Draft, group: Group) -> dict[str, Any]:
    """All released values of a group, by the names outputs use."""
    noises = {noise.measure.name: noise for noise in draft.noises}
    keys = {key.name: value for key, value in zip(draft.keys, group.key, strict=True)}
    return keys | {name: estimator.estimate(group.noisy, noises) for name, estimator in draft.estimators}


def _retyped(expr: ir.Expr, ranges: Mapping[str, Interval]) -> ir.Expr:
    """The expression with the ranges of its released leaves narrowed to their intervals, inferred anew."""
    match expr:
        case ir.Released(name=name) if name in ranges:
            found = ranges[name]
            return replace(expr, type=replace(expr.type, lo=Fraction(found.lo), hi=Fraction(found.hi)))
        case ir.Call(function=function, args=args):
            narrowed = tuple(_retyped(arg, ranges) for arg in args)
            return ir.Call(function, narrowed, function.infer(narrowed))
        case _:
            return expr


def _key_order(draft: Draft) -> Callable[[Group], tuple[Any, ...]]:
    """How groups are ordered when nothing else is asked: as the public lists have them, else by value, NULL last."""
    ranks = [
        None if key.values is None else {value: rank for rank, value in enumerate(key.values)} for key in draft.keys
    ]

    def order(group: Group) -> tuple[Any, ...]:
        return tuple(
            (value is None, "" if value is None else value) if rank is None else rank[value]
            for value, rank in zip(group.key, ranks, strict=True)
        )

    return order


def _order_key(order: ir.Order) -> Callable[[tuple[Group, dict[str, Any]]], tuple[bool, Any]]:
    """A sorting key for one ORDER BY term; the flag puts NULLs where they were asked for."""

    def key(row: tuple[Group, dict[str, Any]]) -> tuple[bool, Any]:
        value = evaluate(order.expr, row[1])
        comes_last = (value is None) != order.nulls_first
        return (comes_last != order.descending, 0 if value is None else value)

    return key
