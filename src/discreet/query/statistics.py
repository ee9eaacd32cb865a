"""Statistics: how SQL's syntax names the aggregates that are offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.query import ir

if TYPE_CHECKING:
    from sqlglot import exp

_STATISTICS = {
    "Count": ir.Statistic.COUNT,
    "Sum": ir.Statistic.SUM,
    "Avg": ir.Statistic.AVG,
    "VariancePop": ir.Statistic.VAR_POP,
    "Variance": ir.Statistic.VAR_SAMP,
    "StddevPop": ir.Statistic.STDDEV_POP,
    "Stddev": ir.Statistic.STDDEV_SAMP,
    "StddevSamp": ir.Statistic.STDDEV_SAMP,
}


def statistic_of(node: exp.Expression) -> ir.Statistic | None:
    """The statistic that a syntax node asks for, if it is an aggregate that is offered."""
    if type(node).__name__ == "Anonymous" and node.name.casefold() == "mean":
        return ir.Statistic.AVG
    return _STATISTICS.get(type(node).__name__)
