"""Uniform whole numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.noise.sampling import LazyUniform, Size, fill

_MOST_NUMBERS = 1 << 62
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
    if type(below) is not int or not 1 <= below <= _MOST_NUMBERS:
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
