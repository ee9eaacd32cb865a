"""Naming groups whose list is private: what mechanisms share that release names, and nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeVar

from discreet.exact.rational import Rationalizable, positive, probability
from discreet.privacy import ApproxDP, ApproxEvent

Key = TypeVar("Key", bound=Hashable)


def in_order(names: Iterable[Key]) -> list[Key]:
    """The names, sorted by what they are: by kind, then by how they are written.

    The order in which groups come from a database may tell whose row was the first. Distinct names that are written
    alike and are of one kind would keep the order in which they came; numbers, texts, dates and tuples of them aren't
    such.

    Examples:
        >>> in_order(["b", 2, "a", 10])
        [10, 2, 'a', 'b']
    """
    return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


@dataclass(frozen=True, slots=True)
class GroupNaming:
    """A mechanism that releases names of groups at (ε, δ), and nothing else about them.

    Args:
        epsilon: above 0.
        delta: in (0, 1).
        l0: how many groups a unit moves; 1 or more.
    """

    epsilon: Fraction
    delta: Fraction
    l0: int = 1

    @classmethod
    def calibrate(cls, epsilon: Rationalizable, delta: Rationalizable, l0: int = 1) -> Self:
        """The mechanism that is (ε, δ)-DP and no more; the arguments are those of the class.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(positive(epsilon, "epsilon"), probability(delta, "delta"), l0)

    @property
    def event(self) -> ApproxEvent:
        """The event that accounting counts for a selection."""
        return ApproxEvent(epsilon=self.epsilon, delta=self.delta)

    @property
    def loss(self) -> ApproxDP:
        """The proved bound on what a selection gives away."""
        return ApproxDP(self.epsilon, self.delta)
