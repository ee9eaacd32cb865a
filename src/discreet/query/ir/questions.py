"""Questions: what an analyst asked, bound and typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.query.ir.aggregates import Aggregate
from discreet.query.ir.expressions import (
    Expr,
    Margin,
    margins,
)
from discreet.query.ir.relations import (
    Relation,
)


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
    """A question bound to columns, typed and checked; noise comes later.

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
        limit: the most groups to show.
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


def computed_in(question: Question) -> Iterator[Expr]:
    """All expressions over released values: what is shown, ordered by, and compared by HAVING."""
    yield from (output.expr for output in question.outputs)
    yield from (order.expr for order in question.order)
    if question.having is not None:
        yield question.having


def margins_of(question: Question) -> tuple[Margin, ...]:
    """The margins that an answer needs, each once."""
    return tuple(dict.fromkeys(margin for expr in computed_in(question) for margin in margins(expr)))
