"""Systems that are named for it: Apple's sketches, Microsoft's telemetry, Google's RAPPOR, on invented people.

Truths lie in intervals of 7.4 standard errors, which are normal ones: one in 1e13 doesn't hold its truth. Measured over
hundreds of runs, truths are a standard error away to a few percent, and the fixed salts of the sketches move a count by
0.4 of them at the most: with that the 200 intervals of a test raise a false alarm with less than 1e-9.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.local import (
    BitFlip,
    CountMeanSketch,
    HadamardCountMeanSketch,
    HeavyHitters,
    MemoisedOneBit,
    OneBitMean,
    Rappor,
    fingerprints,
)
from discreet.noise import uniform
from discreet.privacy import PureDP

SURE = 1 - 1e-9
FAR = 1 - Fraction(1, 10**13)


def test_apples_emoji() -> None:
    """Count-mean sketch at Apple's ε = 4 and width 1,024, with fewer hashes: which emoji are popular, on one day.

    The unit is a person-day: a device sends one report a day, so a day's reports cost ε = 4 and a year's 1,460.
    A person who reports every day isn't protected by what is promised for a day.
    """
    emoji = ["😂", "❤", "😭", "😍", "😘", "💀", "😊", "👍", "🙄", "🎉"]
    people = [9000, 6000, 4500, 3000, 2500, 2000, 1200, 900, 600, 300]
    items = fingerprints(emoji, b"emoji")
    sketch = CountMeanSketch(epsilon=4, hashes=1024, width=1024, salt=b"emoji")
    estimate = sketch.estimate(sketch.randomise_all(np.repeat(items, people)), items)
    assert (np.abs(estimate.values - people) <= estimate.radius(FAR)).all()
    assert [emoji[place] for place in np.argsort(-estimate.values)[:3]] == emoji[:3]
    assert PureDP(365 * sketch.loss.epsilon) == PureDP(1460)
    typed_by_nobody = sketch.estimate(sketch.randomise_all(np.repeat(items, people)), fingerprints(["🦄"], b"emoji"))
    assert abs(typed_by_nobody.values[0]) <= typed_by_nobody.radius(FAR)[0]


def test_apples_one_bit_sketch() -> None:
    """Hadamard count-mean sketch at ε = 4: domains that crash, from one private bit a person."""
    domains = [f"site{number}.example" for number in range(200)]
    items = fingerprints(domains, b"domains")
    visits = np.concatenate([np.repeat(items[:3], [9000, 6000, 3000]), items[uniform(200, size=12_000)]])
    sketch = HadamardCountMeanSketch(epsilon=4, hashes=1024, width=1024, salt=b"domains")
    reports = sketch.randomise_all(visits)
    assert set(reports[:, 2].tolist()) == {0, 1}
    estimate = sketch.estimate(reports, items)
    assert np.argsort(-estimate.values)[:3].tolist() == [0, 1, 2]
    truth = np.bincount(np.searchsorted(np.sort(items), visits), minlength=200)[np.argsort(np.argsort(items))]
    assert (np.abs(estimate.values - truth) <= estimate.radius(FAR)).all()


def test_apples_new_words() -> None:
    """Words nobody listed: heavy hitters among all strings of six letters."""

    def number(word: str) -> int:
        return int.from_bytes(word.encode(), "big")

    words = {"yolooo": 9000, "bruhhh": 7000, "rizzzz": 5000}
    held = [number(word) for word, people in words.items() for _ in range(people)]
    held += [number("".join(map(chr, letters))) for letters in (97 + uniform(26, size=(3000, 6))).tolist()]
    protocol = HeavyHitters(bits=48, epsilon=4, step=8, keep=16)
    found = protocol.find(protocol.randomise_all(held), confidence=SURE)
    assert {value.to_bytes(6, "big").decode() for value in found.values.tolist()} == set(words)


def test_microsofts_telemetry() -> None:
    """Minutes an app was used, every six hours of a week: mean by memoised one-bit answers, histogram by dBitFlip.

    A person whose usage never changes has told what one answer tells, however many days they report; others may tell
    on which days theirs did.
    """
    people = 20_000
    usual = uniform(181, size=people)
    usage = MemoisedOneBit(lower=0, upper=360, step=90, epsilon=1)
    buckets = BitFlip(size=12, bits=4, epsilon=1)
    answers, watching = usage.memorise_all(people), buckets.memorise_all(people)
    for _ in range(3):
        today = np.clip(usual + uniform(11, size=people) - 5, 0, 359)
        mean = usage.estimate(usage.report_all(answers, today))
        assert abs(float(mean.values) - today.mean()) <= float(mean.radius(FAR))
        histogram = buckets.estimate(watching.watched, buckets.report_all(watching, today // 30))
        truth = np.bincount(today // 30, minlength=12)
        assert (np.abs(histogram.values - truth) <= histogram.radius(FAR)).all()
    assert usage.loss_if_unchanged == PureDP(1) == buckets.loss_if_unchanged
    fresh = OneBitMean(0, 360, 1)
    assert PureDP(28 * fresh.loss.epsilon) == PureDP(28)


def test_googles_rappor() -> None:
    """Home pages of Chrome users, of a public list of ten: counts from one report each, at the paper's f, p and q.

    The first two counts are seven deviations of their difference apart: they change places with 1e-12.
    """
    people = np.array([16_000, 8000, 4000, 2000, 2000, 2000, 2000, 2000, 1000, 1000])
    rappor = Rappor(size=10, f="0.5", p="0.5", q="0.75")
    memos = rappor.memorise_all(np.repeat(np.arange(10), people))
    for _ in range(2):
        estimate = rappor.estimate(rappor.report_all(memos))
        assert (np.abs(estimate.values - people) <= estimate.radius(FAR)).all()
        assert int(estimate.values.argmax()) == 0
    assert rappor.once.epsilon < rappor.loss_if_unchanged.epsilon < 2.2
