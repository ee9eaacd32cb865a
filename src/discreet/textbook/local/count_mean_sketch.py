"""Count-mean sketches: counts of any items there may be, from short noisy bit vectors or from one bit each.

The one-bit report is a random entry of the Hadamard transform of the one-hot vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, Floats, counted, spread
from discreet.textbook.local.hadamard import is_power_of_two, parity, walsh_hadamard
from discreet.textbook.local.hashing import PRIME, candidates_of, checked_salt, coefficients, hashed
from discreet.textbook.local.reports import (
    PackedReports,
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_rows,
    flip_probability,
    indices,
    randomised,
    two_level_law,
)
from discreet.textbook.local.unary_encoding import byte_count, one_hot

_LARGEST = 1 << 16
_DEGREE = 2


def checked_shape(hashes: int, width: int, *, powers: bool) -> None:
    """Check a sketch's rows and columns.

    Raises:
        InvalidArgument: they aren't whole numbers from 1 and from 2 to 2^16, or not powers of two where they must be.
    """
    if type(hashes) is not int or not 1 <= hashes <= _LARGEST or not is_power_of_two(hashes):
        raise InvalidArgument("hashes must be a power of two from 1 to 2^16")
    if type(width) is not int or not 1 < width <= _LARGEST or (powers and not is_power_of_two(width)):
        raise InvalidArgument(f"width must be a {'power of two' if powers else 'whole number'} from 2 to 2^16")


def functions(salt: bytes, hashes: int) -> NDArray[np.int64]:
    """The hash functions of a sketch: polynomials of degree 2, by column, from the public salt.

    Three-wise independent, so that whether one item collides with a candidate says nothing about another's doing so;
    with ax + b items that follow each other would collide together.
    """
    return coefficients(salt, _DEGREE, hashes)


def columns(polynomials: NDArray[np.int64], item: int, width: int) -> NDArray[np.int64]:
    """Where each hash function puts an item."""
    places: NDArray[np.int64] = hashed(polynomials, item, width)
    return places


def with_collisions(values: Floats, users: int, own: float, other: float, per: int) -> Estimate:
    """The estimate, its errors made of three parts: own reports, others' reports, and the luck of the hash functions.

    Others move a count by their collisions with the candidate, once averaged over all rows. Item e does so by a
    variance of count(e)²/(hashes·(width − 1)) over the public salt. People who hold no candidate are
    taken to hold one same item, the worst case.

    Args:
        values: the counts.
        users: how many people reported.
        own: variance of what a person adds to the count of their own value.
        other: variance of what they add to another's.
        per: hashes·(width − 1).
    """
    holders = np.clip(values, 0, users)
    unseen = max(users - float(holders.sum()), 0.0)
    squares = float((holders**2).sum()) + unseen**2 - holders**2
    return Estimate(values, np.hypot(spread(values, users, own, other), np.sqrt(squares / per)), users)


_ROW = 2  # bytes in which a report names its row
_WORK = 1 << 17  # bytes of reports at a time
_PIECE = 1 << 11  # reports at a time, when they are read


@dataclass(frozen=True, slots=True)
class _Sketch(Pure):
    """The part that both sketches share: their parameters, and whether widths are powers of two."""

    _powers: ClassVar[bool]

    epsilon: Fraction
    hashes: int = 1 << 10
    width: int = 1 << 10
    salt: bytes = b""

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_shape(self.hashes, self.width, powers=self._powers)
        checked_salt(self.salt)


@dataclass(frozen=True, slots=True)
class CountMeanSketch(PackedReports, _Sketch):
    """Apple's count-mean sketch (CMS): a random public hash function, and the value's bucket as noisy one-hot bits.

    Each person picks one of `hashes` functions, and sends its number with `width` bits: that of their item's bucket up,
    all flipped with probability 1/(e^(ε/2) + 1). The collector adds the bits up in a table of hashes × width, and reads
    off it the count of any item, also of one that nobody thought of at the time.

    Guarantee: ε-DP for each person against everyone, whatever the hash functions: two items differ in two bits. The
    probability of a flip is rounded up.

    Args:
        epsilon: from 2^-10 to 20.
        hashes: how many functions; a power of two, at most 2^16. More of them make collisions matter less.
        width: how many buckets; 2 to 2^16.
        salt: public, at most 64 bytes, the same for all who report; chooses the hash functions.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Apple Differential Privacy Team (2017), "Learning with privacy at scale", algorithms Client-side CMS and
    Server-side CMS. Apple's setting for emoji: ε = 4, hashes 65,536, width 1,024; the unit is a person-day.

    Examples:
        >>> from discreet.local import fingerprints
        >>> emoji = fingerprints(["😀", "😂", "❤"])
        >>> sketch = CountMeanSketch(epsilon=4, hashes=256, width=128, salt=b"emoji")
        >>> reports = sketch.randomise_all(np.repeat(emoji, [1000, 8000, 1000]))
        >>> int(sketch.estimate(reports, emoji).values.argmax())
        1
    """

    _powers: ClassVar[bool] = False

    @property
    def other(self) -> Fraction:
        """The probability that a bit is flipped."""
        return flip_probability(self.epsilon / 2)

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: a row of bytes, two that name the hash function and then `width` bits.

        Raises:
            InvalidArgument: a value isn't a number from 0 to 2^31 − 2.
        """
        polynomials = functions(self.salt, self.hashes)

        def draw(values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
            return self.draw(polynomials, values, source)

        return randomised(indices(values, PRIME), draw, chunk=max(_WORK // byte_count(self.width), 1))

    def draw(self, polynomials: NDArray[np.int64], values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
        """Reports from a source of words of 8 bits or more."""
        rows = source.words(len(values)) & (self.hashes - 1)
        places = hashed(polynomials[:, rows], values, self.width)
        bits = one_hot(places, self.width, 1 - self.other, self.other, source)
        named = rows.astype("<u2").view(np.uint8).reshape(-1, _ROW)
        return np.concatenate((named, bits), axis=1)

    def masses(self, value: int, function: int) -> list[Fraction]:
        """For each bit the probability that it is up, given the hash function; bits are independent."""
        bucket = int(columns(functions(self.salt, self.hashes), value, self.width)[function])
        return [1 - self.other if i == bucket else self.other for i in range(self.width)]

    def table(self, reports: NDArray[np.uint8]) -> NDArray[np.int64]:
        """How many reports have each bit up, by hash function: hashes × width numbers. Tables of parts add up.

        Raises:
            InvalidArgument: there are no reports, or one is malformed.
        """
        checked_rows(reports, _ROW + byte_count(self.width), np.uint8)
        rows = indices(np.ascontiguousarray(reports[:, :_ROW]).view("<u2")[:, 0], self.hashes)
        order = np.argsort(rows, kind="stable")
        table = np.zeros((self.hashes, self.width), dtype=np.int64)
        for start in range(0, counted(len(rows)), _PIECE):
            piece = order[start : start + _PIECE]
            bits = np.unpackbits(reports[piece, _ROW:], axis=1, count=self.width, bitorder="little")
            present, first = np.unique(rows[piece], return_index=True)
            table[present] += np.add.reduceat(bits, first, axis=0, dtype=np.int64)
        return table

    def estimate(self, reports: NDArray[np.uint8], candidates: Values) -> Estimate:
        """How many of those who reported hold each candidate; unbiased over noise and the salt.

        Args:
            reports: rows of bytes.
            candidates: a public list of items.

        Raises:
            InvalidArgument: there are no reports, one is malformed, or candidates aren't different items.
        """
        return self.read(self.table(reports), len(reports), candidates)

    def read(self, table: NDArray[np.int64], users: int, candidates: Values) -> Estimate:
        """The same from a table of that many people's reports.

        A report has the bit of a candidate's bucket up with probability p if its person holds the candidate, else with
        β = q + (p − q)/width: collisions.
        """
        polynomials, lines = functions(self.salt, self.hashes), np.arange(self.hashes)
        supports = np.array(
            [table[lines, columns(polynomials, item, self.width)].sum() for item in candidates_of(candidates).tolist()]
        )
        q = float(self.other)
        slope = (1 - 2 * q) * (1 - 1 / self.width)
        base = 1 - q - slope
        values = (supports - counted(users) * base) / slope
        own, other = q * (1 - q) / slope**2, base * (1 - base) / slope**2
        return with_collisions(values, users, own, other, self.hashes * (self.width - 1))


_FIELDS = 3
_SIGNS = 2


@dataclass(frozen=True, slots=True)
class HadamardCountMeanSketch(_Sketch):
    """Apple's Hadamard count-mean sketch (HCMS): `CountMeanSketch` with reports of a single private bit.

    Each person picks a hash function j and an entry l of `width`, both at random and in the open, and sends the sign
    H[h_j(item), l] of the Hadamard matrix, flipped with probability 1/(e^ε + 1).

    Guarantee: ε-DP for each person against everyone, exactly, whatever the hash functions: only the one bit depends
    on the item.

    Args:
        epsilon: from 2^-10 to 20.
        hashes: how many functions; a power of two, at most 2^16.
        width: how many buckets; a power of two from 2 to 2^16.
        salt: public, at most 64 bytes, the same for all who report; chooses the hash functions.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Apple Differential Privacy Team (2017), "Learning with privacy at scale", algorithms Client-side HCMS and
    Server-side HCMS.

    Examples:
        >>> sketch = HadamardCountMeanSketch(epsilon=4, hashes=256, width=128, salt=b"words")
        >>> reports = sketch.randomise_all(np.repeat([7, 8], [9000, 1000]))
        >>> bool(abs(sketch.estimate(reports, [7, 8]).values[0] - 9000) < 1500)
        True
    """

    _powers: ClassVar[bool] = True

    @property
    def law(self) -> TwoLevelLaw:
        """The law of the sign, given the function and the entry: two outputs, of which the true one is raised."""
        return two_level_law(self.epsilon, _SIGNS, 1)

    def randomise(self, value: int) -> tuple[int, int, int]:
        """One person's report: the hash function's number, the entry's, and 0 for the sign +1 or 1 for −1."""
        function, entry, sign = self.randomise_all([value])[0].tolist()
        return function, entry, sign

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: a row of three numbers.

        Raises:
            InvalidArgument: a value isn't a number from 0 to 2^31 − 2.
        """
        polynomials = functions(self.salt, self.hashes)

        def draw(values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
            return self.draw(polynomials, values, source)

        return randomised(indices(values, PRIME), draw)

    def draw(self, polynomials: NDArray[np.int64], values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words that hold the numbers of a function and of an entry."""
        reports = np.empty((len(values), _FIELDS), dtype=np.int64)
        words = source.words(len(values))
        rows = words & (self.hashes - 1)
        entries = words // self.hashes & (self.width - 1)
        signs = parity(hashed(polynomials[:, rows], values, self.width), entries)
        places = two_level_law(self.epsilon, _SIGNS, 1, source.width).draw(len(values), source)
        reports[:, 0] = rows
        reports[:, 1] = entries
        reports[:, 2] = np.where(places < _SIGNS, places, signs)
        return reports

    def masses(self, value: int, function: int, entry: int) -> list[Fraction]:
        """The probability of each sign, given the hash function and the entry."""
        bucket = columns(functions(self.salt, self.hashes), value, self.width)[function : function + 1]
        return self.law.masses(np.arange(2) == parity(bucket, np.array([entry])))

    def table(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of signs for each function and entry: hashes × width numbers. Tables of parts add up.

        Raises:
            InvalidArgument: there are no reports, or one is malformed.
        """
        checked_rows(reports, _FIELDS, np.int64)
        counted(len(reports))
        rows, entries = indices(reports[:, 0], self.hashes), indices(reports[:, 1], self.width)
        cells = (rows * self.width + entries) * 2 + indices(reports[:, 2], 2)
        counts = np.bincount(cells, minlength=2 * self.hashes * self.width).reshape(self.hashes, self.width, 2)
        signs: NDArray[np.int64] = counts[:, :, 0] - counts[:, :, 1]
        return signs

    def estimate(self, reports: NDArray[np.int64], candidates: Values) -> Estimate:
        """How many of those who reported hold each candidate; unbiased over noise and the salt.

        Args:
            reports: rows of three numbers.
            candidates: a public list of items.

        Raises:
            InvalidArgument: there are no reports, one is malformed, or candidates aren't different items.
        """
        return self.read(self.table(reports), len(reports), candidates)

    def read(self, table: NDArray[np.int64], users: int, candidates: Values) -> Estimate:
        """The same from a table of that many people's reports.

        A report times H[candidate's bucket, entry] is c = (e^ε − 1)/(e^ε + 1) on average if its person holds the
        candidate. Else it is c where the items collide, and 0 where they don't, because rows are orthogonal.
        """
        sums, lines = walsh_hadamard(table), np.arange(self.hashes)
        polynomials = functions(self.salt, self.hashes)
        scores = np.array(
            [sums[lines, columns(polynomials, item, self.width)].sum() for item in candidates_of(candidates).tolist()]
        )
        telling = float(self.law.telling)
        slope = telling * (1 - 1 / self.width)
        values = (scores - counted(users) * telling / self.width) / slope
        own, other = (1 - telling**2) / slope**2, (1 - (telling / self.width) ** 2) / slope**2
        return with_collisions(values, users, own, other, self.hashes * (self.width - 1))
