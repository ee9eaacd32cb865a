"""The sparse vector technique: its output law by summation, what that loses, and the variants that are known wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, fsum, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms.textbook import AboveThreshold
from discreet.privacy import PureDP, PureEvent
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from discreet.textbook.mechanisms.sparse_vector import Answer
from support.pmf import laplace_pmf
from support.twins import enough

ALARM = Fraction(1, 10**9)
Answers = Sequence[Answer]


def law(  # noqa: PLR0913 — each is a place where a known variant goes wrong
    answers: Answers,
    values: Sequence[int],
    threshold: int,
    *,
    s1: float,
    s2: float,
    s3: float = 0.0,
    telling: str = "only",
) -> float:
    """The probability of answers, by plain summation: the algorithm's text, term by term.

    A scale of 0 is no noise. `telling` may be "noisy", for the mistake of telling the very number that was compared.
    """
    rho = laplace_pmf(s1, reach=40) if s1 else {0: 1.0}
    nu = laplace_pmf(s2, reach=40) if s2 else {0: 1.0}
    at_least: dict[int, float] = {}
    running = 0.0
    for n in sorted(nu, reverse=True):
        running += nu[n]
        at_least[n] = running
    edge = max(nu)

    def passing(bar: int) -> float:
        return 0.0 if bar > edge else at_least[max(bar, -edge)]

    def factor(answer: Answer, value: int, bar: int) -> float:
        if answer is None:
            return passing(value - bar + 1)  # Pr[ν < bar − value], by symmetry
        if telling == "gap":
            return nu.get(answer + bar - value, 0.0)
        if telling == "noisy":
            return nu.get(answer - value, 0.0) * (answer >= bar)
        told = 1.0 if telling == "only" else exp(-abs(answer - value) / s3) * np.tanh(1 / (2 * s3))
        return passing(bar - value) * told

    total = []
    for noise, chance in rho.items():
        for answer, value in zip(answers, values, strict=False):
            chance *= factor(answer, value, threshold + noise)  # noqa: PLW2901 — a running product
        total.append(chance)
    return fsum(total)


def patterns(length: int, most: int) -> Iterator[list[Answer]]:
    """All answers "only" can give to so many numbers."""
    for bits in product((None, True), repeat=length):
        above = [place for place, bit in enumerate(bits) if bit]
        if len(above) < most:
            yield list(bits)
        elif above[most - 1] == length - 1 or not any(bits[above[most - 1] + 1 :]):
            yield list(bits[: above[most - 1] + 1])


def all_answers(length: int, most: int) -> list[list[Answer]]:
    """The same, each once."""
    return [list(answers) for answers in dict.fromkeys(tuple(answers) for answers in patterns(length, most))]


def mechanism(**changes: Any) -> AboveThreshold:
    """A small instance."""
    parts = {"threshold_scale": Fraction(3, 2), "scale": Fraction(2), "sensitivity": 1, "most": 2}
    return AboveThreshold(**(parts | changes))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_mass_is_the_algorithms_and_sums_to_one(most: int) -> None:
    """Each probability agrees with a summation by the text to ten digits; all of them together make 1."""
    values, alarm = [3, -1, 0, 2], mechanism(most=most)
    masses = [alarm.mass(answers, values, 1) for answers in all_answers(4, most)]
    assert masses == pytest.approx(
        [law(answers, values, 1, s1=1.5, s2=2.0) for answers in all_answers(4, most)], rel=1e-10
    )
    assert fsum(masses) == pytest.approx(1, rel=1e-12)


def test_masses_with_gaps_and_values_are_the_algorithms() -> None:
    """The same for what is told besides."""
    alarm = mechanism(telling="gap")
    for answers in ([None, 4, None], [0, None, 7], [3, 1], [None, None, None]):
        claimed = law(answers, [2, 0, 5], 1, s1=1.5, s2=2.0, telling="gap")
        assert alarm.mass(answers, [2, 0, 5], 1) == pytest.approx(claimed, rel=1e-10)
    valued = mechanism(telling="value", value_scale=Fraction(5, 2))
    claimed = law([3, None, -4], [2, 0, 5], 1, s1=1.5, s2=2.0, s3=2.5, telling="value")
    assert valued.mass([3, None, -4], [2, 0, 5], 1) == pytest.approx(claimed, rel=1e-10)


def neighbours(length: int, *, monotone: bool) -> list[tuple[int, ...]]:
    """All ways in which so many numbers can move by at most 1; upwards only if monotone."""
    return list(product((0, 1) if monotone else (-1, 0, 1), repeat=length))


def worst(chance: Any, values: Sequence[int], answers: Sequence[Answers], *, monotone: bool = False) -> float:
    """The greatest log ratio of any answers, between the values and any neighbours, either way."""
    here = [chance(each, values) for each in answers]
    found = 0.0
    for move in neighbours(len(values), monotone=monotone):
        there = [chance(each, [value + by for value, by in zip(values, move, strict=True)]) for each in answers]
        found = max(found, *(abs(log(p / q)) for p, q in zip(here, there, strict=True)))
    return found


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_no_answers_lose_more_than_is_declared(most: int, monotone: bool) -> None:
    """Over all neighbours of four numbers and all answers: at most ε; and most of it."""
    alarm = AboveThreshold.calibrate(1, 1, most=most, monotone=monotone)
    s1, s2 = float(alarm.threshold_scale), float(alarm.scale)
    chance = partial(lambda answers, values: law(answers, values, 0, s1=s1, s2=s2))
    found = worst(chance, [-6, 0, -2, 1], all_answers(4, most), monotone=monotone)
    assert 0.4 < found <= 1 + 1e-9


@pytest.mark.parametrize("monotone", [False, True])
def test_gaps_lose_all_that_is_declared_and_no_more(monotone: bool) -> None:
    """With the gap told, many numbers that are all below and rise, and one above that falls: ε within 1 %."""
    alarm = AboveThreshold.calibrate(1, 2, monotone=monotone, telling="gap")
    fall = 0 if monotone else -1
    before, after = [0] * 4000 + [8], [1] * 4000 + [8 + fall]
    answers: list[Answer] = [None] * 4000 + [40]
    ratio = log(alarm.mass(answers, before, 0) / alarm.mass(answers, after, 0))
    assert 1.98 < ratio <= 2 + 1e-9
    for gap in range(12):
        told: list[Answer] = [None, gap]
        for move in neighbours(2, monotone=monotone):
            moved = [value + by for value, by in zip([-1, 2], move, strict=True)]
            assert abs(log(alarm.mass(told, [-1, 2], 0) / alarm.mass(told, moved, 0))) <= 2 + 1e-9


def test_values_lose_no_more_than_is_declared() -> None:
    """A told value costs what its noise costs, and is charged for as often as it can be told."""
    alarm = AboveThreshold.calibrate(1, 3, most=2, telling="value")
    assert alarm.value_scale == Fraction(4, 3)
    answers: list[list[Answer]] = [[a, b] for a in (-9, 0, 9) for b in (-9, 3)] + [[None, 5], [4, None]]
    found = worst(lambda each, values: alarm.mass(each, values, 0), [0, 2], answers)
    assert 1.5 < found <= 3 + 1e-9


WRONG: dict[str, tuple[dict[str, Any], list[int], list[int], list[Answer]]] = {
    # what is wrong → how it is drawn, two neighbours, and answers that give them away; all claim ε = 1
    "no noise on the numbers": ({"s1": 2.0, "s2": 0.0}, [0, 1], [1, 0], [None, True]),
    "noise that doesn't grow with the number of answers": (
        {"s1": 2.0, "s2": 4.0},
        [0] * 8 + [1] * 8,
        [1] * 8 + [0] * 8,
        [None] * 8 + [True] * 8,
    ),
    "no noise on the threshold": ({"s1": 0.0, "s2": 4.0}, [0] * 30, [1] * 30, [None] * 30),
    "the number that was compared is told": (
        {"s1": 2.0, "s2": 4.0, "telling": "noisy"},
        [0] * 12 + [0],
        [1] * 12 + [1],
        [None] * 12 + [0],
    ),
    "half the noise on the numbers": ({"s1": 2.0, "s2": 1.0}, [0] * 6 + [1], [1] * 6 + [0], [None] * 6 + [True]),
}


@pytest.mark.parametrize("name", WRONG)
def test_variants_known_to_be_wrong_are_found_out(name: str) -> None:
    """Their laws, summed the same way, lose more than the ε = 1 they claim on some neighbours; ours doesn't there."""
    scales, one, other, answers = WRONG[name]
    pair = [law(answers, values, 0, **scales) for values in (one, other)]
    assert max(pair) > 0
    assert min(pair) == 0 or abs(log(pair[0] / pair[1])) > 1.05
    alarm = AboveThreshold.calibrate(1, 1, most=max(1, len([a for a in answers if a is not None])))
    told: list[Answer] = [None if answer is None else True for answer in answers]
    assert abs(log(alarm.mass(told, one, 0) / alarm.mass(told, other, 0))) <= 1 + 1e-9


