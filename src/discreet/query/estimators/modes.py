"""Modes: the most frequent values of a public list."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.privacy import KeyValue
from discreet.query.estimators.base import Noises, Noisy
from discreet.query.noise import Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequent:
    """The most frequent value, or a list of the most frequent ones.

    Args:
        pick: the choice of bins.
        values: what the bins stand for.
        is_list: whether a list was asked for.
    """

    pick: Pick
    values: tuple[KeyValue, ...]
    is_list: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The choice."""
        return (self.pick.name,)

    def estimate(self, noisy: Noisy, noises: Noises) -> KeyValue | list[KeyValue]:
        """The values chosen, in the order in which they were chosen: mostly the most frequent one first.

        Of a group without rows it is any value: nothing was released that would tell.
        """
        del noises
        numbers = noisy[self.pick.name]
        found = [self.values[number] for number in numbers] if not isinstance(numbers, int) else [self.values[numbers]]
        return found if self.is_list else found[0]

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> None:
        """None: values that aren't numbers have no order, and by how much others are rarer isn't released.

        What is known beforehand is how many rows the chosen value may lack of the most frequent one's number; the
        plan says so.
        """
        del noisy, noises, confidence
