"""Unary encoding: a bit for every value, each of them flipped by chance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.noise.bernoulli import draw_bernoulli, draw_packed
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, counted, frequencies
from discreet.textbook.local.reports import (
    PackedReports,
    Values,
    checked_epsilon,
    checked_rows,
    checked_size,
    flip_probability,
    indices,
    randomised,
)

_MOST_BITS = 1 << 16
_WORK = 1 << 17  # bytes of reports at a time


@dataclass(frozen=True, slots=True)
class UnaryEncoding(PackedReports, Pure):
    """Sends k bits, that of the own value up with probability `own`, each of the others with probability `other`.

    Two kinds. **Optimised** (OUE): own = 1/2, other = 1/(e^ε + 1), least noise on values that few people hold.
    **Symmetric** (SUE, also basic RAPPOR's first step): own = 1 − other, other = 1/(e^(ε/2) + 1).

    Guarantee: ε-DP for each person against everyone. Two values differ in two bits, and the ratio of a report's
    probabilities is at most own(1 − other)/(other(1 − own)); `other` is rounded up on a dyadic grid, own is exact.

    Args:
        size: k, how many different values there are; 2 to 2^16. Values are 0, …, k − 1.
        epsilon: from 2^-10 to 20.
        optimised: whether it is OUE; else SUE.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Wang, Blocki, Li, Jha (2017), the section on unary encoding; Erlingsson, Pihur, Korolova (2014), Section 2,
    for basic RAPPOR.

    Examples:
        >>> oue = UnaryEncoding(size=10, epsilon=1)
        >>> oue.own, round(float(oue.other), 3)
        (Fraction(1, 2), 0.269)
        >>> oue.randomise_all([3, 3, 7]).shape  # ten bits are two bytes
        (3, 2)
    """

    size: int
    epsilon: Fraction
    optimised: bool = True

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_MOST_BITS)

    @property
    def own(self) -> Fraction:
        """The probability that the bit of the value a person holds is up."""
        return Fraction(1, 2) if self.optimised else 1 - self.other

    @property
    def other(self) -> Fraction:
        """The probability that the bit of a value a person doesn't hold is up."""
        return flip_probability(self.epsilon if self.optimised else self.epsilon / 2)

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: a row of bytes with k bits, the first bit the lowest of the first byte.

        Raises:
            InvalidArgument: a value isn't one of 0, …, k − 1.
        """
        return randomised(indices(values, self.size), self.draw, chunk=max(_WORK // byte_count(self.size), 1))

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
        """Reports from a source of words of 8 bits or more."""
        return one_hot(values, self.size, self.own, self.other, source)

    def masses(self, value: int) -> list[Fraction]:
        """For each bit the probability that it is up, for a person who holds `value`; bits are independent."""
        return [self.own if i == value else self.other for i in range(self.size)]

    def estimate(self, reports: NDArray[np.uint8]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        Raises:
            InvalidArgument: there are no reports, or they aren't rows of as many bytes as k bits need.
        """
        return frequencies(bits_up(reports, self.size), len(reports), self.own, self.other)


def byte_count(size: int) -> int:
    """How many bytes hold that many bits."""
    return -(-size // 8)


def one_hot(values: NDArray[np.int64], size: int, own: Fraction, other: Fraction, source: Words) -> NDArray[np.uint8]:
    """Rows of `size` bits: that of the value up with probability `own`, the others with probability `other`.

    All bits are tossed for `other`; then the bit of the value is replaced by a coin of its own.
    """
    width = byte_count(size)
    rows = draw_packed(other, len(values) * width, source).reshape(-1, width)
    rows[:, -1] &= 0xFF >> (8 * width - size)
    coins = draw_bernoulli(own, len(values), source)
    bits = (values & 7).astype(np.uint8)
    spots = values >> 3
    spots += np.arange(0, rows.size, width)
    flat = rows.reshape(-1)
    flat[spots] = flat[spots] & ~(np.uint8(1) << bits) | coins.astype(np.uint8) << bits
    return rows


def bits_up(reports: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """How many reports have each bit up.

    Raises:
        InvalidArgument: there are no reports, or they aren't rows of as many bytes as the bits need.
    """
    checked_rows(reports, byte_count(size), np.uint8)
    counts = np.zeros(size, dtype=np.int64)
    step = max(_WORK // byte_count(size), 1)
    for start in range(0, counted(len(reports)), step):
        bits = np.unpackbits(reports[start : start + step], axis=1, count=size, bitorder="little")
        counts += bits.sum(axis=0, dtype=np.int64)
    return counts
