"""k-map: every row could be any of k people of the population."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.models.at_least import AtLeast
from discreet.anonymity.models.counting import population_of
from discreet.anonymity.models.thresholds import whole
from discreet.anonymity.records.column import Whole


@dataclass(frozen=True, slots=True)
class KMap(AtLeast):
    """Every row has the quasi-identifiers of at least k units of a population table.

    It is weaker than k-anonymity: it protects as long as the attacker doesn't know who of the population is in the
    table. A population that lacks a person of the table counts too few, which errs towards refusing.

    Args:
        k: 1 or more.

    Raises:
        InvalidArgument: k is no such number.

    Source: Sweeney, "Computational disclosure control: a primer on data privacy protection" (2001), the definition of
    k-map.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> town = read({"age": [42, 42, 52, 52, 52]})
        >>> found = frequencies_of(read({"age": [42, 52]}), ["age"], population=town)
        >>> print(KMap(3), KMap(3).met(found).tolist(), KMap(3).reached(found))
        3-map [False, True] 2.0
    """

    k: int

    def __post_init__(self) -> None:
        """Read the threshold."""
        object.__setattr__(self, "k", whole(self.k, "k"))

    @property
    def sensitive(self) -> None:
        """It is about no sensitive attribute."""

    @property
    def least(self) -> int:
        """The k."""
        return self.k

    def number(self, frequencies: Frequencies) -> Whole:
        """Of each class, how many units of the population have its quasi-identifiers.

        Raises:
            InvalidArgument: the frequencies have no population.
        """
        return population_of(frequencies)

    def __str__(self) -> str:
        """As "5-map"."""
        return f"{self.k}-map"
