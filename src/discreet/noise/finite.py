"""Draws from finite distributions with probabilities in units of a power of two."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.noise.sampling import LazyUniform, Size, fill


@overload
def finite(ends: Sequence[int], bits: int, size: None = None) -> int: ...
@overload
def finite(ends: Sequence[int], bits: int, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...
def finite(ends: Sequence[int], bits: int, size: Size = None) -> int | NDArray[np.int64]:
    """Draw an index i with probability (ends[i] − ends[i−1]) / 2^bits, where ends[−1] stands for 0.

    Guarantee: exactly that distribution, given uniform bits. The index is how many of the ends are at most U·2^bits,
    for a uniform U of which a draw reads no more bits than it needs, and never more than `bits`, rounded up to words.

    Args:
        ends: the running sums of the probabilities in units of 2^-bits: whole numbers from 0 up that never fall, the
            last of them 2^bits.
        bits: 1 or more.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None, otherwise an int64 array.

    Raises:
        InvalidArgument: the ends or the size are not valid.

    Examples:
        >>> finite([0, 0, 8, 8], bits=3), finite([4], bits=2, size=3).tolist()
        (2, [0, 0, 0])
    """
    index: int | NDArray[np.int64] = fill(size, np.int64, finite_law(ends, bits).draw)
    return index


@dataclass(frozen=True, slots=True, eq=False)
class Finite:
    """The sampler for one distribution."""

    ends: Sequence[int]
    bits: int
    heads: NDArray[np.int64]
    """The first bits of those ends that are below 2^bits, as many bits as a word of production has."""

    def draw(self, count: int, source: Words) -> NDArray[np.int64]:
        """`count` independent draws from a source of words."""
        cells, width = source.words(count), source.width
        heads = self.heads if width == Keystream.width else _heads(self.ends, self.bits, width)
        places = np.searchsorted(heads, cells, side="right")
        for i in np.flatnonzero(np.searchsorted(heads, cells, side="left") != places):
            places[i] = self._settle(LazyUniform(cells[i], width, source))
        return places

    def _settle(self, uniform: LazyUniform) -> int:
        """How many ends are at most U·2^bits, drawing as many bits of U as it takes."""
        while True:
            unit = 1 << uniform.bits  # an end e lies within U's cell if cell < e·2^(uniform.bits − bits) < cell + 1
            below = bisect_right(self.ends, uniform.cell << self.bits, key=lambda end: end * unit)
            if below == bisect_left(self.ends, (uniform.cell + 1) << self.bits, key=lambda end: end * unit):
                return below
            uniform.refine()


def finite_law(ends: Sequence[int], bits: int) -> Finite:
    """The sampler for checked ends.

    Raises:
        InvalidArgument: they aren't running sums of probabilities.
    """
    whole = bool(ends) and set(map(type, ends)) == {int} and type(bits) is int and bits >= 1
    if not (whole and ends[0] >= 0 and ends[-1] == 1 << bits and all(a <= b for a, b in pairwise(ends))):
        raise InvalidArgument("ends must be whole numbers from 0 up that never fall, the last of them 2^bits")
    return Finite(ends, bits, _heads(ends, bits, Keystream.width))


def _heads(ends: Sequence[int], bits: int, width: int) -> NDArray[np.int64]:
    """The first bits of the ends below 2^bits."""
    inner = ends[: bisect_left(ends, 1 << bits)]
    return np.array([(end << width) >> bits for end in inner], dtype=np.int64)
