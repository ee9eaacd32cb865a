"""Associations: covariances and correlations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.query import ir
from discreet.query.aggregates.arguments import given, number, present, range_of
from discreet.query.aggregates.measures import Measures
from discreet.query.aggregates.middles import centred, check_squares
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import Association, Interval, Sums
from discreet.query.ir import call, literal
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
        in_parts = measures.in_parts and _has_width(first) and _has_width(second) and first != second
        found = _in_parts if in_parts else _apart
        sums, ends, others = found(first, second, measures, squares=is_correlation)
        return Association(least_rows=least_rows, is_correlation=is_correlation, sums=sums, first=ends, second=others)

    return estimator


def _apart(first: ir.Expr, second: ir.Expr, measures: Measures, *, squares: bool) -> tuple[Sums, Interval, Interval]:
    """Each sum by itself, and how far both values can lie from the middles."""
    both = _where_present(first, second), _where_present(second, first)
    (x, ends), (y, others) = (_about_middle(value) for value in both)
    sums = Sums.apart(
        count=measures.sum(present(both[0])),
        first=measures.sum(x),
        second=measures.sum(y),
        product=measures.sum(call("multiply", x, y)),
        squares=tuple(measures.sum(call("multiply", each, each)) for each in (x, y) if squares),
    )
    return sums, ends, others


def _in_parts(first: ir.Expr, second: ir.Expr, measures: Measures, *, squares: bool) -> tuple[Sums, Interval, Interval]:
    """The same from rows that are put into parts, which are equal for CORR(x, y) and COVAR_POP(y, x).

    A product is NULL where one of its factors is, so rows that lack one of the values add nothing.
    """
    pair = sorted((first, second), key=str)
    one, other = ((hi - lo) / 2 for lo, hi in map(range_of, pair))
    xs, ys = map(_bernstein, pair)
    names = measures.vector([call("multiply", x, y) for x in xs for y in ys])
    sums = Sums.of_parts(names, (float(one), float(other)), squares=squares)
    return sums, Interval(-float(one), float(one)), Interval(-float(other), float(other))


def _bernstein(value: ir.Expr) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
    """The three Bernstein polynomials of a value on its range; see `estimates.products`.

    Whatever float64 makes of it, where the value lies in its range is a number from 0 to 1: so are they, and they add
    up to 1 but for roundings of 2⁻⁵³. NULL stays NULL, which LEAST and GREATEST don't promise.
    """
    lo, hi = range_of(value)
    place = call("multiply", call("subtract", value, literal(lo)), literal(1 / (hi - lo)))
    place = call("greatest", call("least", place, literal(Fraction(1))), literal(Fraction(0)))
    if value.type.nullable:
        place = call("if", call("is_null", value), literal(None), place)
    rest = call("subtract", literal(Fraction(1)), place)
    both = call("multiply", call("multiply", literal(Fraction(2)), place), rest)
    return call("multiply", rest, rest), both, call("multiply", place, place)


def _has_width(value: ir.Expr) -> bool:
    """Whether a value's range is more than a point."""
    lo, hi = range_of(value)
    return lo < hi


def _about_middle(value: ir.Expr) -> tuple[ir.Expr, Interval]:
    """How far a value lies from the middle of its bounds, and how far it can."""
    centre, offset = centred(value)
    lo, hi = range_of(value)
    return offset, Interval(float(lo - centre), float(hi - centre))


def _where_present(value: ir.Expr, other: ir.Expr) -> ir.Expr:
    """The value, NULL where the other one is."""
    if value == other or not other.type.nullable:
        return value
    return call("if", call("is_null", other), literal(None), value)


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
