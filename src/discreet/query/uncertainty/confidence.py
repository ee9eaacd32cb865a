"""Confidence: the interval of an output, whatever was computed from released numbers to get it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite

from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimators import Estimator, Noises, Noisy
from discreet.query.uncertainty.intervals import Interval
from discreet.query.uncertainty.linear import form_of
from discreet.query.uncertainty.margins import margins


def interval(draft: Draft, expr: ir.Expr, noisy: Noisy, confidence: float) -> Interval | None:
    """An interval for an output of one group, or None where there is no noise or no bound.

    An aggregate by itself has the interval of its estimator; a linear combination of counts and sums, or a ratio of
    two, has that of the joint law of their noises. In any other expression, each part that is one of these gets its
    share of the error (Bonferroni) and the intervals go through the functions' range rules: it holds at least as often
    as said, mostly more often.

    Args:
        draft: what the rules decided.
        expr: over released values.
        noisy: one group's released integers.
        confidence: in (0, 1).
    """
    if any(True for _ in margins(expr)):
        return None
    estimators = dict(draft.estimators)
    noises = draft.laws
    parts = dict.fromkeys(_parts(expr, estimators))
    if not parts:
        return None
    share = 1 - (1 - confidence) / len(parts)
    found = {part: _of_part(part, estimators, noises, noisy, share) for part in parts}
    if expr in found:
        return found[expr]
    try:
        spread = _retyped(expr, found).type
    except QueryError:  # a range rule that finds no bound, such as a division by what may be 0
        return None
    if not spread.kind.is_number or spread.lo is None or spread.hi is None:
        return None
    return Interval(float(spread.lo), float(spread.hi))


def _parts(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> Iterator[ir.Expr]:
    """The largest parts of an expression whose intervals are known, from left to right."""
    form = form_of(expr, estimators)
    if form is not None:
        yield from () if form.is_constant else (expr,)
    elif isinstance(expr, ir.Released) and expr.name in estimators:
        yield expr
    elif isinstance(expr, ir.Call):
        for arg in expr.args:
            yield from _parts(arg, estimators)


def _of_part(
    part: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises, noisy: Noisy, confidence: float
) -> Interval | None:
    """The interval of an aggregate, or of a form."""
    if isinstance(part, ir.Released):
        return estimators[part.name].interval(noisy, noises, confidence)
    form = form_of(part, estimators)
    if form is None:
        raise AssertionError("a part is an aggregate or a form")
    return form.interval(noisy, noises, confidence)


def _retyped(expr: ir.Expr, found: Mapping[ir.Expr, Interval | None]) -> ir.Expr:
    """The expression with the ranges of its parts narrowed to their intervals, inferred anew."""
    if expr in found:
        known = found[expr]
        if known is None or not (isfinite(known.lo) and isfinite(known.hi)):
            return expr
        return ir.Released(str(expr), replace(expr.type, lo=Fraction(known.lo), hi=Fraction(known.hi)))
    match expr:
        case ir.Call(function=function, args=args):
            narrowed = tuple(_retyped(arg, found) for arg in args)
            return ir.Call(function, narrowed, function.infer(narrowed))
        case _:
            return expr
