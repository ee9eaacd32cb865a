"""The release: exact integers in, noisy integers out. The step from private to public."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from discreet.engine import ExactResult
from discreet.privacy import KeyValue
from discreet.query.plan import Plan
from discreet.query.released import Group, in_order


def release(plan: Plan, result: ExactResult) -> list[Group]:
    """Add the noise.

    With public keys every group is released, those without rows as zeros. Otherwise a group is released only if its
    noisy count passes the threshold; the rest are forgotten.
    """
    threshold = plan.draft.threshold
    rows = {key: number for number, key in enumerate(result.keys)}
    keys = list(result.keys) if threshold is not None else list(_public_groups(plan))
    columns: dict[str, list[int]] = {}
    for name, noise in plan.noises.items():
        exact = result.measures[name]
        columns[name] = noise.mechanism.release([exact[rows[key]] if key in rows else 0 for key in keys])
    released = (Group(key, {name: column[n] for name, column in columns.items()}) for n, key in enumerate(keys))
    if threshold is not None and plan.draft.selector is not None:
        selector = plan.draft.selector
        released = (group for group in released if threshold.passes(group.noisy[selector]))
    return in_order(plan.draft, released)


def _public_groups(plan: Plan) -> Iterator[tuple[KeyValue, ...]]:
    """Every combination of the public keys; the empty one if there are none."""
    return product(*(key.values for key in plan.draft.keys if key.values is not None))
