"""Samplers on tapes: words that a test chose, and every tape there is up to a depth."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words

Outcome = TypeVar("Outcome", bound=Hashable)


class TapeRanOut(Exception):
    """The sampler asked for more words than the tape holds."""


class Tape:
    """A source of the words it was given, in that order."""

    def __init__(self, words: Iterable[int], *, width: int) -> None:
        self._words = list(words)
        self._next = 0
        self.width = width
        assert all(0 <= word < 2**width for word in self._words)

    def words(self, count: int) -> NDArray[np.int64]:
        """The next `count` words."""
        taken = self._words[self._next : self._next + count]
        if len(taken) < count:
            raise TapeRanOut
        self._next += count
        return np.array(taken, dtype=np.int64)

    @property
    def left(self) -> int:
        """How many words weren't asked for."""
        return len(self._words) - self._next


def words_of(number: int, *, bits: int, width: int) -> list[int]:
    """A number of `bits` bits, a multiple of `width`, as words from the first to the last."""
    assert bits % width == 0
    return [(number >> shift) & (2**width - 1) for shift in range(bits - width, -1, -width)]


def outcomes(
    sampler: Callable[[Words], Outcome], *, width: int, depth: int
) -> tuple[dict[Outcome, Fraction], Fraction]:
    """What a sampler makes of every tape of `depth` words of `width` bits.

    A tape that the sampler didn't read to its end stands for all tapes that begin as what it read.

    Returns:
        The exact probability of each outcome decided by then, and the probability that nothing is.
    """
    decided: dict[Outcome, Fraction] = {}
    undecided = Fraction(0)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        read = waiting.pop()
        tape = Tape(read, width=width)
        try:
            outcome = sampler(tape)
        except TapeRanOut:
            if len(read) == depth:
                undecided += Fraction(1, 2 ** (width * depth))
            else:
                waiting.extend((*read, word) for word in range(2**width))
        else:
            assert tape.left == 0
            decided[outcome] = decided.get(outcome, Fraction(0)) + Fraction(1, 2 ** (width * len(read)))
    return decided, undecided
