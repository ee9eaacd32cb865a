"""Aggregates: functions over rows, and one of a question.

The family of each is in `query.aggregates`, where its estimator is at hand; here is what questions have to know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.query.ir.expressions import Expr, Type

Take: TypeAlias = Callable[[str, Expr], Expr | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """One supported aggregate, and all there is to say about it, so that nothing else needs to know which there are.

    Args:
        name: canonical name, as questions' canonical texts have it; two aggregates of one name are the same.
        takes: for each argument, what makes it one that `estimator` expects, from the aggregate's name in capitals and
            the argument; None for a COUNT of it that counts rows. It raises a `QueryError` where it can't.
        result: the type of what is released. Noise has no bounds, so its range is what arithmetic needs, and not what
            is likely; what is chosen from a public list is always one of it.
        estimator: how it is estimated: from the aggregate of a question and an `aggregates.Measures`, to which it says
            what is to be measured, to an `estimates.Estimator`, which says how far noise moves it, or that it can't.
        is_count: whether it counts, and so is 0 of no rows, where all others are NULL.
        keeps_places: whether its values have as many digits behind the point as those of its argument.
        adds_up: whether it is biased by as much as bounds move the values of its arguments. Counts and quantiles mind
            little.
        compares: whether it matters which values are equal: dialects differ in that.
        caveat: what its intervals don't say, or say too cautiously, in words.
    """

    name: str
    takes: tuple[Take, ...] = field(compare=False, repr=False)
    result: Callable[[Aggregate], Type] = field(compare=False, repr=False)
    estimator: Callable[[Aggregate, Any], Any] = field(compare=False, repr=False)
    is_count: bool = field(default=False, compare=False, repr=False)
    keeps_places: bool = field(default=False, compare=False, repr=False)
    adds_up: bool = field(default=False, compare=False, repr=False)
    compares: bool = field(default=False, compare=False, repr=False)
    caveat: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One aggregate of a question.

    Args:
        name: how outputs refer to it, as `Released(name, …)`; unique within the question.
        function: which one.
        argument: what it is of; None for COUNT(*) and the number of units.
        other: the second argument of COVAR, CORR and REGR_SLOPE.
        fraction: of a quantile, from 0 to 1: 1/2 for MEDIAN, 0 for MIN, 1 for MAX.
        most: of a MODE that gives a list: the most values in it.
    """

    name: str
    function: AggregateFunction
    argument: Expr | None
    other: Expr | None = None
    fraction: Fraction | None = None
    most: int | None = None

    def __str__(self) -> str:
        args = ["*" if self.argument is None else self.argument, self.other, self.fraction, self.most]
        return f"{self.function.name}({', '.join(str(arg) for arg in args if arg is not None)})"
