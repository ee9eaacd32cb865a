"""Contribution tails: how many units have more rows than noise lets anybody see.

The best limit is one that about 1/ε units exceed. A histogram that costs a tenth of ε has noise of 10/ε in each class,
so it shows none of them. It does show how fast the classes before thin out, and that those beyond hold next to nobody.
Both are put together: curves are tried on the last classes that show, by the density of units over log₂(rows),

    A · e^(−βx − γx²/2),    x = log₂(rows) from the last class that shows,

in which β alone is a power law, as of Pareto, and γ a lognormal one; each once as it is, and once ended behind the last
class that shows, as where a rule or a calendar ends it. A is found by least squares, and a curve counts by how well it
explains all classes, empty ones among them. What is expected is their average.

This is guesswork over released numbers: it decides how well a limit is chosen, and nothing is proved by it. What an
answer says of the rows that were cut off rests on the noise alone, see `estimates.cut_off`. To add what is expected
beyond the limit to a count was tried, and errs more: the tail is known too badly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import exp, log, log2, sqrt
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Expected: TypeAlias = Sequence[tuple[float, float]]
"""Numbers of rows, each with how many units are expected to have about so many, from the least on."""

STEPS = (1, 2, 3, *(half * 2**power for power in range(1, 18) for half in (2, 3)))
"""The classes end at these numbers of rows, half a power of two apart."""

FIRSTS = (1, *(step + 1 for step in STEPS[:-1]))
"""The classes begin at these numbers of rows."""

_SHOWN = ((1, 10), (2, 5), (3, 3))
"""So many neighbouring classes show if each holds this many noise scales. Of all empty ones, noise alone makes one show
less often than once in 300 draws."""

_PARTS = 4
"""Into so many parts classes are divided, along the curves."""

_WINDOW = 8
"""Classes up to the last one that shows, to which curves are fitted: four powers of two."""

_DROP = 0.3
"""A class of less than this part of the next one's density isn't on its slope, but before its peak."""

_MISFIT = 0.1
"""By this part of what a class holds, curves may miss it."""

_ENDED = 0.3
"""How likely it is taken to be, before anything is known, that units end behind the last class that shows."""

_STEEPEST = 60.0
"""No curve rises to more than e to this."""

_SLOPES = tuple(place / 4 for place in range(-8, 33))
"""β, for each doubling."""

_BENDS = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7, 2.5, 4.0)
"""γ."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a class.

    Args:
        place: of the class.
        size: how many rows a unit has there, about.
        width: of it, in doublings.
    """

    place: int
    size: float
    width: float


def expected_units(counts: Sequence[int], scale: float, most: int | None) -> Expected:
    """How many units are expected to have how many rows, in parts of classes.

    Args:
        counts: noisy, of the units in each class of `STEPS`.
        scale: of the noise.
        most: the most rows that a unit has; None where nothing bounds them.

    Returns:
        Nothing, where no class shows.
    """
    parts = _parts(most)
    number = parts[-1].place + 1
    shows = shown_classes(counts[:number], scale)
    if not any(shows):
        return []
    last = max(place for place in range(number) if shows[place])
    first = _window(counts, parts, last)
    inside = [part for part in parts if part.place >= first]
    fitted = dict(zip(inside, _fitted(counts[:number], scale, most, first, last), strict=True))
    found = list[tuple[float, float]]()
    for place in range(number):
        own = [part for part in parts if part.place == place]
        curve = [fitted.get(part, part.width) for part in own]
        whole = sum(curve)
        if (shows[place] or place < first) and whole > 0:
            held = counts[place] if shows[place] else 0
            curve = [held * each / whole for each in curve]
        found += zip((part.size for part in own), curve, strict=True)
    return found


def shown_classes(counts: Sequence[int], scale: float) -> list[bool]:
    """Which classes hold more than noise alone would make of nothing."""
    found = [False] * len(counts)
    for number, scales in _SHOWN:
        for place in range(len(counts) - number + 1):
            if all(count > scales * scale for count in counts[place : place + number]):
                found[place : place + number] = [True] * number
    return found


@lru_cache(maxsize=64)
def _parts(most: int | None) -> tuple[Part, ...]:
    """All parts of all classes."""
    return tuple(part for place in range(len(STEPS)) for part in _parts_of(place, most))


def _parts_of(place: int, most: int | None) -> Iterator[Part]:
    """The parts of one class; each number of rows is one, where there are few."""
    first, last = FIRSTS[place], STEPS[place] if most is None else min(STEPS[place], most)
    if first > last:
        return
    number = min(last - first + 1, _PARTS)
    ratio = (last + 0.5) / (first - 0.5)
    for part in range(number):
        if number < _PARTS:
            low, high = first + part - 0.5, first + part + 0.5
            yield Part(place, float(first + part), log2(high / low))
        else:
            yield Part(place, (first - 0.5) * ratio ** ((part + 0.5) / number), log2(ratio) / number)


def _window(counts: Sequence[int], parts: Sequence[Part], last: int) -> int:
    """The first class of the slope that ends with the last one that shows."""
    width = [sum(part.width for part in parts if part.place == place) for place in range(last + 1)]
    first = last
    while first > max(0, last - _WINDOW + 1):
        if counts[first - 1] / width[first - 1] <= _DROP * counts[first] / width[first]:
            break
        first -= 1
    return first


@dataclass(frozen=True, slots=True)
class _Curves:
    """The shapes of densities, a row for each.

    Args:
        heights: in each part, from the window's first class on.
        held: in each class.
        squares: of these.
    """

    heights: NDArray[np.float64]
    held: NDArray[np.float64]
    squares: NDArray[np.float64]


@lru_cache(maxsize=256)
def _curves(most: int | None, first: int, last: int) -> _Curves:
    """All curves about the last class that shows, from the window's first class on."""
    import numpy as np

    parts = [part for part in _parts(most) if part.place >= first]
    middle = log2(sqrt(FIRSTS[last] * STEPS[last]))
    turns = np.array([log2(part.size) - middle for part in parts])
    slopes, bends = np.array(list(product(_SLOPES, _BENDS))).T[..., np.newaxis]
    rises = np.minimum(-slopes * turns - bends * turns**2 / 2, _STEEPEST)
    heights = np.exp(rises) * [part.width for part in parts]
    starts = np.flatnonzero(np.diff([part.place for part in parts], prepend=first - 1))
    held = np.add.reduceat(heights, starts, axis=1)
    return _Curves(heights, held, held**2)


