"""Reports: what people hold is checked, and randomised by exact laws.

Reports are drawn a few thousand people at a time. Messages never quote a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.exact import exp
from discreet.exact.rational import Rationalizable, positive

Values: TypeAlias = Sequence[int] | NDArray[Any]
"""One value for each person: whole numbers, or truth values."""

LARGEST_SIZE = 1 << 31
LARGEST_SPAN = 1 << 40
LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 1 << 10), Fraction(20)

_LEAST_SIZE = 2  # a single value would be no secret
_INT64 = 1 << 62


def checked_epsilon(value: Rationalizable) -> Fraction:
    """Read ε, which lies in [2^-10, 20] for local protocols: there the laws on 63 bits lose nothing that shows.

    Raises:
        InvalidArgument: it isn't a number, or is outside the range.
    """
    epsilon = positive(value, "epsilon")
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon must be from 2^-10 to 20 for a local protocol",
            hint="below that nothing is learnt from any number of people; above it nobody is protected",
        )
    return epsilon


def checked_size(size: int, *, most: int = LARGEST_SIZE) -> int:
    """Check how many different values there are.

    Raises:
        InvalidArgument: it isn't a whole number from 2 to `most`.
    """
    if type(size) is not int or not _LEAST_SIZE <= size <= most:
        raise InvalidArgument(f"size must be a whole number from {_LEAST_SIZE} to {most}")
    return size


def checked_bounds(lower: int, upper: int, *, most: int = LARGEST_SPAN) -> None:
    """Check public bounds.

    Raises:
        InvalidArgument: they aren't whole numbers within ±2^62, lower below upper, at most `most` apart.
    """
    if type(lower) is not int or type(upper) is not int or not 0 < upper - lower <= most:
        raise InvalidArgument(f"bounds must be whole numbers, lower below upper, at most {most} apart")
    if max(abs(lower), abs(upper)) > _INT64:
        raise InvalidArgument("bounds must be from -2^62 to 2^62")


def indices(values: Values, size: int) -> NDArray[np.int64]:
    """The values as int64, once each is known to be one of 0, 1, …, size − 1.

    Raises:
        InvalidArgument: one of them isn't.
    """
    array = _whole(values)
    if array.size and not (array.min() >= 0 and array.max() < size):
        raise InvalidArgument(f"each value must be one of 0, 1, …, {size - 1}")
    return array.astype(np.int64, copy=False)


def clamped(values: Values, lower: int, upper: int) -> NDArray[np.int64]:
    """The values, whole numbers, as int64, those outside the public bounds replaced by the bound they passed."""
    array = _whole(values)
    if array.dtype == np.uint64:
        array = array.astype(object)
    elif array.dtype.kind in "biu":
        array = array.astype(np.int64, copy=False)
    within: NDArray[np.int64] = np.clip(array, lower, upper).astype(np.int64, copy=False)
    return within


def checked_rows(reports: NDArray[Any], length: int, kind: type) -> None:
    """Refuse reports that aren't rows of the given number and kind of numbers."""
    if reports.shape != (len(reports), length) or reports.dtype != kind:
        raise InvalidArgument(f"reports must be rows of {length} {np.dtype(kind).name} numbers")


def _whole(values: Values) -> NDArray[Any]:
    """The values as an array of one dimension of whole numbers."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype == object and not set(map(type, array.reshape(-1).tolist())) <= {int, bool}:
        raise InvalidArgument("values must be whole numbers", hint="put other numbers on a grid first")
    if array.ndim != 1 or array.dtype.kind not in "biuO":
        raise InvalidArgument("values must be whole numbers, in one dimension", hint="put other numbers on a grid")
    return array


Randomiser: TypeAlias = Callable[[NDArray[np.int64], Words], NDArray[Any]]
"""Makes a report of each value, by draws from a source of words."""

CHUNK = 1 << 13
"""People at a time: what is made of them on the way stays in the cache."""


def randomised(values: NDArray[np.int64], randomiser: Randomiser, *, chunk: int = CHUNK) -> NDArray[Any]:
    """The reports of all values, in their order, from fresh randomness of the operating system."""
    source = Keystream()
    starts = range(0, max(len(values), 1), chunk)
    return np.concatenate([randomiser(values[start : start + chunk], source) for start in starts])


class NumberReports(ABC):
    """A protocol in which a person's report is one whole number."""

    __slots__ = ()

    @abstractmethod
    def randomise_all(self, values: Values) -> NDArray[Any]:
        """A report for each value."""

    def randomise(self, value: int) -> int:
        """One person's report."""
        return int(self.randomise_all([value])[0])


