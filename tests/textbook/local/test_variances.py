"""Standard errors: those that docstrings derive, against variances summed from each protocol's own probabilities."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, fsum, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.local import (
    CountMeanSketch,
    HadamardCountMeanSketch,
    HadamardResponse,
    HeavyHitters,
    LocalLaplace,
    MemoisedOneBit,
    OneBitMean,
    RandomisedResponse,
    UnaryEncoding,
)
from discreet.textbook.local import heavy_hitters as room
from discreet.textbook.local.count_mean_sketch import with_collisions

HELD = [50_000, 30_000, 15_000, 5_000, 0]
"""How many people hold each of five values."""


def of_one(amounts: NDArray[np.float64], masses: list[Fraction]) -> float:
    """The variance of what a person adds to an estimate, summed over their reports."""
    chances = np.array([float(mass) for mass in masses])
    return float(chances @ amounts**2 - (chances @ amounts) ** 2)


def typical(protocol: Any, outputs: int) -> NDArray[np.int64]:
    """As many reports of each kind as there are on average."""
    counts = sum(people * np.array([float(m) for m in protocol.masses(value)]) for value, people in enumerate(HELD))
    return np.repeat(np.arange(outputs), np.rint(counts).astype(int))


def by_summation(protocol: Any, outputs: int) -> NDArray[np.float64]:
    """The standard error of each count: variances of all people, each by summing over their reports."""
    added = np.array([protocol.estimate(np.array([report])).values for report in range(outputs)])
    return np.sqrt(
        [
            sum(people * of_one(added[:, i], protocol.masses(value)) for value, people in enumerate(HELD))
            for i in range(len(HELD))
        ]
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)], ids=str)
@pytest.mark.parametrize("kind", [RandomisedResponse, HadamardResponse])
def test_errors_of_counts_are_the_variances_of_all_people(kind: Any, epsilon: Fraction) -> None:
    """From typical reports, to a thousandth, in which counts are rounded; a twin of an ε 3 % off is told apart."""
    protocol = kind(len(HELD), epsilon)
    outputs = getattr(protocol, "outputs", len(HELD))
    errors = protocol.estimate(typical(protocol, outputs)).errors
    assert errors == pytest.approx(by_summation(protocol, outputs), rel=1e-3)
    twin = kind(len(HELD), epsilon * Fraction(103, 100))
    assert errors != pytest.approx(by_summation(twin, outputs), rel=1e-3)


def test_few_reports_in_a_block_dont_promise_more() -> None:
    """Hadamard response: a value whose block got no report has the error of reports that depend on no value."""
    protocol = HadamardResponse(5, 3)
    assert protocol.blocks > 1
    telling = float(protocol.law.telling)
    alone = protocol.estimate(np.zeros(1, dtype=np.int64))
    assert alone.errors.min() == pytest.approx(sqrt((1 - telling) / protocol.blocks) / telling)


@pytest.mark.parametrize("optimised", [True, False])
def test_errors_of_bits_are_their_variances(optimised: bool) -> None:
    """Unary encoding: 40 of 100 bits up, of which the estimate makes holders; each adds the variance of its bit."""
    protocol = UnaryEncoding(2, 1, optimised)
    reports = np.repeat(np.array([[1], [2]], dtype=np.uint8), [40, 60], axis=0)
    found = protocol.estimate(reports)
    own, other = float(protocol.own), float(protocol.other)
    holders = (40 - 100 * other) / (own - other)
    assert found.values[0] == pytest.approx(holders)
    variance = holders * own * (1 - own) + (100 - holders) * other * (1 - other)
    assert found.errors[0] == pytest.approx(sqrt(variance) / (own - other))


@pytest.mark.parametrize("span", [1, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(6)], ids=str)
def test_local_laplace_errs_as_its_noise(span: int, epsilon: Fraction) -> None:
    """The square root of Σ k²·Pr[k], over that of the number of people."""
    protocol = LocalLaplace(10, 10 + span, epsilon)
    weights = {k: exp(-abs(k) * float(epsilon) / span) for k in range(-400, 401)}
    variance = fsum(k * k * w for k, w in weights.items()) / fsum(weights.values())
    assert float(protocol.estimate(np.array([3, 4, 5, 6])).errors) == pytest.approx(sqrt(variance / 4), rel=1e-9)


def test_bits_of_means_err_as_coins() -> None:
    """600 of 1,000 up, between what people at either end would report: a coin's error, over how far that goes."""
    reports = np.repeat(np.array([1, 0], dtype=np.uint8), [600, 400])
    once, kept = OneBitMean(0, 1000, 1), MemoisedOneBit(0, 1000, 250, 1, flip="0.1")
    for protocol, answer, flip in ((once, once, 0.0), (kept, kept.answer, 0.1)):
        low, high = (float(answer.masses(x)[1]) * (1 - 2 * flip) + flip for x in (answer.lower, answer.upper))
        found = protocol.estimate(reports)
        assert float(found.values) == pytest.approx(1000 * (0.6 - low) / (high - low))
        assert float(found.errors) == pytest.approx(1000 * sqrt(0.6 * 0.4 / 1000) / (high - low))


