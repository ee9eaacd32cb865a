"""A uniform number of which only as many bits are drawn as a decision needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from discreet.noise.entropy import Words

if TYPE_CHECKING:
    from flint import arb


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
        >>> from discreet.noise.entropy import Keystream
        >>> u = LazyUniform(1, 1, Keystream())  # somewhere in [1/2, 1)
        >>> u.refine()
        >>> u.bits
        64
    """

    __slots__ = ("_source", "bits", "cell")

    def __init__(self, cell: int, bits: int, source: Words) -> None:
        """Start from the bits that are known."""
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
