"""ℓ-diversity, distinct, by entropy and recursive: the sensitive values of each class differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, log

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Whole
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.models.counting import Counts, Exact, at_most, below, counts_of, settled
from discreet.anonymity.models.model import (
    AtLeast,
    WithinClass,
    above_zero,
    attribute,
    highest,
    lowest,
    real,
    shown,
    whole,
)
from discreet.exact.rational import Rationalizable


@dataclass(frozen=True, slots=True)
class DistinctDiversity(AtLeast):
    """The rows among which one hides have at least l different sensitive values.

    Where it is 1, everyone in the class has the same value and needs no name. It says nothing about how often a value
    occurs: 99 of 100 rows may share one. A missing value is a value, and texts are compared letter by letter, so "HIV"
    and "hiv" are two: both make a class look more diverse.

    Where units have several values in a class, it is the least number of values that every unit might have one of: the
    fewest whose counts add up to the units. So an attacker who rules out any l − 2 values still can't be sure of
    another. Proof. Any l − 1 values together hold fewer than all units, so someone has none of them: not those ruled
    out, and not the other one.

    Args:
        l: 1 or more; 1 asks for nothing.
        sensitive: the sensitive attribute.

    Raises:
        InvalidArgument: l is no such number.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), "ℓ-diversity: privacy beyond k-anonymity", the
    definition of the ℓ-diversity principle, read as a number of distinct values; Li, Li, Venkatasubramanian (2007),
    section 2, for the name.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1", "1", "2", "2"], "ill": ["flu", "HIV", "flu", "flu"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> DistinctDiversity(2, "ill").met(found).tolist(), DistinctDiversity(2, "ill").reached(found)
        ([True, False], 1.0)
    """

    l: int  # noqa: E741 — the letter by which everyone knows it
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole(self.l, "l"))
        attribute(self.sensitive)

    @property
    def least(self) -> int:
        """The l."""
        return self.l

    def number(self, frequencies: Frequencies) -> Whole:
        """For each class, how many different values it has, or how many it takes to hold every unit.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        return counts.fewest() if counts.several else counts.lengths

    def __str__(self) -> str:
        """As "distinct 3-diversity of disease"."""
        return f"distinct {self.l}-diversity of {self.sensitive}"


_UNIT = 2.0**-50
"""Eight times the rounding of one operation on doubles."""


