"""k-anonymity, k-map and (α, k)-anonymity: everyone hides among k rows of the table, or k people of the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Value, Whole
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.models.counting import Counts, Exact, at_most, counts_of, population_of
from discreet.anonymity.models.model import AtLeast, WithinClass, above_zero, attribute, highest, shown, whole
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable


@dataclass(frozen=True, slots=True)
class _HidesAmong(AtLeast):
    """Every unit hides among k, whatever is sensitive about it."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k"))

    @property
    def sensitive(self) -> None:
        """It is about no sensitive attribute."""

    @property
    def least(self) -> int:
        """The k."""
        return self.k


@dataclass(frozen=True, slots=True)
class KAnonymity(_HidesAmong):
    """Every unit hides among at least k units with the same quasi-identifiers: every row, where each is a unit.

    It says nothing about what these have in common: if all of them are ill, everyone in the class is known to be.

    Args:
        k: 1 or more; 1 asks for nothing.

    Raises:
        InvalidArgument: k is no such number.

    Source: Sweeney, "k-anonymity: a model for protecting privacy" (2002), the definition of k-anonymity.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> found = frequencies_of(read({"age": [42, 52, 42, 42]}), ["age"])
        >>> print(KAnonymity(2), KAnonymity(2).met(found).tolist(), KAnonymity(2).reached(found))
        2-anonymity [True, False] 1.0
    """

    def number(self, frequencies: Frequencies) -> Whole:
        """For each class, among how many units one of its units hides."""
        return frequencies.sizes

    def __str__(self) -> str:
        """As "5-anonymity"."""
        return f"{self.k}-anonymity"


@dataclass(frozen=True, slots=True)
class KMap(_HidesAmong):
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
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> town = read({"age": [42, 42, 52, 52, 52]})
        >>> found = frequencies_of(read({"age": [42, 52]}), ["age"], population=town)
        >>> print(KMap(3), KMap(3).met(found).tolist(), KMap(3).reached(found))
        3-map [False, True] 2.0
    """

    def number(self, frequencies: Frequencies) -> Whole:
        """For each class, how many units of the population have its quasi-identifiers.

        Raises:
            InvalidArgument: the frequencies have no population.
        """
        return population_of(frequencies)

    def __str__(self) -> str:
        """As "5-map"."""
        return f"{self.k}-map"


@dataclass(frozen=True, slots=True)
class AlphaK(WithinClass):
    """Every row hides among at least k rows, of which at most the share α has the same sensitive value.

    Args:
        alpha: above 0 and at most 1; 1 asks for k-anonymity only.
        k: 1 or more.
        sensitive: the sensitive attribute.
        values: those of its values to protect ("simple" (α, k)-anonymity names one); all if left out
            ("general"). They are compared letter by letter: another spelling of one isn't protected with it.

    Raises:
        InvalidArgument: alpha or k are no such numbers, or `values` is no list of values.

    Source: Wong, Li, Fu, Wang, "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing" (2006), the definitions of α-deassociation and of (α, k)-anonymity.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1", "1", "1"], "ill": ["flu", "flu", "HIV"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> AlphaK(0.5, 3, "ill").met(found).tolist(), AlphaK(0.5, 3, "ill", values=["HIV"]).met(found).tolist()
        ([False], [True])
    """

    alpha: Rationalizable
    k: int
    sensitive: str
    values: Sequence[Value] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", above_zero(self.alpha, "alpha", most=1))
        object.__setattr__(self, "k", whole(self.k, "k"))
        attribute(self.sensitive)
        if self.values is not None:
            if isinstance(self.values, str) or not len(self.values):
                raise InvalidArgument("values must be a list of one or more sensitive values")
            object.__setattr__(self, "values", tuple(self.values))

    @property
    def grows(self) -> bool:
        """Whether alpha is 1. Below that, enough rows with one protected value push it over any share."""
        return self._alpha == 1

    @property
    def merges(self) -> bool:
        """True.

        Proof. From n ≤ α·s and n′ ≤ α·s′ follows n + n′ ≤ α·(s + s′), for each value; sizes add up.
        """
        return True

    @property
    def _alpha(self) -> Fraction:
        """The greatest share, as read."""
        return above_zero(self.alpha, "alpha")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, the largest share that a protected value has.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or a protected value never occurs.
        """
        counts = counts_of(frequencies, self.sensitive)
        return np.asarray(self._largest(counts, frequencies) / counts.sizes, dtype=np.float64)

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or a protected value never occurs.
        """
        counts = counts_of(frequencies, self.sensitive)
        return (frequencies.sizes >= self.k) & at_most(self._largest(counts, frequencies), counts.sizes, self._alpha)

    def reached(self, frequencies: Frequencies) -> float:
        """The α of the whole table, whatever its k is; 0 of no classes.

        Raises:
            InvalidArgument: the frequencies are about another attribute, or a protected value never occurs.
        """
        return highest(self.measure(frequencies))

    def _largest(self, counts: Counts, frequencies: Frequencies) -> Exact:
        """For each class, how many units its most frequent protected value has."""
        if self.values is None:
            return counts.most(counts.counts)
        return counts.most(np.where(self._protected(frequencies)[counts.values], counts.counts, 0))

    def _protected(self, frequencies: Frequencies) -> Mask:
        """For each value of the attribute, whether it is protected.

        Raises:
            InvalidArgument: a protected value never occurs: it may be misspelt, and then nothing would be protected.
        """
        column = frequencies.sensitive
        labels = column.labels() if column is not None else ()
        chosen = self.values or ()
        unknown = [value for value in chosen if value not in labels]
        if unknown and labels:
            raise InvalidArgument(
                f"{self.sensitive!r} never holds {unknown[0]!r}, which should be protected",
                hint="name values that occur, or leave `values` out to protect all",
            )
        return np.array([label in chosen for label in labels], dtype=np.bool_)

    def __str__(self) -> str:
        """As "(α=0.5, k=3)-anonymity of disease"."""
        only = "" if self.values is None else f" in {', '.join(map(repr, self.values))}"
        return f"(α={shown(self._alpha)}, k={self.k})-anonymity of {self.sensitive}{only}"
