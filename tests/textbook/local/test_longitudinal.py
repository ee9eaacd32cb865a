"""Day after day: what is kept stays, what is fresh is fresh, and averaging a person's reports finds the kept noise."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.local import BitFlip, MemoisedOneBit, RandomisedResponse, Rappor
from discreet.stats import clopper_pearson

SURE = 1 - 1e-10
"""Of one interval: no test has more than eight of them, so that its false alarm is below 1e-9."""


def holds(successes: int, trials: int, chance: float) -> bool:
    """Whether the chance is within Clopper–Pearson at 1 − 1e-10."""
    low, high = clopper_pearson(successes, trials, SURE)
    return low <= chance <= high


def test_averaging_rappor_finds_the_memo_and_not_the_value() -> None:
    """After 300 reports of each of 1,000 people their memos are known; a quarter of the memos' bits are wrong.

    With fresh randomised response each day, the twin, everybody's value is known for sure. A majority of 300 reports
    is wrong with 1e-18 for each of 2,000 bits.
    """
    rappor = Rappor(2, "0.5", "0.25", "0.75")
    memos = rappor.memorise_all([1] * 1000)
    days = 300
    totals = sum(
        np.unpackbits(rappor.report_all(memos), axis=1, count=2, bitorder="little").astype(int) for _ in range(days)
    )
    averaged = totals > days / 2
    kept = np.unpackbits(memos, axis=1, count=2, bitorder="little").astype(bool)
    assert (averaged == kept).all()
    assert holds(int(kept[:, 1].sum()), 1000, 0.75)
    assert holds(int(kept[:, 0].sum()), 1000, 0.25)
    coin = RandomisedResponse(2, 2)
    naive = sum(coin.randomise_all(np.ones(1000, dtype=int)) for _ in range(days))
    assert (naive > days / 2).all()


def test_padding_stays_down() -> None:
    """Bits beyond the last value are never up, so that reports and memos are the same for every size."""
    rappor = Rappor(11, "0.5", "0.25", "0.75")
    memos = rappor.memorise_all([10] * 500)
    reports = rappor.report_all(memos)
    assert memos.shape == reports.shape == (500, 2)
    assert not ((memos | reports)[:, 1] & 0b11111000).any()


def test_rappor_keeps_parameters_on_its_grid() -> None:
    """Flips are rounded up, so that the loss of what is done is the loss that is stated."""
    rappor = Rappor(2, "1/3", "1/3", "2/3")
    assert rappor.f * 3 >= 1
    assert all(number * 2**17 % 1 == 0 for number in (rappor.f, rappor.p, rappor.q))
    assert float(rappor.f) == pytest.approx(1 / 3, abs=2**-15)


def test_memoised_answers_change_only_with_the_rounded_value() -> None:
    """The same rounded value gives the same answer on every day; each device rounds at a threshold of its own."""
    usage = MemoisedOneBit(0, 1000, 250, 1)
    memos = usage.memorise_all(4000)
    assert usage.points == memos.answers.shape[1] == 5
    first, again = (usage.report_all(memos, [400] * 4000) for _ in range(2))
    assert (first == again).all()
    moved = usage.report_all(memos, [401] * 4000)
    crossed = (400 + memos.offsets) // 250 != (401 + memos.offsets) // 250
    assert (moved == first)[~crossed].all()
    assert holds(int(crossed.sum()), 4000, 1 / 250)
    ends = usage.report_all(memos, [5000] * 4000)
    assert (ends == memos.answers[:, 4]).all()


def test_a_flip_hides_changes() -> None:
    """With a flip of 1/4 two reports of the same answer differ with probability 3/8; without it never."""
    usage = MemoisedOneBit(0, 10, 5, 1, flip="0.25")
    memos = usage.memorise_all(100_000)
    one, other = (usage.report_all(memos, np.zeros(100_000, dtype=int)) for _ in range(2))
    assert holds(int((one != other).sum()), 100_000, 3 / 8)
    with pytest.raises(InvalidArgument, match="without flips"):
        _ = MemoisedOneBit(0, 10, 5, 1).once


def test_a_mean_of_rounded_answers_is_that_of_the_values() -> None:
    """Rounding is right on average for every value: the mean over offsets of step·⌊(x + α)/step⌋ is x."""
    for x in range(23):
        assert sum(5 * ((x + alpha) // 5) for alpha in range(5)) == 5 * x


def test_bit_flip_answers_stay_and_devices_watch_all_buckets_alike() -> None:
    """Answers are kept by bucket; every bucket is watched by bits/size of the devices, none twice by one."""
    buckets = BitFlip(size=8, bits=3, epsilon=2)
    memos = buckets.memorise_all(20_000)
    assert (np.diff(np.sort(memos.watched, axis=1), axis=1) > 0).all()
    for count in np.bincount(memos.watched.reshape(-1), minlength=8).tolist():
        assert holds(count, 20_000, 3 / 8)
    today = np.arange(20_000) % 8
    assert (buckets.report_all(memos, today) == buckets.report_all(memos, today)).all()
    elsewhere = ~(memos.watched == 7).any(axis=1) & ~(memos.watched == 6).any(axis=1)
    moved = buckets.report_all(memos, np.full(20_000, 7)), buckets.report_all(memos, np.full(20_000, 6))
    assert (moved[0] == moved[1])[elsewhere].all()
    assert not (moved[0] == moved[1])[~elsewhere].all()


def test_as_many_values_as_devices() -> None:
    """Values without a device are refused, before anything is reported."""
    usage, buckets = MemoisedOneBit(0, 10, 5, 1), BitFlip(4, 2, 1)
    with pytest.raises(InvalidArgument, match="one value for each device"):
        usage.report_all(usage.memorise_all(3), [1, 2])
    with pytest.raises(InvalidArgument, match="one value for each device"):
        buckets.report_all(buckets.memorise_all(3), [1, 2])
