"""A look-up table by which a uniform number picks an index with a given chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """Picks index i for exactly weights[i] in 2^units of all numbers, by two look-ups and one comparison.

    Numbers are cut into as many columns as there are indices, all of one capacity. A column belongs to its own index up
    to some height, and above it to one other index, its alias.

    Source: Walker (1977), section 2, the procedure for discrete distributions.
    """

    shift: int
    """The bits of a number below those that name its column."""
    last: NDArray[np.int64]
    """The last number of each column that is its own index's; the one before the column if none is."""
    indices: NDArray[np.int64]
    """The index and the alias of each column, one after the other."""
    fraction: int
    """The bits of a number below those that name its unit."""
    ranked: NDArray[np.int64]
    """By column, the number to add to a unit of index 0, so that these are numbered from 0 on."""

    def pick(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index that each number picks."""
        columns = numbers >> self.shift
        beyond = numbers > self.last.take(columns)
        columns <<= 1
        columns += beyond
        return self.indices.take(columns)

    def ranks(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """For numbers that pick index 0: which of its units they lie in, all of them alike."""
        return (numbers >> self.fraction) + self.ranked.take(numbers >> self.shift)


def alias_table(weights: NDArray[np.int64], bits: int) -> AliasTable:
    """The table for numbers of `bits` bits.

    **Construction.** Lay the gaps of light columns (what their own index leaves empty) end to end, and the spares of
    heavy indices (what doesn't fit their own column) beside them; in all, both are equally long. A light column is
    filled by the heavy index beside which its gap begins. Where the last gap of a heavy index reaches beyond its spare,
    it took the rest from the heavy index's own column, which the next one then fills.

    Args:
        weights: whole numbers of at least 0. How many they are and their sum are powers of two, the sum 2^units at
            most 2^bits, and at least as many as they are.
        bits: at most 63.
    """
    columns = len(weights)
    capacity = int(weights.sum()) // columns
    light, heavy = np.flatnonzero(weights < capacity), np.flatnonzero(weights >= capacity)
    gaps = np.concatenate(([0], np.cumsum(capacity - weights[light])))
    spares = np.cumsum(weights[heavy] - capacity)
    own, alias = weights.copy(), np.arange(columns)
    alias[light] = heavy[np.searchsorted(spares, gaps[:-1], side="right")]
    own[heavy] = capacity - (gaps[np.searchsorted(gaps, spares)] - spares)
    alias[heavy[:-1]] = heavy[1:]
    fraction = bits - (capacity * columns).bit_length() + 1
    begins = np.arange(columns) * capacity
    last = ((begins + own) << fraction) - 1
    zeros = np.where(alias == 0, capacity - own, 0)
    zeros[0] = own[0]
    ranked = np.cumsum(zeros) - zeros - begins - np.where(np.arange(columns) > 0, own, 0)
    indices = np.column_stack((np.arange(columns), alias)).reshape(-1)
    return AliasTable(bits - columns.bit_length() + 1, last, indices, fraction, ranked)
