"""Heavy hitters: what many hold is found, what nobody holds isn't, and the counts' ± hold the truth."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.exact.rational import Rationalizable
from discreet.local import Estimate, HeavyHitters
from discreet.noise import uniform
from discreet.stats import chi_square_critical, clopper_pearson
from discreet.textbook.local import heavy_hitters as room

SURE = 1 - 1e-9
FAR = 1 - Fraction(1, 10**13)
ALARM = 2.5e-10
"""A quarter of 1e-9, for each of four statements."""

PLANTED = {0xDECAFBAD: 6000, 0x0BADF00D: 5000, 0xDECAFBEE: 4000}
"""Two of them share 24 of their 32 bits."""


def held() -> list[int]:
    """What 20,000 people hold: the planted values, and values that are each one person's."""
    planted = [value for value, people in PLANTED.items() for _ in range(people)]
    return planted + uniform(2**32, size=5000).tolist()


def test_frequent_values_are_found_and_no_other() -> None:
    """At ε = 4 the planted values are found in their order of counts, and nothing else but with 1e-9.

    A level has 2,500 people, so that 500 hold the rarest planted prefix; 90 or so are enough, and half of them are
    20 deviations above that. False alarm 3e-13 for the three intervals.
    """
    protocol = HeavyHitters(bits=32, epsilon=4, step=4, keep=8)
    found = protocol.find(protocol.randomise_all(held()), confidence=SURE)
    assert set(found.values.tolist()) == set(PLANTED)
    truth = np.array([PLANTED[value] for value in found.values.tolist()])
    assert (np.abs(found.estimate.values - truth) <= found.estimate.radius(FAR)).all()
    assert found.estimate.users == 20_000
    assert found.estimate.values.tolist() == sorted(found.estimate.values.tolist(), reverse=True)


def test_without_a_threshold_junk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that lets everything through finds values that nobody holds; the right one none, but for 1e-9."""
    protocol = HeavyHitters(bits=24, epsilon=1, step=8, keep=8)
    reports = protocol.randomise_all(uniform(2**24, size=20_000))
    assert protocol.find(reports, confidence=SURE).values.size == 0
    monkeypatch.setattr(room, "least_support", lambda *_: 0)
    assert protocol.find(reports, confidence=SURE).values.size == 8


def test_least_support_is_proved() -> None:
    """By summing the binomial's tail exactly: never above the doubt, and within twice the deviations of the least."""
    for users, chance in ((40, Fraction(1, 8)), (200, Fraction(1, 3)), (3, Fraction(1, 2))):
        for doubt in (1e-2, 1e-6):
            least = room.least_support(users, float(chance), doubt)

            def tail(start: int, users: int = users, chance: Fraction = chance) -> Fraction:
                ways = (comb(users, k) * chance**k * (1 - chance) ** (users - k) for k in range(start, users + 1))
                return sum(ways, start=Fraction(0))

            assert tail(least) <= doubt
            assert least == users + 1 or tail(least - 8) > doubt or least < 8


def test_counts_cover_and_are_unbiased() -> None:
    """1,500 runs of a single planted value on two levels: coverage within 94–97 %, mean error 0; false alarm 1e-9.

    Twins with two thirds of the ±, and with four tenths of an error too much, are nine deviations beyond what passes.
    """
    protocol = HeavyHitters(bits=2, epsilon=4, step=1, keep=4)
    values = np.repeat([3, 0], [500, 300])
    off, errors = [], []
    for _ in range(1500):
        found = protocol.find(protocol.randomise_all(values))
        place = found.values.tolist().index(3)
        off.append(float(found.estimate.values[place]) - 500)
        errors.append(float(found.estimate.errors[place]))
    amounts, sizes = np.array(off), np.array(errors)

    def coverage(scale: float) -> tuple[float, float]:
        return clopper_pearson(int((np.abs(amounts) <= 1.959964 * scale * sizes).sum()), 1500, 1 - ALARM)

    low, high = coverage(1)
    assert low <= 0.97
    assert high >= 0.94
    assert coverage(2 / 3)[1] < 0.94
    spread = float((sizes**2).sum())
    assert amounts.sum() ** 2 / spread <= chi_square_critical(1, ALARM)
    assert (amounts + 0.4 * sizes).sum() ** 2 / spread > chi_square_critical(1, ALARM)


