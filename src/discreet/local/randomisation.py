"""How reports are drawn: a few thousand people at a time, from laws of one or two probabilities that are exact."""

from __future__ import annotations

from collections.abc import Callable
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

Randomiser: TypeAlias = Callable[[NDArray[np.int64], Words], NDArray[Any]]
"""Makes a report of each value, by draws from a source of words."""

CHUNK = 1 << 13
"""People at a time: what is made of them on the way stays in the cache."""


def randomised(values: NDArray[np.int64], randomiser: Randomiser, *, chunk: int = CHUNK) -> NDArray[Any]:
    """The reports of all values, in their order, from fresh randomness of the operating system."""
    source = Keystream()
    starts = range(0, max(len(values), 1), chunk)
    return np.concatenate([randomiser(values[start : start + chunk], source) for start in starts])


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
