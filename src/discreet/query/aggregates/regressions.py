"""Regressions: the line of least squares, of y on x, and the numbers that it is made of.

All are over the pairs of which neither is NULL. As in SQL, y is named first: REGR_SLOPE(y, x).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import inf

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.aggregates.arguments import given, number, range_of
from discreet.query.aggregates.associations import CORR
from discreet.query.aggregates.counts import COUNT
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.middles import centred, check_squares
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import (
    Coefficient,
    Determination,
    Estimator,
    Interval,
    Line,
    Linear,
    Mean,
    SumOfProducts,
    Sums,
    Total,
)
from discreet.tables import Kind

_NUMBER = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
_SQUARES = ir.Type(Kind.REAL, Fraction(0), Fraction(2**200), nullable=True)
_PART = ir.Type(Kind.REAL, Fraction(0), Fraction(1), nullable=True)
"""They are NULL where noise leaves nothing to divide by."""

_FAR = 2**16
"""A line isn't followed to 0 from more than so many times half the range of x: doubles would lose too many digits."""


def _near_0(label: str, argument: ir.Expr) -> ir.Expr:
    """A number that a line can be followed from to 0."""
    argument = number(label, argument)
    lo, hi = range_of(argument)
    centre = (lo + hi) / 2
    if abs(centre) > _FAR * (hi - lo) / 2:
        raise Unsupported(
            "these values lie so far from 0, and so close together, that a line through them can't be followed to 0",
            hint=f"count them from nearer by: {label}(y, x - {float(centre):.15g})",
        )
    return argument


def _count(aggregate: ir.Aggregate, measures: Measures) -> Total:
    return Total(of=_moment(measures, *_pair(aggregate), 0, 0), whole=True, is_count=True)


def _mean(which: int) -> Callable[[ir.Aggregate, Measures], Mean]:
    """The mean of y or of x, over the pairs."""

    def estimator(aggregate: ir.Aggregate, measures: Measures) -> Mean:
        pair = _pair(aggregate)
        lo, hi = range_of(pair[which])
        total = _moment(measures, *pair, int(which == 0), int(which == 1))
        return Mean(count=_moment(measures, *pair, 0, 0), total=total, centre=centred(pair[which])[0], lo=lo, hi=hi)

    return estimator


def _products(one: int, other: int) -> Callable[[ir.Aggregate, Measures], SumOfProducts]:
    """The sum of products of how far two values lie from their means."""

    def estimator(aggregate: ir.Aggregate, measures: Measures) -> SumOfProducts:
        pair = _pair(aggregate)
        powers = [int(place in {one, other}) for place in range(2)]
        for value, power in zip(pair, powers, strict=True):
            if power:
                check_squares(value)
        found = partial(_moment, measures, *pair)
        first, second = (found(int(which == 0), int(which == 1)) for which in (one, other))
        product = found(*((one, other).count(place) for place in range(2)))
        sums = Sums(count=found(0, 0), first=first, second=second, product=product)
        return SumOfProducts(sums=sums, first=_about(pair[one]), second=_about(pair[other]))

    return estimator


def _slope(aggregate: ir.Aggregate, measures: Measures) -> Coefficient:
    y, x = _pair(aggregate)
    sums = _sums_of_line(measures, y, x)
    one, other = _half(y), _half(x)
    usual = tuple(Line(one / 2, other / 2, other**2 / 4, sign * one / other) for sign in (1, -1))
    return Coefficient(rows=sums.count, sums=sums, first=_about(y), second=_about(x), size=one / other, usual=usual)


def _intercept(aggregate: ir.Aggregate, measures: Measures) -> Coefficient:
    """The slope on 1, where x is counted from 0: see `estimates.regressions`."""
    y, x = _pair(aggregate)
    centre, (lo, hi) = centred(x)[0], range_of(x)
    about = _sums_of_line(measures, y, x)
    total = about.second.plus(about.count.times(centre))
    squares = about.squares[1].plus(about.second.times(2 * centre)).plus(about.count.times(centre**2))
    product = about.product.plus(about.first.times(centre))
    sums = Sums(count=squares, first=product, second=total, product=about.first, squares=(Linear(), about.count))
    nearest = 0.0 if lo <= 0 <= hi else float(min(abs(lo), abs(hi)))
    offsets = _about(y)
    steepest = max(abs(offsets.lo), abs(offsets.hi)) / nearest if nearest else inf
    return Coefficient(
        rows=about.count,
        sums=sums,
        first=Interval(-steepest, steepest),
        second=Interval(1 / float(hi), 1 / float(lo)) if nearest else Interval(-inf, inf),
        offset=float(centred(y)[0]),
        size=_half(y),
        usual=tuple(_line_to_0(_half(y), _half(x), float(centre), sign) for sign in (1, -1)),
    )


