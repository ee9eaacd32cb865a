"""k-anonymity and its kin: everybody hides among k rows of the table, or k people of the population.

Beside k-map and (α, k)-anonymity there is δ-presence: that somebody is in the table at all stays uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.classes import Frequencies
from discreet.anonymity.columns import Mask, Reals, Value, Whole
from discreet.anonymity.models.counting import Counts, Exact, at_most, below, counts_of, population_of
from discreet.anonymity.models.model import AtLeast, WithinClass, above_zero, attribute, highest, real, shown, whole
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable

# ── Among how many ────────────────────────────────────────────────────────────────────────────────────────────────────


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

    def number(self, frequencies: Frequencies) -> Whole:
        """Of each class, among how many units one of its units hides."""
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
        >>> from discreet.anonymity.classes import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> town = read({"age": [42, 42, 52, 52, 52]})
        >>> found = frequencies_of(read({"age": [42, 52]}), ["age"], population=town)
        >>> print(KMap(3), KMap(3).met(found).tolist(), KMap(3).reached(found))
        3-map [False, True] 2.0
    """

    def number(self, frequencies: Frequencies) -> Whole:
        """Of each class, how many units of the population have its quasi-identifiers.

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
        values: those of its values that are to be protected ("simple" (α, k)-anonymity names one); all if left out
            ("general"). They are compared letter by letter: another spelling of one isn't protected with it.

    Raises:
        InvalidArgument: alpha or k are no such numbers, or `values` is no list of values.

    Source: Wong, Li, Fu, Wang, "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing" (2006), the definitions of α-deassociation and of (α, k)-anonymity.

    Examples:
        >>> from discreet.anonymity.classes import frequencies_of
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
        """Of each class, the largest share that a protected value has.

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
        """Of each class, how many units its most frequent protected value has."""
        if self.values is None:
            return counts.most(counts.counts)
        return counts.most(np.where(self._protected(frequencies)[counts.values], counts.counts, 0))

    def _protected(self, frequencies: Frequencies) -> Mask:
        """Of each value of the attribute, whether it is protected.

        Raises:
            InvalidArgument: a protected value never occurs: it may be misspelt, and then nothing would be protected.
        """
        column = frequencies.sensitive
        labels = column.labels() if column is not None else ()
        chosen = self.values or ()
        unknown = [value for value in chosen if value not in labels]
        if unknown and labels:
            raise InvalidArgument(
                f"{self.sensitive!r} never holds {unknown[0]!r}, which is to be protected",
                hint="name values that occur, or leave `values` out to protect all",
            )
        return np.array([label in chosen for label in labels], dtype=np.bool_)

    def __str__(self) -> str:
        """As "(α=0.5, k=3)-anonymity of disease"."""
        only = "" if self.values is None else f" in {', '.join(map(repr, self.values))}"
        return f"(α={shown(self._alpha)}, k={self.k})-anonymity of {self.sensitive}{only}"


# ── In the table at all ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class DeltaPresence:
    """Of the people of the population who share a class's quasi-identifiers, the share in the table is in [lo, hi].

    It is what an attacker believes who knows that somebody is of the population and has these quasi-identifiers. Where
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
        >>> from discreet.anonymity.classes import frequencies_of
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
        """Of each class, the share of its people in the population who are in the table; ∞ if the population has none.

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
