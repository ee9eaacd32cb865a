"""The law most protocols draw their reports from: all outputs alike, but for a few that the value raises."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact import exp

WIDTH = 63
"""Bits of a word in production."""


@dataclass(frozen=True, slots=True)
class Plateau:
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
def plateau(epsilon: Fraction, outputs: int, raised: int, width: int = WIDTH) -> Plateau:
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
    return Plateau(outputs, raised, cells, extra)
