"""Ends of outputs: between which numbers an answer's values lie by what is declared, before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from discreet.query import ir
from discreet.query.estimates.choices import QuantileEstimator
from discreet.query.estimates.estimators import Estimator, Total
from discreet.query.estimates.linear import ratio_of
from discreet.query.estimates.means import Spread

_COUNTS = frozenset({ir.Statistic.COUNT, ir.Statistic.UNITS, ir.Statistic.DISTINCT})


def declared_ends(
    expr: ir.Expr, question: ir.Question, estimators: Mapping[str, Estimator]
) -> tuple[float, float] | None:
    """The least and the greatest number that an output can be; of a count 0 and infinity. None if nothing says so.

    Of averages and ratios these are what bounds allow, of a spread the most that values within bounds can be spread, of
    a quantile the bounds themselves. A ratio that nothing bounds can be anything. Sums have none, as nobody knows
    how many rows they are over.

    Args:
        expr: of the output, over released values.
        question: whose output it is.
        estimators: of its aggregates, by name.
    """
    if not expr.type.kind.is_number:
        return None
    aggregates = {each.name: each for each in question.aggregates}
    known = estimators.get(expr.name) if isinstance(expr, ir.Released) else None
    if isinstance(expr, ir.Released) and isinstance(known, Total) and aggregates[expr.name].statistic in _COUNTS:
        return 0.0, inf
    if isinstance(known, Spread):
        return 0.0, known.most
    if isinstance(known, QuantileEstimator):
        lo, hi = expr.type.lo, expr.type.hi
        return None if lo is None or hi is None else (float(lo), float(hi))
    ratio = ratio_of(expr, estimators)
    if ratio is None or ratio.is_linear:
        return None
    return (-inf, inf) if ratio.ends is None else (float(ratio.ends[0]), float(ratio.ends[1]))
