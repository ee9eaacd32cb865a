"""Spellings: the forms in which SQL writes aggregates, and which name means what in which form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.query import ir


class Form(StrEnum):
    """How an aggregate's arguments are written; `sql.aggregate_syntax` reads each."""

    ROWS = "rows"
    """F(*), F(x) or F(DISTINCT x)."""
    CONDITION = "condition"
    """F(condition), of the rows for which it is true."""
    ONE = "one"
    """F(x)."""
    TWO = "two"
    """F(x, y)."""
    EXTREME = "extreme"
    """F(x) or F(DISTINCT x), which are the same."""
    FRACTION = "fraction"
    """F(x, fraction)."""
    WITHIN = "within"
    """F(fraction) WITHIN GROUP (ORDER BY x), or as `FRACTION`."""
    MODE = "mode"
    """F(x), or F() WITHIN GROUP (ORDER BY x)."""
    LIST = "list"
    """F(x, n): a list of n values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What a name in SQL means.

    Args:
        function: which aggregate.
        form: how its arguments are written.
        fraction: of a quantile whose name says it.
        of_unit: what it means of one unit's rows, in a subquery, where it is exact; None if it isn't offered there.
    """

    function: ir.AggregateFunction
    form: Form = Form.ONE
    fraction: Fraction | None = None
    of_unit: ir.Summary | None = None
