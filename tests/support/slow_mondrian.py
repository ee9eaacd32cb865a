"""Mondrian from its definition: one class at a time, recursively, in plain Python; exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.anonymity.columns import Value

Row: TypeAlias = tuple[Value, ...]
"""Quasi-identifiers, then the sensitive value."""
Met: TypeAlias = Callable[[Sequence[Row]], bool]
"""Whether a class meets what is asked for."""


@dataclass(frozen=True)
class Line:
    """The values of a column that occur, and their groups if it has a hierarchy."""

    values: tuple[Value, ...]
    tree: dict[str, tuple[str, ...]] | None

    def path(self, value: Value) -> tuple[int, ...]:
        """From everything down to the value: of each group that holds it, the place of the least value in the group."""
        assert self.tree is not None
        ways = {each: (*self.tree[str(each)][::-1], each) for each in self.values}
        own = ways[value]
        return (-1, *(min(i for i, v in enumerate(self.values) if ways[v][j] == own[j]) for j in range(len(own))))

    def order(self, value: Value) -> tuple[int, ...]:
        """Where a value lies."""
        return (self.values.index(value),) if self.tree is None else self.path(value)

    def common(self, held: set[Value]) -> tuple[int, ...]:
        """The way to the smallest group that holds some values."""
        steps = [set(step) for step in zip(*map(self.path, held), strict=True)]
        depth = next((i for i, step in enumerate(steps) if len(step) > 1), len(steps))
        return self.path(next(iter(held)))[:depth]

    def width(self, held: set[Value]) -> Fraction:
        """Of the smallest range or group that holds some values, as a share of the column's."""
        if len(held) == 1:
            return Fraction()
        if self.tree is not None:
            way = self.common(held)
            return Fraction(sum(self.path(v)[: len(way)] == way for v in self.values) - 1, len(self.values) - 1)
        at = self.at()
        places = [at[value] for value in held]
        return (max(places) - min(places)) / (max(at.values()) - min(at.values()))

    def at(self) -> dict[Value, Fraction]:
        """Numbers where they are, texts one apart, a missing value an average step beyond."""
        known = [value for value in self.values if value is not None]
        if len(known) < 2 or isinstance(known[0], str):
            return {value: Fraction(place) for place, value in enumerate(self.values)}
        found: dict[Value, Fraction] = {value: Fraction(str(value)) for value in known}
        if None in self.values:
            found[None] = found[known[-1]] + (found[known[-1]] - found[known[0]]) / (len(known) - 1)
        return found

    def parts(self, held: set[Value]) -> dict[Value, tuple[int, ...]]:
        """What a cut of a class with these values keeps together, and in which order it lies."""
        depth = len(self.common(held)) + 1 if self.tree is not None else 1
        return {value: self.order(value)[:depth] for value in held}

    def cell(self, held: set[Value]) -> frozenset[Value]:
        """The values that a class with these values may be taken for."""
        if self.tree is None:
            low, high = min(map(self.values.index, held)), max(map(self.values.index, held))
            return frozenset(self.values[low : high + 1])
        way = self.common(held)
        if len(way) > 1:
            return frozenset(v for v in self.values if self.path(v)[: len(way)] == way)
        tops = {self.path(v)[1] for v in held}
        ends = min(self.order(v) for v in held), max(self.order(v) for v in held)
        return frozenset(v for v in self.values if self.path(v)[1] in tops or ends[0] <= self.order(v) <= ends[1])


def lines_of(rows: Sequence[Row], trees: Sequence[dict[str, tuple[str, ...]] | None]) -> list[Line]:
    """The columns of a table."""
    return [Line(in_order({row[place] for row in rows}), tree) for place, tree in enumerate(trees)]


def in_order(values: set[Value]) -> tuple[Value, ...]:
    """Values of one kind by size, a missing one last."""
    known: list[Any] = [value for value in values if value is not None]
    return (*sorted(known), *([None] if None in values else []))


def recursive(rows: list[Row], lines: list[Line], met: Met, *, relaxed: bool, whole: Sequence[Row]) -> list[list[Row]]:
    """The classes: those of both halves if there is a cut that both meet, else this one."""
    held = [{row[place] for row in rows} for place in range(len(lines))]
    widths = [line.width(values) for line, values in zip(lines, held, strict=True)]
    for place in sorted(range(len(lines)), key=lambda each: (-widths[each], each)):
        if widths[place] > 0:
            parts = lines[place].parts(held[place])
            halves = dealt(rows, place, parts, whole) if relaxed else parted(rows, place, parts)
            if all(half and met(half) for half in halves):
                return [made for half in halves for made in recursive(half, lines, met, relaxed=relaxed, whole=whole)]
    return [rows]


def parted(rows: list[Row], place: int, parts: dict[Value, tuple[int, ...]]) -> tuple[list[Row], list[Row]]:
    """The most balanced cut between two parts; of several the lowest."""
    cuts = [
        ([r for r in rows if parts[r[place]] <= part], [r for r in rows if parts[r[place]] > part])
        for part in sorted(set(parts.values()))[:-1]
    ]
    return max(cuts, key=lambda halves: min(map(len, halves)))


def dealt(
    rows: list[Row], place: int, parts: dict[Value, tuple[int, ...]], whole: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """Half of the rows in order; those who agree on all quasi-identifiers and straddle the middle are dealt evenly."""
    ranks = [{v: i for i, v in enumerate(in_order({row[c] for row in whole}))} for c in range(len(rows[0]))]
    ordered = sorted(rows, key=lambda r: (parts[r[place]], [rank[v] for rank, v in zip(ranks, r, strict=True)]))
    middle = (len(ordered) + 1) // 2
    same = [i for i, row in enumerate(ordered) if row[:-1] == ordered[middle - 1][:-1]]
    size, wanted = len(same), middle - same[0]
    left = [*ordered[: same[0]]]
    right = []
    for card, i in enumerate(same):
        (left if (card + 1) * wanted // size > card * wanted // size else right).append(ordered[i])
    return left, [*right, *ordered[same[-1] + 1 :]]
