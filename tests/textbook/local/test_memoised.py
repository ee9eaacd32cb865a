"""Reports over several days: exact likelihood ratios between all sequences of values, against what is stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, prod

import pytest

from discreet.exact import exp
from discreet.local import BitFlip, MemoisedOneBit, Rappor

Days = tuple[int, ...]
Law = dict[tuple[object, ...], Fraction]
"""The probability of each sequence of reports; what isn't listed has none."""

Answers = Callable[[int], dict[object, Fraction]]
"""The law of the answer that is kept for a case."""


def reported(days: Days, kept: Answers, fresh: Callable[[object], dict[object, Fraction]]) -> Law:
    """The law of the reports of some days, by drawing one answer for each case and reporting it afresh on each day."""
    cases = sorted(set(days))
    law: Law = {}
    for drawn in product(*(kept(case).items() for case in cases)):
        memo = {case: answer for case, (answer, _) in zip(cases, drawn, strict=True)}
        chance = prod((mass for _, mass in drawn), start=Fraction(1))
        for reports in product(*(fresh(memo[day]).items() for day in days)):
            key = tuple(report for report, _ in reports)
            law[key] = law.get(key, Fraction(0)) + chance * prod((mass for _, mass in reports), start=Fraction(1))
    return {key: mass for key, mass in law.items() if mass}


def again(answer: object) -> dict[object, Fraction]:
    """The answer itself."""
    return {answer: Fraction(1)}


def ratio(one: Law, other: Law) -> Fraction | float:
    """How many times likelier a sequence of reports is under the one law than under the other, at the most."""
    assert sum(one.values()) == sum(other.values()) == 1
    return max(mass / other[key] if key in other else inf for key, mass in one.items())


def pattern(days: Sequence[int]) -> list[int]:
    """For each day the first day that is equal to it."""
    return [list(days).index(day) for day in days]


def bits(ups: Sequence[Fraction]) -> dict[object, Fraction]:
    """The law of independent bits."""
    strings = product((0, 1), repeat=len(ups))
    return {bit: prod((u if b else 1 - u for b, u in zip(bit, ups, strict=True)), start=Fraction(1)) for bit in strings}


ROUNDED = MemoisedOneBit(0, 2, 1, 1)
FLIPPED = MemoisedOneBit(0, 2, 1, 1, flip="0.25")
FLIP = BitFlip(4, 2, 1)
RAPPOR, MUTE = Rappor(3, "0.5", "0.25", "0.75"), Rappor(3, "0.5", 0, 1)


@cache
def of_points(days: Days) -> Law:
    """The memoised one-bit mean, of the points that values are rounded to."""
    return reported(days, lambda point: dict(enumerate(ROUNDED.answer.masses(point))), again)


@cache
def of_flipped(days: Days) -> Law:
    """The same, each report flipped afresh with 1/4."""
    wrong = FLIPPED.flip
    return reported(
        days,
        lambda point: dict(enumerate(FLIPPED.answer.masses(point))),
        lambda bit: {bit: 1 - wrong, 1 - int(str(bit)): wrong},
    )


@cache
def of_cases(days: Days) -> Law:
    """dBitFlip, of the cases of a device that watches two buckets: 0 for neither, 1 and 2 for each of them."""
    q = FLIP.other
    return reported(days, lambda case: bits([1 - q if case == bit + 1 else q for bit in range(FLIP.bits)]), again)


@cache
def of_memos(days: Days) -> Law:
    """RAPPOR with p = 0 and q = 1, which reports the memos as they are; a memo is kept for each value."""
    half = MUTE.f / 2
    return reported(days, lambda value: bits([1 - half if value == bit else half for bit in range(MUTE.size)]), again)


LAWS = {
    "one bit": (of_points, ROUNDED.loss_if_unchanged.epsilon),
    "bit flip": (of_cases, FLIP.loss_if_unchanged.epsilon),
    "rappor": (of_memos, MUTE.loss_if_unchanged.epsilon),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_loss_holds_where_days_are_equal_alike_and_nowhere_else(name: str) -> None:
    """All pairs of three days over three cases: ratios are below e^(ε·cases) for one pattern, and infinite otherwise.

    Exact: nothing is drawn. So 0, 1, 0 against 0, 1, 2 has no ε, and neither has 0, 0, 0 against 0, 0, 1.
    """
    law, epsilon = LAWS[name]
    for one, other in product(product(range(3), repeat=3), repeat=2):
        worst = max(ratio(law(one), law(other)), ratio(law(other), law(one)))
        if pattern(one) == pattern(other):
            assert worst <= exp(epsilon * len(set(one)), round_up=False, bits=200)
        else:
            assert worst == inf
    assert max(ratio(law((a,) * 3), law((b,) * 3)) for a, b in product(range(3), repeat=2)) >= exp(
        epsilon * Fraction(99, 100), round_up=True
    )


def test_a_flip_bounds_each_report_whatever_changes() -> None:
    """All pairs of three days over three points: at most `once` a report; more than the loss of unchanged values."""
    bound = exp(3 * FLIPPED.once.epsilon, round_up=True, bits=200)
    everything = list(product(range(3), repeat=3))
    worst = max(ratio(of_flipped(one), of_flipped(other)) for one, other in product(everything, repeat=2))
    assert worst <= bound
    constant = [(point,) * 3 for point in range(3)]
    kept = exp(FLIPPED.loss_if_unchanged.epsilon, round_up=False, bits=200)
    assert max(ratio(of_flipped(a), of_flipped(b)) for a, b in product(constant, repeat=2)) <= kept
    many = (0, 2) * 4
    flipped = ratio(of_flipped(many), of_flipped((0,) * 8))
    assert flipped > exp(2 * FLIPPED.loss_if_unchanged.epsilon, round_up=True)


def test_rappors_fresh_noise_does_not_hide_for_long_which_days_are_equal() -> None:
    """With p = 1/4 and q = 3/4, eight days of a value that changes each day against one that stays: beyond two memos.

    Only the bit of the second value is looked at; the ratio for all bits is at least as large.
    """
    rappor = Rappor(2, "0.75", "0.25", "0.75")
    half = rappor.f / 2

    def law(days: Days) -> Law:
        return reported(
            days,
            lambda value: {1: 1 - half, 0: half} if value == 1 else {1: half, 0: 1 - half},
            lambda bit: {1: rappor.q, 0: 1 - rappor.q} if bit else {1: rappor.p, 0: 1 - rappor.p},
        )

    changing, constant = law((0, 1) * 4), law((0,) * 8)
    assert ratio(changing, constant) > exp(2 * rappor.loss_if_unchanged.epsilon, round_up=True)
    assert ratio(law((1,) * 8), constant) <= exp(rappor.loss_if_unchanged.epsilon, round_up=False, bits=200)


def test_equal_buckets_are_not_equal_cases() -> None:
    """On a device that watches buckets 0 and 1, buckets 0, 1 against 2, 3: both change, but only one's case does."""

    def case(bucket: int) -> int:
        return (0, 1).index(bucket) + 1 if bucket in (0, 1) else 0

    moving, still = (tuple(case(bucket) for bucket in days) for days in ((0, 1), (2, 3)))
    assert ratio(of_cases(moving), of_cases(still)) == inf
