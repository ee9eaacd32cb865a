"""What models have in common that ask for a number: so many units, people or values of every class."""

from __future__ import annotations

from abc import ABC, abstractmethod

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.models.model import lowest
from discreet.anonymity.records.column import Mask, Reals, Whole


class AtLeast(ABC):
    """Every class has at least so many of something that more rows never make fewer: units, people or values."""

    __slots__ = ()

    @property
    @abstractmethod
    def least(self) -> int:
        """How many every class is to have."""

    @abstractmethod
    def number(self, frequencies: Frequencies) -> Whole:
        """Of each class, how many it has.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """

    @property
    def grows(self) -> bool:
        """True: what is counted becomes no less as rows join a class, with the people who could be them."""
        return True

    @property
    def merges(self) -> bool:
        """True, as it grows."""
        return True

    @property
    def relative(self) -> bool:
        """False: it looks at nothing outside of a class and its population."""
        return False

    def measure(self, frequencies: Frequencies) -> Reals:
        """Of each class, how many it has.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return self.number(frequencies).astype(float)

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return self.number(frequencies) >= self.least

    def reached(self, frequencies: Frequencies) -> float:
        """How many every class of the whole table has; ∞ of no classes.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return lowest(self.measure(frequencies))
