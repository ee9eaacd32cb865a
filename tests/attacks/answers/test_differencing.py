"""Differences: exact ones give a person away, rules about few rows don't stop them, and noise does."""

from __future__ import annotations

from math import hypot, inf, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.attacks.answers import differencing, tracking
from discreet.attacks.targets import Answers, Bare, Exact, Reply, Restricted
from discreet.attacks.targets.answering import sureness
from discreet.stats import ks_critical, ks_distance, ks_draws

OTHERS, PERSON = 1_360_182, 56
ROWS = 32_563


def people() -> pa.Table:
    """As many people as in the textbook's census, whose ages add up as there: all but one, and that one."""
    ages = np.full(ROWS - 1, OTHERS // (ROWS - 1))
    ages[: OTHERS - int(ages.sum())] += 1
    names = [f"person {n}" for n in range(ROWS - 1)]
    return pa.table({"name": [*names, "Karrie"], "age": [*ages.tolist(), PERSON]})


def test_the_textbooks_difference() -> None:
    """1,360,238 − 1,360,182 = 56; a rule that refuses questions about few rows has nothing to refuse."""
    for target in (Exact(people()), Restricted(people(), smallest=1)):
        found = differencing(target, "SUM(age)", without="name <> 'Karrie'", who="Karrie", truth=PERSON)
        expected = (1_360_238, 1_360_182, 56) if type(target) is Exact else (None, 1_360_182, None)
        assert (found.whole, found.rest, found.difference) == expected
    found = differencing(Exact(people()), "SUM(age)", without="name <> 'Karrie'", who="Karrie", truth=PERSON)
    assert (found.error, found.deviation, found.success) == (0, 0, 1.0)
    assert str(found.guesses[0]) == "Karrie: SUM(age) = 56, 100 % sure, right"


def test_a_rule_about_few_rows_doesnt_stop_it() -> None:
    """Among the older half, both questions are about many rows and leave many out."""
    table = people().append_column("half", pa.array([place % 2 for place in range(ROWS)]))
    whose = f"half = {(ROWS - 1) % 2}"
    target = Restricted(table, smallest=1000)
    found = differencing(target, "SUM(age)", among=whose, without="name <> 'Karrie'", truth=PERSON)
    assert (found.difference, found.refused) == (PERSON, 0)


def laplaces(scale: float, number: int, reach: int) -> np.ndarray:
    """The law of a sum of discrete Laplace noises on −reach, …, reach, convolved from its definition."""
    ratio = np.exp(-1 / scale)
    one = (1 - ratio) / (1 + ratio) * ratio ** abs(np.arange(-reach, reach + 1))
    law = one
    for _ in range(number - 1):
        law = np.convolve(law, one, mode="same")
    return law


class Two(Exact):
    """Two exact answers, without running anything: many thousands are asked for."""

    def _reply(self, sql: str) -> Reply:
        """Three people, or two."""
        return Reply(value=2 if "age < 50" in sql else 3, deviation=0.0, epsilon=inf)


def test_a_difference_has_the_noise_of_both() -> None:
    """Its error has the law of two noises, and not the twin's of one: Kolmogorov–Smirnov, false alarm and miss 1e-9."""
    reach = 400
    both, one = (np.cumsum(laplaces(2.0, number, reach)) for number in (2, 1))
    draws = ks_draws(float(abs(both - one).max()) - 1e-9, 1e-9, 1e-9)
    target = Bare(Two({"age": [30, 40, 56]}), epsilon="0.5")
    results = [differencing(target, "COUNT(*)", without="age < 50", truth=1) for _ in range(draws)]
    errors = np.array([found.error for found in results], dtype=np.float64)

    def distance(ends: np.ndarray) -> float:
        """From the draws to a law."""
        at = lambda values: ends[np.asarray(values, dtype=int) + reach]  # noqa: E731 — two readings of one table
        return ks_distance(errors, at, lambda values: at(np.asarray(values) - 1))

    assert distance(both) <= ks_critical(draws, 1e-9) < distance(one)
    assert results[0].deviation == pytest.approx(
        sqrt(float(laplaces(2.0, 2, reach) @ np.arange(-reach, reach + 1.0) ** 2))
    )


def test_the_gateway_leaves_noise_in_the_difference(tmp_path: Path) -> None:
    """Of both answers, each sized for the most that one person can be; what the attacker may be sure of is small."""
    with dp.protect(
        people(),
        name="people",
        unit=dp.Unit.row(),
        columns={"age": dp.Bounds(0, 110)},
        budget=dp.Budget(epsilon=1),
        ledger=tmp_path / "people.ledger",
    ) as protected:
        target = Answers(protected, epsilon="0.5")
        found = differencing(target, "SUM(age)", without="name <> 'Karrie'", truth=PERSON)
        assert found.deviation == pytest.approx(hypot(1, 1) * sqrt(2) * 110 / 0.5, rel=1e-3)
        assert found.epsilon == 1
        assert found.guesses[0].confidence < 0.01
        again = differencing(target, "SUM(age)", among="age < 100", without="name <> 'Karrie'")
        assert (again.refused, again.difference, again.guesses, again.success) == (2, None, (), None)


def staff() -> Restricted:
    """Eight people, of whom no question may be about fewer than two, or leave out fewer."""
    pay = {"name": list("ABCDEFGH"), "sex": list("MMMMFFFF"), "pay": [70, 56, 48, 61, 50, 52, 90, 44]}
    return Restricted(pay, name="staff", smallest=2)


@pytest.mark.parametrize(("name", "pay"), list(zip("ABCDEFGH", [70, 56, 48, 61, 50, 52, 90, 44], strict=True)))
def test_a_tracker_finds_everybody(name: str, pay: int) -> None:
    """Four questions that are allowed, for one that isn't."""
    found = tracking(staff(), "SUM(pay)", wanted=f"name = '{name}'", by="sex = 'M'", who=name, truth=pay)
    assert (found.directly, found.found, found.success, found.refused) == (None, pay, 1.0, 0)
    assert tracking(staff(), "COUNT(*)", wanted=f"name = '{name}' AND pay > 60", by="sex = 'M'").found == (pay > 60)


def test_a_tracker_that_is_too_small_finds_nothing() -> None:
    """It must have between 2t and n − 2t rows; with one row, a part is refused."""
    found = tracking(staff(), "SUM(pay)", wanted="name = 'B'", by="name = 'A'")
    assert found.refused > 0
    assert (found.found, found.guesses, found.success) == (None, (), None)


def test_a_tracker_under_noise_has_the_noise_of_four() -> None:
    """It is no surer than that."""
    noisy = Bare(staff_exact(), epsilon=1)
    found = tracking(noisy, "COUNT(*)", wanted="name = 'A'", by="sex = 'M'")
    deviation = noisy.replies[0].deviation
    assert deviation is not None
    assert found.guesses[0].confidence == pytest.approx(sureness(2 * deviation))


def staff_exact() -> Exact:
    """The same people, without the rule."""
    return Exact(staff().data, name="staff")
