"""Hadamard response: people report a place at which their value's row of a Hadamard matrix is positive.

A Hadamard matrix is H[x, y] = (−1)^(number of bits that x and y share), of a size that is a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact import exp
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, counted
from discreet.textbook.local.reports import (
    NumberReports,
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_size,
    indices,
    randomised,
    two_level_law,
)

_HALVES = (16, 8, 4, 2, 1)


def parity(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 where H[one, other] is −1, and 0 where it is 1; for numbers below 2^32.

    Examples:
        >>> parity(np.array([0, 1, 3, 3]), np.array([5, 1, 1, 3])).tolist()
        [0, 1, 1, 0]
    """
    shared = one & other
    for half in _HALVES:
        shared ^= shared >> half
    return shared & 1


def walsh_hadamard(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row times the Hadamard matrix, by the fast Walsh–Hadamard transform; a new array of the same type.

    Examples:
        >>> walsh_hadamard(np.array([[1, 0, 0, 0], [0, 0, 0, 1]])).tolist()
        [[1, 1, 1, 1], [1, -1, -1, 1]]
    """
    shape, length = rows.shape, rows.shape[-1]
    result, half = rows.copy(), 1
    while half < length:
        pairs = result.reshape(-1, length // (2 * half), 2, half)
        result = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        half *= 2
    return result.reshape(shape)


def is_power_of_two(number: int) -> bool:
    """Whether it is 1, 2, 4 and so on."""
    return number > 0 and number & (number - 1) == 0


def power_of_two_from(number: int) -> int:
    """The least power of two that is at least `number`, which is 1 or more."""
    return 1 << (number - 1).bit_length()


_LARGEST = 1 << 24


@dataclass(frozen=True, slots=True)
class HadamardResponse(NumberReports, Pure):
    """Hadamard response: near-best accuracy at every ε, one short number per report, and an estimator of n + K log K.

    The K outputs are `blocks` blocks of `block` places. A value stands for a block and a row of the Hadamard matrix of
    that size, never row 0; it raises the places of its block at which its row is +1, half of them. Rows are
    orthogonal, so of all values only the own one moves the sum of a row's signs over reports.

    Guarantee: ε-DP for each person against everyone, exactly.

    Args:
        size: how many different values there are; 2 to 2^24. Values are 0, …, size − 1.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Acharya, Sun, Zhang (2019), "Hadamard Response: Estimating Distributions Privately, Efficiently, and with
    Little Communication", its definition of the scheme for general ε, whose choice of blocks this is.

    Examples:
        >>> HadamardResponse(size=100, epsilon=1).blocks, HadamardResponse(size=100, epsilon=3).blocks
        (2, 16)
        >>> reports = HadamardResponse(size=100, epsilon=1).randomise_all([5] * 1000)
        >>> int(reports.max()) < 256
        True
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_LARGEST)

    @property
    def blocks(self) -> int:
        """How many blocks: the largest power of two below e^ε and 2·size, which is 1 for small ε."""
        most = min(ceil(exp(self.epsilon, round_up=False)), 2 * self.size)
        return power_of_two_from(most) // 2

    @property
    def block(self) -> int:
        """How many places a block has: the least power of two above size/blocks."""
        return power_of_two_from(-(-self.size // self.blocks) + 1)

    @property
    def outputs(self) -> int:
        """K, how many different reports there are."""
        return self.blocks * self.block

    @property
    def law(self) -> TwoLevelLaw:
        """The reports' law: K outputs, of which half a block is raised."""
        return two_level_law(self.epsilon, self.outputs, self.block // 2)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: one of 0, …, K − 1.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1.
        """
        return randomised(indices(values, self.size), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        law = two_level_law(self.epsilon, self.outputs, self.block // 2, source.width)
        places = law.draw(len(values), source)
        return np.where(places < self.outputs, places, self.raised(values, places - self.outputs))

    def raised(self, values: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places a value raises, by their order 0, …, block/2 − 1.

        With l the lowest bit of the row, each number of the block without that bit is in one place of sign +1: itself,
        or itself with the bit. `order` with a 0 put in at that bit's position is such a number.
        """
        start, row = self.home(values)
        lowest = row & -row
        without = order + (order & -lowest)  # moves the bits from that position on up by one
        return start + without + lowest * parity(row, without)

    def home(self, values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the block of each value starts, and its row of the matrix."""
        block, row = np.divmod(values, self.block - 1)
        return block * self.block, row + 1

    def masses(self, value: int) -> list[Fraction]:
        """The probability of each report of a person who holds `value`."""
        start, row = self.home(np.array([value]))
        places = np.arange(self.outputs) - start
        inside = (places >= 0) & (places < self.block)
        return self.law.masses(inside & (parity(row, np.where(inside, places, 0)) == 0))

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        A report in a value's block counts +1 or −1 by the sign of the value's row there, which sums to `telling` times
        the count on average. Its variance is the mean number of reports in the block less count·telling². That mean
        is at least what reports that depend on no value bring.

        Raises:
            InvalidArgument: there are no reports, or one isn't one of 0, …, K − 1.
        """
        users = counted(len(reports))
        counts = np.bincount(indices(reports, self.outputs), minlength=self.outputs).reshape(self.blocks, self.block)
        signed = walsh_hadamard(counts)  # column 0, which no value uses, is the number of reports in the block
        sums = signed[:, 1:].reshape(-1)[: self.size]
        inside = np.repeat(signed[:, 0], self.block - 1)[: self.size]
        telling = float(self.law.telling)
        values = sums / telling
        variance = np.maximum(inside, users * (1 - telling) / self.blocks) - np.maximum(values, 0) * telling**2
        return Estimate(values, np.sqrt(variance) / telling, users)