def _fitted(counts: Sequence[int], scale: float, most: int | None, first: int, last: int) -> list[float]:
    """The average of all curves, in each part from the window's first class on.

    The least weighted squares of Σ wᵢ(nᵢ − A·hᵢ)² are Σ wᵢnᵢ² − (Σ wᵢnᵢhᵢ)²/Σ wᵢhᵢ², at A = Σ wᵢnᵢhᵢ/Σ wᵢhᵢ²; A isn't
    negative.

    Args:
        counts: of the classes.
        scale: of the noise.
        most: as for `expected_units`.
        first: class of the window.
        last: class that shows.
    """
    import numpy as np

    curves, seen = _curves(most, first, last), np.array(counts[first:], dtype=float)
    trust = 1 / (2 * scale**2 + np.maximum(seen, 0) + (_MISFIT * seen) ** 2)
    own = np.array([part.place for part in _parts(most) if part.place >= first])
    fits, sizes, heights = [], [], []
    for chance, end in ((_ENDED, last), (1 - _ENDED, own[-1])):
        shown = slice(end - first + 1)
        cross = np.add.reduce((curves.held * (trust * seen))[:, shown], axis=1)
        square = np.add.reduce((curves.squares * trust)[:, shown], axis=1)
        size = np.divide(np.maximum(cross, 0), square, out=np.zeros_like(square), where=square > 0)
        fits.append(log(chance) + size * cross / 2)
        sizes.append(size)
        heights.append(curves.heights * (own <= end))
    weights = np.exp(np.array(fits) - np.max(fits))
    factors = weights / weights.sum() * sizes
    found: list[float] = np.add.reduce(factors[..., np.newaxis] * heights, axis=(0, 1)).tolist()
    return found


def least_error(expected: Expected, price: float, number: int, most: int | None) -> int:
    """The limit at which noise and what is cut off, together, carry a group's number least far.

    Noise of the scale s moves a number by s on average; beside a bias of b, by b + s·e^(−b/s).

    Args:
        expected: how many units have how many rows.
        price: the scale of the noise in one group for each row of the limit, in rows; above 0.
        number: of groups, over which the rows are spread.
        most: the most rows that a unit has; None where nothing bounds them.
    """

    def error(limit: int) -> float:
        bias, scale = surplus(expected, limit) / number, price * limit
        return bias + scale * exp(-bias / scale)

    return min(_candidates(most), key=lambda limit: (error(limit), limit))


@lru_cache(maxsize=64)
def _candidates(most: int | None) -> tuple[int, ...]:
    """The limits that may be chosen: the ends of parts."""
    spans = [
        (first, last if most is None else min(last, most))
        for first, last in zip(FIRSTS, STEPS, strict=True)
        if most is None or first <= most
    ]
    ends = {first + round((last - first) * part / _PARTS) for first, last in spans for part in range(_PARTS + 1)}
    return tuple(sorted(ends))


def surplus(expected: Expected, limit: float) -> float:
    """How many rows a limit is expected to cut off."""
    return sum(units * (size - limit) for size, units in expected if size > limit)
