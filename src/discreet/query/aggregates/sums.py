"""Sums."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.query import ir
from discreet.query.aggregates.arguments import given, number, range_of
from discreet.query.aggregates.measures import Measures
from discreet.query.aggregates.spelling import Spelling
from discreet.query.estimates import Estimator, OfNoRows, Total
from discreet.query.ir import Trial, is_always_zero
from discreet.tables import Kind

_WHOLE = ir.Type(Kind.INTEGER, Fraction(-(2**52)), Fraction(2**52), nullable=False)
_REAL = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=False)

_STEPS = 2_000
"""For each argument by itself, so that it doesn't matter beside which others it stands: about a millisecond."""


def _result(aggregate: ir.Aggregate) -> ir.Type:
    return _WHOLE if given(aggregate.argument).type.kind is Kind.INTEGER else _REAL


def _total(aggregate: ir.Aggregate, measures: Measures) -> Estimator:
    """What is added up; of nothing but zeros it is 0, which is known."""
    value = given(aggregate.argument)
    if is_always_zero(value, Trial(_STEPS)):
        return OfNoRows(is_count=True)
    lo, hi = range_of(value)
    size = float(hi - lo) / 2 or float(max(abs(lo), abs(hi)))
    return Total(of=measures.total(value), size=size, whole=value.type.kind is Kind.INTEGER)


SUM = ir.AggregateFunction(
    name="sum",
    takes=(number,),
    result=_result,
    estimator=_total,
    keeps_places=True,
    adds_up=True,
    caveat="a sum over no rows is about 0, not NULL",
)

FUNCTIONS = (SUM,)

SPELLINGS: Mapping[str, Spelling] = {"Sum": Spelling(function=SUM, of_unit=ir.Summary.SUM)}
