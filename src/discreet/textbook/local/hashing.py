"""Hash functions with proved independence; public, never a secret.

They compute modulo the prime P = 2^31 − 1. A polynomial of degree d whose coefficients are uniform maps any d + 1
different items to independent uniform numbers (Wegman, Carter 1981); a linear function of an item's digits does so to
any two items, of whatever length. Privacy doesn't rest on them: anyone who knows a report may know its hash function.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import blake2b, shake_256

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.textbook.local.reports import (
    Values,
    indices,
)

PRIME = (1 << 31) - 1
"""Items of polynomials are numbers below it, and so are the digits of longer items."""

EXCESS = Fraction(5, 1 << 31)
"""The most by which the chance that two items share one of g buckets exceeds 1/g, under `hashed_digits`.

At most 2^31/g + 1 of the P values lie in a bucket, so at most P·(2^31/g + 1) of the P² pairs of values share one. A
coefficient of 31 random bits is 0 modulo P with 2^-30, everything else with 2^-31: a pair of values has 2^-62, but for
those where one of two coefficients is 0, with 2^-29 in all. That makes 1/g + 2^-31 + 2^-29. Likewise the share is at
least (1 − 2^-30)/g.
"""

_BITS = 31
_THIRDS, _THIRD = 3, 21  # of a number of 63 bits
_LARGEST_KEY = 64


def fingerprints(texts: Sequence[str], salt: bytes = b"") -> NDArray[np.int64]:
    """Texts as items: numbers below 2^31 − 1, the same for everyone who uses the salt.

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

    For two items that differ in a digit, given all other coefficients, that digit's and b give independent values. So
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
