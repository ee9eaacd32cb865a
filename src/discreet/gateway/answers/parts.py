"""Parts: what the numbers of an answer mean, and how much each errs, for a first look at what may serve a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import inf

from discreet.query import ir
from discreet.query.planner import CONFIDENCE, Draft

ROUNDED = 1 + 1e-9
"""Errors that are equal but for the rounding of floats count as equal."""


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
