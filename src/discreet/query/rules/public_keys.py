"""Which groups are answered: those known in public, or those a threshold selects."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from discreet.errors import DeltaRequired, TooManyGroups
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.ir import public_values

MOST_GROUPS = 1_000_000
"""Public groups times aggregates that are answered: each group is, with or without rows, and all are held in memory."""


def public_keys(draft: Draft) -> Draft:
    """Give each key its public values, where its declaration or its range lists them.

    Every public key is answered, so an answer's groups say nothing about anybody. If one key's values aren't public,
    the groups present in the data are selected privately; the other keys' lists still hold.

    Raises:
        DeltaRequired: groups must be selected and no δ is offered.
        TooManyGroups: the lists multiply to more than `MOST_GROUPS`.
    """
    keys = tuple(ir.Key(name=name, expr=expr, values=public_values(expr)) for name, expr in draft.question.keys)
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
