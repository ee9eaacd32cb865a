"""The count-mean sketch in one bit: a random entry of the Hadamard transform of the one-hot vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.local.drawing import drawn
from discreet.local.estimate import Estimate, counted
from discreet.local.hadamard import odd, transformed
from discreet.local.hashing import PRIME, candidates_of, checked_salt, hashed
from discreet.local.plateau import Plateau, plateau
from discreet.local.sketch import checked_shape, columns, functions, with_collisions
from discreet.local.values import Values, checked_epsilon, checked_rows, indices
from discreet.privacy.events import Pure

_FIELDS = 3
_SIGNS = 2


@dataclass(frozen=True, slots=True)
class HadamardCountMeanSketch(Pure):
    """Apple's Hadamard count-mean sketch (HCMS): `CountMeanSketch` with reports of a single private bit.

    Each person picks a hash function j and an entry l of `width`, both at random and in the open, and sends the sign
    H[h_j(item), l] of the Hadamard matrix, flipped with probability 1/(e^ε + 1).

    Guarantee: ε-DP for each person against everybody, exactly, whatever the hash functions: only the one bit depends
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

    epsilon: Fraction
    hashes: int = 1 << 10
    width: int = 1 << 10
    salt: bytes = b""

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_shape(self.hashes, self.width, powers=True)
        checked_salt(self.salt)

    @property
    def law(self) -> Plateau:
        """The law of the sign, given the function and the entry: two outputs, of which the true one is raised."""
        return plateau(self.epsilon, _SIGNS, 1)

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

        return drawn(indices(values, PRIME), draw)

    def draw(self, polynomials: NDArray[np.int64], values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words that hold the numbers of a function and of an entry."""
        reports = np.empty((len(values), _FIELDS), dtype=np.int64)
        words = source.words(len(values))
        rows = words & (self.hashes - 1)
        entries = words // self.hashes & (self.width - 1)
        signs = odd(hashed(polynomials[:, rows], values, self.width), entries)
        places = plateau(self.epsilon, _SIGNS, 1, source.width).draw(len(values), source)
        reports[:, 0] = rows
        reports[:, 1] = entries
        reports[:, 2] = np.where(places < _SIGNS, places, signs)
        return reports

    def masses(self, value: int, function: int, entry: int) -> list[Fraction]:
        """The probability of each sign, given the hash function and the entry."""
        bucket = columns(functions(self.salt, self.hashes), value, self.width)[function : function + 1]
        return self.law.masses(np.arange(2) == odd(bucket, np.array([entry])))

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
        sums, lines = transformed(table), np.arange(self.hashes)
        polynomials = functions(self.salt, self.hashes)
        scores = np.array(
            [sums[lines, columns(polynomials, item, self.width)].sum() for item in candidates_of(candidates).tolist()]
        )
        telling = float(self.law.telling)
        slope = telling * (1 - 1 / self.width)
        values = (scores - counted(users) * telling / self.width) / slope
        own, other = (1 - telling**2) / slope**2, (1 - (telling / self.width) ** 2) / slope**2
        return with_collisions(values, users, own, other, self.hashes * (self.width - 1))
