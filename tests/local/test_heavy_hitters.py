"""Heavy hitters: what many hold is found, what nobody holds isn't, and the counts' ± hold the truth."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from discreet.local import HeavyHitters
from discreet.local import heavy_hitters as room
from discreet.noise import uniform
from discreet.stats import chi_square_critical, clopper_pearson

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
    20 deviations above that. False alarm 1e-10 for the three intervals of 1 − 1e-13, by the exact law of each estimate:
    an error that is estimated is smaller where the count is.
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
    """A report is a level, a hash function and a bucket, whoever's it is; values of 62 bits are fine."""
    protocol = HeavyHitters(bits=62, epsilon=1)
    level, function, bucket = protocol.randomise(2**62 - 1)
    assert 0 <= level < len(protocol.lengths)
    assert 0 <= function < 2**62
    assert 0 <= bucket < protocol.hashing.buckets
