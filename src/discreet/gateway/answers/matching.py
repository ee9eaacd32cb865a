"""Matching: whether an answer that was released holds the exact part of a question, and how.

Both must be about the same rows, up to filters of the question that the keys of the answer decide; and limits must make
the same of them:

- Nothing is limited where no unit has two rows, so any regrouping will do.
- The same groups under the same limits are the same.
- Under a limit on the rows of a unit over all groups, a unit counts in merged groups what it counts in their parts, up
  to rounding by less than a step of the grid for each part. Groups must not be dropped: their rows count towards the
  limit too.
- Under a limit on groups, and on rows in each, that is no less than their number no group is left out, and each is
  limited on its own: groups may be dropped, but not merged.

Groups that a threshold selected serve only where they would be selected by the same threshold, of the same count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from discreet.gateway.answers.parts import meaning
from discreet.gateway.answers.regrouping import Regrouping, regrouped
from discreet.gateway.answers.released import Group, Shown
from discreet.gateway.answers.same_rows import extra_filters
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.ir import has_one_row
from discreet.query.planner import Draft

_Key = tuple[KeyValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """One level of an answer that was released.

    Args:
        draft: how it was made.
        groups: what was released.
        entry: the number of its debit.
        shown: how a group came to be shown, or left out, by its key, where noise picked; None where it didn't.
        adds_up: whether it was put together with other levels of the answer, so that all of them add up.
    """

    draft: Draft
    groups: Sequence[Group]
    entry: int
    shown: Callable[[_Key], Shown | None] | None = None
    adds_up: bool = False


def matched(draft: Draft, old: Released, *, any_threshold: bool = False) -> Regrouping | None:
    """Find how the groups of an answer make up those of a question; None if they don't.

    Args:
        draft: of the question.
        old: of the same data, in the same declarations.
        any_threshold: whether groups may be selected by another threshold than the question's own.
    """
    extra = extra_filters(draft.question.source, old.draft.question.source)
    if extra is None or (draft.unit, draft.adjacency) != (old.draft.unit, old.draft.adjacency):
        return None
    if draft.has_private_keys or old.draft.has_private_keys:
        return None if extra else _selected(draft, old, any_threshold=any_threshold)
    how = regrouped(old.draft.keys, draft.keys, extra)
    return how if how is not None and _is_limited_alike(draft, old.draft, how) else None


def is_unlimited(draft: Draft) -> bool:
    """Whether no unit has two rows, so that there is nothing to limit."""
    return draft.unit.is_row or has_one_row(draft.question.source)


def _is_limited_alike(draft: Draft, old: Draft, how: Regrouping) -> bool:
    """Whether limits make the same of the rows."""
    if is_unlimited(draft):
        return True
    limits, before = draft.limits, old.limits
    if how.merges and how.drops:
        return False
    if limits.rows is not None:  # groups beside it matter to counts of units alone, which don't merge
        counts_units = any(isinstance(measure, ir.Units) for measure in draft.measures)
        same = limits.rows == before.rows and (not counts_units or limits.groups == before.groups)
        return same and not how.drops
    number = prod(len(key.values or ()) for key in old.keys)
    fits = limits.groups is not None and limits.groups >= number
    return limits == before and not how.merges and (fits or not how.drops)


def _selected(draft: Draft, old: Released, *, any_threshold: bool) -> Regrouping | None:
    """The groups that a threshold selected, if it is the one that would select them now."""
    before = old.draft
    places = {str(key.expr): place for place, key in enumerate(before.keys)}
    order = [places.get(str(key.expr)) for key in draft.keys]
    values = {str(key.expr): key.values for key in before.keys}
    alike = (
        len(draft.keys) == len(before.keys)
        and None not in order
        and all(key.values == values[str(key.expr)] for key in draft.keys)
        and before.threshold is not None
        and (any_threshold or draft.threshold == before.threshold)
        and _selector(draft) == _selector(before)
        and (is_unlimited(draft) or draft.limits == before.limits)
    )
    if not alike:
        return None
    groups: dict[tuple[KeyValue, ...], tuple[tuple[KeyValue, ...], ...]] = {
        tuple(group.key[place] for place in order if place is not None): (group.key,) for group in old.groups
    }
    return Regrouping(groups=groups, drops=False)


def _selector(draft: Draft) -> str:
    """The meaning of the measure that selects groups."""
    return meaning(next((measure for measure in draft.measures if measure.name == draft.selector), None))