@pytest.mark.parametrize(("bits", "step", "lengths"), [(32, 8, (8, 16, 24, 32)), (7, 3, (1, 4, 7)), (2, 5, (2,))])
def test_levels_end_at_the_values(bits: int, step: int, lengths: tuple[int, ...]) -> None:
    """Prefixes grow by `step` bits up to the values themselves; the first is what remains."""
    assert HeavyHitters(bits, 1, step).lengths == lengths


def test_a_persons_report() -> None:
    """A report is a level, a hash function and a bucket, whoever's it is; from 31 bits the function is two numbers."""
    for bits, words in ((30, 1), (31, 2), (62, 2)):
        protocol = HeavyHitters(bits=bits, epsilon=1)
        level, *function, bucket = protocol.randomise(2**bits - 1)
        assert 0 <= level < len(protocol.lengths)
        assert len(function) == words
        assert all(0 <= word < 2**62 for word in function)
        assert 0 <= bucket < protocol.hashing.buckets


HELD = (0xDECAF00134AF000, 0xBEEF00000000000)
CONFUSED = 0xBEEF0000000095A
"""By one public function for all people, into numbers below 2^31 − 1, it was the same as the first of those held."""


def test_no_value_is_taken_for_another() -> None:
    """Of 62 bits: two values that 3,000 people each hold are found, and none that nobody does.

    Half of a level's 1,000 people hold either prefix, where some 100 are enough: that a level is short of it has 1e-60.
    What nobody holds is found with 1e-9; it was with certainty where all people's functions confused the same values.
    """
    protocol = HeavyHitters(bits=62, epsilon=4, step=12, keep=16)
    reports = protocol.randomise_all(np.repeat(HELD, 3000))
    assert set(protocol.find(reports, confidence=SURE).values.tolist()) == set(HELD)
    last = reports[reports[:, 0] == len(protocol.lengths) - 1, 1:]
    supports = protocol.hashing.supports(last, np.array([*HELD, CONFUSED]))
    low, high = clopper_pearson(int(supports[2]), len(last), SURE)
    assert low <= 1 / protocol.hashing.buckets <= high
    assert supports[:2].min() / len(last) > high


def support_law(users: int, holders: int, reports: int, own: float, other: float) -> NDArray[np.float64]:
    """The law of a value's support, given how many are on the level: by summing over how many of them hold it."""

    def coins(count: int, chance: float) -> NDArray[np.float64]:
        return np.array([comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)])

    law = np.zeros(reports + 1)
    for here in range(min(holders, reports) + 1):
        ways = comb(holders, here) * comb(users - holders, reports - here) / comb(users, reports)
        law += ways * np.convolve(coins(here, own), coins(reports - here, other))
    return law


CASES = [(120, 24, 40, 2), (90, 6, 30, 4), (60, 45, 30, 1), (40, 0, 40, 4), (100, 10, 100, 5)]


@pytest.mark.parametrize(("users", "holders", "reports", "epsilon"), CASES)
@pytest.mark.parametrize("confidence", [Fraction(1, 3), SURE], ids=str)
def test_intervals_are_proved(users: int, holders: int, reports: int, epsilon: int, confidence: Rationalizable) -> None:
    """By summing the law of the support: the true count is missed at most as often as stated, at any confidence.

    A twin whose error is estimated at the estimate misses it with 5e-4 instead of 1e-9, in the last of the cases.
    Supports that come up with less than 1e-14 are counted as misses.
    """
    protocol = HeavyHitters(bits=8, epsilon=epsilon, step=8)
    law = support_law(users, holders, reports, float(protocol.law.high), 1 / protocol.hashing.buckets)
    likely = np.flatnonzero(law > 1e-14)
    found = protocol.counts(likely, reports, users)

    def missed(low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
        holds = (low <= holders) & (holders <= high)
        return 1 - float(law[likely[holds]].sum())

    low, high = found.interval(confidence)
    assert missed(low, high) <= (1 - float(confidence)) * (1 + 1e-3)
    assert (low <= np.clip(found.values, 0, users) + 1e-9).all()
    assert (np.clip(found.values, 0, users) - 1e-9 <= high).all()
    assert (found.values - found.radius(confidence) <= low + 1e-9).all()
    assert float(law[likely] @ found.values) == pytest.approx(holders, abs=1e-6)
    twin = Estimate(found.values, found.errors, found.users)
    assert (epsilon, confidence) != (5, SURE) or missed(*twin.interval(confidence)) > 1e-4


def test_no_value_no_interval() -> None:
    """Where nothing is found there are no intervals either."""
    low, high = HeavyHitters(bits=8, epsilon=1).counts(np.zeros(0, dtype=np.int64), 100, 200).interval()
    assert low.shape == high.shape == (0,)
