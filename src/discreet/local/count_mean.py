"""The count-mean sketch: counts of any items there may be, from short noisy bit vectors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.local.drawing import drawn
from discreet.local.estimate import Estimate, counted
from discreet.local.flips import flip
from discreet.local.hashing import PRIME, candidates_of, checked_salt, hashed
from discreet.local.sketch import checked_shape, columns, functions, with_collisions
from discreet.local.unary import octets, one_hot
from discreet.local.values import Values, checked_epsilon, checked_rows, indices
from discreet.privacy.events import Pure

_ROW = 2  # bytes in which a report names its row
_WORK = 1 << 17  # bytes of reports at a time
_PIECE = 1 << 11  # reports at a time, when they are read


@dataclass(frozen=True, slots=True)
class CountMeanSketch(Pure):
    """Apple's count-mean sketch (CMS): a random public hash function, and the value's bucket as noisy one-hot bits.

    Each person picks one of `hashes` functions, and sends its number with `width` bits: that of their item's bucket up,
    all flipped with probability 1/(e^(ε/2) + 1). The collector adds the bits up in a table of hashes × width, and reads
    off it the count of any item, also of one that nobody thought of at the time.

    Guarantee: ε-DP for each person against everybody, whatever the hash functions: two items differ in two bits. The
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

    epsilon: Fraction
    hashes: int = 1 << 10
    width: int = 1 << 10
    salt: bytes = b""

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_shape(self.hashes, self.width, powers=False)
        checked_salt(self.salt)

    @property
    def other(self) -> Fraction:
        """The probability that a bit is flipped."""
        return flip(self.epsilon / 2)

    def randomise(self, value: int) -> NDArray[np.uint8]:
        """One person's report: two bytes that name the hash function, then `width` bits in bytes."""
        report: NDArray[np.uint8] = self.randomise_all([value])[0]
        return report

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: a row of bytes.

        Raises:
            InvalidArgument: a value isn't a number from 0 to 2^31 − 2.
        """
        polynomials = functions(self.salt, self.hashes)

        def draw(values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
            return self.draw(polynomials, values, source)

        return drawn(indices(values, PRIME), draw, chunk=max(_WORK // octets(self.width), 1))

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
        checked_rows(reports, _ROW + octets(self.width), np.uint8)
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
