"""Sampling: what all samplers share, and draws from finite distributions.

Arguments are checked, arrays are filled piece by piece, and uniform numbers are drawn as far as a decision needs them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive

if TYPE_CHECKING:
    from flint import arb


Size: TypeAlias = int | tuple[int, ...] | None
"""A number of draws, the shape of an array of them, or None for a single one."""

Sampler: TypeAlias = Callable[[int, Words], NDArray[Any]]
"""Makes `count` independent draws from a source of words."""

CHUNK = 1 << 12  # draws at a time: temporaries stay in the cache, and below the sizes that malloc maps and unmaps

_INT64 = 1 << 52
_LEAST, _MOST = Fraction(1, 2**10), Fraction(2**60)


def checked_scale(value: Rationalizable, name: str) -> Fraction:
    """Read a scale, which lies in [2^-10, 2^60].

    Raises:
        InvalidArgument: it isn't a number, or is outside the range.
    """
    scale = positive(value, name)
    if not _LEAST <= scale <= _MOST:
        raise InvalidArgument(
            f"{name} must be at least 2^-10 and at most 2^60, but it is {'above' if scale > 1 else 'below'} that",
            hint="choose another grid: the noise is counted in its steps",
        )
    return scale


def integers(scale: Fraction, size: Size) -> type:
    """What holds draws of this scale: int64, or Python integers of any size.

    It depends on the scale and not on the draws, so that it says nothing about them. Up to a scale of 2^52 a draw
    exceeds int64 with probability below e^(-2047), and then raises. A single draw is a Python integer anyway.
    """
    return object if size is None or scale > _INT64 else np.int64


def fill(size: Size, dtype: type, sampler: Sampler) -> Any:  # noqa: ANN401  # a Python value or an array, by `size`
    """Draw the array of shape `size`, or a single Python value if `size` is None.

    Beyond what it returns it holds a few chunks, whatever the size.

    Raises:
        InvalidArgument: the size isn't made of whole numbers of at least 0.
    """
    source = Keystream()
    if size is None:
        return sampler(1, source).item()
    shape = _shape(size)
    out: NDArray[Any] = np.empty(prod(shape), dtype=dtype)
    for start in range(0, len(out), CHUNK):
        piece = out[start : start + CHUNK]
        piece[:] = sampler(len(piece), source)
    return out.reshape(shape)


def _shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """The size as a tuple."""
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 0:
            raise InvalidArgument(
                f"size must be a whole number of at least 0, or a tuple of them, not {size!r}",
                hint="size=None draws a single number",
            )
    return tuple(int(length) for length in shape)


class LazyUniform:
    """A number U, uniform in [0, 1), known to lie in a cell [cell, cell + 1) / 2^bits.

    The cell's number is the first bits of U. `refine` draws more of them and halves the cell that many times. Whatever
    is decided about U from a cell is true of every number in it, so how many bits were drawn first changes
    nothing in what is decided, only how soon.

    Args:
        cell: the bits known so far, as a number in [0, 2^bits).
        bits: how many they are.
        source: where more come from.

    Examples:
        >>> from discreet.entropy import Keystream
        >>> u = LazyUniform(1, 1, Keystream())  # somewhere in [1/2, 1)
        >>> u.refine()
        >>> u.bits
        64
    """

    __slots__ = ("_source", "bits", "cell")

    def __init__(self, cell: int, bits: int, source: Words) -> None:
        self.cell = int(cell)
        self.bits = bits
        self._source = source

    def refine(self) -> None:
        """Draw one more word of bits."""
        width = self._source.width
        self.cell = (self.cell << width) | int(self._source.words(1)[0])
        self.bits += width

    def ends(self) -> tuple[arb, arb]:
        """The two ends of the cell as balls; exact if the working precision exceeds `bits`."""
        from discreet.exact.ball import ball

        unit = ball(1 << self.bits)
        return ball(self.cell) / unit, ball(self.cell + 1) / unit


def settle_floor(law: Callable[[arb], arb], uniform: LazyUniform) -> int:
    """⌊law(U)⌋ exactly, for a monotone law, drawing as many bits of U as it takes.

    A cell decides if the law has the same floor at both its ends: it is monotone, so it has that floor in between.
    The loop ends with probability 1, because law(U) is an integer for countably many U only.

    Args:
        law: a monotone function of U, evaluated in ball arithmetic at the working precision.
        uniform: U; may be refined further than it was.
    """
    from discreet.exact.ball import common_floor, precision

    while True:
        with precision(uniform.bits + 192):  # 64 bits for the size of the value, 128 beyond the cell
            low, high = uniform.ends()
            floor = common_floor(law(low), law(high))
        if floor is not None:
            return floor
        uniform.refine()


def settle_below(threshold: Callable[[], arb], uniform: LazyUniform) -> bool:
    """Whether U < threshold, exactly, drawing as many bits of U as it takes.

    Args:
        threshold: evaluates the threshold at the working precision.
        uniform: U; may be refined further than it was.
    """
    from discreet.exact.ball import precision

    while True:
        with precision(uniform.bits + 192):
            low, high = uniform.ends()
            bound = threshold()
            below, above = bool(high <= bound), bool(low >= bound)  # a ball compares as true only if it is certain
        if below or above:
            return below
        uniform.refine()


# ── Finite distributions ──────────────────────────────────────────────────────────────────────────────────────────────

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