class PackedReports(ABC):
    """A protocol in which a person's report is bits, packed in bytes."""

    __slots__ = ()

    @abstractmethod
    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: a row of bytes."""

    def randomise(self, value: int) -> NDArray[np.uint8]:
        """One person's report: a row of bytes."""
        report: NDArray[np.uint8] = self.randomise_all([value])[0]
        return report


@lru_cache(maxsize=256)
def flip_probability(epsilon: Fraction) -> Fraction:
    """A dyadic q ≥ 1/(e^ε + 1), so near it that log((1 − q)/q) is above ε·(1 − 2^-10).

    Rounded up, so that a bit which comes up with 1 − q or with q gives away at most ε. Few binary digits make packed
    coins fast. The slope of log((1 − q)/q) in q is −1/q(1 − q), and q is off by less than a step of the grid.
    """
    least = 1 / (exp(epsilon, round_up=False, bits=128) + 1)
    bits = ceil(2**10 / (epsilon * least * (1 - least))).bit_length()
    return Fraction(ceil(least * 2**bits), 2**bits)


WIDTH = 63
"""Bits of a word in production."""


@dataclass(frozen=True, slots=True)
class TwoLevelLaw:
    """A law on outputs 0, …, outputs − 1, of which a value raises `raised` many by the same factor.

    Guarantee: ln((cells + extra)/cells)-DP, whichever outputs a value raises: of every output's two probabilities
    under two values, each is cells/total or (cells + extra)/total. A word chooses one of 2^63 cells; `cells` of them
    belong to each output, and `extra` more to each that is raised. A word in none of the `total` is drawn again,
    whatever the value; there are so few that this practically never happens. So the law is exact, and rational.

    Args:
        outputs: how many there are.
        raised: how many of them a value raises; at most `outputs`.
        cells: 1 or more.
        extra: 1 or more.
    """

    outputs: int
    raised: int
    cells: int
    extra: int

    @property
    def total(self) -> int:
        """All cells that mean something."""
        return self.outputs * self.cells + self.raised * self.extra

    @property
    def low(self) -> Fraction:
        """The probability of an output that isn't raised."""
        return Fraction(self.cells, self.total)

    @property
    def high(self) -> Fraction:
        """The probability of one that is."""
        return Fraction(self.cells + self.extra, self.total)

    @property
    def telling(self) -> Fraction:
        """The probability that a report depends on the value; with the rest it is any output."""
        return Fraction(self.raised * self.extra, self.total)

    def draw(self, count: int, source: Words) -> NDArray[np.int64]:
        """Draw `count` places: an output n itself, or outputs + i, which is for the i-th output of those raised."""
        words = source.words(count)
        while (stray := np.flatnonzero(words > self.total - 1)).size:
            words[stray] = source.words(stray.size)
        blind = self.outputs * self.cells
        place: NDArray[Any] = words // self.cells
        rest = words - blind
        if self.raised > 1:
            rest //= self.extra
            rest += self.outputs
            return np.where(words < blind, place, rest)
        place[rest >= 0] = self.outputs
        return place

    def masses(self, raised: NDArray[np.bool_]) -> list[Fraction]:
        """The probability of each output, where those that a value raises are marked."""
        return [self.high if up else self.low for up in raised.tolist()]


@lru_cache(maxsize=256)
def two_level_law(epsilon: Fraction, outputs: int, raised: int, width: int = WIDTH) -> TwoLevelLaw:
    """The law that is ε-DP and next to nothing less, on words of `width` bits.

    With g = e^ε − 1, rounded down: cells = ⌊2^width/(outputs + raised·g)⌋ and extra = ⌊cells·g⌋. So extra/cells ≤ g,
    which is the guarantee, and outputs·cells + raised·extra ≤ 2^width.

    Raises:
        InvalidArgument: there are too many outputs for the words.
    """
    gain = exp(epsilon, round_up=False, bits=128) - 1
    cells = int(2**width / (outputs + raised * gain))
    extra = int(cells * gain)
    if extra < 1:
        raise InvalidArgument("there are too many different values for so small an epsilon")
    return TwoLevelLaw(outputs, raised, cells, extra)
