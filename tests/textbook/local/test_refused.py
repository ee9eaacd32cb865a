"""What isn't a protocol, a value or a report is refused before anything is drawn, and no message quotes a value."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.errors import InvalidArgument
from discreet.local import (
    BitFlip,
    CountMeanSketch,
    HadamardCountMeanSketch,
    HadamardResponse,
    HeavyHitters,
    LocalHashing,
    LocalLaplace,
    MemoisedOneBit,
    OneBitMean,
    PiecewiseMean,
    RandomisedResponse,
    Rappor,
    UnaryEncoding,
)
from discreet.textbook.local.reports import two_level_law

ANY: Any = None

COUNTING: list[Any] = [RandomisedResponse, UnaryEncoding, LocalHashing, HadamardResponse]
AVERAGING: list[Any] = [OneBitMean, LocalLaplace, PiecewiseMean]
BY_EPSILON: list[Callable[[Any], Any]] = [
    *(lambda epsilon, kind=kind: kind(3, epsilon) for kind in COUNTING),
    *(lambda epsilon, kind=kind: kind(0, 9, epsilon) for kind in AVERAGING),
    CountMeanSketch,
    HadamardCountMeanSketch,
    lambda epsilon: HeavyHitters(8, epsilon),
    lambda epsilon: BitFlip(4, 2, epsilon),
    lambda epsilon: MemoisedOneBit(0, 9, 3, epsilon),
]


@pytest.mark.parametrize("epsilon", [0, -1, "nan", 21, Fraction(1, 1025), "x", None, True], ids=str)
@pytest.mark.parametrize("make", BY_EPSILON)
def test_epsilon_is_within_its_range(make: Callable[[Any], Any], epsilon: Any) -> None:
    """Every protocol takes an ε from 2^-10 to 20, as a number."""
    with pytest.raises(InvalidArgument, match="epsilon"):
        make(epsilon)


@pytest.mark.parametrize("size", [1, 0, -3, 2.0, True, "2", 2**63], ids=repr)
@pytest.mark.parametrize("protocol", [*COUNTING, lambda size, epsilon: BitFlip(size, 1, epsilon)])
def test_size_is_a_whole_number(protocol: Any, size: Any) -> None:
    """There are at least two values, and not more than the protocol can take."""
    with pytest.raises(InvalidArgument, match="size"):
        protocol(size, 1)


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 0), (5, 1), (0, 2**41), (0.0, 5), (2**63, 2**63 + 1), (0, "9")], ids=str
)
@pytest.mark.parametrize("protocol", AVERAGING)
def test_bounds_are_whole_numbers(protocol: Any, lower: Any, upper: Any) -> None:
    """Bounds are whole numbers in order, not too far apart."""
    with pytest.raises(InvalidArgument, match="bounds"):
        protocol(lower, upper, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: CountMeanSketch(1, hashes=3),
        lambda: CountMeanSketch(1, hashes=2**17),
        lambda: CountMeanSketch(1, width=1),
        lambda: CountMeanSketch(1, salt=ANY),
        lambda: HadamardCountMeanSketch(1, width=12),
        lambda: HadamardCountMeanSketch(1, salt=b"x" * 65),
        lambda: HeavyHitters(0, 1),
        lambda: HeavyHitters(63, 1),
        lambda: HeavyHitters(8, 1, step=13),
        lambda: HeavyHitters(8, 1, keep=0),
        lambda: BitFlip(4, 5, 1),
        lambda: BitFlip(4, 0, 1),
        lambda: MemoisedOneBit(0, 10, 3, 1),
        lambda: MemoisedOneBit(0, 10, 0, 1),
        lambda: MemoisedOneBit(0, 10, 5, 1, flip="0.5"),
        lambda: Rappor(4, 0, "0.5", "0.75"),
        lambda: Rappor(4, "0.5", "0.75", "0.5"),
        lambda: Rappor(4, "0.5", "0.5", 2),
        lambda: two_level_law(Fraction(1), 1000, 1, 8),
    ],
)
def test_other_parameters_are_within_their_ranges(make: Callable[[], Any]) -> None:
    """Each parameter has a range, and what is outside is refused when the protocol is made."""
    with pytest.raises(InvalidArgument):
        make()


@pytest.mark.parametrize("values", [[7], [-1], [0.5], ["1"], [[1]], [None], [2**70]], ids=str)
@pytest.mark.parametrize(
    "protocol", [*(kind(5, 1) for kind in COUNTING), Rappor(5, "0.5", "0.5", "0.75")], ids=lambda p: type(p).__name__
)
def test_other_values_are_refused_without_a_word_about_them(protocol: Any, values: Any) -> None:
    """A value that isn't one of 0, …, size − 1 is refused, and the message doesn't hold it."""
    with pytest.raises(InvalidArgument) as refused:
        protocol.randomise_all(values)
    assert "7" not in str(refused.value)
    assert "0.5" not in str(refused.value)


@pytest.mark.parametrize("protocol", [kind(0, 9, 1) for kind in AVERAGING], ids=lambda p: type(p).__name__)
def test_numbers_are_clamped_and_fractions_refused(protocol: Any) -> None:
    """Whole numbers of any kind and size are clamped; what isn't whole must be put on a grid by its owner."""
    for values in (
        [10**30, -(10**30)],
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([True]),
        np.array([3], dtype=np.int8),
        [],
    ):
        assert len(protocol.randomise_all(values)) == len(values)
    for values in ([0.5], ["3"], [None], [[1]]):
        with pytest.raises(InvalidArgument, match="whole numbers"):
            protocol.randomise_all(values)


