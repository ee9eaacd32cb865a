"""Fit: fresh reports of the whole randomiser agree with the stated laws, and twins of a 3 % larger ε are found out.

Likelihood ratio over reports, false alarm at most 1e-9, proved; of as many that the twin is missed with 1e-10 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.local import (
    BitFlip,
    CountMeanSketch,
    HadamardCountMeanSketch,
    HadamardResponse,
    LocalHashing,
    LocalLaplace,
    OneBitMean,
    PiecewiseMean,
    RandomisedResponse,
    Rappor,
    UnaryEncoding,
)
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from discreet.textbook.local.count_mean_sketch import columns, functions
from discreet.textbook.local.hadamard import parity
from support.twins import enough

ALARM = 1e-9
EPSILON, WRONG = Fraction(1), Fraction(103, 100)
Protocol: TypeAlias = Callable[[Fraction, int], tuple[NDArray[np.int64], list[Fraction]]]
"""Of ε and a number of users: how often they report what, and its probability."""


def counts(reports: NDArray[Any], categories: int) -> NDArray[np.int64]:
    """How often each category was reported."""
    return np.bincount(reports.astype(np.int64), minlength=categories)


def response(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Randomised response of value 2 of 5."""
    protocol = RandomisedResponse(5, epsilon)
    return counts(protocol.randomise_all(np.full(users, 2)), 5), protocol.masses(2)


def hadamard(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Hadamard response of value 9 of 11, pooled by whether the value raises the report."""
    protocol = HadamardResponse(11, epsilon)
    masses = protocol.masses(9)
    raised = np.array([mass == protocol.law.high for mass in masses])
    seen = counts(protocol.randomise_all(np.full(users, 9)), protocol.outputs)
    up = sum((mass for mass, high in zip(masses, raised, strict=True) if high), start=Fraction(0))
    return np.array([seen[raised].sum(), seen[~raised].sum()]), [up, 1 - up]


def hashing(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Local hashing of value 77: how far the reported bucket is from that of the value."""
    protocol = LocalHashing(1000, epsilon)
    reports = protocol.randomise_all(np.full(users, 77))
    away = (reports[:, 1] - protocol.bucket(reports[:, :1], np.array([77]))) % protocol.buckets
    return counts(away, protocol.buckets), protocol.law.masses(np.arange(protocol.buckets) == 0)


def hadamard_sketch(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """The Hadamard sketch of item 5: entries of the reported function, and whether the sign is the true one."""
    protocol = HadamardCountMeanSketch(epsilon, hashes=2, width=4, salt=b"fit")
    reports = protocol.randomise_all(np.full(users, 5))
    buckets = columns(functions(protocol.salt, 2), 5, 4)[reports[:, 0]]
    wrong = parity(buckets, reports[:, 1]) ^ reports[:, 2]
    chances = [Fraction(1, 8) * mass for _ in range(8) for mass in (protocol.law.high, protocol.law.low)]
    return counts(reports[:, 0] * 8 + reports[:, 1] * 2 + wrong, 16), chances


def one_bit(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """The one-bit mean at its lower bound."""
    protocol = OneBitMean(0, 1440, epsilon)
    return counts(protocol.randomise_all(np.zeros(users, dtype=int)), 2), protocol.masses(0)


def piecewise(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """The piecewise mechanism at a third: before, in and behind the window."""
    protocol = PiecewiseMean(0, 3, epsilon)
    edges = np.array([protocol.stride, protocol.stride + protocol.window])
    seen = counts(np.searchsorted(edges, protocol.randomise_all(np.ones(users, dtype=int)), side="right"), 3)
    inside = protocol.window * protocol.law.high
    before = protocol.stride * protocol.law.low
    return seen, [before, inside, 1 - inside - before]


def bits(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Reports of three bits as numbers."""
    return counts(rows[:, 0], 8)


def of_three(ups: list[Fraction]) -> list[Fraction]:
    """The law of three independent bits, as numbers have it."""
    chances = []
    for number in range(8):
        chance = Fraction(1)
        for i, up in enumerate(ups):
            chance *= up if number >> i & 1 else 1 - up
        chances.append(chance)
    return chances


def optimised(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Optimised unary encoding of value 1 of 3."""
    protocol = UnaryEncoding(3, epsilon)
    return bits(protocol.randomise_all(np.ones(users, dtype=int))), of_three(protocol.masses(1))


def symmetric(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Symmetric unary encoding of value 2 of 3."""
    protocol = UnaryEncoding(3, epsilon, optimised=False)
    return bits(protocol.randomise_all(np.full(users, 2))), of_three(protocol.masses(2))


def sketch(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """The count-mean sketch of item 5: the function's number, and its three bits."""
    protocol = CountMeanSketch(epsilon, hashes=2, width=3, salt=b"fit")
    reports = protocol.randomise_all(np.full(users, 5))
    laws = [of_three(protocol.masses(5, function)) for function in range(2)]
    return counts(reports[:, 0] * np.uint8(8) + reports[:, 2], 16), [mass / 2 for law in laws for mass in law]


def rappor(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Basic RAPPOR of value 0 of 3, both steps; ε stands for how far p and q are apart."""
    protocol = Rappor(3, "0.25", "0.25", Fraction(1, 4) + epsilon / 2)
    return bits(protocol.randomise_all(np.zeros(users, dtype=int))), of_three(protocol.masses(0))


def bit_flip(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """A bit flip with one watched bucket of 2: which one it is, and the bit."""
    protocol = BitFlip(2, 1, epsilon)
    memos = protocol.memorise_all(users)
    watched, up = memos.watched[:, 0], protocol.report_all(memos, np.ones(users, dtype=int))[:, 0]
    q = protocol.other
    return counts(watched * 2 + up, 4), [(1 - q) / 2, q / 2, q / 2, (1 - q) / 2]


def laplace(epsilon: Fraction, users: int) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Local Laplace noise of scale 10/ε: the value itself, then how far off it is, pooled from 20 on."""
    protocol = LocalLaplace(0, 10, epsilon)
    away = np.minimum(np.abs(protocol.randomise_all(np.full(users, 3)) - 3), 20)
    q = Fraction(float(np.exp(-float(epsilon) / 10)))
    chances = [(1 - q) / (1 + q) * (2 * q**n if n else 1) for n in range(20)]
    return counts(away, 21), [*chances, 1 - sum(chances)]


PROTOCOLS: list[Protocol] = [
    response, hadamard, hashing, hadamard_sketch, one_bit, piecewise, optimised, symmetric, sketch, rappor, bit_flip,
    laplace,
]  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_reports_fit_and_those_of_a_wrong_epsilon_do_not(protocol: Protocol) -> None:
    """Reports fit the law stated for ε = 1; those of a randomiser set to 1.03 don't."""
    chances, wrong = (
        np.array([float(mass) for mass in protocol(epsilon, 1)[1]]) for epsilon in (EPSILON, EPSILON * WRONG)
    )
    users, critical = enough(chances, wrong, ALARM), likelihood_ratio_critical(len(chances), ALARM)
    assert likelihood_ratio(protocol(EPSILON, users)[0], chances) <= critical
    assert likelihood_ratio(protocol(EPSILON * WRONG, users)[0], chances) > critical
