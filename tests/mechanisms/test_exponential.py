"""The exponential mechanism: what it costs, how far below the best it chooses, and what `dp.exponential` refuses."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.accounting import charge_of
from discreet.errors import InvalidArgument
from discreet.mechanisms import Choice, Exponential, exponential
from discreet.mechanisms.exponential import epsilon_for
from discreet.privacy import ExponentialEvent, PureDP, rho_of_range
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.choices import softmax
from support.twins import enough

ALARM = Fraction(1, 10**9)
epsilons = st.fractions(Fraction(1, 1000), 20)


@given(epsilons, st.fractions(Fraction(1, 10**6), 10**6), st.booleans())
def test_calibration_is_exact(epsilon: Fraction, sensitivity: Fraction, monotone: bool) -> None:
    """The textbook's factor, exp(ε·score/2Δ), or exp(ε·score/Δ) for monotone scores; the loss is the ε asked for."""
    mechanism = Exponential.calibrate(sensitivity, epsilon, monotone=monotone)
    assert mechanism.rate == epsilon / (sensitivity if monotone else 2 * sensitivity)
    assert mechanism.loss == PureDP(epsilon)
    assert mechanism.event == ExponentialEvent(epsilon=epsilon)


@given(st.fractions(Fraction(1, 10**6), 100), st.fractions(Fraction(1, 50), 1))
@example(Fraction(1, 3), Fraction(1))
@example(Fraction(25, 3), Fraction(1))  # where it costs ε itself
def test_many_selections_cost_no_more_than_their_rho(rho: Fraction, share: Fraction) -> None:
    """The ε of all of them, each at most a share of it, is the greatest to 39 binary digits, and never above."""
    epsilon = epsilon_for(rho, share)
    assert rho_of_range(share * epsilon) <= share * rho
    more = epsilon * (1 + Fraction(1, 2**38))
    assert rho_of_range(share * more) > share * rho


@given(st.fractions(Fraction(1, 10**6), 100))
def test_rho_is_used_up_and_not_exceeded(rho: Fraction) -> None:
    """What is charged is at most the ρ asked for, and short of it by less than 10⁻¹¹."""
    charged = charge_of(Exponential.for_rho(3, rho).event).rho
    assert charged is not None
    assert rho * (1 - Fraction(1, 10**11)) <= charged <= rho


def test_a_rho_buys_more_than_by_the_simple_bound() -> None:
    """By ε²/8, ρ = 1/8 would be ε = 1 and ρ = 2 would be ε = 4."""
    assert 1 < Exponential.for_rho(1, Fraction(1, 8)).epsilon < Fraction(101, 100)
    assert Exponential.for_rho(1, 2).epsilon > Fraction(22, 5)


def test_masses_of_scores_that_lie_far_apart() -> None:
    """The worst have none, and no power of e overflows."""
    assert Exponential.calibrate(1, 2).masses([10**6, 0, -(10**9)]) == [1, 0, 0]


SCORES = [0, 1, 3]
MOVES = (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(1))


def greatest_log_ratio(mechanism: Exponential, *, one_way: bool) -> float:
    """Over all ways to move three scores by at most 1, up only or both ways."""
    worst = 0.0
    for moves in product(*[[move for move in MOVES if move >= 0 or not one_way]] * 3):
        moved = [score + move for score, move in zip(SCORES, moves, strict=True)]
        pairs = zip(softmax(SCORES, mechanism.rate), softmax(moved, mechanism.rate), strict=True)
        worst = max(worst, *(abs(log(p / q)) for p, q in pairs))
    return worst


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_no_option_gives_away_more_than_the_loss(epsilon: float) -> None:
    """Summed exactly: at most ε where scores move as declared, and above ε where they aren't monotone as declared."""
    plain, monotone = (Exponential.calibrate(1, epsilon, monotone=monotone) for monotone in (False, True))
    assert 0.6 * epsilon <= greatest_log_ratio(plain, one_way=False) <= epsilon
    assert 0.4 * epsilon <= greatest_log_ratio(monotone, one_way=True) <= epsilon
    assert greatest_log_ratio(monotone, one_way=False) > epsilon


def test_choices_fit_and_those_at_another_epsilon_do_not() -> None:
    """Single choices have the stated probabilities: false alarm 1e-9; a twin 20 % off is found out but for 1e-10."""
    scores = [Fraction(0), Fraction(1, 2), Fraction(2), Fraction(-1)]
    claimed, wrong = (np.array(softmax(scores, rate)) for rate in (Fraction(1), Fraction(6, 5)))
    draws = enough(claimed, wrong, ALARM)

    def statistic(epsilon: Fraction) -> float:
        mechanism = Exponential.calibrate(1, epsilon)
        chosen = Counter(mechanism.choose(scores) for _ in range(draws))
        return likelihood_ratio(np.array([chosen[i] for i in range(len(scores))]), claimed)

    critical = likelihood_ratio_critical(len(scores), ALARM)
    assert statistic(Fraction(2)) <= critical
    assert statistic(Fraction(12, 5)) > critical


def test_weights_stand_for_equal_options() -> None:
    """An entry of weight 0 is never chosen; one that stands for a million poor options outweighs a good one.

    False alarm 1e-10.
    """
    mechanism = Exponential.calibrate(1, 2)
    assert {mechanism.choose([0, 50, 0], [1, 0, 2]) for _ in range(200)} == {0, 2}
    assert [mechanism.choose([0, -1], [1, 10**12]) for _ in range(20)] == [1] * 20


