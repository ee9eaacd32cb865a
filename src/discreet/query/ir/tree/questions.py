"""Questions: what an analyst asked, bound and typed; noise hasn't been thought of yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.query.ir.tree.expressions import Expr, Margin, margins
from discreet.query.ir.tree.relations import Relation


class Statistic(StrEnum):
    """What an analyst may aggregate."""

    COUNT = "count"
    """COUNT(*) when it has no argument, COUNT(x) when it has one."""
    UNITS = "units"
    """COUNT(DISTINCT unit), of the rows at hand."""
    SUM = "sum"
    AVG = "avg"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    DISTINCT = "distinct"
    """COUNT(DISTINCT x) of anything but the unit."""
    QUANTILE = "quantile"
    """The least value with at least `fraction` of the rows at or below it; MEDIAN, MIN and MAX too."""
    MODE = "mode"
    """The most frequent value; with `most`, a list of the most frequent ones."""
    COVAR_POP = "covar_pop"
    COVAR_SAMP = "covar_samp"
    CORR = "corr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One aggregate of a question.

    Args:
        name: how outputs refer to it, as `Released(name, …)`; unique within the question.
        statistic: which one.
        argument: of number kind for all but COUNT, UNITS, DISTINCT and MODE; None for COUNT(*) and UNITS.
        other: the second argument of COVAR and CORR.
        fraction: of a QUANTILE, from 0 to 1: 1/2 for MEDIAN, 0 for MIN, 1 for MAX.
        most: of a MODE that gives a list: how many values at the most.
    """

    name: str
    statistic: Statistic
    argument: Expr | None
    other: Expr | None = None
    fraction: Fraction | None = None
    most: int | None = None

    def __str__(self) -> str:
        """The aggregate in functional notation."""
        args = ["*" if self.argument is None else self.argument, self.other, self.fraction, self.most]
        return f"{self.statistic}({', '.join(str(arg) for arg in args if arg is not None)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One column of the answer: an expression over `Released` keys and aggregates."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One ORDER BY term over released values; with equal terms, groups stay in the order of their keys."""

    expr: Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the analyst asked, bound to columns, typed and checked; noise hasn't been thought of yet.

    Args:
        text: as it was written.
        dialect: in which it was written.
        source: which rows.
        keys: grouping expressions, by the name under which outputs refer to them.
        sets: the grouping sets of ROLLUP, CUBE and GROUPING SETS, each as names of keys; none, if all keys are one.
        rolled: keys of other grouping sets, which are NULL in this one.
        aggregates: in order of first appearance, equal ones merged.
        outputs: the answer's columns; names are unique.
        having: over released values; None keeps every group.
        order: as written; empty means by key.
        limit: how many groups to show at the most.
        offset: how many to skip first.
    """

    text: str
    dialect: str
    source: Relation
    keys: tuple[tuple[str, Expr], ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expr | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    sets: tuple[tuple[str, ...], ...] = ()
    rolled: tuple[str, ...] = ()


def margins_of(question: Question) -> tuple[Margin, ...]:
    """The margins that an answer needs, each once."""
    shown = [output.expr for output in question.outputs] + [order.expr for order in question.order]
    used = shown if question.having is None else [*shown, question.having]
    return tuple(dict.fromkeys(margin for expr in used for margin in margins(expr)))
