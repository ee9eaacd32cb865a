"""The release: exact integers in, noisy integers and choices out. The step from private to public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from discreet.engine import ExactResult
from discreet.gateway.answers import Group, in_order, public_groups
from discreet.mechanisms import Mode
from discreet.query.estimates import Noisy, Selection
from discreet.query.planner import Level

_EMPTY: Mapping[int, int] = MappingProxyType({})


def release(level: Level, result: ExactResult, number: int = 0) -> list[Group]:
    """Add the noise to one level, and make its choices; its groups get its number.

    With public keys every group is released, those without rows as zeros. Otherwise a group is released only if its
    noisy count passes the threshold; the rest are forgotten, before anything is chosen of them.
    """
    rows = {key: place for place, key in enumerate(result.keys)}
    keys = list(result.keys) if level.draft.threshold is not None else list(public_groups(level.draft.keys))
    columns: dict[str, list[int]] = {}
    for name, noise in level.noises.items():
        exact = result.measures[name]
        columns[name] = noise.mechanism.release([exact[rows[key]] if key in rows else 0 for key in keys])
    passed = [place for place in range(len(keys)) if _passes(level, columns, place)]
    chosen: dict[str, Sequence[int | tuple[int, ...]]] = {}
    for selection in level.draft.selections:
        histograms = result.histograms[selection.measure.name]
        chosen |= _chosen(
            selection, [histograms[rows[keys[place]]] if keys[place] in rows else _EMPTY for place in passed]
        )
    groups = []
    for order, place in enumerate(passed):
        noisy: Noisy = {name: column[place] for name, column in columns.items()} | {
            name: column[order] for name, column in chosen.items()
        }
        groups.append(Group(keys[place], noisy, number))
    return in_order(level.draft, groups)


def rehearse(level: Level) -> None:
    """Draw the noise of one zero, and choose once from nothing: what the mechanisms need must be there.

    It is drawn afresh and dropped, and no data was touched.

    Raises:
        ImportError: a library that they need isn't there.
    """
    for noise in level.noises.values():
        noise.mechanism.release([0])
    for selection in level.draft.selections:
        selection.mechanism.choose(_EMPTY)


def _passes(level: Level, columns: Mapping[str, Sequence[int]], place: int) -> bool:
    """Whether a group is released."""
    threshold, selector = level.draft.threshold, level.draft.selector
    return threshold is None or selector is None or threshold.passes(columns[selector][place])


def _chosen(
    selection: Selection, histograms: Sequence[Mapping[int, int]]
) -> dict[str, Sequence[int | tuple[int, ...]]]:
    """The bins chosen of each group, and the intervals about those of a quantile; by name."""
    pick, mechanism = selection.pick, selection.mechanism
    if isinstance(mechanism, Mode):
        return {pick.name: [mechanism.choose(histogram) for histogram in histograms]}
    numbers = [mechanism.choose(histogram) for histogram in histograms]
    if selection.about is None:
        return {pick.name: numbers}
    intervals = [
        selection.about.choose(histogram, number) for number, histogram in zip(numbers, histograms, strict=True)
    ]
    return {pick.name: numbers, pick.around: intervals}
