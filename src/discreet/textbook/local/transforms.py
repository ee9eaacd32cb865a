"""Public transforms of items: hash functions with proved independence, and Hadamard matrices; never a secret.

Hash functions compute modulo the prime P = 2^31 − 1. A polynomial of degree d whose coefficients are uniform maps any
d + 1 different items to independent uniform numbers (Wegman, Carter 1981); a linear function of an item's digits does
so to any two items, of whatever length. Privacy doesn't rest on them: anybody who knows a report may know its hash
function.

A Hadamard matrix is H[x, y] = (−1)^(number of bits that x and y share), of a size that is a power of two. In Hadamard
response people report a place at which their value's row of it is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b, shake_256
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact import exp
from discreet.privacy.events import Pure
from discreet.textbook.local.reports import (
    Estimate,
    NumberReports,
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_size,
    counted,
    indices,
    randomised,
    two_level_law,
)

PRIME = (1 << 31) - 1
"""Items of polynomials are numbers below it, and so are the digits of longer items."""

EXCESS = Fraction(5, 1 << 31)
"""By how much two items may share one of g buckets oftener than 1/g, at the most, under `hashed_digits`.

At most 2^31/g + 1 of the P values lie in a bucket, so at most P·(2^31/g + 1) of the P² pairs of values share one. A
coefficient of 31 random bits is 0 modulo P with 2^-30, everything else with 2^-31: a pair of values has 2^-62, but for
those where one of two coefficients is 0, with 2^-29 in all. That makes 1/g + 2^-31 + 2^-29. Likewise the share is at
least (1 − 2^-30)/g.
"""

_BITS = 31
_THIRDS, _THIRD = 3, 21  # of a number of 63 bits
_LARGEST_KEY = 64


def fingerprints(texts: Sequence[str], salt: bytes = b"") -> NDArray[np.int64]:
    """Texts as items: numbers below 2^31 − 1, the same for everybody who uses the salt.

    Of D different texts two share a number with probability below D²/2^32; then take another salt.

    Args:
        texts: whatever people hold.
        salt: public; at most 64 bytes.

    Raises:
        InvalidArgument: the salt is too long.

    Examples:
        >>> fingerprints(["😀", "😂"]).shape
        (2,)
    """
    key = checked_salt(salt)
    digests = (blake2b(text.encode(), digest_size=8, key=key).digest() for text in texts)
    return np.array([int.from_bytes(digest, "little") % PRIME for digest in digests], dtype=np.int64)


def coefficients(salt: bytes, degree: int, functions: int) -> NDArray[np.int64]:
    """Coefficients of that many polynomials, a column for each, from a public salt; uniform but for 2^-33."""
    octets = shake_256(checked_salt(salt)).digest(8 * (degree + 1) * functions)
    numbers = np.frombuffer(octets, dtype="<u8") % np.uint64(PRIME)
    return numbers.astype(np.int64).reshape(degree + 1, functions)


def hashed(
    polynomial: Sequence[NDArray[np.int64]] | NDArray[np.int64], items: NDArray[np.int64] | int, buckets: int
) -> NDArray[np.int64]:
    """The bucket, one of 0, …, buckets − 1, of each item under each polynomial, as NumPy broadcasts them.

    ⌊buckets·h/2^31⌋ for the polynomial's value h. Two items share a bucket with probability 1/buckets, off by
    less than buckets/2^31 of that.

    Args:
        polynomial: its coefficients, the highest first, below 2^31.
        items: below P.
        buckets: at most 2^31.
    """
    value = polynomial[0]
    for coefficient in polynomial[1:]:
        value = _reduced(value * items + coefficient)
    places: NDArray[np.int64] = (value * buckets) >> _BITS
    return places


def digits(items: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Items below `size` as digits below P: themselves where P is enough, else their thirds, of 21 bits each."""
    if size <= PRIME:
        return [items]
    return [items >> _THIRD * third & (1 << _THIRD) - 1 for third in range(_THIRDS)]


