"""Contributions: how much one unit may add, by the declared limits or the analyst's own, in the shape of least noise.

Let a unit keep to what was declared. The shapes that cut nothing off it, and what each costs in the ℓ1 norm:

| declared | rows, and what is summed of them | units, and selection of groups |
|---|---|---|
| r rows | r rows in all: r | r groups, since each holds a row at least: r |
| r rows in g groups | r rows in all: r | g groups: g |
| k groups × m rows | k·m rows in all: k·m | k groups: k |

Of an answer with fewer groups than k or r, that number takes the place of k, or of r where units are counted.

Rows and units are limited apart from each other, so that a column has the same limits whatever is asked beside it.
Rows of k groups × m are limited as k·m in all, because that costs the same Laplace noise and cuts less off units that
don't keep to what was declared. Two cases keep the shape of groups × rows. Gaussian noise depends on ℓ2, which is
√k·m there, and k·m for rows in all. And where groups are selected, or withheld if they are small, and have one row of a
unit each, the number of rows is that of units: one number, with all of ε, selects groups and is the answer. For that
reason units aren't counted apart from rows where they have one row in all: one that has more counts in parts, of 1
together.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from discreet.errors import LimitsRequired, Unsupported
from discreet.hints import Hint
from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.aggregates import UNITS
from discreet.query.ir import declared_limits, has_one_row
from discreet.query.planner.draft import Draft

YET_TO_CHOOSE = Limits(rows=10)
"""Limits that stand in for those yet to be chosen privately, where none are declared."""


def contributions(draft: Draft) -> Draft:
    """Choose the shape of the limits in force: nothing is cut off units that keep to the declared ones.

    Limits on groups are in force where units are counted or groups selected, or withheld, and nowhere else. Without
    keys, all rows are one group.

    Raises:
        Unsupported: limits for a question in which each row is a unit.
        LimitsRequired: nothing says how many rows of a unit count.
    """
    if draft.unit.is_row:
        if draft.request.limits is not None:
            raise Unsupported(
                "each row is a unit of its own here, so there is nothing to limit",
                hint=Hint.of("leave {limits} out", limits=None),
            )
        return replace(draft, limits=Limits(rows=1) if not draft.keys else Limits(groups=1, rows_per_group=1))
    if draft.without_rows:
        return draft
    declared = _limits(draft)
    if not draft.keys:
        return replace(draft, limits=Limits(rows=_in_all(draft, declared)))
    if _keeps_groups(draft, declared):
        one_row = Limits(groups=1, rows_per_group=1)
        return replace(draft, limits=declared if declared.rows is None else one_row)
    rows = _in_all(draft, declared)
    if not draft.has_private_keys and (rows == 1 or not _counts_units(draft)):
        return replace(draft, limits=Limits(rows=rows))
    groups = min(rows, declared.groups or rows, _number_of_groups(draft) or rows)
    return replace(draft, limits=Limits(rows=rows, groups=groups))


def _limits(draft: Draft) -> Limits:
    """The analyst's own limits; else those that follow from what the tables declare.

    Limits weigh what they cut off against noise: any are as private as any others, so an analyst may choose. Where
    nothing but units is counted, without groups, each is counted once, whatever it has.
    """
    own = draft.request.limits
    source = draft.question.source
    if isinstance(own, Limits) and not has_one_row(source):
        return own
    is_once = _counts_once(draft.question)
    return declared_limits(source, Limits(rows=1) if is_once else YET_TO_CHOOSE if own == "auto" else None)


def lacks_limits(question: ir.Question) -> bool:
    """Whether a unit may have many rows, and nothing that is declared says how many of them count."""
    owner = ir.owner_of(question.source)
    if owner is None or owner.unit.is_row or _counts_once(question):
        return False
    try:
        declared_limits(question.source)
    except LimitsRequired:
        return True
    return False


def _counts_once(question: ir.Question) -> bool:
    """Whether nothing but units is counted, all in one group."""
    return not question.keys and all(each.function is UNITS for each in question.aggregates)


def _keeps_groups(draft: Draft, declared: Limits) -> bool:
    """Whether groups and rows in each are limited: for ℓ2, or because rows and units are then one number."""
    if declared.rows is None and draft.request.rho is not None:
        return True
    needs_units = draft.has_private_keys or draft.least_units > 0
    return needs_units and 1 in {declared.rows, declared.rows_per_group}


def _counts_units(draft: Draft) -> bool:
    """Whether units are asked for, or groups of few are withheld."""
    return draft.least_units > 0 or any(aggregate.function is UNITS for aggregate in draft.question.aggregates)


def _in_all(draft: Draft, declared: Limits) -> int:
    """How many rows of a unit count, over all groups that the answer has."""
    if declared.rows is not None:
        return declared.rows
    groups = declared.groups or 1
    number = _number_of_groups(draft)
    return (groups if number is None else min(groups, number)) * (declared.rows_per_group or 1)


def _number_of_groups(draft: Draft) -> int | None:
    """How many groups the answer has; None if that isn't public."""
    return None if draft.has_private_keys else prod(len(key.values or ()) for key in draft.keys)