@given(st.integers(2, 10**6), st.integers(1, 999), st.fractions(Fraction(1, 100), 10))
def test_the_radius_holds_for_the_worst_scores_and_is_near(options: int, thousandths: int, epsilon: Fraction) -> None:
    """All others just beyond it are chosen with probability at most 1 − c; 1 % nearer, with more than that."""
    mechanism, confidence = Exponential.calibrate(1, epsilon), Fraction(thousandths, 1000)
    radius = mechanism.radius(confidence, options)

    def missed(at: Fraction) -> float:
        weight = (options - 1) * exp(-float(mechanism.rate * at))
        return weight / (1 + weight)

    assert missed(radius) <= (1 - float(confidence)) * (1 + 1e-9)
    assert radius == 0 or missed(radius * Fraction(99, 100)) > 1 - float(confidence)
    assert float(radius) <= log(options / (1 - float(confidence))) / float(mechanism.rate)  # Theorem 3.11


def test_chosen_scores_lie_within_the_radius_as_often_as_stated() -> None:
    """Against the worst scores, 10 % of 5,000 choices miss a radius of 90 %; 300 in 5,000 is 9 standard deviations.

    False alarm below 1e-18.
    """
    mechanism = Exponential.calibrate(1, 1)
    radius = mechanism.radius("0.9", 50)
    scores = [Fraction(0), *[-radius - Fraction(1, 1000)] * 49]
    missed = sum(mechanism.choose(scores) != 0 for _ in range(5000))
    assert 300 < missed < 700


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0},
        {"rate": -1},
        {"spread": 0},
        {"total": Fraction(1, 2)},
        {"rate": float("nan")},
        {"rate": Fraction(1, 3**400)},
        {"rate": Fraction(1, 3**300), "total": 1 + Fraction(1, 7**170)},
    ],
    ids=repr,
)
def test_other_mechanisms_are_refused(wrong: dict[str, Any]) -> None:
    """What would cost nothing, or can't be accounted for."""
    with pytest.raises(InvalidArgument):
        Exponential(**({"rate": Fraction(1), "spread": Fraction(1), "total": Fraction(1)} | wrong))


@pytest.mark.parametrize(("confidence", "options"), [(0, 5), (1, 5), ("x", 5), (0.9, 0), (0.9, 1.5), (0.9, True)])
def test_a_radius_needs_a_confidence_and_options(confidence: Any, options: Any) -> None:
    """Strictly between 0 and 1, and one option at least."""
    with pytest.raises(InvalidArgument):
        Exponential.calibrate(1, 1).radius(confidence, options)


@pytest.mark.parametrize(
    "scores",
    [
        [0, 10**9, 5],
        (0.0, 1e300, -1e300),
        np.array([1.5, 1e6, 2.5]),
        pd.Series([1, 10**6, 3]),
        [0, Decimal(10**6), 0.5],
    ],
    ids=repr,
)
def test_options_are_chosen_by_scores_of_any_numbers(scores: Any) -> None:
    """Ints, floats, decimals, arrays and series; the far best is chosen, and comes back as it was given."""
    choice = exponential(["low", {"best": 1}, "mid"], scores, sensitivity=1, epsilon=1)
    assert choice.value == {"best": 1}
    assert choice.loss == PureDP(1)


def test_a_choice_says_how_good_it_is() -> None:
    """Value, radius and loss in words."""
    choice = exponential(range(100), [0] * 99 + [1000], sensitivity=1, epsilon="0.5")
    assert str(choice) == "99, at most 30.2 below the best score (95 %)"
    assert repr(choice) == "<Choice 99, at most 30.2 below the best score (95 %), ε = 0.5>"
    assert choice.radius(0.5) == pytest.approx(log(99) / 0.25)
    assert Choice(value="x", options=1, mechanism=choice.mechanism).radius() == 0


def test_floats_are_taken_as_they_are() -> None:
    """Scores that differ in the last bit of a large number differ by that, not by nothing and not by much."""
    values = Counter(exponential("ab", [2.0**60, 2.0**60 + 256], sensitivity=32, epsilon=1).value for _ in range(200))
    assert values["b"] > 150  # e^4 to 1: 196 are expected, 150 or fewer have probability below 1e-40


SECRET = 987654321.125


@pytest.mark.parametrize(
    ("options", "scores"),
    [
        ([], []),
        (["a"], []),
        (["a", "b"], [SECRET]),
        (["a"], [SECRET, 1]),
        (["a"], SECRET),
        (["a", "b"], [SECRET, float("nan")]),
        (["a", "b"], [SECRET, float("inf")]),
        (["a", "b"], np.array([SECRET, np.nan])),
        (["a", "b"], [SECRET, None]),
        (["a", "b"], [SECRET, "2"]),
        (["a", "b"], [SECRET, True]),
        (["a", "b"], [[SECRET], [1]]),
        ("ab", [Fraction(SECRET), Decimal("NaN")]),
    ],
    ids=repr,
)
def test_bad_scores_are_refused_without_being_quoted(options: Any, scores: Any) -> None:
    """Nothing to choose from, lengths that differ, and what is no finite number."""
    with pytest.raises(InvalidArgument) as refused:
        exponential(options, scores, sensitivity=1, epsilon=1)
    assert "987654321" not in str(refused.value)


@pytest.mark.parametrize("wrong", [{"sensitivity": 0}, {"sensitivity": -1}, {"epsilon": 0}, {"epsilon": float("nan")}])
def test_a_guarantee_is_positive(wrong: dict[str, Any]) -> None:
    """ε and the sensitivity are above 0."""
    with pytest.raises(InvalidArgument):
        exponential(["a", "b"], [1, 2], **{"sensitivity": 1, "epsilon": 1, **wrong})
