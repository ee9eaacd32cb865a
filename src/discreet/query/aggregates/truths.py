"""Truths: whether a condition holds for some row, or for every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.errors import TypeMismatch
from discreet.query import ir
from discreet.query.aggregates.arguments import given, varying
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import Truth
from discreet.query.ir import call, is_null, literal, null
from discreet.tables import Kind

_TRUTH = ir.Type(Kind.BOOLEAN, nullable=True)
"""NULL beside a noisy count that leaves no row."""


def _condition(label: str, argument: ir.Expr) -> ir.Expr:
    """What is true, false or NULL."""
    if is_null(argument):
        return null(Kind.BOOLEAN)
    if argument.type.kind is not Kind.BOOLEAN:
        raise TypeMismatch(f"{label} takes a condition, not {argument.type.kind}", hint="compare it: x <> 0")
    return varying(argument)


def _truth(*, decided: bool) -> Callable[[ir.Aggregate, Measures], Truth]:
    """The number of rows that decide: the very measure that COUNT_IF of them asks for, so that both share it."""

    def estimator(aggregate: ir.Aggregate, measures: Measures) -> Truth:
        condition = given(aggregate.argument)
        decides = call("if", condition if decided else call("not", condition), literal(1), literal(None))
        return Truth(number=measures.moment(Moment.of((decides, 0))), decided=decided)

    return estimator


def _truth_of(name: str, *, decided: bool) -> ir.AggregateFunction:
    return ir.AggregateFunction(
        name=name,
        takes=(_condition,),
        result=lambda _: _TRUTH,
        estimator=_truth(decided=decided),
        caveat="a truth has no interval: its plan says how many rows it may overlook",
    )


BOOL_OR = _truth_of("bool_or", decided=True)
"""Whether a condition is true of some row; rows where it is NULL are passed over."""

BOOL_AND = _truth_of("bool_and", decided=False)
"""Whether a condition is false of no row; rows where it is NULL are passed over."""

FUNCTIONS = (BOOL_OR, BOOL_AND)

SPELLINGS: Mapping[str, Spelling] = {
    "LogicalOr": Spelling(function=BOOL_OR, form=Form.EXTREME, of_unit=ir.Summary.ANY),
    "LogicalAnd": Spelling(function=BOOL_AND, form=Form.EXTREME, of_unit=ir.Summary.ALL),
}