def _line_to_0(one: float, other: float, centre: float, sign: int) -> Line:
    """The usual line of a slope, seen from where x is 0."""
    mean, spread, slope = centre + other / 2, other**2 / 4, sign * one / other
    squares = mean**2 + spread
    product = mean * one / 2 + slope * spread
    return Line(product / squares, mean / squares, spread / squares, one / 2 - slope * mean)


def _determination(aggregate: ir.Aggregate, measures: Measures) -> Determination:
    return Determination(correlation=CORR.estimator(aggregate, measures))


def _sums_of_line(measures: Measures, y: ir.Expr, x: ir.Expr) -> Sums:
    """What a line is made of: the squares of x alone."""
    for value in (y, x):
        check_squares(value)
    found = partial(_moment, measures, y, x)
    return Sums(
        count=found(0, 0), first=found(1, 0), second=found(0, 1), product=found(1, 1), squares=(Linear(), found(0, 2))
    )


def _moment(measures: Measures, y: ir.Expr, x: ir.Expr, power: int, other: int) -> Linear:
    """A moment of the pairs."""
    return measures.moment(Moment.of((y, power), (x, other)))


def _pair(aggregate: ir.Aggregate) -> tuple[ir.Expr, ir.Expr]:
    return given(aggregate.argument), given(aggregate.other)


def _about(value: ir.Expr) -> Interval:
    """The ends of a value, from its middle."""
    (lo, hi), centre = range_of(value), centred(value)[0]
    return Interval(float(lo - centre), float(hi - centre))


def _half(value: ir.Expr) -> float:
    """Half of its range, or 1 where it is a point."""
    lo, hi = range_of(value)
    return float(hi - lo) / 2 or 1.0


def _of_pairs(
    name: str, result: ir.Type, estimator: Callable[[ir.Aggregate, Measures], Estimator], x: ir.Take = number
) -> ir.AggregateFunction:
    return ir.AggregateFunction(
        name=name, takes=(number, x), result=lambda _: result, estimator=estimator, adds_up=True
    )


REGR_COUNT = ir.AggregateFunction(
    name="regr_count", takes=(number, number), result=COUNT.result, estimator=_count, is_count=True
)
REGR_AVGY = _of_pairs("regr_avgy", _NUMBER, _mean(0))
REGR_AVGX = _of_pairs("regr_avgx", _NUMBER, _mean(1))
REGR_SYY = _of_pairs("regr_syy", _SQUARES, _products(0, 0))
REGR_SXX = _of_pairs("regr_sxx", _SQUARES, _products(1, 1))
REGR_SXY = _of_pairs("regr_sxy", _NUMBER, _products(0, 1))
REGR_SLOPE = _of_pairs("regr_slope", _NUMBER, _slope)
REGR_INTERCEPT = _of_pairs("regr_intercept", _NUMBER, _intercept, _near_0)
REGR_R2 = _of_pairs("regr_r2", _PART, _determination)

FUNCTIONS = (
    REGR_COUNT, REGR_AVGY, REGR_AVGX, REGR_SYY, REGR_SXX, REGR_SXY, REGR_SLOPE, REGR_INTERCEPT, REGR_R2
)  # fmt: skip

SPELLINGS: Mapping[str, Spelling] = {
    "RegrCount": Spelling(function=REGR_COUNT, form=Form.TWO),
    "RegrAvgy": Spelling(function=REGR_AVGY, form=Form.TWO),
    "RegrAvgx": Spelling(function=REGR_AVGX, form=Form.TWO),
    "RegrSyy": Spelling(function=REGR_SYY, form=Form.TWO),
    "RegrSxx": Spelling(function=REGR_SXX, form=Form.TWO),
    "RegrSxy": Spelling(function=REGR_SXY, form=Form.TWO),
    "RegrSlope": Spelling(function=REGR_SLOPE, form=Form.TWO),
    "RegrIntercept": Spelling(function=REGR_INTERCEPT, form=Form.TWO),
    "RegrR2": Spelling(function=REGR_R2, form=Form.TWO),
}
