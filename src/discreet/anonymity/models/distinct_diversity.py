"""Distinct ℓ-diversity: every class has at least l different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.models.at_least import AtLeast
from discreet.anonymity.models.counting import counts_of
from discreet.anonymity.models.thresholds import attribute, whole
from discreet.anonymity.records.column import Whole


@dataclass(frozen=True, slots=True)
class DistinctDiversity(AtLeast):
    """The rows among which one hides have at least l different sensitive values.

    Where it is 1, everybody in the class has the same value and needs no name. It says nothing about how often a value
    occurs: 99 of 100 rows may share one. A missing value is a value, and texts are compared letter by letter, so "HIV"
    and "hiv" are two: both make a class look more diverse.

    Where units have several values in a class, it is the least number of values that every unit might have one of: the
    fewest whose counts add up to the units. So an attacker who rules out any l − 2 values still can't be sure of
    another. Proof. What l − 1 values hold together is less than the units, so somebody has none of them: not those
    ruled out, and not the other one.

    Args:
        l: 1 or more; 1 asks for nothing.
        sensitive: the sensitive attribute.

    Raises:
        InvalidArgument: l is no such number.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), "ℓ-diversity: privacy beyond k-anonymity", the
    definition of the ℓ-diversity principle, read as a number of distinct values; Li, Li, Venkatasubramanian (2007),
    section 2, for the name.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1", "1", "2", "2"], "ill": ["flu", "HIV", "flu", "flu"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> DistinctDiversity(2, "ill").met(found).tolist(), DistinctDiversity(2, "ill").reached(found)
        ([True, False], 1.0)
    """

    l: int  # noqa: E741 — the letter by which everybody knows it
    sensitive: str

    def __post_init__(self) -> None:
        """Read the threshold."""
        object.__setattr__(self, "l", whole(self.l, "l"))
        attribute(self.sensitive)

    @property
    def least(self) -> int:
        """The l."""
        return self.l

    def number(self, frequencies: Frequencies) -> Whole:
        """Of each class, how many different values it has, or how many it takes to hold every unit.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        return counts.fewest() if counts.several else counts.lengths

    def __str__(self) -> str:
        """As "distinct 3-diversity of disease"."""
        return f"distinct {self.l}-diversity of {self.sensitive}"