def answered(alarm: AboveThreshold, claimed: AboveThreshold, draws: int) -> float:
    """The likelihood ratio of what a mechanism answers against what another one says it would."""
    seen = Counter(tuple(alarm.release(VALUES, 1)) for _ in range(draws))
    counts = np.array([seen.pop(tuple(each), 0) for each in all_answers(3, claimed.most)])
    assert not seen
    return likelihood_ratio(counts, chances(claimed))


VALUES = [1, -1, 3]


def chances(alarm: AboveThreshold) -> NDArray[np.float64]:
    """The probabilities of all answers about these."""
    return np.array([alarm.mass(each, VALUES, 1) for each in all_answers(3, alarm.most)])


@pytest.mark.long
def test_answers_fit_and_those_of_other_noise_do_not() -> None:
    """Likelihood ratio, false alarm 1e-9; half or three times a scale is found out but for 1e-10."""
    alarm, critical = mechanism(), likelihood_ratio_critical(len(all_answers(3, 2)), ALARM)
    most = 0
    for twin in (mechanism(scale=Fraction(1)), mechanism(threshold_scale=Fraction(9, 2))):
        draws = enough(chances(alarm), chances(twin), ALARM)
        assert answered(twin, alarm, draws) > critical
        most = max(most, draws)
    assert answered(alarm, alarm, most) <= critical


