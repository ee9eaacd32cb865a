"""Modes: the most frequent value, and lists of the most frequent ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.aggregates.arguments import given, varying
from discreet.query.aggregates.measures import Measures
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.estimates import ModeEstimator
from discreet.query.ir import is_null, listed


def _listed(_label: str, argument: ir.Expr) -> ir.Expr:
    """What MODE is of: anything whose values are a short public list."""
    argument = listed(varying(argument))
    if argument.type.values is None and not is_null(argument):
        raise Unsupported(
            "the most frequent value is chosen from a public list, and nothing lists the values of this",
            hint="declare keys for the column, or bounds of a whole number; "
            "or GROUP BY it with ORDER BY COUNT(*) DESC, which takes a delta",
        )
    return argument


def _estimator(aggregate: ir.Aggregate, measures: Measures) -> ModeEstimator:
    """A choice among the values."""
    value = given(aggregate.argument)
    pick = measures.fullest(value, aggregate.most or 1)
    return ModeEstimator(pick=pick, values=value.type.values or (), is_list=aggregate.most is not None)


def _result(aggregate: ir.Aggregate) -> ir.Type:
    return replace(given(aggregate.argument).type, nullable=True, values=None, hidden=False)


MODE = ir.AggregateFunction(name="mode", takes=(_listed,), result=_result, estimator=_estimator, compares=True)
"""The most frequent value; with `most`, a list of the most frequent ones."""

FUNCTIONS = (MODE,)

SPELLINGS: Mapping[str, Spelling] = {
    "Mode": Spelling(function=MODE, form=Form.MODE),
    **dict.fromkeys(("ApproxTopK", "approx_top_count"), Spelling(function=MODE, form=Form.LIST)),
}