@dataclass(frozen=True, slots=True)
class EntropyDiversity(WithinClass):
    """In every class exp(H) ≥ l, where H = −Σ p·ln p is the entropy of its sensitive values' shares p.

    exp(H) is a real number, the number of equally frequent values that would be as uncertain; it is never cut to a
    whole one. The whole table's entropy bounds what any class can be asked to reach together with all others.

    Where units have several values in a class, it is the units of the class over those of its most frequent value
    instead: no less uncertain is any choice of one value for each of them, since H ≥ −ln of the largest share.

    Args:
        l: 1 or more; 1 asks for nothing.
        sensitive: the sensitive attribute.

    Raises:
        InvalidArgument: l is no such number.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity" (2007), the
    definition of entropy ℓ-diversity.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1"] * 4, "ill": ["flu", "flu", "flu", "HIV"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> model = EntropyDiversity(1.75, "ill")
        >>> print(model, round(model.reached(found), 6), model.met(found).tolist())
        entropy 1.75-diversity of ill 1.754765 [True]
    """

    l: Rationalizable  # noqa: E741 — the letter by which everyone knows it
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", real(self.l, "l", least=1))
        attribute(self.sensitive)

    @property
    def grows(self) -> bool:
        """Whether l is 1. Above that, enough rows with one value bring the entropy as near to 0 as one likes."""
        return self._l == 1

    @property
    def merges(self) -> bool:
        """True.

        Proof. The shares of a union are a mean of the two parts' shares, weighted by their sizes. Entropy is concave,
        so that the union's is at least the same mean of their entropies, and that at least the lesser of the two. Where
        units have several values: from n ≤ s/l and n′ ≤ s′/l follows n + n′ ≤ (s + s′)/l, for each value.
        """
        return True

    @property
    def _l(self) -> Fraction:
        """The threshold, as read."""
        return real(self.l, "l")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, exp(H).

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        if counts.several:
            return np.asarray(counts.sizes / counts.most(counts.counts), dtype=np.float64)
        measure: Reals = np.where(_even(counts), counts.lengths, np.exp(_entropy(counts)))
        return measure

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        The entropy of a class with m values and s rows is worked out to within (m + 16)·2^-50·(1 + ln s): a sum of m
        terms that add up to at most ln s, each rounded a few times, with all roundings taken for eight times what they
        are. Classes that are nearer to ln l than that are settled exactly.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        if counts.several:
            return at_most(counts.most(counts.counts), counts.sizes, 1 / self._l)
        above = _entropy(counts) - log(self._l)
        margin = (counts.lengths + 16) * _UNIT * (1 + np.log(counts.sizes))
        even = _even(counts)
        met: Mask = np.where(even, ~below(counts.lengths, np.ones_like(counts.lengths), self._l), above > margin)
        doubtful = np.flatnonzero(~even & (np.abs(above) <= margin))
        met[doubtful] = settled(self._reaches, (_reduced(counts, int(place)) for place in doubtful))
        return met

    def reached(self, frequencies: Frequencies) -> float:
        """The exp(H) of the worst class; ∞ of no classes.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        return lowest(self.measure(frequencies))

    def _reaches(self, counts: tuple[int, ...]) -> bool:
        """Whether s·ln s − Σ n·ln n ≥ s·ln l, exactly.

        Proof. Logarithms of primes are linearly independent over the rationals. So the two sides are equal only if each
        prime has the same exponent on both, and if it hasn't, a ball of enough precision tells which is larger.
        """
        from discreet.exact.ball import ball, enclose

        size, bound = sum(counts), self._l
        if _equal(counts, bound):
            return True
        try:
            low, _ = enclose(
                lambda: (
                    size * (ball(size).log() - ball(bound).log())
                    - sum(times * number * ball(number).log() for number, times in Counter(counts).items())
                ),
                bits=8,
            )
        except ArithmeticError:
            return False  # nearer than some 65,000 bits tell: doubt refuses
        return low > 0

    def __str__(self) -> str:
        """As "entropy 2.5-diversity of disease"."""
        return f"entropy {shown(self._l)}-diversity of {self.sensitive}"


def _entropy(counts: Counts) -> Reals:
    """For each class, H = ln s − (Σ n·ln n)/s."""
    entropy: Reals = np.log(counts.sizes) - counts.sums(counts.counts * np.log(counts.counts)) / counts.sizes
    return entropy


def _even(counts: Counts) -> Mask:
    """Which classes have all their values equally often: exp(H) is then exactly the number of values."""
    even: Mask = counts.most(counts.counts) == counts.least(counts.counts)
    return even


def _reduced(counts: Counts, place: int) -> tuple[int, ...]:
    """The counts of a class in the least whole numbers that have the same shares, in order."""
    first = counts.starts[place]
    held = sorted(counts.counts[first : first + counts.lengths[place]].tolist())
    shared = gcd(*held)
    return tuple(number // shared for number in held)


def _equal(counts: tuple[int, ...], bound: Fraction) -> bool:
    """Whether s^s = bound^s · Π n^n, by the exponent of each prime."""
    from flint import fmpz

    size, exponents = sum(counts), Counter[int]()
    for number, times in [(size, -1), *Counter(counts).items()]:
        for prime, power in fmpz(number).factor():
            exponents[int(prime)] += times * number * power
    over, under = bound.numerator, bound.denominator
    for prime in exponents:
        while over % prime == 0:
            over, exponents[prime] = over // prime, exponents[prime] + size
        while under % prime == 0:
            under, exponents[prime] = under // prime, exponents[prime] - size
    return over == under == 1 and not any(exponents.values())


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(WithinClass):
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
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1"] * 4, "ill": ["flu", "flu", "HIV", "cold"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> model = RecursiveDiversity(c=2, l=3, sensitive="ill")
        >>> print(model, model.measure(found).tolist(), model.met(found).tolist())  # 2 < 2·1 isn't true
        (c=2, l=3)-diversity of ill [2.0] [False]
    """

    c: Rationalizable
    l: int  # noqa: E741 — the letter by which everyone knows it
    sensitive: str

    def __post_init__(self) -> None:
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
    def _c(self) -> Fraction:
        """The factor, as read."""
        return above_zero(self.c, "c")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, r₁ / (r_l + … + r_m): c must be above it. ∞ if it has fewer than l values.

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
        """The number that c must be above for the whole table; 0 of no classes.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        return highest(self.measure(frequencies))

    def _ends(self, counts: Counts) -> tuple[Exact, Exact]:
        """For each class, its largest count, and what is left of it without the l − 1 most frequent values."""
        return counts.most(counts.counts), np.maximum(counts.sizes - counts.covered(self.l - 1), 0)

    def __str__(self) -> str:
        """As "(c=3, l=2)-diversity of disease"."""
        return f"(c={shown(self._c)}, l={self.l})-diversity of {self.sensitive}"
