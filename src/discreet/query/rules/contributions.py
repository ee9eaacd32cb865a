"""How much one unit may contribute: the declared limits, or the analyst's own, in the shape that errs less."""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

from discreet.errors import Unsupported
from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.draft import Draft


def contributions(draft: Draft) -> Draft:
    """Choose the shape of the limits in force; it never allows more, in sum, than the declared ones.

    Both shapes bound a unit's contribution in the ℓ1 norm, and Laplace noise depends on nothing else: `k` groups of
    `m` rows cost the same noise as `k·m` rows in all, which cut off less. Gaussian noise, and whatever counts units,
    gains from a bound on groups. Without groups, both shapes are one.

    Raises:
        Unsupported: limits for a question in which each row is a unit.
    """
    if draft.unit.is_row:
        if draft.request.limits is not None:
            raise Unsupported(
                "each row is a unit of its own here, so there is nothing to limit", hint="leave limits out"
            )
        return replace(draft, limits=Limits(rows=1) if not draft.keys else Limits(groups=1, rows_per_group=1))
    declared = declared_limits(draft)
    if not draft.keys:
        rows = declared.rows if declared.rows is not None else declared.rows_per_group
        return replace(draft, limits=Limits(rows=rows))
    if _must_bound_groups(draft):
        return replace(draft, limits=_by_group(declared))
    return replace(draft, limits=_by_rows(declared))


def declared_limits(draft: Draft) -> Limits:
    """The analyst's own limits; else those that the tables declare: of the one private table, or enough for several.

    Limits weigh what they cut off against noise: any are as private as any others, so an analyst may choose. Where a
    unit has one row at the most, because its rows were summarized, that is the limit.
    """
    if has_one_row(draft.question.source):
        return Limits(rows=1)
    if isinstance(draft.request.limits, Limits):
        return draft.request.limits
    found = list(dict.fromkeys(scan.table.limits for scan in draft.scans if scan.owner is not None))
    if len(found) == 1:
        return found[0]
    if all(limits.groups is not None for limits in found):
        return Limits(
            groups=max(limits.groups or 1 for limits in found),
            rows_per_group=max(limits.rows_per_group or 1 for limits in found),
        )
    return Limits(rows=max(_by_rows(limits).rows or 1 for limits in found))


def has_one_row(relation: ir.Relation) -> bool:
    """Whether no unit can have more than one row in a relation."""
    match relation:
        case ir.PerUnit(single=single):
            return single
        case ir.Where(source=source) | ir.Project(source=source) | ir.Window(source=source):
            return has_one_row(source)
        case ir.Distinct(source=source):
            return has_one_row(source)
        case ir.Join(left=left, kind=ir.JoinKind.SEMI | ir.JoinKind.ANTI):
            return has_one_row(left)
        case ir.Join(left=left, right=right):
            return has_one_row(left) and has_one_row(right) and None not in {ir.owner_of(left), ir.owner_of(right)}
        case _:
            return False


def _must_bound_groups(draft: Draft) -> bool:
    """Whether the number of a unit's groups must be bounded: to select groups, to count units, or for ℓ2."""
    counts_units = any(aggregate.statistic is ir.Statistic.UNITS for aggregate in draft.question.aggregates)
    gains_in_l2 = draft.request.rho is not None and declared_limits(draft).rows is None
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
