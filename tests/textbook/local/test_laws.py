"""What reports give away, computed from their own probabilities: never more than declared, and within 1 % of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import e

import numpy as np
import pytest

from discreet.exact import exp
from discreet.local import (
    BitFlip,
    CountMeanSketch,
    HadamardCountMeanSketch,
    HadamardResponse,
    LocalHashing,
    LocalLaplace,
    MemoisedOneBit,
    OneBitMean,
    PiecewiseMean,
    RandomisedResponse,
    Rappor,
    UnaryEncoding,
)
from discreet.privacy import LaplaceEvent, PureDP, PureEvent
from discreet.textbook.local.reports import TwoLevelLaw, flip_probability, two_level_law
from support.reports import Law, is_tight, keeps, of_bits, worst_ratio

EPSILONS = [Fraction(1, 1024), Fraction(1, 10), Fraction(1), Fraction(8), Fraction(20)]


def response(epsilon: Fraction) -> list[Law]:
    """Randomised response over 5 values."""
    return [RandomisedResponse(5, epsilon).masses(value) for value in range(5)]


def unary(epsilon: Fraction) -> list[Law]:
    """Optimised unary encoding over 3 values: all 8 reports."""
    return [of_bits(UnaryEncoding(3, epsilon).masses(value)) for value in range(3)]


def symmetric(epsilon: Fraction) -> list[Law]:
    """Symmetric unary encoding over 3 values."""
    return [of_bits(UnaryEncoding(3, epsilon, optimised=False).masses(value)) for value in range(3)]


def hashing(epsilon: Fraction) -> list[Law]:
    """Local hashing, given a hash function, over 20 values."""
    protocol = LocalHashing(100, epsilon)
    return [protocol.masses(value, 2**61 + 12345) for value in range(20)]


def hadamard(epsilon: Fraction) -> list[Law]:
    """Hadamard response over 11 values."""
    return [HadamardResponse(11, epsilon).masses(value) for value in range(11)]


def sketch(epsilon: Fraction) -> list[Law]:
    """The bits of a count-mean sketch of width 4, given the hash function: items in each of the buckets."""
    protocol = CountMeanSketch(epsilon, hashes=2, width=4, salt=b"law")
    return [of_bits(protocol.masses(value, 1)) for value in range(20)]


def hadamard_sketch(epsilon: Fraction) -> list[Law]:
    """The sign of a Hadamard count-mean sketch, given function and entry."""
    protocol = HadamardCountMeanSketch(epsilon, hashes=2, width=4, salt=b"law")
    return [protocol.masses(value, 1, 3) for value in range(20)]


def one_bit(epsilon: Fraction) -> list[Law]:
    """The one-bit mean of values from -3 to 7, and some outside."""
    return [OneBitMean(-3, 7, epsilon).masses(value) for value in range(-5, 10)]


def piecewise(epsilon: Fraction) -> list[Law]:
    """The piecewise mechanism over 3 values and one outside, on every 997th report and those where windows end."""
    protocol = PiecewiseMean(0, 2, epsilon)
    laws = [protocol.masses(value) for value in (0, 1, 2, 5)]
    high, low = protocol.law.high, protocol.law.low
    assert all(law.count(high) * high + law.count(low) * low == 1 for law in laws)
    edges = {0, *range(0, protocol.outputs, 997), protocol.outputs - 1}
    edges |= {
        min(start * protocol.stride + shift, protocol.outputs - 1)
        for start in range(3)
        for shift in (0, protocol.window)
    }
    picked = sorted(edges)
    return [[*(law[place] for place in picked), 1 - sum(law[place] for place in picked)] for law in laws]


def bit_flip(epsilon: Fraction) -> list[Law]:
    """The answers that a device which watches 3 buckets keeps: for no hit, and for each of them."""
    other = BitFlip(5, 3, epsilon).other
    return [of_bits([1 - other if case == bit + 1 else other for bit in range(3)]) for case in range(4)]


PROTOCOLS: list[Callable[[Fraction], list[Law]]] = [
    response,
    unary,
    symmetric,
    hashing,
    hadamard,
    sketch,
    hadamard_sketch,
    one_bit,
    piecewise,
    bit_flip,
]


DEAR = {Fraction(1, 10), Fraction(8)}
CASES = [
    pytest.param(laws, epsilon, marks=[pytest.mark.soak] if laws is piecewise and epsilon in DEAR else [])
    for laws in PROTOCOLS
    for epsilon in EPSILONS
    if laws is not hashing or epsilon < 10
]
"""Local hashing at ε = 20 has half a billion buckets, and the piecewise mechanism tens of thousands of reports."""


@pytest.mark.parametrize(("laws", "epsilon"), CASES, ids=lambda part: getattr(part, "__name__", None) or str(part))
def test_the_declared_loss_is_kept_and_tight(laws: Callable[[Fraction], list[Law]], epsilon: Fraction) -> None:
    """The largest ratio of two values' chances of a report is at most e^ε, exactly, and at least e^(0.99ε)."""
    computed = laws(epsilon)
    assert keeps(computed, epsilon)
    assert is_tight(computed, epsilon)
    assert not keeps(computed, epsilon * Fraction(98, 100))