# ── Sketches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("hashes", "width"), [(4, 2), (8, 16)])
def test_collisions_vary_as_stated(hashes: int, width: int) -> None:
    """An item of count c moves another's by c·(share of rows they collide in − 1/width)/(1 − 1/width): its variance."""
    count, chance = 30, 1 / width
    law = [comb(hashes, k) * chance**k * (1 - chance) ** (hashes - k) for k in range(hashes + 1)]
    moves = np.array([count * (k / hashes - chance) / (1 - chance) for k in range(hashes + 1)])
    assert np.array(law) @ moves == pytest.approx(0, abs=1e-9)
    per = hashes * (width - 1)
    found = with_collisions(np.array([100.0 - count, count]), 100, 0.0, 0.0, per)
    assert found.errors[0] ** 2 == pytest.approx(np.array(law) @ moves**2)
    unlisted = with_collisions(np.array([20.0, 10.0]), 100, 2.0, 0.5, per)
    assert unlisted.errors[0] ** 2 == pytest.approx(20 * 2.0 + 80 * 0.5 + (10**2 + 70**2) / per)


def test_sketches_err_as_their_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one person adds to the count of their own item and of another, summed over buckets and flips."""
    given: list[tuple[float, float]] = []

    def noted(values: Any, users: int, own: float, other: float, per: int) -> Any:
        given.append((own, other))
        return with_collisions(values, users, own, other, per)

    monkeypatch.setattr("discreet.textbook.local.count_mean_sketch.with_collisions", noted)
    bits, signs = CountMeanSketch(2, 4, 8, b"s"), HadamardCountMeanSketch(2, 4, 8, b"s")
    for sketch in (bits, signs):
        reports: Any = sketch.randomise_all([1, 2])
        sketch.estimate(reports, [1])
    q = float(bits.other)
    far = (1 - 2 * q) * (1 - 1 / 8)  # how much likelier an up is from a holder than from anybody else
    elsewhere = (1 - q) / 8 + q * 7 / 8
    assert given[0] == pytest.approx((q * (1 - q) / far**2, elsewhere * (1 - elsewhere) / far**2))
    telling = float(signs.law.telling)
    reach = telling * (1 - 1 / 8)
    assert given[1] == pytest.approx(((1 - telling**2) / reach**2, (1 - (telling / 8) ** 2) / reach**2))


def test_heavy_hitters_err_as_their_reports() -> None:
    """Of 200 people who were drawn from 500 for the level: the variance by summing over the holders among them."""
    protocol = HeavyHitters(bits=8, epsilon=2, step=4, keep=4)
    own, other = float(protocol.law.high), 1 / protocol.hashing.buckets
    users, reports, holders = 500, 200, 100
    here = np.arange(holders + 1)
    ways = [comb(holders, k) * comb(users - holders, reports - k) / comb(users, reports) for k in here.tolist()]
    means = here * own + (reports - here) * other
    mean = float(ways @ means)
    variance = float(ways @ (here * own * (1 - own) + (reports - here) * other * (1 - other) + (means - mean) ** 2))
    found = protocol.counts(np.array([mean]), reports, users)
    assert float(found.values[0]) == pytest.approx(holders)
    assert float(found.errors[0]) ** 2 == pytest.approx(variance * (users / reports / (own - other)) ** 2)


def test_the_doubt_is_shared_by_all_prefixes_that_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all prefixes on all levels no more than the stated doubt, added up, supports what nobody holds."""
    doubts: list[float] = []

    def noted(_users: int, _chance: float, doubt: float) -> int:
        doubts.append(doubt)
        return 0  # so that as many prefixes as may be are tried on the next level

    monkeypatch.setattr(room, "least_support", noted)
    protocol = HeavyHitters(bits=8, epsilon=2, step=2, keep=4)
    found = protocol.find(protocol.randomise_all([5] * 400), confidence=Fraction(9, 10))
    assert len(doubts) == len(protocol.lengths) == 4
    tried = 2**2 + 3 * 4 * 2**2
    assert sum(doubts) / 4 * tried <= 0.1
    assert sum(doubts) / 4 * tried >= 0.05  # and not much less
    assert found.values.size == 4
