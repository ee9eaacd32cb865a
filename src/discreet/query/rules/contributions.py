"""How much one unit may contribute: the declared limits, in the shape that errs less."""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.draft import Draft


def contributions(draft: Draft) -> Draft:
    """Choose the shape of the limits in force; it never allows more, in sum, than the declared ones.

    Both shapes bound a unit's contribution in the ℓ1 norm, and Laplace noise depends on nothing else: `k` groups of
    `m` rows cost the same noise as `k·m` rows in all, which cut off less. Gaussian noise, and whatever counts units,
    gains from a bound on groups. Without groups, both shapes are one.
    """
    table = draft.table
    if table.unit.is_row:
        return replace(draft, limits=Limits(rows=1) if not draft.keys else Limits(groups=1, rows_per_group=1))
    declared = table.limits
    if not draft.keys:
        rows = declared.rows if declared.rows is not None else declared.rows_per_group
        return replace(draft, limits=Limits(rows=rows))
    if _must_bound_groups(draft):
        return replace(draft, limits=_by_group(declared))
    return replace(draft, limits=_by_rows(declared))


def _must_bound_groups(draft: Draft) -> bool:
    """Whether the number of a unit's groups must be bounded: to select groups, to count units, or for ℓ2."""
    counts_units = any(aggregate.statistic is ir.Statistic.UNITS for aggregate in draft.question.aggregates)
    gains_in_l2 = draft.request.rho is not None and draft.table.limits.rows is None
    return draft.has_private_keys or counts_units or gains_in_l2


def _by_rows(limits: Limits) -> Limits:
    """The same ℓ1 bound as one on rows."""
    if limits.groups is None or limits.rows_per_group is None:
        return limits
    return Limits(rows=limits.groups * limits.rows_per_group)


def _by_group(limits: Limits) -> Limits:
    """At most the same ℓ1 bound as one on groups and rows in each: as many groups as rows, about."""
    if limits.rows is None:
        return limits
    groups = isqrt(limits.rows)
    return Limits(groups=groups, rows_per_group=limits.rows // groups)
