"""Recursive (c, ℓ)-diversity: the most frequent sensitive value isn't too frequent, nor the rare ones too rare."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.models.comparing import below
from discreet.anonymity.models.counting import Counts, Exact, counts_of
from discreet.anonymity.models.model import highest
from discreet.anonymity.models.thresholds import above_zero, attribute, shown, whole
from discreet.anonymity.records.column import Mask, Reals
from discreet.exact.rational import Rationalizable


@dataclass(frozen=True, slots=True)
class RecursiveDiversity:
    """In every class r₁ < c·(r_l + … + r_m), where r₁ ≥ r₂ ≥ … are the counts of its sensitive values.

    An attacker who rules out any l − 2 values still sees no value fill more than c times what the others have. The sum
    is what the class has without its l − 1 most frequent values; that is how it is counted where units have several.

    Args:
        c: above 0.
        l: 2 or more. (The paper calls every class 1-diverse.)
        sensitive: the sensitive attribute.

    Raises:
        InvalidArgument: c or l are no such numbers.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity" (2007), the
    definition of recursive (c, ℓ)-diversity.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1"] * 4, "ill": ["flu", "flu", "HIV", "cold"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> model = RecursiveDiversity(c=2, l=3, sensitive="ill")
        >>> print(model, model.measure(found).tolist(), model.met(found).tolist())  # 2 < 2·1 isn't true
        (c=2, l=3)-diversity of ill [2.0] [False]
    """

    c: Rationalizable
    l: int  # noqa: E741 — the letter by which everybody knows it
    sensitive: str

    def __post_init__(self) -> None:
        """Read the thresholds."""
        object.__setattr__(self, "c", above_zero(self.c, "c"))
        object.__setattr__(self, "l", whole(self.l, "l", least=2))
        attribute(self.sensitive)

    @property
    def grows(self) -> bool:
        """False: enough rows with one value make it too frequent for any c."""
        return False

    @property
    def merges(self) -> bool:
        """True.

        Proof. Let top_j be the sum of the j largest counts. A class of s rows meets it if and only if
        c·(s − top_{l−1}) − top_1 > 0. The j values with the largest counts in a union have, in either part, at most
        that part's top_j, so top_j of the union is at most the sum of both, while s is the sum. Hence the left side of
        the union is at least the sum of the two left sides, which are above 0.
        """
        return True

    @property
    def relative(self) -> bool:
        """False: it looks at nothing outside of a class."""
        return False

    @property
    def _c(self) -> Fraction:
        """The factor, as read."""
        return above_zero(self.c, "c")

    def measure(self, frequencies: Frequencies) -> Reals:
        """Of each class, r₁ / (r_l + … + r_m): c must be above it. ∞ if it has fewer than l values.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        first, rest = self._ends(counts_of(frequencies, self.sensitive))
        ratio = np.full(len(first), np.inf)
        np.divide(first, rest, out=ratio, where=rest > 0)
        return ratio

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        first, rest = self._ends(counts_of(frequencies, self.sensitive))
        return below(first, rest, self._c)

    def reached(self, frequencies: Frequencies) -> float:
        """What c must be above for the whole table; 0 of no classes.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        return highest(self.measure(frequencies))

    def _ends(self, counts: Counts) -> tuple[Exact, Exact]:
        """Of each class, its largest count, and what is left of it without the l − 1 most frequent values."""
        return counts.most(counts.counts), np.maximum(counts.sizes - counts.covered(self.l - 1), 0)

    def __str__(self) -> str:
        """As "(c=3, l=2)-diversity of disease"."""
        return f"(c={shown(self._c)}, l={self.l})-diversity of {self.sensitive}"
