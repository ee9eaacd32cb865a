"""Choices written down a second time: plain definitions of scores, and exact probabilities by summation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import exp, fsum

Bins = Mapping[int, int]


def softmax(scores: Sequence[Fraction | int], rate: Fraction) -> list[float]:
    """Probabilities ∝ e^(rate·score)."""
    best = max(scores)
    weights = [exp(-float(rate * (best - score))) for score in scores]
    total = fsum(weights)
    return [weight / total for weight in weights]


def tables(size: int, most: int) -> Iterator[tuple[int, ...]]:
    """All histograms of so many bins with counts up to `most`."""
    return product(range(most + 1), repeat=size)


def units(size: int, weight: int) -> Iterator[tuple[int, ...]]:
    """All that a unit can add to so many bins if it weighs at most so much in sum."""
    return (unit for unit in product(range(weight + 1), repeat=size) if sum(unit) <= weight)


def plus(table: Sequence[int], unit: Sequence[int]) -> tuple[int, ...]:
    """The table with the unit's rows."""
    return tuple(count + more for count, more in zip(table, unit, strict=True))


def spread(one: Sequence[Fraction | int], other: Sequence[Fraction | int]) -> Fraction:
    """How far scores move against each other."""
    moves = [a - b for a, b in zip(one, other, strict=True)]
    return Fraction(max(moves) - min(moves))


def bins_of(table: Sequence[int]) -> dict[int, int]:
    """The counts that aren't 0, by their bins."""
    return {number: count for number, count in enumerate(table) if count}


def distances_in_rank(table: Sequence[int], target: Fraction) -> list[Fraction]:
    """The distance from the target rank to each bin's ranks, as the definition has it."""
    found, below = [], 0
    for count in table:
        found.append(max(Fraction(0), below - target, target - (below + count)))
        below += count
    return found


def slack(below: Sequence[int], rank: int, first: int, last: int) -> int | None:
    """By how much an interval of bins holds a rank; None for all bins, which hold it.

    Args:
        below: for each bin, and behind the last, how many rows are below it; in any unit.
        rank: in the same.
        first: bin of the interval.
        last: bin of the interval.
    """
    sides = [rank - below[first]] * (first > 0) + [below[last + 1] - rank] * (last < len(below) - 2)
    return min(sides, default=None)