@pytest.mark.parametrize("protocol", [
    *(kind(5, 1) for kind in COUNTING), *(kind(0, 9, 1) for kind in AVERAGING), Rappor(5, "0.5", "0.5", "0.75"),
], ids=lambda p: type(p).__name__)  # fmt: skip
def test_no_reports_have_no_estimate(protocol: Any) -> None:
    """Nobody's reports are an empty array, of which nothing is estimated."""
    reports = protocol.randomise_all([])
    assert len(reports) == 0
    with pytest.raises(InvalidArgument, match="no reports"):
        protocol.estimate(reports)


@pytest.mark.parametrize(
    "read",
    [
        lambda: RandomisedResponse(3, 1).estimate(np.array([3])),
        lambda: HadamardResponse(3, 1).estimate(np.array([999])),
        lambda: UnaryEncoding(9, 1).estimate(np.zeros((4, 1), dtype=np.uint8)),
        lambda: LocalHashing(9, 1).estimate(np.array([[5, 99]])),
        lambda: LocalHashing(9, 1).estimate(np.array([5, 1])),
        lambda: CountMeanSketch(1, 4, 8).estimate(np.zeros((4, 1), dtype=np.uint8), [1]),
        lambda: CountMeanSketch(1, 4, 8).estimate(np.full((4, 3), 9, dtype=np.uint8), [1]),
        lambda: HadamardCountMeanSketch(1, 4, 8).estimate(np.array([[4, 0, 0]]), [1]),
        lambda: HadamardCountMeanSketch(1, 4, 8).estimate(np.array([[0, 0]]), [1]),
        lambda: HadamardCountMeanSketch(1, 4, 8).estimate(np.array([[0, 0, 0]]), [1, 1]),
        lambda: OneBitMean(0, 9, 1).estimate(np.array([2], dtype=np.uint8)),
        lambda: PiecewiseMean(0, 9, 1).estimate(np.array([10**7])),
        lambda: LocalLaplace(0, 9, 1).estimate(ANY or np.array([0.5])),
        lambda: HeavyHitters(8, 1).find(np.array([[0, 0]])),
        lambda: BitFlip(4, 2, 1).estimate(np.zeros((3, 2), dtype=int), np.zeros((3, 1), dtype=np.uint8)),
    ],
)
def test_forged_reports_are_refused(read: Callable[[], Any]) -> None:
    """Reports come from strangers: what no randomiser makes is refused, not counted."""
    with pytest.raises(InvalidArgument):
        read()


def test_one_person_alone() -> None:
    """Each protocol randomises a single value, and gives plain numbers where a report is numbers."""
    assert RandomisedResponse(3, 1).randomise(2) in range(3)
    assert HadamardResponse(3, 1).randomise(2) in range(HadamardResponse(3, 1).outputs)
    assert OneBitMean(0, 9, 1).randomise(4) in (0, 1)
    assert PiecewiseMean(0, 9, 1).randomise(4) in range(PiecewiseMean(0, 9, 1).outputs)
    assert type(LocalLaplace(0, 9, 1).randomise(4)) is int
    assert UnaryEncoding(9, 1).randomise(4).shape == Rappor(9, "0.5", "0.5", "0.75").randomise(4).shape == (2,)
    function, bucket = LocalHashing(9, 1).randomise(4)
    assert 0 <= function < 2**62
    assert bucket in range(4)
    assert HadamardCountMeanSketch(1, 4, 8).randomise(4)[2] in (0, 1)
    assert CountMeanSketch(1, 4, 9).randomise(4).shape == (4,)
    assert len(HeavyHitters(8, 1).randomise(4)) == 3


def test_the_room_is_imported_when_it_is_used() -> None:
    """`import discreet` doesn't load it; `from discreet import local` does."""
    program = (
        "import sys, discreet; print('discreet.local' in sys.modules); "
        "from discreet import local; print(len(local.__all__))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", str(len(local.__all__))]
