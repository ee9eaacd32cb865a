"""Counts: of rows, of rows where something isn't NULL, of units, and of different values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.errors import TypeMismatch
from discreet.query import ir
from discreet.query.aggregates.arguments import given, varying
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import Total
from discreet.query.ir import is_null
from discreet.tables import Kind

_WHOLE = ir.Type(Kind.INTEGER, Fraction(-(2**52)), Fraction(2**52), nullable=False)


def _unless_constant(_label: str, argument: ir.Expr) -> ir.Expr | None:
    """What COUNT is of; COUNT(1) is of rows, as COUNT(*) is."""
    return None if isinstance(argument, ir.Literal) and not is_null(argument) else argument


def _told_apart(_label: str, argument: ir.Expr) -> ir.Expr:
    """What different values are counted of."""
    if argument.type.kind is Kind.REAL:
        raise TypeMismatch(
            "real numbers can't be told apart exactly, so different ones aren't counted",
            hint="round to whole steps first: COUNT(DISTINCT FLOOR(x))",
        )
    return varying(argument)


def _rows(aggregate: ir.Aggregate, measures: Measures) -> Total:
    value = aggregate.argument
    return Total(of=measures.moment(Moment() if value is None else Moment.of((value, 0))), whole=True, is_count=True)


def _units(_aggregate: ir.Aggregate, measures: Measures) -> Total:
    return Total(of=measures.units(), whole=True, is_count=True)


def _different(aggregate: ir.Aggregate, measures: Measures) -> Total:
    return Total(of=measures.distinct(given(aggregate.argument)), whole=True, is_count=True)


COUNT = ir.AggregateFunction(
    name="count", takes=(_unless_constant,), result=lambda _: _WHOLE, estimator=_rows, is_count=True
)
"""COUNT(*) when it has no argument, COUNT(x) when it has one."""

UNITS = ir.AggregateFunction(name="units", takes=(), result=lambda _: _WHOLE, estimator=_units, is_count=True)
"""COUNT(DISTINCT unit), of the rows at hand: the binder makes it of DISTINCT."""

DISTINCT = ir.AggregateFunction(
    name="distinct", takes=(_told_apart,), result=lambda _: _WHOLE, estimator=_different, is_count=True, compares=True
)
"""COUNT(DISTINCT x) of anything but the unit."""

FUNCTIONS = (COUNT, UNITS, DISTINCT)

SPELLINGS: Mapping[str, Spelling] = {
    "Count": Spelling(function=COUNT, form=Form.ROWS, of_unit=ir.Summary.COUNT),
    "CountIf": Spelling(function=COUNT, form=Form.CONDITION),
    "ApproxDistinct": Spelling(function=DISTINCT),
}
