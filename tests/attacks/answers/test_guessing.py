"""One person's count, 0 or 1: the attacker's advantage is the bound exactly, and half the noise exceeds it."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.attacks.answers import guessing, guessing_each, most_advantage, most_often_right
from discreet.attacks.targets import Answers, Bare, Exact, Reply
from discreet.errors import InvalidArgument
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity
from discreet.stats import lower_bound, upper_bound

BOB = "name = 'Bob' AND pay > 50"


def staff() -> Exact:
    """Two people, of whom Bob is asked for."""
    return Exact({"name": ["Ada", "Bob"], "pay": [70, 56]}, name="staff")


@given(st.fractions(Fraction(1, 100), 20))
def test_discrete_noise_reaches_the_bound(epsilon: Fraction) -> None:
    """(e^ε − 1)/(e^ε + 1) is Pr[noise = 0], by which "1 or more" is likelier where 1 is true."""
    noise = Laplace.calibrate(Sensitivity.scalar(1), epsilon)
    assert most_advantage(epsilon) == pytest.approx(noise.mass(0), rel=1e-12)
    power = exp(float(epsilon))
    assert most_advantage(epsilon) == pytest.approx((power - 1) / (power + 1), rel=1e-9)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(0.05, 3))
def test_no_rule_exceeds_the_bound(weights: list[float], epsilon: float) -> None:
    """Any law and any that is within e^±ε of it: the best set has no more than the bound."""
    one = np.array(weights) / sum(weights)
    other = one * np.exp(epsilon * (np.arange(len(one)) % 2 - 0.5))
    other /= other.sum()  # its ratio to `one` is between e^(−ε) and e^ε
    advantage = np.maximum(one - other, 0).sum()
    assert advantage <= most_advantage(Fraction(max(abs(np.log(one / other))))) + 1e-12


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(0.05, 3), st.floats(0, 1))
def test_nobody_is_right_oftener_than_stated(weights: list[float], epsilon: float, prior: float) -> None:
    """Any law, any that is within e^±ε of it, and any prior: the best guess after each answer is within the bound.

    Without the prior, e^ε/(e^ε + 1) alone would be exceeded: nine to one is 90 % right by no answer at all.
    """
    one = np.array(weights) / sum(weights)
    other = one * np.exp(epsilon * (np.arange(len(one)) % 2 - 0.5))
    other /= other.sum()
    right = np.maximum(prior * one, (1 - prior) * other).sum()
    assert right <= most_often_right(Fraction(max(abs(np.log(one / other)).max(), 1e-6)), prior) + 1e-12
    assert most_often_right("0.1", 0.9) == 0.9 > most_often_right("0.1")


def says_one(noise: Laplace, truth: int, draws: int) -> int:
    """How often an attacker says 1."""
    return sum(answer >= 1 for answer in noise.release([truth] * draws))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2)])
def test_an_attacker_gains_what_is_stated(epsilon: Fraction) -> None:
    """The measured advantage is at the bound; with half the noise it is above, which is noticed.

    Exact intervals, 1e-9 for both together. At ε = 0.1 the bound is 0.05 and the twin's advantage 0.0997: with 120,000
    draws of each the deviation is 0.002, so that 24 of them lie between the two.
    """
    draws = 120_000

    def ends(noise: Laplace) -> tuple[float, float]:
        """Between what the advantage is."""
        hits, alarms = says_one(noise, 1, draws), says_one(noise, 0, draws)
        level = 1 - Fraction(1, 4 * 10**9)
        low = lower_bound(hits, draws, level) - upper_bound(alarms, draws, level)
        return low, upper_bound(hits, draws, level) - lower_bound(alarms, draws, level)

    low, high = ends(Laplace.calibrate(Sensitivity.scalar(1), epsilon))
    assert low <= most_advantage(epsilon) <= high
    twin, _ = ends(Laplace.calibrate(Sensitivity.scalar(1), 2 * epsilon))
    assert twin > most_advantage(epsilon)


def test_exact_answers_tell() -> None:
    """Right, and sure of it, whether it is so or not."""
    for condition, truth in [(BOB, True), ("name = 'Bob' AND pay > 60", False)]:
        found = guessing(staff(), condition, who="Bob", truth=truth)
        assert (found.says, found.success, found.advantage, found.epsilon) == (truth, 1.0, 1.0, inf)
        assert found.guesses[0].confidence == 1


def test_the_textbooks_question() -> None:
    """ε = 0.1: the advantage is 5 %, so who guesses from even odds is right in 52.5 %."""
    found = guessing(Bare(staff(), epsilon="0.1"), BOB, who="Bob", truth=True)
    assert found.advantage == pytest.approx(0.05, abs=1e-4)
    assert found.guesses[0].confidence == pytest.approx(0.525, abs=1e-3)
    assert found.says == ((found.answer or 0) >= 1)
    assert found.baseline == 0.5


def test_through_the_gateway(tmp_path: Path) -> None:
    """The question is answered, as all are; asking again costs nothing and tells nothing; then it is refused."""
    with dp.protect(
        pa.table({"name": ["Ada", "Bob"], "pay": [70, 56]}),
        name="staff",
        unit=dp.Unit.row(),
        columns={},
        budget=dp.Budget(epsilon="0.15"),
        ledger=tmp_path / "staff.ledger",
    ) as protected:
        target = Answers(protected, epsilon="0.1")
        found = guessing(target, BOB, who="Bob")
        again = guessing(target, BOB, who="Bob")
        assert found.advantage == most_advantage("0.1")
        assert (again.answer, again.epsilon) == (found.answer, 0)
        assert found.success is None
        with pytest.raises(InvalidArgument):
            guessing(target, "name = 'Ada'", who="Ada")


def test_nonsense_is_refused() -> None:
    """No ε, no bound; no probability, no prior."""
    with pytest.raises(InvalidArgument):
        most_advantage(0)
    with pytest.raises(InvalidArgument, match="prior"):
        most_often_right(1, prior=1.5)


def test_a_target_without_epsilon_has_no_bound() -> None:
    """Noise that no ε bounds: nothing is claimed of it."""

    class Gaussian(Exact):
        """Some noise."""

        def _reply(self, sql: str) -> Reply:
            """None this time."""
            return Reply(value=super()._reply(sql).value, deviation=3.0, epsilon=inf)

    found = guessing(Gaussian(staff().data, name="staff"), BOB, who="Bob")
    assert found.advantage is None
    assert found.guesses[0].confidence == 0.5


def test_people_are_asked_about_until_the_budget_is_spent(tmp_path: Path) -> None:
    """All right by exact answers; through the gateway as many as are paid for, each at the price of one.

    At ε = 40 each the noise of both is none but for a chance below 1e-16.
    """
    asked = [(f"person {pay}", f"pay = {pay}", pay in {70, 56}) for pay in (70, 71, 56, 57)]
    found = guessing_each(staff(), asked)
    assert (found.tried, found.success, found.advantage, found.says) == (4, 1.0, 1.0, None)
    assert guessing_each(staff(), [(who, condition, not so) for who, condition, so in asked]).success == 0
    with dp.protect(
        staff().data, name="staff", unit=dp.Unit.row(), budget=dp.Budget(epsilon=80), ledger=tmp_path / "staff.ledger"
    ) as protected:
        private = guessing_each(Answers(protected, epsilon=40), asked)
        assert (private.tried, private.success, private.epsilon) == (2, 1.0, 80.0)
        with pytest.raises(InvalidArgument, match="refused"):
            guessing_each(Answers(protected, epsilon=40), asked[2:])
    with pytest.raises(InvalidArgument, match="nobody"):
        guessing_each(staff(), [])