def gap_statistic(alarm: AboveThreshold, claimed: AboveThreshold, draws: int) -> float:
    """The same for the gap of one number far above: the law of ν − ρ, in 41 bins."""
    gaps = Counter(max(30, min(70, alarm.release([50], 0)[0] or 0)) for _ in range(draws))
    chances = [claimed.mass([gap], [50], 0) for gap in range(1000)]
    binned = np.array([sum(chances[:31]), *chances[31:70], sum(chances[70:])])
    return likelihood_ratio(np.array([gaps[gap] for gap in range(30, 71)]), binned / binned.sum())


@pytest.mark.soak
def test_gaps_fit_and_those_of_noise_three_percent_off_do_not() -> None:
    """Likelihood ratio, false alarm 1e-9, of 600,000 gaps; scales 3 % off are 150 nats away or more."""
    alarm = AboveThreshold(threshold_scale=Fraction(4), scale=Fraction(4), sensitivity=1, telling="gap")
    twin = AboveThreshold(threshold_scale=Fraction(97, 25), scale=Fraction(97, 25), sensitivity=1, telling="gap")
    critical = likelihood_ratio_critical(41, ALARM)
    assert gap_statistic(alarm, alarm, 600_000) <= critical
    assert gap_statistic(twin, alarm, 600_000) > critical


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("telling", ["only", "gap", "value"])
@pytest.mark.parametrize("most", [1, 5])
def test_calibration_is_exact(monotone: bool, telling: Any, most: int) -> None:
    """The loss is the ε asked for, not a digit more or less."""
    alarm = AboveThreshold.calibrate(3, "0.7", most=most, monotone=monotone, telling=telling)
    assert alarm.loss == PureDP("0.7")
    assert alarm.event == PureEvent(epsilon=Fraction(7, 10))


def test_it_stops_after_as_many_as_are_paid_for() -> None:
    """No answer without its debit: the next question is refused, and nothing shows the threshold's noise."""
    watch = AboveThreshold.calibrate(1, 1, most=2).watch(threshold=-(10**6))
    assert (watch.ask(0), watch.ask(5)) == (True, True)
    assert watch.finished
    with pytest.raises(InvalidArgument, match="paid for"):
        watch.ask(0)
    assert repr(watch) == "<Watch for -1000000, 2 of 2 found above>"
    assert AboveThreshold.calibrate(1, 1, most=2).release([10**6] * 5, 0) == [True, True]


def test_comparisons_are_right_beyond_the_radius() -> None:
    """Of 1,000 runs of ten numbers beyond a radius of 90 %, at most 100 go wrong: 200 is eleven deviations away.

    In truth five, so the false alarm is below 1e-99.
    """
    alarm = AboveThreshold.calibrate(1, 1)
    radius = alarm.radius("0.9", 10)
    wrong = sum(alarm.release([-radius - 1] * 9 + [radius + 1], 0) != [None] * 9 + [True] for _ in range(1000))
    assert wrong < 200
    assert alarm.radius("0.9", 1000) > radius > alarm.radius("0.5", 10)


@pytest.mark.parametrize(("confidence", "questions"), [("0.9", 1), ("0.95", 10), ("0.999", 1000)])
def test_the_radius_shares_the_doubt_as_stated(confidence: str, questions: int) -> None:
    """Half of it for the threshold's noise, the rest in equal parts: the least reaches that each exceeds so rarely."""
    alarm = AboveThreshold.calibrate(1, 1)
    doubt = 1 - float(confidence)

    def reach(scale: Fraction, chance: float) -> int:
        p = exp(-1 / float(scale))
        return next(r for r in range(10**6) if 2 * p ** (r + 1) / (1 + p) <= chance)

    parts = reach(alarm.threshold_scale, doubt / 2) + reach(alarm.scale, doubt / 2 / questions)
    assert alarm.radius(confidence, questions) == parts


@pytest.mark.parametrize(
    "wrong",
    [
        {"sensitivity": 0},
        {"most": 0},
        {"most": 1.0},
        {"scale": 0},
        {"threshold_scale": Fraction(1, 2**11)},
        {"telling": "all"},
        {"telling": "value"},
        {"value_scale": Fraction(1)},
    ],
    ids=str,
)
def test_other_thresholds_are_refused(wrong: dict[str, Any]) -> None:
    """Out of range, or a value without a price."""
    with pytest.raises(InvalidArgument):
        mechanism(**wrong)


@pytest.mark.parametrize(
    "answers",
    [[None], [True], [None, True], [True, True, True], [3, None], [None, None, None, None], [True, True, None]],
)
def test_masses_are_of_possible_answers(answers: list[Answer]) -> None:
    """Too few, too many, or of another kind: that isn't a probability of 0 but a mistake."""
    with pytest.raises(InvalidArgument):
        mechanism().mass(answers, [0, 0, 0], 0)
