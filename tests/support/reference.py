"""Exact answers by brute force: what an engine must compute, as plain loops over Python rows.

It follows the words of `query.ir` one by one and knows nothing of SQL. The one thing it takes from the engine is the
order in which a unit over its limit keeps its groups and values, because that is the engine's to choose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isinf, isnan
from typing import Any

from discreet.query.ir import DistinctValues, Exact, Histogram, Sum, Units
from support.relations import Row, evaluate, fit, rows_of

Group = tuple[Any, ...]
Answer = dict[Group, dict[str, Any]]
"""By group and measure: an integer, or of a histogram its counts by bin."""

Order = Callable[[Hashable, Group], Any]
"""How a unit ranks its groups, or its pairs of group and value: those that come first are kept."""


def answer(exact: Exact, data: Mapping[str, Iterable[Row]], order: Order) -> Answer:
    """The integers of a question: by group, and by measure.

    Args:
        exact: the question.
        data: the rows of each table, by its name.
        order: the engine's choice.
    """
    entries = []
    for unit, row in rows_of(exact.source, {name: list(rows) for name, rows in data.items()}):
        group = tuple(fit(key.expr, row) for key in exact.keys)
        if all(key.values is None or value in key.values for key, value in zip(exact.keys, group, strict=True)):
            entries.append(Entry(unit, group, tuple(brought(each, row) for each in exact.measures)))
    return add_up(exact, entries, order)


@dataclass(frozen=True)
class Entry:
    """One row that counts: whose it is, in which group, and what it brings to each measure."""

    unit: Hashable
    group: Group
    brings: Group


def brought(measure: Any, row: Any) -> Any:
    """What a row brings to a measure, before limits: an integer, a value, or the number of a bin; None for nothing."""
    if isinstance(measure, Units):
        return 1
    if isinstance(measure, Sum):
        number = evaluate(measure.value, row)
        is_missing = number is None or isnan(number)
        return measure.hi - steps(number, measure) if measure.is_rest and not is_missing else steps(number, measure)
    value = fit(measure.value, row)
    if isinstance(measure, Histogram) and measure.values is not None:
        return measure.values.index(value) if value in measure.values else None
    if isinstance(measure, Histogram):
        return value if value is not None and 0 <= value < measure.size else None
    return value


def steps(value: float | None, measure: Sum) -> int:
    """A value in steps of the grid, rounded half away from zero, within the bounds; NULL and NaN add nothing."""
    if value is None or isnan(value):
        return 0
    if isinf(value):
        return measure.hi if value > 0 else measure.lo
    exact = Fraction(value) / Fraction(2) ** measure.grid
    nearest = floor(abs(exact) + Fraction(1, 2)) * (1 if exact >= 0 else -1)
    return min(max(nearest, measure.lo), measure.hi)


def add_up(exact: Exact, entries: Sequence[Entry], order: Order) -> Answer:
    """Limit each unit's entries, and add up by group."""
    kept = _kept(exact, entries, order)
    groups = {entry.group for own in kept for entry in own} if exact.keys else {()}
    totals: Answer = {group: {} for group in groups}
    for place, measure in enumerate(exact.measures):
        if isinstance(measure, DistinctValues):
            counts = _different(exact, kept, place, order)
        elif isinstance(measure, Histogram):
            counts = _histogram(exact, kept, place, measure)
        elif isinstance(measure, Units):
            counts = Counter(group for own in _in_groups(exact, entries, order) for group in {e.group for e in own})
        else:
            counts = _sums(exact, kept, place)
        for group in groups:
            totals[group][measure.name] = counts.get(group, {} if isinstance(measure, Histogram) else 0)
    return totals


def _kept(exact: Exact, entries: Sequence[Entry], order: Order) -> list[list[Entry]]:
    """Each unit's entries that count: all, where the limit on groups is one on counts of units, and keys are public."""
    if exact.limits.rows is not None and all(key.values is not None for key in exact.keys):
        return list(_split(entries, lambda entry: entry.unit).values())
    return _in_groups(exact, entries, order)


def _in_groups(exact: Exact, entries: Sequence[Entry], order: Order) -> list[list[Entry]]:
    """Each unit's entries, in those groups that it keeps."""
    found = []
    for unit, own in _split(entries, lambda entry: entry.unit).items():
        if exact.owner.unit.is_row or exact.limits.groups is None:
            found.append(own)
        else:
            groups = sorted({entry.group for entry in own}, key=lambda group: order(unit, group))
            found.append([entry for entry in own if entry.group in groups[: exact.limits.groups]])
    return found


def _scopes(exact: Exact, kept: Sequence[list[Entry]]) -> Iterable[tuple[int, list[Entry]]]:
    """Entries that share one limit, with that limit."""
    for own in kept:
        if exact.owner.unit.is_row:
            yield 1, own
        elif exact.limits.rows is not None:
            yield exact.limits.rows, own
        else:
            assert exact.limits.rows_per_group is not None
            yield from ((exact.limits.rows_per_group, each) for each in _split(own, lambda entry: entry.group).values())


def _sums(exact: Exact, kept: Sequence[list[Entry]], place: int) -> dict[Group, int]:
    """Sums by group, a unit's own scaled by limit/rows if it has more rows."""
    counts: dict[Group, int] = defaultdict(int)
    for limit, own in _scopes(exact, kept):
        for group, entries in _split(own, lambda entry: entry.group).items():
            total = sum(entry.brings[place] for entry in entries)
            counts[group] += towards_zero(total, limit, len(own))
    return counts


def _different(exact: Exact, kept: Sequence[list[Entry]], place: int, order: Order) -> dict[Group, int]:
    """How many different values there are in each group, of those that each unit keeps."""
    found = set()
    for limit, own in _scopes(exact, kept):
        pairs = {(*entry.group, entry.brings[place]) for entry in own if entry.brings[place] is not None}
        chosen = pairs if exact.owner.unit.is_row else sorted(pairs, key=lambda pair: order(own[0].unit, pair))[:limit]
        found.update(chosen)
    return Counter(pair[:-1] for pair in found)


def _histogram(
    exact: Exact, kept: Sequence[list[Entry]], place: int, measure: Histogram
) -> dict[Group, dict[int, int]]:
    """Counts by group and bin, a unit's own scaled by limit/rows if it has more rows in any bin."""
    counts: dict[Group, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for limit, own in _scopes(exact, kept):
        there = [entry for entry in own if entry.brings[place] is not None]
        for (group, number), entries in _split(there, lambda entry: (entry.group, entry.brings[place])).items():
            counts[group][number] += towards_zero(len(entries) * 2**-measure.grid, limit, len(there))
    return {group: {number: n for number, n in bins.items() if n} for group, bins in counts.items()}


def towards_zero(total: int, limit: int, rows: int) -> int:
    """A total times limit/rows, if there are more rows than the limit."""
    return total if rows <= limit else abs(total) * limit // rows * (1 if total >= 0 else -1)


def _split(entries: Iterable[Entry], by: Callable[[Entry], Any]) -> dict[Any, list[Entry]]:
    """Entries by what they have in common."""
    parts: dict[Any, list[Entry]] = defaultdict(list)
    for entry in entries:
        parts[by(entry)].append(entry)
    return dict(parts)
