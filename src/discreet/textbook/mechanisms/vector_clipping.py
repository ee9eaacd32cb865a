"""Clipping: vectors made no longer than a bound, exactly, so that a sum of them has a sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from typing import Literal

from discreet.errors import InvalidArgument
from discreet.exact.rational import positive
from discreet.privacy import ADD_REMOVE, Adjacency, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipping:
    """Scales a unit's vector down until its norm is at most a bound, then rounds it towards zero to whole numbers.

    Guarantee: the norm of what comes out is at most `bound`, exactly, for any vector: scaling is done in integers, and
    no coordinate grows when it is rounded towards zero. So `sensitivity` holds for the sum of the units' vectors.

    Args:
        norm: `"l1"` (for Laplace noise) or `"l2"` (for Gaussian noise).
        bound: on the norm, in steps of the grid; 1 or more.
        coordinates: how many a vector has; 1 or more.
        adjacency: how neighbours differ: by one unit, or by one in place of another.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> from discreet.mechanisms import Gaussian
        >>> clipping = Clipping(norm="l2", bound=Fraction(10), coordinates=2)
        >>> clipping.clip([30, -40]), clipping.clip([Fraction(5, 2), 3])
        ([6, -8], [2, 3])
        >>> Gaussian.for_rho(clipping.sensitivity, rho="0.5").sigma
        Fraction(10, 1)
    """

    norm: Literal["l1", "l2"]
    bound: Fraction
    coordinates: int
    adjacency: Adjacency = ADD_REMOVE

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "bound", positive(self.bound, "bound"))
        if self.norm not in {"l1", "l2"}:
            raise InvalidArgument(f'norm must be "l1" or "l2", not {self.norm!r}')
        if self.bound < 1:
            raise InvalidArgument("bound must be at least 1", hint="choose a finer grid")
        if type(self.coordinates) is not int or self.coordinates < 1:
            raise InvalidArgument("coordinates must be a whole number of at least 1")

    @property
    def sensitivity(self) -> Sensitivity:
        """How far the sum of clipped vectors can move between neighbours.

        Proof. It moves by a whole vector: v, or v − w under substitution. In ℓ1 its norm is at most b = ⌊bound⌋, or
        twice that. At most as many coordinates move, none by more, and the squares sum to at most the square. In ℓ2
        the squares sum to at most S = ⌊bound²⌋, or 4S. So no coordinate moves by more than the root of that. Each of v
        and w has at most S coordinates that aren't 0, and by Cauchy and Schwarz Σ|vⱼ| ≤ √(l0·Σvⱼ²). Last,
        Σvⱼ² ≤ ℓ1·ℓ∞.
        """
        vectors = 1 if self.adjacency is ADD_REMOVE else 2
        if self.norm == "l1":
            length = vectors * floor(self.bound)
            moving, square = min(length, self.coordinates), length**2
            farthest, total = length, length
        else:
            squares = floor(self.bound**2)
            moving, square = min(vectors * squares, self.coordinates), vectors**2 * squares
            farthest, total = isqrt(square), isqrt(moving * square)
        return Sensitivity(l0=moving, linf=farthest, l1=total, l2_squared=Fraction(min(square, total * farthest)))

    def clip(self, vector: Sequence[int | Fraction]) -> list[int]:
        """One unit's vector, no longer than the bound, in whole numbers.

        Args:
            vector: integers or fractions, as many as there are coordinates.

        Raises:
            InvalidArgument: it has another length. It says no more, because more might be private.
        """
        if len(vector) != self.coordinates:
            raise InvalidArgument("a vector must have as many coordinates as were declared")
        exact = [Fraction(value) for value in vector]
        if self.norm == "l1":
            length = sum(map(abs, exact), start=Fraction(0))
            factor = min(Fraction(1), self.bound / length) if length else Fraction(1)
            return [int(value * factor) for value in exact]
        square = sum((value * value for value in exact), start=Fraction(0))
        ratio = min(Fraction(1), self.bound**2 / square) if square else Fraction(1)
        return [isqrt(floor(value * value * ratio)) * (-1 if value < 0 else 1) for value in exact]
