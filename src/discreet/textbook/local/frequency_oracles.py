"""Frequency oracles: how many people hold each value, by randomised response, unary encoding or local hashing.

Randomised response tells the truth by chance, else anything. Unary encoding has a bit for every value, each of them
flipped by chance. Local hashing hashes the value to few buckets by a function of one's own, then uses randomised
response on these.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact import exp
from discreet.noise.bernoulli import draw_bernoulli, draw_packed
from discreet.privacy.events import Pure
from discreet.textbook.local.reports import (
    Estimate,
    NumberReports,
    PackedReports,
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_rows,
    checked_size,
    counted,
    flip_probability,
    frequencies,
    indices,
    randomised,
    two_level_law,
)
from discreet.textbook.local.transforms import PRIME, candidates_of, digits, hashed_digits


@dataclass(frozen=True, slots=True)
class RandomisedResponse(NumberReports, Pure):
    """k-ary randomised response: the truth with probability e^ε/(e^ε + k − 1), else one of the other values, evenly.

    Guarantee: ε-DP for each person against everybody, the collector included; exactly, since the probabilities are
    rationals whose ratio is e^ε rounded down. Best of those here for few values, k < 3e^ε + 2; with more values use
    `LocalHashing`, `UnaryEncoding` or `HadamardResponse`.

    Args:
        size: k, how many different values there are; 2 to 2^31. Values are 0, …, k − 1, or False and True.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Warner (1965), the equation of the estimator, for k = 2; Kairouz, Bonawitz, Ramage (2016), the definition of
    k-ary randomised response; Wang, Blocki, Li, Jha (2017), the section on direct encoding, for the estimator and when
    it is best.

    Examples:
        >>> coin = RandomisedResponse(size=2, epsilon=1)
        >>> float(coin.law.high)  # e/(e + 1)
        0.7310585786300049
        >>> reports = coin.randomise_all(np.arange(100_000) % 2)
        >>> bool(abs(coin.estimate(reports).values[1] - 50_000) < 10_000)
        True
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size)

    @property
    def law(self) -> TwoLevelLaw:
        """The reports' law: k outputs, of which the true one is raised."""
        return two_level_law(self.epsilon, self.size, 1)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: one of 0, …, k − 1.

        Raises:
            InvalidArgument: a value isn't one of 0, …, k − 1.
        """
        return randomised(indices(values, self.size), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        places = two_level_law(self.epsilon, self.size, 1, source.width).draw(len(values), source)
        return np.where(places < self.size, places, values)

    def masses(self, value: int) -> list[Fraction]:
        """The probability of each report of a person who holds `value`."""
        return self.law.masses(np.arange(self.size) == value)

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        Raises:
            InvalidArgument: there are no reports, or one isn't one of 0, …, k − 1.
        """
        supports = np.bincount(indices(reports, self.size), minlength=self.size)
        return frequencies(supports, len(reports), self.law.high, self.law.low)


_MOST_BITS = 1 << 16
_WORK = 1 << 17  # bytes of reports at a time


