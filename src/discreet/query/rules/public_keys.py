"""Which groups are answered: those known in public, or those a threshold selects."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from discreet.dataset import Kind
from discreet.errors import DeltaRequired, TooManyGroups
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.nulls import never_null, without_nulls

MOST_GROUPS = 1_000_000
"""Public groups times aggregates that are answered: each group is, with or without rows, and all are held in memory."""

MOST_VALUES = 10_000
"""An integer range with more values than this isn't taken for a list of keys."""


def public_keys(draft: Draft) -> Draft:
    """Give each key its public values, where its declaration or its range lists them.

    Every public key is answered, so an answer's groups say nothing about anybody. If one key's values aren't public,
    the groups present in the data are selected privately; the other keys' lists still hold.

    Raises:
        DeltaRequired: groups must be selected and no δ is offered.
        TooManyGroups: the lists multiply to more than `MOST_GROUPS`.
    """
    keys = tuple(ir.Key(name=name, expr=expr, values=_values(draft, expr)) for name, expr in draft.question.keys)
    unlisted = [key.name for key in keys if key.values is None]
    if unlisted and draft.request.delta is None:
        raise DeltaRequired(
            f"the values of {', '.join(unlisted)} aren't public, so its groups must be selected, which takes a delta",
            hint="offer a delta far below 1 / number of units, such as 1e-8; or declare keys, or bounds of an integer",
        )
    groups = prod(len(key.values) for key in keys if key.values is not None)
    most = MOST_GROUPS // max(1, len(draft.question.aggregates))
    if not unlisted and groups > most:
        raise TooManyGroups(
            f"the public keys multiply to {groups:,} groups; at most {most:,} are answered with this many aggregates",
            hint="group by fewer or coarser keys",
        )
    return replace(draft, keys=keys)


def _values(draft: Draft, expr: ir.Expr) -> tuple[KeyValue, ...] | None:
    """The public values of a grouping expression, None for its NULL group, or nothing if they aren't public."""
    if isinstance(expr, ir.Column):
        declared = draft.table.column(expr.name).keys
        if declared is not None:
            return declared.values
    expr = without_nulls(expr, never_null(draft.question.source))
    values = expr.type.values
    if values is None and expr.type.kind is Kind.INTEGER and expr.type.lo is not None and expr.type.hi is not None:
        first, last = int(expr.type.lo), int(expr.type.hi)
        values = tuple(range(first, last + 1)) if last - first < MOST_VALUES else None
    if values is None:
        return None
    return (*values, None) if expr.type.nullable and None not in values else values
