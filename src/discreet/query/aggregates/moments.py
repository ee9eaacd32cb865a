"""Moments: averages, variances and standard deviations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.query import ir
from discreet.query.aggregates.arguments import given, number, range_of
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.middles import centred, check_squares
from discreet.query.aggregates.spelling import Spelling
from discreet.query.estimates import Mean, Spread
from discreet.tables import Kind

_MAYBE = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
"""They are NULL where a noisy count leaves nothing to divide by."""


def _mean(aggregate: ir.Aggregate, measures: Measures) -> Mean:
    """The first two moments."""
    value = given(aggregate.argument)
    lo, hi = range_of(value)
    count, total = (measures.moment(Moment.of((value, power))) for power in range(2))
    return Mean(count=count, total=total, centre=centred(value)[0], lo=lo, hi=hi)


def _spread(*, least_rows: int, is_root: bool) -> Callable[[ir.Aggregate, Measures], Spread]:
    """The first three moments."""

    def estimator(aggregate: ir.Aggregate, measures: Measures) -> Spread:
        value = given(aggregate.argument)
        lo, hi = range_of(value)
        check_squares(value)
        count, total, squares = (measures.moment(Moment.of((value, power))) for power in range(3))
        return Spread(
            least_rows=least_rows,
            is_root=is_root,
            count=count,
            total=total,
            squares=squares,
            centre=centred(value)[0],
            lo=lo,
            hi=hi,
        )

    return estimator


def _spread_of(name: str, *, least_rows: int, is_root: bool) -> ir.AggregateFunction:
    return ir.AggregateFunction(
        name=name,
        takes=(number,),
        result=lambda _: _MAYBE,
        estimator=_spread(least_rows=least_rows, is_root=is_root),
        adds_up=True,
    )


AVG = ir.AggregateFunction(name="avg", takes=(number,), result=lambda _: _MAYBE, estimator=_mean, adds_up=True)
VAR_POP = _spread_of("var_pop", least_rows=1, is_root=False)
VAR_SAMP = _spread_of("var_samp", least_rows=2, is_root=False)
STDDEV_POP = _spread_of("stddev_pop", least_rows=1, is_root=True)
STDDEV_SAMP = _spread_of("stddev_samp", least_rows=2, is_root=True)

FUNCTIONS = (AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP)

SPELLINGS: Mapping[str, Spelling] = {
    "Avg": Spelling(function=AVG, of_unit=ir.Summary.AVG),
    "mean": Spelling(function=AVG),
    "VariancePop": Spelling(function=VAR_POP),
    "Variance": Spelling(function=VAR_SAMP),
    "StddevPop": Spelling(function=STDDEV_POP),
    "Stddev": Spelling(function=STDDEV_SAMP),
    "StddevSamp": Spelling(function=STDDEV_SAMP),
}
