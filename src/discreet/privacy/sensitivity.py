"""Sensitivity: how far one unit can move an exact answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far the exact answer can move between neighbours, in steps of its grid.

    Args:
        l0: in how many coordinates it can move.
        linf: how far one coordinate can move.
        l1: how far all coordinates can move together, in sum.
        l2_squared: the square of how far they can move in the Euclidean norm; squared, so that it's exact.

    Raises:
        InvalidArgument: a norm is negative, or the norms contradict each other (`linf ≤ l2 ≤ l1 ≤ l0·linf` holds
            for every vector, so a declaration that breaks it would hide a mistake).

    Examples:
        >>> Sensitivity.scalar(3).l1
        3
    """

    l0: int
    linf: int
    l1: int
    l2_squared: Fraction

    def __post_init__(self) -> None:
        consistent = 0 <= self.linf <= self.l1 <= self.l0 * self.linf and (
            self.linf**2 <= self.l2_squared <= min(self.l1**2, self.l1 * self.linf)
        )
        if not consistent:
            raise InvalidArgument(f"no vector has these norms: {self}")

    @classmethod
    def scalar(cls, size: int) -> Sensitivity:
        """The sensitivity of one number that moves by at most `size` steps."""
        return cls(l0=1, linf=size, l1=size, l2_squared=Fraction(size * size))
