"""The sequential test of a share that other tests use: its chances are summed up, and are what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from math import log

import numpy as np
import pytest

from support.sequential import Claim, all_stand, stands

CLAIMS = [
    Claim(0.95, wrong=0.91, alarm=Fraction(1, 10**11)),
    Claim(0.97, wrong=0.995, alarm=Fraction(1, 10**11)),
    Claim(0.94, wrong=0.6, alarm=Fraction(1, 10**12)),
    Claim(0.95, wrong=0.9, alarm=Fraction(1, 10**11), miss=Fraction(1, 10**10)),
]


def chances(claim: Claim, truth: float) -> tuple[float, float, float]:
    """With which probability a claim is rejected, with which it stands, and after how many trials on average."""
    decided, trials = {True: 0.0, False: 0.0}, 0.0
    waiting, fewest = np.ones(1), 0  # the chance of each number of hits, and the least of these
    for number in count(1):
        trials += waiting.sum()
        waiting = np.append(waiting * (1 - truth), 0) + np.append(0, waiting * truth)
        while len(waiting) and (verdict := claim.verdict(fewest, number)) is not None:
            decided[verdict] += waiting[0]
            waiting, fewest = waiting[1:], fewest + 1
        while len(waiting) and (verdict := claim.verdict(fewest + len(waiting) - 1, number)) is not None:
            decided[verdict] += waiting[-1]
            waiting = waiting[:-1]
        if waiting.sum() < 1e-16:
            break
    return decided[False], decided[True], trials


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_false_alarms_and_misses_are_as_rare_as_stated(claim: Claim) -> None:
    """And not rarer by more than the last trial can make of it."""
    alarm, _, _ = chances(claim, claim.share)
    _, missed, _ = chances(claim, claim.wrong)
    assert claim.alarm / 5 <= alarm <= claim.alarm
    assert claim.miss / 5 <= missed <= claim.miss


def test_it_takes_few_trials() -> None:
    """Where the truth lies between what is claimed and what is best: a tenth of the 3,000 of a fixed number."""
    assert max(chances(CLAIMS[0], 0.955)[2], chances(CLAIMS[1], 0.955)[2]) < 350


def test_a_claim_that_is_looked_at_as_if_once_is_found_out() -> None:
    """The wrong twin: bounds of a fixed number of trials, looked at after each of them, reject too often."""

    class Peeking(Claim):
        def verdict(self, hits: int, trials: int) -> bool | None:
            """Hoeffding's bound for this very number of trials."""
            off = self.share * trials - hits
            if off > 0 and 2 * off**2 / trials >= -log(self.alarm):
                return False
            return super().verdict(hits, trials) or None

    claim = Claim(0.5, wrong=0.45, alarm=Fraction(1, 100))
    assert chances(claim, 0.5)[0] <= 0.01
    assert chances(Peeking(0.5, wrong=0.45, alarm=Fraction(1, 100)), 0.5)[0] > 0.01


def test_several_claims_stand_together() -> None:
    """Each is looked at until it is clear; one that is rejected is enough, and too few trials are an error."""
    least, most = Claim(0.5, wrong=0.3, alarm=Fraction(1, 10**9)), Claim(0.7, wrong=0.9, alarm=Fraction(1, 10**9))

    def alternating() -> Iterator[bool]:
        """Three of five."""
        yield from (number % 5 < 3 for number in count())

    always, never = [True] * 1_000, [False] * 1_000
    assert stands(alternating(), least, most)
    assert not stands(always, least, most)
    assert not stands(never, least, most)
    assert stands(always, least)
    with pytest.raises(AssertionError, match="too few"):
        stands([True, False] * 2, least)


def test_a_claim_stands_of_all_things_or_not() -> None:
    """Each is looked at by itself: one that happens too seldom is enough, beside others that happen often."""
    least = Claim(0.5, wrong=0.3, alarm=Fraction(1, 10**9))
    assert all_stand([(True, number % 5 < 3) for number in range(1_000)], least)
    assert not all_stand([(True, number % 5 < 1) for number in range(1_000)], least)
    with pytest.raises(AssertionError, match="too few"):
        all_stand([(True, False)] * 4, least)
