"""Associations: covariances and correlations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from discreet.query import ir
from discreet.query.aggregates.arguments import given, number, range_of
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.middles import centred, check_squares
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import Association, Interval, Linear, Sums
from discreet.tables import Kind

_COVARIANCE = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
_CORRELATION = ir.Type(Kind.REAL, Fraction(-1), Fraction(1), nullable=True)
"""Both are NULL where noise leaves nothing to divide by."""


def _association(*, least_rows: int, is_correlation: bool) -> Callable[[ir.Aggregate, Measures], Association]:
    """Sums of products about the middles of the bounds, of the rows that have both values."""

    def estimator(aggregate: ir.Aggregate, measures: Measures) -> Association:
        first, second = given(aggregate.argument), given(aggregate.other)
        for value in (first, second):
            check_squares(value)
        found = partial(_moment, measures, first, second)
        sums = Sums(
            count=found(0, 0),
            first=found(1, 0),
            second=found(0, 1),
            product=found(1, 1),
            squares=(found(2, 0), found(0, 2)) if is_correlation else (),
        )
        ends = [Interval(float(lo - centre), float(hi - centre)) for (lo, hi), centre in map(_ends, (first, second))]
        return Association(
            least_rows=least_rows, is_correlation=is_correlation, sums=sums, first=ends[0], second=ends[1]
        )

    return estimator


def _moment(measures: Measures, first: ir.Expr, second: ir.Expr, power: int, other: int) -> Linear:
    """A moment of the rows that have both values."""
    return measures.moment(Moment.of((first, power), (second, other)))


def _ends(value: ir.Expr) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """The ends of a value, and its middle."""
    return range_of(value), centred(value)[0]


def _association_of(name: str, result: ir.Type, *, least_rows: int, is_correlation: bool) -> ir.AggregateFunction:
    return ir.AggregateFunction(
        name=name,
        takes=(number, number),
        result=lambda _: result,
        estimator=_association(least_rows=least_rows, is_correlation=is_correlation),
        adds_up=True,
    )


COVAR_POP = _association_of("covar_pop", _COVARIANCE, least_rows=1, is_correlation=False)
COVAR_SAMP = _association_of("covar_samp", _COVARIANCE, least_rows=2, is_correlation=False)
CORR = _association_of("corr", _CORRELATION, least_rows=2, is_correlation=True)

FUNCTIONS = (COVAR_POP, COVAR_SAMP, CORR)

SPELLINGS: Mapping[str, Spelling] = {
    "CovarPop": Spelling(function=COVAR_POP, form=Form.TWO),
    "CovarSamp": Spelling(function=COVAR_SAMP, form=Form.TWO),
    "Corr": Spelling(function=CORR, form=Form.TWO),
}
