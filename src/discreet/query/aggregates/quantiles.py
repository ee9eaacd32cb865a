"""Quantiles: MEDIAN, PERCENTILE_CONT, MIN, MAX and their like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.errors import TypeMismatch, UnboundedColumn
from discreet.query import ir
from discreet.query.aggregates.arguments import given, no_number, varying
from discreet.query.aggregates.measures import Measures
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import QuantileEstimator
from discreet.query.ir import cast, is_null, unbounded
from discreet.tables import Kind

_HALF = Fraction(1, 2)


def _ordered(_label: str, argument: ir.Expr) -> ir.Expr:
    """What quantiles are of: numbers or times, with known ends."""
    if argument.type.kind is Kind.BOOLEAN:
        argument = cast(argument, Kind.INTEGER)
    if is_null(argument):
        return no_number()
    if not (argument.type.kind.is_number or argument.type.kind.is_time):
        raise TypeMismatch(
            f"quantiles, MIN and MAX are of numbers and dates, not {argument.type.kind}",
            hint="GROUP BY counts the rows of each value; MODE gives the most frequent one",
        )
    if not argument.type.is_bounded and argument.type.kind.is_time:
        raise UnboundedColumn(
            f"nothing bounds these {argument.type.kind}s, so there is no list of values to choose a quantile from",
            hint="declare bounds for the column, or clamp it in the question: "
            "GREATEST(LEAST(x, DATE '2024-12-31'), DATE '2000-01-01')",
        )
    if not argument.type.is_bounded:
        raise unbounded(argument, "there is no list of values to choose a quantile from")
    return varying(argument)


def _estimator(aggregate: ir.Aggregate, measures: Measures) -> QuantileEstimator:
    """A choice among the bins of a grid."""
    if aggregate.fraction is None:
        raise AssertionError("each spelling of a quantile says its fraction")
    pick, grid = measures.quantile(given(aggregate.argument), aggregate.fraction)
    return QuantileEstimator(pick=pick, fraction=aggregate.fraction, grid=grid)


def _result(aggregate: ir.Aggregate) -> ir.Type:
    return replace(given(aggregate.argument).type, nullable=True, values=None, hidden=False)


QUANTILE = ir.AggregateFunction(
    name="quantile",
    takes=(_ordered,),
    result=_result,
    estimator=_estimator,
    keeps_places=True,
    caveat="a quantile's holds more often than it says",
)
"""The least value with at least `fraction` of the rows at or below it."""

FUNCTIONS = (QUANTILE,)

SPELLINGS: Mapping[str, Spelling] = {
    "Min": Spelling(function=QUANTILE, form=Form.EXTREME, fraction=Fraction(0), of_unit=ir.Summary.MIN),
    "Max": Spelling(function=QUANTILE, form=Form.EXTREME, fraction=Fraction(1), of_unit=ir.Summary.MAX),
    "Median": Spelling(function=QUANTILE, fraction=_HALF, of_unit=ir.Summary.MEDIAN),
    "approx_median": Spelling(function=QUANTILE, fraction=_HALF),
    **dict.fromkeys(
        ("Quantile", "ApproxQuantile", "quantile_cont", "quantile_disc", "percentile", "percentile_approx"),
        Spelling(function=QUANTILE, form=Form.FRACTION),
    ),
    **dict.fromkeys(("PercentileCont", "PercentileDisc"), Spelling(function=QUANTILE, form=Form.WITHIN)),
}
