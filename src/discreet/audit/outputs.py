"""Outputs as columns of numbers: their parts, the differences of these, their lowest bits, or all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Output: TypeAlias = Any
"""An output of a mechanism: numbers, texts, truth values, None, or lists and tuples of these."""

MOST_PARTS = 64
"""How many parts of an output are looked at one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Outputs as columns, one for each of their parts.

    Args:
        parts: numbers, with NaN where an output has no number; int64 or float64.
        whole: the outputs as something that can be compared: numbers, or any objects that hash.
    """

    parts: tuple[NDArray[Any], ...]
    whole: NDArray[Any]

    @classmethod
    def of(cls, outputs: Sequence[Output] | NDArray[Any]) -> Batch:
        """Read outputs.

        Examples:
            >>> batch = Batch.of([(True, None), (False, 2.5)])
            >>> [part.tolist() for part in batch.parts]
            [[1, 0], [nan, 2.5]]
        """
        if isinstance(outputs, np.ndarray) and outputs.dtype != object:
            columns = outputs if outputs.ndim > 1 else outputs[:, None]
            whole = outputs if outputs.ndim == 1 else _objects([tuple(row) for row in outputs.tolist()])
            return cls(tuple(columns[:, place] for place in range(min(columns.shape[1], MOST_PARTS))), whole)
        if set(map(type, outputs)) <= {int} and _fit(outputs):
            numbers = np.array(outputs, dtype=np.int64)
            return cls((numbers,), numbers)
        flat = [tuple(leaves(output)) for output in outputs]
        width = min(max(map(len, flat), default=0), MOST_PARTS)
        columns_of = [[each[place] if place < len(each) else None for each in flat] for place in range(width)]
        return cls(tuple(map(_numbers, columns_of)), _objects(flat))

    def __len__(self) -> int:
        return len(self.whole)

    def __getitem__(self, places: slice) -> Batch:
        return Batch(tuple(part[places] for part in self.parts), self.whole[places])


def leaves(output: Output) -> Iterator[Output]:
    """The parts of an output, from left to right."""
    if isinstance(output, (list, tuple)):
        for part in output:
            yield from leaves(part)
    elif isinstance(output, np.generic):
        yield output.item()
    else:
        yield output


def _numbers(values: Sequence[Output]) -> NDArray[Any]:
    """A column of numbers; what isn't one is NaN."""
    if set(map(type, values)) <= {int, bool} and _fit(values):
        return np.array(values, dtype=np.int64)
    return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Output) -> float:
    """A number as a float: large ones are rounded, always in the same way, so that an event stays one."""
    try:
        return float(value) if isinstance(value, (int, float)) or hasattr(value, "numerator") else np.nan
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _fit(values: Any) -> bool:  # noqa: ANN401 — integers
    """Whether int64 holds all of them."""
    return all(-(1 << 63) <= value < 1 << 63 for value in (min(values, default=0), max(values, default=0)))


def _objects(values: Sequence[Output]) -> NDArray[Any]:
    """An array of objects, of one dimension whatever they are."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


_COMPARED = 8
"""How many parts are compared with each other."""

_WIDE = 52
"""How many bits a float's fraction has after the first."""


@dataclass(frozen=True, slots=True)
class View:
    """One number, or one thing, seen in each output.

    Args:
        name: in words.
        look: from a batch to a column.
    """

    name: str
    look: Callable[[Batch], NDArray[Any]]


def views_of(batch: Batch) -> list[View]:
    """The views of such outputs that are worth looking at."""
    count = len(batch.parts)
    named = ["output"] if count == 1 else [f"part {place + 1}" for place in range(count)]
    found = [View(name, partial(_part, place)) for place, name in enumerate(named)]
    found += [
        View(f"lowest bit of {name}", partial(_lowest_bit, place))
        for place, name in enumerate(named)
        if batch.parts[place].dtype == np.float64
    ]
    found += [
        View(f"{named[a]} − {named[b]}", partial(_difference, a, b))
        for a, b in combinations(range(min(count, _COMPARED)), 2)
    ]
    if count > 1:
        found += [View("sum of parts", _sum), View("greatest part", _greatest), View("output", _whole)]
    elif batch.whole.dtype == object:
        found.append(View("output", _whole))
    return found


def _part(place: int, batch: Batch) -> NDArray[Any]:
    """One part."""
    return batch.parts[place] if place < len(batch.parts) else np.full(len(batch), np.nan)


def _lowest_bit(place: int, batch: Batch) -> NDArray[Any]:
    """The power of two of the last bit that is set in a float: how fine a grid it lies on.

    Examples:
        >>> _lowest_bit(0, Batch.of(np.array([0.75, 6.0, 0.1]))).tolist()
        [-2.0, 1.0, -55.0]
    """
    values = _part(place, batch).astype(np.float64)
    fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    digits = np.ldexp(np.abs(fraction), _WIDE + 1).astype(np.int64)
    trailing = np.log2((digits & -digits).astype(np.float64), where=digits > 0, out=np.full(len(values), np.nan))
    lowest: NDArray[Any] = trailing + exponent - (_WIDE + 1)
    return lowest


def _difference(a: int, b: int, batch: Batch) -> NDArray[Any]:
    apart: NDArray[Any] = _part(a, batch) - _part(b, batch)
    return apart


def _sum(batch: Batch) -> NDArray[Any]:
    """All parts added up, those that aren't numbers left out."""
    total: NDArray[Any] = np.nansum(np.array([part.astype(np.float64) for part in batch.parts]), axis=0)
    return total


def _greatest(batch: Batch) -> NDArray[Any]:
    """The greatest part, or −∞ if none is a number."""
    columns = np.array([part.astype(np.float64) for part in batch.parts])
    greatest: NDArray[Any] = np.where(np.isnan(columns), -np.inf, columns).max(axis=0)
    return greatest


def _whole(batch: Batch) -> NDArray[Any]:
    """The output as it is."""
    return batch.whole
