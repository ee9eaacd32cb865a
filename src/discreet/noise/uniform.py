"""Numbers that are all equally likely, and indices drawn from a finite distribution of binary fractions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.noise.batch import LazyUniform, Size, fill

_MOST = 1 << 62
_SPLIT = 31
_SHORT = 1 << _SPLIT


@overload
def uniform(below: int, size: None = None) -> int: ...
@overload
def uniform(below: int, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...
def uniform(below: int, size: Size = None) -> int | NDArray[np.int64]:
    """Draw from 0, 1, …, below − 1, each with the same probability.

    Guarantee: exactly that distribution, given uniform bits. It is ⌊below·U⌋ for a uniform U, in integers; where the
    first bits of U leave two floors possible, below/2^63 of the draws, more bits are drawn. Nothing is rejected.

    Args:
        below: a whole number from 1 to 2^62.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None, otherwise an int64 array.

    Raises:
        InvalidArgument: below or the size is not a whole number, or is out of range.

    Examples:
        >>> uniform(1), uniform(6, size=1000).max() < 6
        (0, np.True_)
    """
    if type(below) is not int or not 1 <= below <= _MOST:
        raise InvalidArgument("below must be a whole number from 1 to 2^62")
    numbers: int | NDArray[np.int64] = fill(size, np.int64, partial(draw_uniform, below))
    return numbers


def draw_uniform(below: int, count: int, source: Words) -> NDArray[Any]:
    """`count` independent draws from a source of words."""
    cells, bits = source.words(count), source.width
    floors, others = _scaled(cells, bits, below, 0), _scaled(cells, bits, below, below - 1)
    for i in np.flatnonzero(floors != others):
        floors[i] = _settle(below, LazyUniform(cells[i], bits, source))
    return floors


def _scaled(cells: NDArray[np.int64], bits: int, below: int, more: int) -> NDArray[np.int64]:
    """⌊(cells·below + more) / 2^bits⌋ with 0 ≤ more < below, exactly.

    The product needs up to 125 bits. Up to 2^31 numbers, it fits int64 in two parts: the cells' low 31 bits make less
    than 2^62 and are divided first, and a floor of a floor is the floor; the rest makes less than 2^63 with it.
    """
    if below > _SHORT:
        return ((cells.astype(object) * below + more) >> bits).astype(np.int64)
    split = min(bits, _SPLIT)
    carried = ((cells & ((1 << split) - 1)) * below + more) >> split
    return ((cells >> split) * below + carried) >> (bits - split)


def _settle(below: int, uniform: LazyUniform) -> int:
    """⌊below·U⌋, drawing as many bits of U as it takes; ends with probability 1."""
    while True:
        low = uniform.cell * below
        if low >> uniform.bits == (low + below - 1) >> uniform.bits:
            return low >> uniform.bits
        uniform.refine()


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