@dataclass(frozen=True, slots=True)
class UnaryEncoding(PackedReports, Pure):
    """Sends k bits, that of the own value up with probability `own`, each of the others with probability `other`.

    Two kinds. **Optimised** (OUE): own = 1/2, other = 1/(e^ε + 1), least noise on values that few people hold.
    **Symmetric** (SUE, also basic RAPPOR's first step): own = 1 − other, other = 1/(e^(ε/2) + 1).

    Guarantee: ε-DP for each person against everybody. Two values differ in two bits, and the ratio of a report's
    probabilities is at most own(1 − other)/(other(1 − own)); `other` is rounded up on a dyadic grid, own is exact.

    Args:
        size: k, how many different values there are; 2 to 2^16. Values are 0, …, k − 1.
        epsilon: from 2^-10 to 20.
        optimised: whether it is OUE; else SUE.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Wang, Blocki, Li, Jha (2017), the section on unary encoding; Erlingsson, Pihur, Korolova (2014), Section 2,
    for basic RAPPOR.

    Examples:
        >>> oue = UnaryEncoding(size=10, epsilon=1)
        >>> oue.own, round(float(oue.other), 3)
        (Fraction(1, 2), 0.269)
        >>> oue.randomise_all([3, 3, 7]).shape  # ten bits are two bytes
        (3, 2)
    """

    size: int
    epsilon: Fraction
    optimised: bool = True

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_MOST_BITS)

    @property
    def own(self) -> Fraction:
        """The probability that the bit of the value a person holds is up."""
        return Fraction(1, 2) if self.optimised else 1 - self.other

    @property
    def other(self) -> Fraction:
        """The probability that the bit of a value a person doesn't hold is up."""
        return flip_probability(self.epsilon if self.optimised else self.epsilon / 2)

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: a row of bytes with k bits, the first bit the lowest of the first byte.

        Raises:
            InvalidArgument: a value isn't one of 0, …, k − 1.
        """
        return randomised(indices(values, self.size), self.draw, chunk=max(_WORK // byte_count(self.size), 1))

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
        """Reports from a source of words of 8 bits or more."""
        return one_hot(values, self.size, self.own, self.other, source)

    def masses(self, value: int) -> list[Fraction]:
        """For each bit the probability that it is up, for a person who holds `value`; bits are independent."""
        return [self.own if i == value else self.other for i in range(self.size)]

    def estimate(self, reports: NDArray[np.uint8]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        Raises:
            InvalidArgument: there are no reports, or they aren't rows of as many bytes as k bits need.
        """
        return frequencies(bits_up(reports, self.size), len(reports), self.own, self.other)


def byte_count(size: int) -> int:
    """How many bytes hold that many bits."""
    return -(-size // 8)


def one_hot(values: NDArray[np.int64], size: int, own: Fraction, other: Fraction, source: Words) -> NDArray[np.uint8]:
    """Rows of `size` bits: that of the value up with probability `own`, the others with probability `other`.

    All bits are tossed for `other`; then the bit of the value is replaced by a coin of its own.
    """
    width = byte_count(size)
    rows = draw_packed(other, len(values) * width, source).reshape(-1, width)
    rows[:, -1] &= 0xFF >> (8 * width - size)
    coins = draw_bernoulli(own, len(values), source)
    bits = (values & 7).astype(np.uint8)
    spots = values >> 3
    spots += np.arange(0, rows.size, width)
    flat = rows.reshape(-1)
    flat[spots] = flat[spots] & ~(np.uint8(1) << bits) | coins.astype(np.uint8) << bits
    return rows


def bits_up(reports: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """How many reports have each bit up.

    Raises:
        InvalidArgument: there are no reports, or they aren't rows of as many bytes as the bits need.
    """
    checked_rows(reports, byte_count(size), np.uint8)
    counts = np.zeros(size, dtype=np.int64)
    step = max(_WORK // byte_count(size), 1)
    for start in range(0, counted(len(reports)), step):
        bits = np.unpackbits(reports[start : start + step], axis=1, count=size, bitorder="little")
        counts += bits.sum(axis=0, dtype=np.int64)
    return counts


_MOST_HASHED = 1 << 62
_SEED = (1 << 62) - 1
_CHUNK = 1 << 13


@dataclass(frozen=True, slots=True)
class LocalHashing(Pure):
    """Optimal local hashing (OLH): as accurate as optimised unary encoding, in few numbers however many values.

    Each person draws a hash function to g = e^ε + 1 buckets, rounded, and sends it in the open together with the
    bucket of their value, randomised over the g buckets. The function is a linear one of the value, or of its thirds
    where the value may be 2^31 − 1 or more: then it takes two numbers instead of one.

    Guarantee: ε-DP for each person against everybody, whatever the hash functions: given the function, the report is
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
        """What functions multiply digits by, and last what they add: two numbers of 31 bits from each word."""
        return [np.ascontiguousarray(half) for word in functions.T for half in (word >> 31, word & PRIME)]
