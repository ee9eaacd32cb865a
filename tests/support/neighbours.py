"""Neighbours: what the exact part of a plan may differ by, where one unit's rows differ.

An example is a dataset's declarations, a question of it that was planned, and two states of its tables. Both states are
asked of the engine, level by level, profiles too; each measure must move within the norms its mechanism was calibrated
with, each histogram within the contribution that its choices were, and groups that only one of the states has must be
as few and as small as the threshold takes them to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from discreet.engine import Engine
from discreet.gateway.execute import with_room
from discreet.mechanisms.histogram import Contribution
from discreet.privacy import ADD_REMOVE, Adjacency, Sensitivity
from discreet.query.ir import numbers_of
from discreet.query.planner import Level, Plan
from support.engines import engine_as_if_admitted
from support.parted import in_parts

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Found:
    """The exact part of one level.

    Args:
        groups: the numbers of each group that has rows, by measure.
        histograms: by name and group, the counts of the bins.
    """

    groups: Mapping[Key, Mapping[str, int]]
    histograms: Mapping[str, Mapping[Key, Mapping[int, int]]]


def levels_of(plan: Plan) -> tuple[Level, ...]:
    """All that the engine is asked for a plan: what its profiles ask as well."""
    return (*(level for profile in plan.profiles for level in profile.levels), *plan.levels)


_PARTS = cycle([0, 1, 3])
"""In how many parts tables lie; 0 if they are whole, and nothing is noted."""


def engine_of(plan: Plan, data: Mapping[str, Any]) -> Engine:
    """An engine on Arrow tables, by the names of tables; of one thread, which is enough for so few rows.

    Neighbours lie in another number of parts: it depends on how many rows there are.
    """
    tables = plan.dataset.tables
    with in_parts(next(_PARTS)):
        return engine_as_if_admitted(tables, {table.source.location: data[table.name] for table in tables}, threads=1)


def exact(engine: Engine, plan: Plan) -> list[Found]:
    """What the engine answers: never a failure, which would be an answer without noise.

    Nothing is asked of it where nothing is measured, as in `gateway.execute.run`.
    """
    return [_found(engine, level) if level.events else Found(groups={}, histograms={}) for level in levels_of(plan)]


def _found(engine: Engine, level: Level) -> Found:
    """What the engine answers to one level."""
    result = with_room(level, engine.run(level.exact))
    assert len(set(result.keys)) == len(result.keys)
    return Found(
        groups={
            key: {name: column[place] for name, column in result.measures.items()}
            for place, key in enumerate(result.keys)
        },
        histograms={name: dict(zip(result.keys, column, strict=True)) for name, column in result.histograms.items()},
    )


def check(plan: Plan, here: Sequence[Found], there: Sequence[Found]) -> None:
    """Whether two states may be neighbours, both ways round."""
    for level, one, other in zip(levels_of(plan), here, there, strict=True):
        _check_measures(plan, level, one, other)
        _check_histograms(plan, level, one, other)
        for this, that in ((one, other), (other, one)):
            _check_lone_groups(plan, level, this, that)


def _check_measures(plan: Plan, level: Level, one: Found, other: Found) -> None:
    """No norm of any measure exceeds its declaration; the sums of a vector move together."""
    groups = one.groups.keys() | other.groups.keys()
    for noise in level.draft.noises:
        moved = [
            one.groups.get(key, {}).get(each.name, 0) - other.groups.get(key, {}).get(each.name, 0)
            for key in groups
            for each in numbers_of(noise.measure)
        ]
        assert is_within(moved, noise.sensitivity), (plan.question.text, str(noise.measure), moved, noise.sensitivity)


def is_within(moved: Sequence[int], declared: Sensitivity) -> bool:
    """Whether a vector lies within norms."""
    sizes = [abs(each) for each in moved if each]
    return (
        len(sizes) <= declared.l0
        and max(sizes, default=0) <= declared.linf
        and sum(sizes) <= declared.l1
        and sum(size**2 for size in sizes) <= declared.l2_squared
    )


def _check_histograms(plan: Plan, level: Level, one: Found, other: Found) -> None:
    """No histogram moves by more than its choices were calibrated with: of a bin, or of several."""
    for selection in level.draft.selections:
        name = selection.measure.name
        moved = dict(_moved_bins(one.histograms[name], other.histograms[name]))
        declared = selection.mechanism.contribution
        assert may_move(moved, declared), (plan.question.text, str(selection.measure), moved, declared)


def _moved_bins(
    one: Mapping[Key, Mapping[int, int]], other: Mapping[Key, Mapping[int, int]]
) -> Iterator[tuple[Key, dict[int, int]]]:
    """By how much each bin of each group moves, where it does."""
    for key in one.keys() | other.keys():
        ours, theirs = one.get(key, {}), other.get(key, {})
        moved = {number: ours.get(number, 0) - theirs.get(number, 0) for number in ours.keys() | theirs.keys()}
        yield key, {number: size for number, size in moved.items() if size}


def may_move(moved: Mapping[Key, Mapping[int, int]], declared: Contribution) -> bool:
    """Whether histograms move as if one unit came or went; or, under substitution, as if one did and another.

    Coming and going move counts in opposite directions, so either can be told by the sign, as far as they don't
    overlap; what overlaps moves nothing.
    """
    gained = {key: sum(size for size in bins.values() if size > 0) for key, bins in moved.items()}
    lost = {key: -sum(size for size in bins.values() if size < 0) for key, bins in moved.items()}
    if declared.adjacency is ADD_REMOVE and sum(gained.values()) and sum(lost.values()):
        return False
    if declared.groups is not None and sum(map(bool, moved.values())) > declared.groups:
        return False
    return all(
        max(each.values(), default=0) <= declared.each and sum(each.values()) <= declared.total
        for each in (gained, lost)
    )


def _check_lone_groups(plan: Plan, level: Level, one: Found, other: Found) -> None:
    """Groups that only one state has are few and small, where a threshold is to keep them back."""
    threshold, selector = level.draft.threshold, level.draft.selector
    if threshold is None or selector is None:
        return
    lone = one.groups.keys() - other.groups.keys()
    assert len(lone) <= threshold.l0, (plan.question.text, lone)
    assert all(one.groups[key][selector] <= threshold.linf for key in lone), (plan.question.text, lone)


def adjacency_of(plan: Plan) -> Adjacency:
    """Which states of the tables are neighbours."""
    return plan.levels[0].draft.adjacency
