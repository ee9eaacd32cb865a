"""Local hashing: people hash their value to few buckets by a function of their own, and randomise the bucket."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact import exp
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, counted, frequencies
from discreet.textbook.local.hashing import PRIME, candidates_of, digits, hashed_digits
from discreet.textbook.local.reports import (
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_rows,
    checked_size,
    indices,
    randomised,
    two_level_law,
)

_MOST_HASHED = 1 << 62
_SEED = (1 << 62) - 1
_CHUNK = 1 << 13


@dataclass(frozen=True, slots=True)
class LocalHashing(Pure):
    """Optimal local hashing (OLH): as accurate as optimised unary encoding, in few numbers however many values.

    Each person draws a hash function to g = e^ε + 1 buckets, rounded, and sends it in the open together with the
    bucket of their value, randomised over the g buckets. The function is a linear one of the value, or of its thirds
    where the value may be 2^31 − 1 or more: then it takes two numbers instead of one.

    Guarantee: ε-DP for each person against everyone, whatever the hash functions: given the function, the report is
    g-ary randomised response. Hash functions are drawn without a look at the value.

    Args:
        size: how many different values there are; 2 to 2^62. Values are 0, …, size − 1; texts become numbers below
            2^31 − 1 by `fingerprints`.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Wang, Blocki, Li, Jha (2017), the section on optimized local hashing; Carter, Wegman (1979), Proposition 7,
    for the hash functions modulo 2^31 − 1: any two values collide with probability 1/g, and 5/2^31 more at most.

    Examples:
        >>> olh = LocalHashing(size=1_000_000, epsilon=2)
        >>> olh.buckets, olh.randomise_all([17, 999_999]).shape
        (8, (2, 2))
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_MOST_HASHED)

    @property
    def buckets(self) -> int:
        """How many buckets g a value is hashed to."""
        return round(exp(self.epsilon, round_up=True)) + 1

    @property
    def words(self) -> int:
        """How many numbers say which hash function it is."""
        return 1 if self.size <= PRIME else 2

    @property
    def law(self) -> TwoLevelLaw:
        """A report's law, given the hash function: g outputs, of which the bucket of the value is raised."""
        return two_level_law(self.epsilon, self.buckets, 1)

    def randomise(self, value: int) -> tuple[int, ...]:
        """One person's report: the hash function in one or two numbers, and a bucket."""
        return tuple(self.randomise_all([value])[0].tolist())

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: a row of the function's numbers and the bucket.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1.
        """
        return randomised(indices(values, self.size), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        functions = (source.words(len(values) * self.words) & _SEED).reshape(-1, self.words)
        places = two_level_law(self.epsilon, self.buckets, 1, source.width).draw(len(values), source)
        buckets = np.where(places < self.buckets, places, self.bucket(functions, values))
        return np.column_stack([functions, buckets])

    def bucket(self, functions: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where hash functions, a row of numbers each, put items."""
        return hashed_digits(self._coefficients(functions), digits(items, self.size), self.buckets)

    def masses(self, value: int, *function: int) -> list[Fraction]:
        """The probability of each bucket being reported by a person who holds `value`, given the hash function."""
        bucket = int(self.bucket(np.array([function]), np.array([value]))[0])
        return self.law.masses(np.arange(self.buckets) == bucket)

    def estimate(self, reports: NDArray[np.int64], candidates: Values | None = None) -> Estimate:
        """How many of those who reported hold each candidate; unbiased. Takes some 5 ns a report and candidate.

        Args:
            reports: rows of numbers, as `randomise_all` makes them.
            candidates: a public list of values; None for all of them.

        Raises:
            InvalidArgument: there are no reports, one is malformed, or candidates aren't different values.
        """
        items = candidates_of(np.arange(self.size) if candidates is None else candidates, self.size)
        supports = self.supports(reports, items)
        return frequencies(supports, len(reports), self.law.high, Fraction(1, self.buckets))

    def supports(self, reports: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports name the bucket that their function puts each item in.

        Raises:
            InvalidArgument: there are no reports, or one is malformed.
        """
        checked_rows(reports, self.words + 1, np.int64)
        indices(reports[:, :-1].reshape(-1), _SEED + 1)
        indices(reports[:, -1], self.buckets)
        supports = np.zeros(len(items), dtype=np.int64)
        parts = np.column_stack(digits(items, self.size)).tolist()
        for start in range(0, counted(len(reports)), _CHUNK):
            chunk = reports[start : start + _CHUNK]
            coefficients, buckets = self._coefficients(chunk[:, :-1]), np.ascontiguousarray(chunk[:, -1])
            for i, item in enumerate(parts):
                supports[i] += np.count_nonzero(hashed_digits(coefficients, item, self.buckets) == buckets)
        return supports

    def _coefficients(self, functions: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The factors by which functions multiply digits, then the number they add: two of 31 bits per word."""
        return [np.ascontiguousarray(half) for word in functions.T for half in (word >> 31, word & PRIME)]