def hashed_digits(
    coefficients: Sequence[NDArray[np.int64]], item: Sequence[NDArray[np.int64] | int], buckets: int
) -> NDArray[np.int64]:
    """The bucket of items with digits x₁, x₂, … under each function a₁x₁ + a₂x₂ + … + b, as NumPy broadcasts them.

    Of two items that differ in a digit, given all other coefficients, that digit's and b give independent values. So
    they share a bucket with probability 1/buckets, at most `EXCESS` more.

    Args:
        coefficients: a₁, a₂, … and b, below 2^31; one more than there are digits.
        item: the digits, as `digits` makes them.
        buckets: at most 2^31.

    Source: Carter, Wegman (1979), Proposition 7, on a single digit.
    """
    *factors, value = coefficients
    for factor, digit in zip(factors, item, strict=True):
        value = value + factor * digit  # below 2^62: one digit of 31 bits, or three of 21
    places: NDArray[np.int64] = (_reduced(value) * buckets) >> _BITS
    return places


def checked_salt(salt: bytes) -> bytes:
    """Check a public salt.

    Raises:
        InvalidArgument: it isn't bytes, or more than 64 of them.
    """
    if not isinstance(salt, bytes) or len(salt) > _LARGEST_KEY:
        raise InvalidArgument("salt must be at most 64 bytes", hint="it is public: b'emoji 2024-05' will do")
    return salt


def candidates_of(candidates: Values, size: int = PRIME) -> NDArray[np.int64]:
    """Check a public list of items.

    Raises:
        InvalidArgument: one is listed twice, or isn't a number below `size`.
    """
    items = indices(candidates, size)
    if len(np.unique(items)) < len(items):
        raise InvalidArgument("a candidate is listed twice", hint="or two texts share a fingerprint: change the salt")
    return items


