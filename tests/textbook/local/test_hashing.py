"""Public hash functions: sums by hand, collisions as often as proved; Hadamard matrices against their definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.local import fingerprints
from discreet.noise import uniform
from discreet.stats import clopper_pearson
from discreet.textbook.local.hadamard import is_power_of_two, parity, power_of_two_from, walsh_hadamard
from discreet.textbook.local.hashing import EXCESS, PRIME, candidates_of, coefficients, digits, hashed, hashed_digits


def test_polynomials_are_those_of_python_integers() -> None:
    """Values modulo P are the same as with integers of any size, at the ends of the range too."""
    edge = [0, 1, 2, PRIME - 1, PRIME, PRIME + 1 - 1, 2**30]
    for a, b, c, x in product(edge, edge, edge, [0, 1, PRIME - 1, 12345678]):
        polynomial = [np.array([number]) for number in (a, b, c)]
        exact = (a * x * x + b * x + c) % PRIME
        assert hashed(polynomial, np.array([x]), 1 << 31)[0] == exact
        assert hashed(polynomial, x, 1000)[0] == exact * 1000 >> 31


@pytest.mark.parametrize("pair", [(0, 1), (0, PRIME - 1), (5, 6), (17, 2**30)])
def test_two_items_collide_as_often_as_proved(pair: tuple[int, int]) -> None:
    """Over 2^21 functions ax + b: Clopper–Pearson at 1 − 1e-10 holds 1/8, and not a rate that is 3 % off.

    False alarm at most 4e-10 over the four pairs; the wrong rate is nine deviations beyond what is noticed.
    """
    slope, shift = uniform(PRIME, size=(2, 2**21))
    collisions = int((hashed((slope, shift), pair[0], 8) == hashed((slope, shift), pair[1], 8)).sum())
    low, high = clopper_pearson(collisions, 2**21, 1 - 1e-10)
    assert low <= 1 / 8 <= high
    assert not low <= 1.03 / 8 <= high


def test_items_in_a_row_collide_independently() -> None:
    """Of a sketch's functions 1/64 put items 1, 2 and 3 into one of 8 buckets; of ax + b it would be far more."""
    square = coefficients(b"row", 2, 2**19)
    together = [hashed(square, item, 8) for item in (1, 2, 3)]
    all_three = int(((together[0] == together[1]) & (together[1] == together[2])).sum())
    low, high = clopper_pearson(all_three, 2**19, 1 - 1e-9)
    assert low <= 1 / 64 <= high
    line = [hashed(square[:2], item, 8) for item in (1, 2, 3)]
    assert int(((line[0] == line[1]) & (line[1] == line[2])).sum()) / 2**19 > high


def test_coefficients_depend_on_the_salt_alone() -> None:
    """The same salt gives the same functions, and another one others; texts likewise."""
    assert (coefficients(b"a", 2, 16) == coefficients(b"a", 2, 16)).all()
    assert (coefficients(b"a", 2, 16) != coefficients(b"b", 2, 16)).any()
    assert fingerprints(["x", "y"], b"s").tolist() == fingerprints(["x", "y"], b"s").tolist()
    assert fingerprints(["x"], b"s")[0] != fingerprints(["x"], b"t")[0] != fingerprints(["y"], b"t")[0]
    assert fingerprints([]).tolist() == []
    many = fingerprints([str(number) for number in range(1000)])
    assert len(set(many.tolist())) > 990
    assert 0 <= many.min() <= many.max() < PRIME


LONG = (0, 1, (1 << 21) - 1, 1 << 21, PRIME, 1 << 31, 1 << 42, (1 << 62) - 1, 0x2BADC0DEDEADBEEF)
"""Items of up to 62 bits, at the ends of their digits and of P."""


def test_digits_are_those_of_python_integers() -> None:
    """Sums of digits times coefficients are right at the ends of all ranges; a short item is one digit."""
    edge = [0, 1, PRIME - 1, PRIME]
    for item, a, b, c, shift in product(LONG, edge, edge, edge, edge):
        third = (1 << 21) - 1
        exact = (a * (item & third) + b * (item >> 21 & third) + c * (item >> 42) + shift) % PRIME
        numbers = [np.array([number]) for number in (a, b, c, shift)]
        assert hashed_digits(numbers, digits(np.array([item]), 1 << 62), 1 << 31)[0] == exact
        assert hashed_digits(numbers, [int(d) for d in digits(np.array(item), 1 << 62)], 1000)[0] == exact * 1000 >> 31
    (only,) = digits(np.array([PRIME - 1]), PRIME)
    assert only[0] == PRIME - 1


@pytest.mark.parametrize("pair", [(0, PRIME), (1, 1 << 31), (5, 5 + PRIME), (1 << 61, 1 << 61 | 1)])
def test_two_long_items_collide_as_often_as_proved(pair: tuple[int, int]) -> None:
    """Over 2^20 functions of three digits: Clopper–Pearson at 1 − 1e-10 holds 1/8, and not a rate that is 4 % off.

    Pairs that are equal modulo P collided always when long items were folded into numbers below P by one function.
    False alarm at most 4e-10; the wrong rate is eight deviations beyond what is noticed.
    """
    functions = list(uniform(1 << 31, size=(4, 2**20)))
    one, other = (hashed_digits(functions, [int(d) for d in digits(np.array(x), 1 << 62)], 8) for x in pair)
    low, high = clopper_pearson(int((one == other).sum()), 2**20, 1 - 1e-10)
    assert low <= 1 / 8 <= high
    assert not low <= 1.04 / 8 <= high


def test_the_excess_of_collisions_is_bounded() -> None:
    """For every number of buckets: pairs of values in one bucket by counting, with 2^-29 for the coefficients of 0."""
    for buckets in (2, 3, 8, 1000, 65_537, 485_165_196):
        starts = [-(-(place << 31) // buckets) for place in ([0, 1, 2] if buckets > 1000 else range(buckets + 1))]
        sizes = [min(end, PRIME) - start for start, end in pairwise(starts)]
        largest = max(*sizes, -(-(1 << 31) // buckets))
        assert Fraction(largest * PRIME, 1 << 62) + Fraction(1, 1 << 29) <= Fraction(1, buckets) + EXCESS


def test_hadamard_signs_and_transform() -> None:
    """Signs are those of Sylvester's matrix built by doubling; the transform is its product; rows are orthogonal."""
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) < 64:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    rows, columns = np.indices((64, 64))
    assert (1 - 2 * parity(rows, columns) == matrix).all()
    assert parity(np.array([2**31 + 1]), np.array([2**31 + 1])).tolist() == [0]
    vectors = uniform(1000, size=(5, 64))
    assert (walsh_hadamard(vectors) == vectors @ matrix).all()
    assert (walsh_hadamard(matrix) == 64 * np.eye(64)).all()
    assert [n for n in range(-1, 20) if is_power_of_two(n)] == [1, 2, 4, 8, 16]
    assert [power_of_two_from(n) for n in (1, 2, 3, 4, 5, 9)] == [1, 2, 4, 4, 8, 16]


def test_bad_salts_and_candidates_are_refused() -> None:
    """A salt is at most 64 bytes; candidates are different items."""
    with pytest.raises(InvalidArgument, match="salt"):
        fingerprints(["x"], b"s" * 65)
    with pytest.raises(InvalidArgument, match="listed twice"):
        candidates_of([1, 2, 1])
    with pytest.raises(InvalidArgument, match="must be one of"):
        candidates_of([PRIME])
