"""Reports on every tape: what the randomisers decide has exactly the probabilities that their laws state."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.local import (
    HadamardCountMeanSketch,
    HadamardResponse,
    LocalHashing,
    OneBitMean,
    PiecewiseMean,
    RandomisedResponse,
)
from discreet.textbook.local.count_mean_sketch import columns, functions
from discreet.textbook.local.means import slope
from discreet.textbook.local.reports import TwoLevelLaw, two_level_law
from discreet.textbook.local.unary_encoding import one_hot
from support.tapes import Tape, outcomes

Draw = Callable[[NDArray[np.int64], Words], NDArray[np.int64]]


def frequencies(draw: Draw, value: int, law: TwoLevelLaw, width: int) -> list[Fraction]:
    """How often each report comes of all words that mean something, for one value."""
    tape = Tape(range(law.total), width=width)
    reports = draw(np.full(law.total, value), tape)
    assert tape.left == 0
    return [Fraction(int(count), law.total) for count in np.bincount(reports, minlength=law.outputs)]


@pytest.mark.parametrize(("outputs", "raised"), [(2, 1), (3, 1), (5, 2), (4, 4)])
@pytest.mark.parametrize("width", [4, 5])
def test_a_law_of_two_levels_on_every_tape(outputs: int, raised: int, width: int) -> None:
    """Words that mean nothing are drawn again; given that, places have cells/total, and extra/total where raised."""
    law = two_level_law(Fraction(1), outputs, raised, width)
    decided, undecided = outcomes(lambda source: int(law.draw(1, source)[0]), width=width, depth=3)
    assert undecided == (1 - Fraction(law.total, 2**width)) ** 3
    sure = 1 - undecided
    for place in range(outputs):
        assert decided[place] == sure * Fraction(law.cells, law.total)
    for place in range(outputs, outputs + raised):
        assert decided[place] == sure * Fraction(law.extra, law.total)
    assert len(decided) == outputs + raised
    assert law.low * (outputs - raised) + law.high * raised == 1
    assert law.telling + outputs * law.low == 1


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)], ids=str)
def test_randomised_response_on_every_word(size: int, epsilon: Fraction) -> None:
    """On words of 10 bits each value's reports have exactly the probabilities of the law on 10 bits."""
    protocol, law = RandomisedResponse(size, epsilon), two_level_law(epsilon, size, 1, 10)
    for value in range(size):
        assert frequencies(protocol.draw, value, law, 10) == law.masses(np.arange(size) == value)


@pytest.mark.parametrize("size", [2, 3, 7, 11, 40])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(3)], ids=str)
def test_hadamard_response_on_every_word(size: int, epsilon: Fraction) -> None:
    """On words of 12 bits reports have the law on 12 bits: raised where `masses` says the value's row is positive."""
    protocol = HadamardResponse(size, epsilon)
    law = two_level_law(epsilon, protocol.outputs, protocol.block // 2, 12)
    for value in range(size):
        raised = np.array([mass == protocol.law.high for mass in protocol.masses(value)])
        assert np.count_nonzero(raised) == protocol.block // 2
        assert frequencies(protocol.draw, value, law, 12) == law.masses(raised)


@pytest.mark.parametrize("epsilon", [pytest.param(Fraction(1, 2), marks=pytest.mark.soak), Fraction(3)], ids=str)
def test_the_piecewise_mechanism_on_every_word(epsilon: Fraction) -> None:
    """On words of 20 bits: a window raised, which starts `stride` further for each unit of the value."""
    protocol = PiecewiseMean(-1, 2, epsilon)
    law = two_level_law(epsilon, protocol.outputs, protocol.window, 20)
    for value in (-1, 0, 2):
        places = np.arange(protocol.outputs) - (value + 1) * protocol.stride
        assert frequencies(protocol.draw, value, law, 20) == law.masses((places >= 0) & (places < protocol.window))


@pytest.mark.parametrize("span", [1, 2, 5])
def test_the_one_bit_mean_on_every_word(span: int) -> None:
    """On words of 10 bits a 1 comes of exactly base + x·step of them, and the law on 10 bits is ε-DP too."""
    protocol, law = OneBitMean(10, 10 + span, 1), slope(Fraction(1), span, 10)
    assert 2 * law.base + span * law.step == 2**10
    for x in range(span + 1):
        reports = protocol.draw(np.full(2**10, 10 + x), Tape(range(2**10), width=10))
        assert int(reports.sum()) == law.base + x * law.step
    assert law.chance(span) / law.chance(0) <= Fraction(27182, 10000)


def test_local_hashing_on_every_tape() -> None:
    """Words of 6 bits: a hash function from one, a report from the next; given the function the law is that on 6."""
    protocol = LocalHashing(9, Fraction(1))
    law = two_level_law(Fraction(1), protocol.buckets, 1, 6)

    def report(source: Words) -> tuple[int, int]:
        function, bucket = protocol.draw(np.array([7]), source)[0].tolist()
        return function, bucket

    decided, undecided = outcomes(report, width=6, depth=2)
    assert undecided == 1 - Fraction(law.total, 2**6)
    for function in range(2**6):
        home = int(protocol.bucket(np.array([[function]]), np.array([7]))[0])
        for bucket in range(protocol.buckets):
            mass = law.high if bucket == home else law.low
            assert decided[function, bucket] == Fraction(1, 2**6) * mass * (1 - undecided)


def test_the_hadamard_sketch_on_every_tape() -> None:
    """Words of 6 bits: function and entry are uniform and independent, the sign is flipped by the law on 6 bits."""
    protocol = HadamardCountMeanSketch(Fraction(1), hashes=4, width=8, salt=b"tape")
    polynomials, law = functions(protocol.salt, 4), two_level_law(Fraction(1), 2, 1, 6)

    def report(source: Words) -> tuple[int, ...]:
        return tuple(protocol.draw(polynomials, np.array([77]), source)[0].tolist())

    decided, undecided = outcomes(report, width=6, depth=2)
    buckets = columns(polynomials, 77, 8).tolist()
    for function, entry, sign in product(range(4), range(8), range(2)):
        true = (buckets[function] & entry).bit_count() % 2
        mass = law.high if sign == true else law.low
        assert decided[function, entry, sign] == Fraction(1, 32) * mass * (1 - undecided)


@pytest.mark.parametrize("value", [0, 2])
def test_one_hot_bits_on_every_tape(value: int) -> None:
    """Words of 8 bits: the value's bit is up with 3/4, the others with 1/2, independently, and padding stays down.

    Each row has one word for the others and one for its own bit, and every pair of words has a row.
    """
    pairs = np.array(list(product(range(2**8), repeat=2)))
    tape = Tape(pairs.T.ravel().tolist(), width=8)
    rows = one_hot(np.full(len(pairs), value), 3, Fraction(3, 4), Fraction(1, 2), tape)[:, 0]
    assert tape.left == 0
    for row in range(8):
        assert Fraction(np.count_nonzero(rows == row), len(rows)) == Fraction(3 if row >> value & 1 else 1, 4) / 4
    assert set(rows.tolist()) == set(range(8))
