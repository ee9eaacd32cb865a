"""Sensitivities: how far one unit moves each measure; derived case by case, and checked by brute force in the tests.

What a unit adds to a measure, group by group, is a vector. `Sum` promises where its entries lie:

*k groups, m rows each.* At most k entries differ from 0, each within [m·lo⁻, m·hi⁺], where lo⁻ = min(lo, 0) and
hi⁺ = max(hi, 0): a unit may have no row at all, so 0 always belongs to the range. Rounding towards zero stays within.

*r rows in all.* The vector is r·(a convex combination of 0 and of vectors with one entry, lo⁻ or hi⁺), and rounding
towards zero stays within that hull. Beside a limit on groups it may have entries in fewer groups, so nothing is more.
`Units` has entries of 0 or 1, in at most as many groups as the limit on groups says: k groups of one row each, with
lo = 0 and hi = 1, whatever the limit on rows.

Write M = max(|lo⁻|, hi⁺) and W = hi⁺ − lo⁻, both times m or r; so M ≤ W ≤ 2M.

Under *add-remove* the answers differ by one such vector: ℓ∞ = M, and ℓ1 = kM, ℓ2² = kM² by groups; ℓ1 = ℓ2 = M by
rows, whatever the number of groups.

Under *substitution* they differ by u − v for two such vectors. One group moves by at most W. By groups, t shared
groups and 2(k − t) others give ℓ1 ≤ tW + 2(k − t)M and ℓ2² ≤ tW² + 2(k − t)M², both linear in t, so greatest at an end
of its range: t = k, or the least t for which the answer has groups enough, max(0, 2k − groups). By rows, a convex
function of two points of the hull is greatest at its corners: in one group W, in two groups 2M in ℓ1 and √2·M in ℓ2; so
ℓ1 = 2M and ℓ2² = max(W², 2M²). With no keys there is one group, and all norms are W. Texts give hi − lo for that case,
which equals W only if 0 lies between the bounds: when the other row is dropped by a filter or holds NULL, the sum moves
by all of hi.

*Vectors.* Of a `Vector` a unit adds numbers that aren't negative, over all sums at most m·most in each of k groups, or
r·most in all, since weighing down keeps proportions and rounds towards zero; write M for m·most or r·most, and k = 1
for r rows. Under *add-remove* the answers differ by one such vector: ℓ∞ = M, ℓ1 = kM, and ℓ2² ≤ kM², as a group's
squares add up to the square of its sum at most. Under *substitution* they differ by u − v for two of them. No entry
moves by more than M, and ℓ1 = 2kM. As neither has negative entries, |u − v|² ≤ |u|² + |v|², so ℓ2² = 2kM². That holds
in a single group as well: what was in one sum may then be in another.

*Room.* Without keys, what a unit leaves of its r·most may be released beside these sums: each unit that has rows then
adds numbers that aren't negative and are r·most together, exactly. So nothing changes: M bounds what it adds as before.

*Different values.* A unit keeps at most m values in each of k groups, or r pairs of group and value in all, by a hash
of its own rows; a value counts 1, however many units keep it. Take one unit away: each of its pairs takes off 1 or, if
another unit keeps it too, 0. So a group moves by u with 0 ≤ u ≤ m, in k groups, or by u with 0 ≤ Σu ≤ r: the vectors
of a `Sum` with lo = 0 and hi = 1. Substitution takes away one such vector and adds another, so all of the above holds.

*Histograms* are chosen from, and what that costs is proved with the mechanisms; they take what a unit weighs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

from discreet.errors import unforeseen
from discreet.mechanisms import Contribution
from discreet.privacy import (
    ADD_REMOVE,
    Adjacency,
    Limits,
    Sensitivity,
)
from discreet.query import ir
from discreet.query.planner.draft import Draft

_COUNTABLE_GROUPS = 2**48
"""Bounds the number of groups where nothing smaller does: no table has more rows than this."""


def sensitivities(draft: Draft) -> Draft:
    """Derive the sensitivity of each measure, and what a unit contributes to each histogram, in steps of its grid."""
    groups = _number_of_groups(draft)
    return replace(
        draft,
        sensitivities=tuple(
            measure_sensitivity(measure, draft.limits, draft.adjacency, groups=groups) for measure in draft.measures
        ),
        contributions=tuple(
            contribution(histogram, draft.limits, draft.adjacency, groups=groups) for histogram in draft.histograms
        ),
    )


def measure_sensitivity(measure: ir.Measured, limits: Limits, adjacency: Adjacency, *, groups: int) -> Sensitivity:
    """The sensitivity of one measure over an answer of `groups` groups; 1 means that there are no keys.

    A measure that can't move is still given sensitivity 1: noise is never left out.
    """
    weight = _weight(measure, limits)
    match measure:
        case ir.Vector(numbers=numbers, most=most):
            kept = 1 if limits.rows is not None else min(limits.groups or groups, groups)
            return _of_vector(weight * most, kept, groups * len(numbers), adjacency)
        case ir.Sum(lo=lo, hi=hi):
            pass
        case ir.Units() | ir.DistinctValues() | ir.Histogram():
            lo, hi = 0, 1
        case ir.Room():
            raise TypeError("room is one number of a vector, and no measure by itself")
        case _:
            raise unforeseen(measure)
    low, high = weight * min(lo, 0), weight * max(hi, 0)
    largest, width = max(-low, high, 1), max(high - low, 1)
    if groups == 1:
        return Sensitivity.scalar(_under(adjacency, add_remove=largest, substitution=width))
    if limits.rows is not None and not isinstance(measure, ir.Units):
        return _by_rows(largest, width, groups, adjacency)
    if limits.groups is None:
        raise AssertionError("units are counted in groups under a limit on groups")
    return _by_groups(largest, width, min(limits.groups, groups), groups, adjacency)


def contribution(histogram: ir.Histogram, limits: Limits, adjacency: Adjacency, *, groups: int) -> Contribution:
    """The weight of one unit in a histogram over an answer of `groups` groups; 1 means that there are no keys."""
    each = _weight(histogram, limits) * 2**-histogram.grid
    kept = 1 if limits.groups is None or limits.rows is not None else min(limits.groups, groups)
    known = None if groups == _COUNTABLE_GROUPS else groups
    return Contribution(each=each, total=kept * each, groups=known, adjacency=adjacency)


def _weight(measure: ir.Measured, limits: Limits) -> int:
    """How many rows' worth a unit may add to one group."""
    if isinstance(measure, ir.Units):
        return 1
    weight = limits.rows if limits.rows is not None else limits.rows_per_group
    if weight is None:
        raise AssertionError("limits have one shape or the other")
    return weight


