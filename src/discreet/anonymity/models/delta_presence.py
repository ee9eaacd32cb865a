"""δ-presence: it stays uncertain who of the population is in the table at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.columns import Mask, Reals
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.models.counting import at_most, below, population_of
from discreet.anonymity.models.model import real, shown
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable


@dataclass(frozen=True, slots=True)
class DeltaPresence:
    """Among the people of the population who share a class's quasi-identifiers, the share in the table is in [lo, hi].

    It is the belief of an attacker who knows that someone is in the population and has these quasi-identifiers. Where
    being in the table is itself the secret (a register of patients), k-anonymity doesn't help: all k may be in it.

    The lower end is checked for the classes that are released. People of the population who have the quasi-identifiers
    of no released row are known to be absent, and no class of the release shows them.

    Args:
        lo: least share, from 0 to `hi`.
        hi: greatest share, at most 1.

    Raises:
        InvalidArgument: they aren't such numbers.

    Source: Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases" (2007), the definition
    of δ-presence.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> town = read({"age": [42, 42, 52, 52, 52]})
        >>> found = frequencies_of(read({"age": [42, 52]}), ["age"], population=town)
        >>> print(DeltaPresence(0, 0.4), DeltaPresence(0, 0.4).met(found).tolist())
        (0, 0.4)-presence [False, True]
    """

    lo: Rationalizable
    hi: Rationalizable

    def __post_init__(self) -> None:
        object.__setattr__(self, "lo", real(self.lo, "lo", most=1))
        object.__setattr__(self, "hi", real(self.hi, "hi", most=1))
        if self._lo > self._hi:
            raise InvalidArgument("lo must be at most hi")

    @property
    def sensitive(self) -> None:
        """It is about no sensitive attribute."""

    @property
    def grows(self) -> bool:
        """False: more rows of the table raise the share, more people outside of it lower it."""
        return False

    @property
    def merges(self) -> bool:
        """Whether lo is 0: unions keep the upper end, and not even they keep a lower end above 0.

        Proof. With sample counts a, a′ and population counts b, b′, the union has (a + a′ + 0)/(b + b′ + x), where x
        people of the population had the quasi-identifiers of no row and join when values become coarser. From
        a ≤ hi·b and a′ ≤ hi·b′ follows a + a′ ≤ hi·(b + b′ + x). The lower end needs x = 0: with a = b = 1 and
        a′ = b′ = 1, one such person lowers the share from 1 to ⅔.
        """
        return self._lo == 0

    @property
    def _lo(self) -> Fraction:
        """The least share, as read."""
        return real(self.lo, "lo")

    @property
    def relative(self) -> bool:
        """False: what it compares a class with is the population."""
        return False

    @property
    def _hi(self) -> Fraction:
        """The greatest share, as read."""
        return real(self.hi, "hi")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, the share of its people in the population who are in the table; ∞ if the population has none.

        Raises:
            InvalidArgument: the frequencies have no population.
        """
        people = population_of(frequencies)
        share = np.full(len(people), np.inf)
        np.divide(frequencies.sizes, people, out=share, where=people > 0)
        return share

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies have no population.
        """
        people, rows = population_of(frequencies), frequencies.sizes
        return at_most(rows, people, self._hi) & ~below(rows, people, self._lo)

    def reached(self, frequencies: Frequencies) -> float:
        """The share that is farthest beyond an end, or nearest to one if all are between; lo of no classes.

        Raises:
            InvalidArgument: the frequencies have no population.
        """
        share = self.measure(frequencies)
        if not len(share):
            return float(self._lo)
        return float(share[np.argmax(np.maximum(float(self._lo) - share, share - float(self._hi)))])

    def __str__(self) -> str:
        """As "(0.1, 0.5)-presence"."""
        return f"({shown(self._lo)}, {shown(self._hi)})-presence"