def _reduced(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Non-negative numbers below 2^62 modulo P: 2^31 is 1 there, so the upper bits are added to the lower ones."""
    once = (numbers & PRIME) + (numbers >> _BITS)  # at most 2P
    halfway = once.view(np.uint64) if isinstance(once, np.ndarray) else np.uint64(once)
    reduced: NDArray[np.int64] = np.minimum(halfway, halfway - np.uint64(PRIME)).astype(np.int64)
    return reduced


# ── Hadamard matrices ─────────────────────────────────────────────────────────────────────────────────────────────────

_HALVES = (16, 8, 4, 2, 1)


def parity(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 where H[one, other] is −1, and 0 where it is 1; for numbers below 2^32.

    Examples:
        >>> parity(np.array([0, 1, 3, 3]), np.array([5, 1, 1, 3])).tolist()
        [0, 1, 1, 0]
    """
    shared = one & other
    for half in _HALVES:
        shared ^= shared >> half
    return shared & 1


def walsh_hadamard(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row times the Hadamard matrix, by the fast Walsh–Hadamard transform; a new array of the same type.

    Examples:
        >>> walsh_hadamard(np.array([[1, 0, 0, 0], [0, 0, 0, 1]])).tolist()
        [[1, 1, 1, 1], [1, -1, -1, 1]]
    """
    shape, length = rows.shape, rows.shape[-1]
    result, half = rows.copy(), 1
    while half < length:
        pairs = result.reshape(-1, length // (2 * half), 2, half)
        result = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        half *= 2
    return result.reshape(shape)


def is_power_of_two(number: int) -> bool:
    """Whether it is 1, 2, 4 and so on."""
    return number > 0 and number & (number - 1) == 0


def power_of_two_from(number: int) -> int:
    """The least power of two that is at least `number`, which is 1 or more."""
    return 1 << (number - 1).bit_length()


_LARGEST = 1 << 24


@dataclass(frozen=True, slots=True)
class HadamardResponse(NumberReports, Pure):
    """Hadamard response: near-best accuracy at every ε, one short number per report, and an estimator of n + K log K.

    The K outputs are `blocks` blocks of `block` places. A value stands for a block and a row of the Hadamard matrix of
    that size, never row 0; it raises the places of its block at which its row is +1, half of them. Rows are
    orthogonal, so of all values only the own one moves the sum of a row's signs over reports.

    Guarantee: ε-DP for each person against everybody, exactly.

    Args:
        size: how many different values there are; 2 to 2^24. Values are 0, …, size − 1.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Acharya, Sun, Zhang (2019), "Hadamard Response: Estimating Distributions Privately, Efficiently, and with
    Little Communication", its definition of the scheme for general ε, whose choice of blocks this is.

    Examples:
        >>> HadamardResponse(size=100, epsilon=1).blocks, HadamardResponse(size=100, epsilon=3).blocks
        (2, 16)
        >>> reports = HadamardResponse(size=100, epsilon=1).randomise_all([5] * 1000)
        >>> int(reports.max()) < 256
        True
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_LARGEST)

    @property
    def blocks(self) -> int:
        """How many blocks: the largest power of two below e^ε and 2·size, which is 1 for small ε."""
        most = min(ceil(exp(self.epsilon, round_up=False)), 2 * self.size)
        return power_of_two_from(most) // 2

    @property
    def block(self) -> int:
        """How many places a block has: the least power of two above size/blocks."""
        return power_of_two_from(-(-self.size // self.blocks) + 1)

    @property
    def outputs(self) -> int:
        """K, how many different reports there are."""
        return self.blocks * self.block

    @property
    def law(self) -> TwoLevelLaw:
        """The reports' law: K outputs, of which half a block is raised."""
        return two_level_law(self.epsilon, self.outputs, self.block // 2)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: one of 0, …, K − 1.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1.
        """
        return randomised(indices(values, self.size), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        law = two_level_law(self.epsilon, self.outputs, self.block // 2, source.width)
        places = law.draw(len(values), source)
        return np.where(places < self.outputs, places, self.raised(values, places - self.outputs))

    def raised(self, values: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places a value raises, by their order 0, …, block/2 − 1.

        With l the lowest bit of the row, each number of the block without that bit is in one place of sign +1: itself,
        or itself with the bit. `order` with a 0 put in at that bit's position is such a number.
        """
        start, row = self.home(values)
        lowest = row & -row
        without = order + (order & -lowest)  # moves the bits from that position on up by one
        return start + without + lowest * parity(row, without)

    def home(self, values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the block of each value starts, and its row of the matrix."""
        block, row = np.divmod(values, self.block - 1)
        return block * self.block, row + 1

    def masses(self, value: int) -> list[Fraction]:
        """The probability of each report of a person who holds `value`."""
        start, row = self.home(np.array([value]))
        places = np.arange(self.outputs) - start
        inside = (places >= 0) & (places < self.block)
        return self.law.masses(inside & (parity(row, np.where(inside, places, 0)) == 0))

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        A report in a value's block counts +1 or −1 by the sign of the value's row there, which sums to `telling` times
        the count on average. Its variance is the mean number of reports in the block less count·telling². That mean
        is at least what reports that depend on no value bring.

        Raises:
            InvalidArgument: there are no reports, or one isn't one of 0, …, K − 1.
        """
        users = counted(len(reports))
        counts = np.bincount(indices(reports, self.outputs), minlength=self.outputs).reshape(self.blocks, self.block)
        signed = walsh_hadamard(counts)  # column 0, which no value uses, is the number of reports in the block
        sums = signed[:, 1:].reshape(-1)[: self.size]
        inside = np.repeat(signed[:, 0], self.block - 1)[: self.size]
        telling = float(self.law.telling)
        values = sums / telling
        variance = np.maximum(inside, users * (1 - telling) / self.blocks) - np.maximum(values, 0) * telling**2
        return Estimate(values, np.sqrt(variance) / telling, users)
