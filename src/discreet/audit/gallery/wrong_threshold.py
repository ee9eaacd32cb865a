"""Groups selected by a threshold that isn't far enough out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.privacy import ApproxDP


@dataclass(frozen=True, slots=True)
class WrongThreshold:
    """Names a group if its noisy count exceeds the 95 % radius of the noise, and claims δ = 10⁻⁶.

    A group of one unit passes once in some 75 times, and a group of nobody, which isn't in the data, never does.
    """

    name: ClassVar[str] = "wrong threshold"
    wrong: ClassVar[str] = "the threshold is the noise's 95 % radius, so a group of one person is named far too often"
    loss: ClassVar[ApproxDP] = ApproxDP(1, Fraction(1, 10**6))
    neighbours: ClassVar[tuple[int, int]] = (1, 0)

    def draw(self, data: int, count: int) -> Any:  # noqa: ANN401 — a list
        """The noisy count where the group is named, else None; of a group that isn't there, always None."""
        from discreet.noise import discrete_laplace

        if data == 0:
            return [None] * count
        noisy = data + discrete_laplace(Fraction(1), size=count)
        return [each if each > 1 + 3 else None for each in noisy.tolist()]