def _under(adjacency: Adjacency, *, add_remove: int, substitution: int) -> int:
    """Whichever of two numbers holds under an adjacency."""
    match adjacency:
        case Adjacency.ADD_REMOVE:
            return add_remove
        case Adjacency.SUBSTITUTION:
            return substitution
        case _:
            raise unforeseen(adjacency)


def _by_rows(largest: int, width: int, groups: int, adjacency: Adjacency) -> Sensitivity:
    """The norms under a limit on rows over all groups."""
    linf = _under(adjacency, add_remove=largest, substitution=width)
    if adjacency is ADD_REMOVE:
        return Sensitivity(l0=groups, linf=linf, l1=largest, l2_squared=Fraction(largest**2))
    return Sensitivity(l0=groups, linf=linf, l1=2 * largest, l2_squared=Fraction(max(width**2, 2 * largest**2)))


def _by_groups(largest: int, width: int, kept: int, groups: int, adjacency: Adjacency) -> Sensitivity:
    """The norms under a limit on groups and on rows in each."""
    linf = _under(adjacency, add_remove=largest, substitution=width)
    if adjacency is ADD_REMOVE:
        return Sensitivity(l0=kept, linf=linf, l1=kept * largest, l2_squared=Fraction(kept * largest**2))
    shared = max(0, 2 * kept - groups)
    apart = kept - shared
    return Sensitivity(
        l0=min(2 * kept, groups),
        linf=linf,
        l1=shared * width + 2 * apart * largest,
        l2_squared=Fraction(max(kept * width**2, shared * width**2 + 2 * apart * largest**2)),
    )


def _of_vector(each: int, kept: int, numbers: int, adjacency: Adjacency) -> Sensitivity:
    """The norms of a vector, from the most steps and the most groups of a unit's part in it."""
    total = _under(adjacency, add_remove=1, substitution=2) * kept * each
    return Sensitivity(l0=numbers, linf=each, l1=total, l2_squared=Fraction(total * each))


def _number_of_groups(draft: Draft) -> int:
    """The most groups that the answer can have."""
    if draft.has_private_keys:
        return _COUNTABLE_GROUPS
    return prod(len(key.values) for key in draft.keys if key.values is not None)
