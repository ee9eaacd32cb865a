"""Size: how much an answer releases, and how far the ledger grows by it, told from public facts before it is paid for.

Noise makes every number of an answer as long as it is, and every public group is answered, whether or not it has rows.
So both follow from the plan. Where groups are selected, nobody knows before how many there are. For many there have to
be many units in each, and a cost that lets them pass: they can't be had for next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log10, prod
from typing import TYPE_CHECKING, Self

from discreet.ledger import MOST_INSIDE

if TYPE_CHECKING:
    from discreet.query.planner import Draft, Level, Plan

_ENTRY = 1200
"""Bytes of two entries of the chain without their content."""

_GROUP, _KEY, _VALUE = 30, 8, 12
"""Characters around a group, a key and a value, as JSON."""

_PACKED_GROUP, _PACKED_VALUE, _PACKED_DIGIT = 4, 2, 0.47
"""Bytes of a group, of a value and of each of its digits once they are packed: log₂(10) / 8 = 0.415, and a tenth."""

_DIGITS = 6
"""Digits that a number may have beyond those of its noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of an answer.

    Args:
        values: how many numbers are released; None where nobody knows, because groups are selected.
        stored: by how many bytes the ledger grows, about; without groups that are selected.
    """

    values: int | None
    stored: int

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The size of all that is stored for a plan."""
        every = [each for step in plan.steps for each in step.bundles]
        values = [_values(level) for each in every for level in each.levels]
        known = [each for each in values if each is not None]
        if plan.is_free:
            return cls(values=sum(known), stored=0)
        asked = len(plan.text.encode()) + len(json.dumps([each.to_dict() for each in every]))
        groups = ceil(sum(_bytes(each.levels) for each in every))
        return cls(values=sum(known) if len(known) == len(values) else None, stored=_ENTRY + asked + groups)


def _values(level: Level) -> int | None:
    """How many numbers one level releases; None where its groups are selected."""
    groups = _groups(level.draft)
    return None if groups is None else groups * max(1, _in_a_group(level))


def _in_a_group(level: Level) -> int:
    """How many numbers are released of each group."""
    picks = [selection.pick for selection in level.draft.selections]
    chosen = sum(pick.most + 2 * (pick.fraction is not None) + 3 * len(pick.fractions) for pick in picks)
    return len(level.noises) + chosen


def _groups(draft: Draft) -> int | None:
    """How many groups there are; None where they are selected."""
    return None if draft.has_private_keys else prod(len(key.values or ()) for key in draft.keys)


def _bytes(levels: Iterable[Level]) -> float:
    """The bytes that the groups of a plan take in the ledger: as JSON, or packed where that is long."""
    plain = packed = 0.0
    for level in levels:
        groups, digits = _groups(level.draft) or 0, _digits(level)
        keys = sum(_key_length(key.values or ()) + _KEY for key in level.draft.keys)
        plain += groups * (_GROUP + keys + _VALUE * _in_a_group(level) + digits)
        packed += groups * (_PACKED_GROUP + _PACKED_VALUE * _in_a_group(level) + _PACKED_DIGIT * digits)
    return packed if plain > MOST_INSIDE else plain


def _digits(level: Level) -> float:
    """The most digits that the numbers of a group have together; a choice is stored as the number of a bin."""
    noisy = (log10(1 + noise.deviation / float(noise.step)) + _DIGITS for noise in level.noises.values())
    return sum(noisy) + _DIGITS * (_in_a_group(level) - len(level.noises))


def _key_length(values: Iterable[object]) -> float:
    """How many characters a key has, on average over its public values."""
    lengths = [len(str(value)) for value in values]
    return sum(lengths) / len(lengths) if lengths else 0.0
