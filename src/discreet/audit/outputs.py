"""Outputs of what is audited: how they are drawn, how probable each is, and what in them may tell neighbours apart.

They are read as columns of numbers: the parts of an output, their differences, their lowest bits, or all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.textbook import BoundedLaplace, Staircase, TruncatedLaplace
from discreet.privacy import ApproxDP, Loss, PureDP

Output: TypeAlias = Any
"""What a mechanism gave: numbers, texts, truth values, None, or lists and tuples of these."""


# ── What is audited ───────────────────────────────────────────────────────────────────────────────────────────────────

Data: TypeAlias = Any
"""What a mechanism is run on: an integer or a list of them, scores, or whatever a black box takes."""

Draw: TypeAlias = Callable[[Data, int], Any]
"""A number of independent outputs on some data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to audit.

    Args:
        name: in words.
        draw: its outputs.
        loss: what it says of itself; None if it doesn't.
    """

    name: str
    draw: Draw
    loss: Loss | None


def subject_of(mechanism: Any) -> Subject:  # noqa: ANN401 — told apart here
    """Anything that can be audited.

    Args:
        mechanism: one that makes many outputs at once, by `draw(data, count)`; noise, by `release(values)`; a chooser,
            by `choose(scores)`; one that tells a single value, by `choose_all(values)` or `randomise_all(values)`; or a
            callable that makes one output of data.

    Raises:
        InvalidArgument: it is none of these.
    """
    name = getattr(mechanism, "name", None) or _described(mechanism)
    loss = getattr(mechanism, "loss", None)
    for method, how in _WAYS.items():
        if hasattr(mechanism, method):
            return Subject(name, how(getattr(mechanism, method)), loss)
    if callable(mechanism):
        return Subject(name, _repeating(mechanism), loss if isinstance(loss, Loss) else None)
    raise InvalidArgument(
        f"a {type(mechanism).__name__} can't be audited",
        hint="a mechanism, or a function that takes data and gives an output",
    )


def _releasing(release: Callable[[Sequence[int]], Sequence[int]]) -> Draw:
    """Noise on an integer, or on a list of them: each number has its own, so a long list is many draws."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        values = [data] if isinstance(data, int) else list(data)
        noisy = release(values * count)
        wide = not all(-(1 << 63) <= end < 1 << 63 for end in (min(noisy), max(noisy)))
        table = np.array(noisy, dtype=object if wide else np.int64)
        return table if isinstance(data, int) else table.reshape(count, len(values))

    return draw


def _telling(tell_all: Callable[[Any], Any]) -> Draw:
    """What is told of one value, as if as many users held it."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        return tell_all(np.full(count, data))

    return draw


def _repeating(run: Callable[[Data], Any]) -> Draw:
    """One output after another."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — a list
        return [run(data) for _ in range(count)]

    return draw


def _described(mechanism: Any) -> str:  # noqa: ANN401 — anything
    """A mechanism by its name and its loss, a function by its name."""
    loss = getattr(mechanism, "loss", None)
    name = getattr(mechanism, "__name__", type(mechanism).__name__)
    return f"{name}, {loss}" if isinstance(loss, PureDP | ApproxDP) else str(name)


_WAYS: dict[str, Callable[[Any], Draw]] = {
    "randomise_all": _telling,
    "choose_all": _telling,
    "draw": lambda draw: draw,
    "release": _releasing,
    "choose": _repeating,
}
"""How outputs are drawn, by the method that a mechanism has; the first that is there."""


# ── Probabilities, where they are known ───────────────────────────────────────────────────────────────────────────────

_NOISES = (Laplace, Gaussian, Staircase, TruncatedLaplace)
"""Noise that is added: the law for any value is the law for 0, moved."""

_SURE = 1 - Fraction(1, 2**40)
"""What is left out at the ends of a noise is rarer than this is from 1; it belongs to no event then."""

_MOST_OUTCOMES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """The probability of each outcome for either neighbour.

    Args:
        outcomes: all that matter.
        one: their probabilities for the first neighbour.
        other: for the second.
    """

    outcomes: Sequence[Hashable]
    one: NDArray[np.float64]
    other: NDArray[np.float64]


def laws_of(mechanism: Any, one: Any, other: Any) -> Laws | None:  # noqa: ANN401 — whatever is audited
    """The laws of a mechanism's outputs; None if they aren't known, or are too long to write down.

    Args:
        mechanism: noise on a single integer, or a chooser or randomiser with `masses`.
        one: data of the first neighbour.
        other: of the second.
    """
    whole = type(one) is int and type(other) is int
    if isinstance(mechanism, BoundedLaplace) and whole:
        outcomes = range(mechanism.low, mechanism.high + 1)
        return _summed(outcomes, lambda n, data: mechanism.mass(n - data, data), one, other)
    if isinstance(mechanism, _NOISES) and whole:
        reach = mechanism.radius(_SURE)
        outcomes = range(min(one, other) - reach, max(one, other) + reach + 1)
        return _summed(outcomes, lambda n, data: mechanism.mass(n - data), one, other)
    if hasattr(mechanism, "masses"):
        chances = [np.array([float(chance) for chance in mechanism.masses(data)]) for data in (one, other)]
        listed = mechanism.outcomes(len(one)) if hasattr(mechanism, "outcomes") else range(len(chances[0]))
        return Laws(listed, *chances)
    return None


def _summed(outcomes: range, mass: Callable[[int, int], float], one: int, other: int) -> Laws | None:
    """The probability of each integer of a range."""
    if len(outcomes) > _MOST_OUTCOMES:
        return None
    return Laws(outcomes, *(np.array([mass(n, data) for n in outcomes]) for data in (one, other)))


# ── Outputs as columns, and views of them ─────────────────────────────────────────────────────────────────────────────


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
    """What is worth looking at in such outputs."""
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
    """How far two parts are apart."""
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