def test_a_cell_too_many_is_seen() -> None:
    """The measure rejects a law with one cell more for the outputs that are raised, of 2^60."""
    law = two_level_law(Fraction(1), 3, 1)
    assert keeps([law.masses(np.arange(3) == value) for value in range(3)], Fraction(1))
    wrong: TwoLevelLaw = replace(law, extra=law.extra + 1)
    assert not keeps([wrong.masses(np.arange(3) == value) for value in range(3)], Fraction(1))


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_randomised_response_has_the_papers_probabilities(epsilon: Fraction) -> None:
    """Truth with e^ε/(e^ε + k − 1), to 2^-40; below it by rounding, never above."""
    odds = exp(epsilon, round_up=True, bits=200)
    for size in (2, 3, 1000, 2**31):
        high = RandomisedResponse(size, epsilon).law.high
        assert Fraction(1, 2**15) > 1 - high / (odds / (odds + size - 1)) >= 0
        if size <= 1000:
            assert 1 - high / (odds / (odds + size - 1)) < Fraction(1, 2**30)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_a_flip_is_rounded_up_and_near(epsilon: Fraction) -> None:
    """The chance of a flip gives a bit a loss of at most ε, and of at least ε(1 − 2^-10)."""
    q = flip_probability(epsilon)
    assert exp(epsilon * (1 - Fraction(1, 2**10)), round_up=True) <= (1 - q) / q <= exp(epsilon, round_up=False)
    assert q.denominator <= 2**40
    assert not (1 - q) / q * (1 + Fraction(1, 2**9)) <= exp(epsilon, round_up=False) or epsilon > 2


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("span", [1, 2, 3, 1440, 2**32])
def test_the_one_bit_mean_has_the_papers_ends(epsilon: Fraction, span: int) -> None:
    """A 1 has chance 1/(e^ε + 1) at the lower bound, not less; both ends are each other's complement."""
    law = OneBitMean(0, span, epsilon).law
    low = exp(epsilon, round_up=True, bits=200)
    assert law.chance(0) + law.chance(span) == 1
    assert law.chance(0) * (low + 1) >= 1
    laws = [[1 - law.chance(x), law.chance(x)] for x in (0, span)]
    assert keeps(laws, epsilon)
    assert is_tight(laws, epsilon)


def test_rappor_has_the_papers_losses() -> None:
    """The loss for good is that of the permanent step, and `once` that of both steps; neither is understated."""
    rappor = Rappor(3, "0.5", "0.5", "0.75")
    single = [of_bits(rappor.masses(value)) for value in range(3)]
    assert keeps(single, rappor.once.epsilon)
    assert is_tight(single, rappor.once.epsilon)
    kept = [of_bits([1 - rappor.f / 2 if i == value else rappor.f / 2 for i in range(3)]) for value in range(3)]
    assert keeps(kept, rappor.loss_if_unchanged.epsilon)
    assert is_tight(kept, rappor.loss_if_unchanged.epsilon)
    assert float(rappor.loss_if_unchanged.epsilon) == pytest.approx(2 * np.log(3))
    assert worst_ratio(single) < worst_ratio(kept)


def test_memoised_answers_keep_their_loss() -> None:
    """The answers at any two points are within e^ε of each other; a flip bounds each report by itself."""
    usage = MemoisedOneBit(0, 1440, 360, 1, flip="0.2")
    assert usage.points == 5
    assert keeps([usage.answer.masses(point) for point in range(5)], Fraction(1))
    assert is_tight([usage.answer.masses(point) for point in range(5)], Fraction(1))
    assert float(usage.once.epsilon) == pytest.approx(np.log(4))


def test_events_and_losses_are_those_of_the_parameters() -> None:
    """Each protocol declares its ε; local Laplace noise is an event of its own kind."""
    for protocol in (
        RandomisedResponse(5, "0.5"),
        UnaryEncoding(5, "0.5"),
        LocalHashing(5, "0.5"),
        HadamardResponse(5, "0.5"),
        CountMeanSketch("0.5"),
        HadamardCountMeanSketch("0.5"),
        OneBitMean(0, 9, "0.5"),
        PiecewiseMean(0, 9, "0.5"),
    ):
        assert protocol.loss == PureDP("0.5")
        assert protocol.event == PureEvent(epsilon=Fraction(1, 2))
    for kept in (BitFlip(5, 2, "0.5"), MemoisedOneBit(0, 9, 3, "0.5")):
        assert kept.loss_if_unchanged == PureDP("0.5")
        assert kept.event_if_unchanged == PureEvent(epsilon=Fraction(1, 2))
        assert not hasattr(kept, "loss")  # another guarantee has another name
        assert not hasattr(kept, "event")
    noisy = LocalLaplace(-10, 10, "0.5")
    assert noisy.event == LaplaceEvent(scale=Fraction(40), l1=20)
    assert noisy.loss == PureDP("0.5")
    assert PureDP(noisy.event.l1 / noisy.event.scale) == noisy.loss


def test_the_docstrings_formulas() -> None:
    """OUE's and SUE's bits, HR's blocks, and the piecewise window are those of the papers at ε = 1 and 2."""
    assert float(UnaryEncoding(5, 1).other) == pytest.approx(1 / (e + 1), rel=1e-3)
    assert float(UnaryEncoding(5, 1, optimised=False).own) == pytest.approx(e**0.5 / (e**0.5 + 1), rel=1e-3)
    assert LocalHashing(5, 2).buckets == round(e**2) + 1
    for size, epsilon in ((11, 1), (100, 3), (3, 20), (1000, "0.1")):
        response = HadamardResponse(size, epsilon)
        assert response.blocks & (response.blocks - 1) == response.block & (response.block - 1) == 0
        assert response.blocks * (response.block - 1) >= size
        assert response.blocks <= max(min(e ** float(response.epsilon), 2 * size), 1)
    mean = PiecewiseMean(0, 1440, 2)
    assert mean.window / mean.outputs == pytest.approx(1 / (e + 1), rel=1e-3)
