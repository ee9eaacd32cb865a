"""Sampling: what all samplers share.

Arguments are checked, arrays are filled piece by piece, and uniform numbers are drawn as far as a decision needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

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

CHUNK = 1 << 13  # draws at a time: temporaries stay in the cache, and below the sizes that malloc maps and unmaps

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
    """The type that holds draws of this scale: int64, or Python integers of any size.

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


def whole_numbers(bits: int, count: int, source: Words) -> NDArray[np.int64]:
    """`count` whole numbers, independent and uniform in [0, 2^bits).

    Args:
        bits: from 0 to 63.
        count: how many.
        source: where the bits come from: one word a number if it has as many bits.
    """
    numbers, missing = np.zeros(count, dtype=np.int64), bits
    while missing > 0:
        taken = min(missing, source.width)
        words = source.words(count)
        words >>= source.width - taken
        numbers = words if missing == bits else numbers << taken | words
        missing -= taken
    return numbers


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
