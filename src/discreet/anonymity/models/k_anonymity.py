"""k-anonymity: nobody is told apart from fewer than k − 1 others."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.models.at_least import AtLeast
from discreet.anonymity.models.thresholds import whole
from discreet.anonymity.records.column import Whole


@dataclass(frozen=True, slots=True)
class KAnonymity(AtLeast):
    """Every unit hides among at least k units with the same quasi-identifiers: every row, where each is a unit.

    It says nothing about what these have in common: where all of them are ill, everybody in the class is known to be.

    Args:
        k: 1 or more; 1 asks for nothing.

    Raises:
        InvalidArgument: k is no such number.

    Source: Sweeney, "k-anonymity: a model for protecting privacy" (2002), the definition of k-anonymity.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> found = frequencies_of(read({"age": [42, 52, 42, 42]}), ["age"])
        >>> print(KAnonymity(2), KAnonymity(2).met(found).tolist(), KAnonymity(2).reached(found))
        2-anonymity [True, False] 1.0
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
        """Of each class, among how many units one of its units hides."""
        return frequencies.sizes

    def __str__(self) -> str:
        """As "5-anonymity"."""
        return f"{self.k}-anonymity"
