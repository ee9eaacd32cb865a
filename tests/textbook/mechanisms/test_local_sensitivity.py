"""Noise for one table and those near it: smooth sensitivity, propose-test-release, sample and aggregate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, log, sqrt
from statistics import mean, median

import numpy as np
import pytest

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms import Laplace
from discreet.mechanisms.textbook import (
    ProposeTestRelease,
    SampleAndAggregate,
    SmoothSensitivity,
    median_sensitivities,
    steps_until,
)
from discreet.privacy import ApproxDP, ApproxEvent, PureDP
from discreet.stats import lower_bound, upper_bound
from support.pmf import hockey_stick, laplace_pmf, shifted, tail

VALUES, SIZE = (0, 1, 9), 5
TABLES = [table for table in product(VALUES, repeat=SIZE) if table == tuple(sorted(table))]
"""All tables of five values, in order: a median doesn't ask for any."""


def around(table: tuple[int, ...], steps: int) -> list[int]:
    """The local sensitivities of a table's median."""
    return median_sensitivities(table, lower=0, upper=9, steps=steps)


def neighbours() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of tables that differ in one value."""
    for table in TABLES:
        for place, value in product(range(SIZE), VALUES):
            yield table, tuple(sorted((*table[:place], value, *table[place + 1 :])))


def test_local_sensitivities_are_those_of_all_tables_around() -> None:
    """Found by trying all of them: at each distance, the farthest that any neighbour's median lies."""
    here = {
        table: max(abs(int(median(table)) - int(median(other))) for one, other in neighbours() if one == table)
        for table in TABLES
    }
    near = {table: {other for one, other in neighbours() if one == table} for table in TABLES}
    for table in TABLES:
        within, brute = {table}, []
        for _ in range(3):
            brute.append(max(here[each] for each in within))
            within = {other for each in within for other in near[each]}
        assert around(table, 3) == brute
    assert [steps_until([0, 0, 8, 9], bound) for bound in (0, 8, 9)] == [2, 3, 4]


@pytest.mark.parametrize(("epsilon", "delta"), [(1, Fraction(1, 20)), (3, Fraction(1, 1000))])
def test_smooth_sensitivity_keeps_epsilon_and_delta(epsilon: int, delta: Fraction) -> None:
    """Over all neighbours, by summing all outcomes; noise for the local sensitivity itself fails by far."""
    private = SmoothSensitivity.calibrate(epsilon, delta, most=9, steps=4)
    assert (private.loss, private.event) == (
        ApproxDP(Fraction(epsilon), delta),
        ApproxEvent(epsilon=Fraction(epsilon), delta=delta),
    )
    shrink = 1 / (1 + Fraction(epsilon) / (2 * Fraction(log(2 / delta))))
    pairs, naive = set(), set()
    for one, other in neighbours():
        smooth = private.smooth(around(one, 4))
        assert smooth >= max(1, around(one, 1)[0])
        assert private.smooth(around(other, 4)) >= smooth * shrink * (1 - Fraction(1, 2**30))
        pairs.add((median(one), private.scale(around(one, 4)), median(other), private.scale(around(other, 4))))
        local = [Fraction(2 * max(1, around(table, 1)[0]), epsilon) for table in (one, other)]
        naive.add((median(one), local[0], median(other), local[1]))
    sticks, wrong = (
        [
            hockey_stick(
                shifted(laplace_pmf(float(scale), 40), int(f)),
                shifted(laplace_pmf(float(scale_), 60), int(f_)),
                epsilon,
            )
            for f, scale, f_, scale_ in chosen
        ]
        for chosen in (pairs, naive)
    )
    assert max(sticks) <= float(delta)
    assert max(wrong) > float(delta)


def test_smooth_noise_is_of_the_scale_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler is asked for 2S/ε, whose distribution is tested with the sampler."""
    scales = []
    monkeypatch.setattr(noise, "discrete_laplace", lambda scale: scales.append(scale) or 7)
    private = SmoothSensitivity.calibrate("1/2", "1e-3", most=100, steps=2)
    assert private.release(1000, [3, 200]) == 1007
    assert scales == [4 * max(3, private.weights[1] * 100)]
    assert private.weights[0] == 1
    for wrong in ([3], [3, 3, 3]):
        with pytest.raises(InvalidArgument):
            private.release(1000, wrong)


def passing(mechanism: ProposeTestRelease, distance: int) -> float:
    """How likely a table at this distance passes."""
    return tail(laplace_pmf(float(mechanism.test.scale), 60), mechanism.threshold - distance)


def test_propose_test_release_keeps_epsilon_and_delta() -> None:
    """Over all neighbours, by summing all outcomes, and near δ; at the textbook's threshold it fails by far."""
    private = ProposeTestRelease.calibrate(1, 2, "1/200")
    worst = 0.0
    for one, other in neighbours():
        laws = []
        for table in (one, other):
            chance = passing(private, steps_until(around(table, 8), private.bound))
            released = shifted(laplace_pmf(float(private.noise.scale), 60), int(median(table)))
            laws.append({-1000: 1 - chance} | {value: chance * mass for value, mass in released.items()})
        worst = max(worst, hockey_stick(laws[0], laws[1], 2))
    assert 0.3 / 200 < worst <= 1 / 200
    epsilon, delta = 1.0, 1 / 32_561**2
    assert 0.5 * exp(-epsilon * log(2 / delta) / (2 * epsilon)) == pytest.approx(0.5 * sqrt(delta / 2))
    assert 0.5 * sqrt(delta / 2) > 10_000 * delta


def test_propose_test_release_passes_as_often_as_it_says() -> None:
    """4,000 releases at distance 0, false alarm 2e-9; twice as many at distance 1."""
    private, tries = ProposeTestRelease.calibrate(1, 1, "1/4"), 4_000
    passed = sum(private.release(0, 0) is not None for _ in range(tries))
    chance = passing(private, 0)
    assert chance <= 1 / 4
    assert lower_bound(passed, tries, 1 - 1e-9) < chance < upper_bound(passed, tries, 1 - 1e-9)
    assert private.release(0, 10**6) is not None
    assert private.radius("0.9") == private.noise.radius("0.9")
    assert private.event == ApproxEvent(epsilon=Fraction(1), delta=Fraction(1, 4))


def test_one_unit_moves_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of answers moves by no more than its noise is for; blocks cut in order would move it further."""
    private = SampleAndAggregate.calibrate(4, lower=0, upper=10, epsilon=1)
    sums: list[int] = []
    blocks = [0, 1, 2, 3] * 3
    monkeypatch.setattr(noise, "uniform", lambda _, size: np.array(blocks[:size]))
    monkeypatch.setattr(Laplace, "release", lambda _, values: sums.extend(values) or values)
    units = [0, 10, 0, 10] * 3
    for table in (units[:-1], units, [*units[:-1], 1000]):
        private.release(table, max)
    width = private.noise.sensitivity.l1
    assert private.loss == PureDP(1)
    assert max(sums) - min(sums) <= width

    def cut(table: list[int]) -> int:
        return sum(table[start + 2] for start in range(0, 12, 3))  # the function answers with a block's last row

    rows = [0, 0, 10] * 4
    assert abs(cut([0, *rows]) - cut(rows)) == 4 * 10
    assert private.release([], max) == 0  # no block has anything, so all answers are the lower bound


def test_what_a_function_answers_is_kept_within_bounds() -> None:
    """Errors and what is no number count as the lower bound; the mean is otherwise that of the blocks."""
    private = SampleAndAggregate.calibrate(50, lower="-1/2", upper=100, epsilon=64)
    near = private.radius("0.999999999999")
    assert abs(private.release([40, 60] * 5000, mean) - 50) < near + 6
    for answer in (float("nan"), float("-inf"), None, "much"):
        assert abs(private.release([1] * 100, lambda _, answer=answer: answer) + 0.5) <= near
    assert abs(private.release([1] * 100, lambda _: 1 / 0) + 0.5) <= near


def test_numbers_out_of_range_are_refused() -> None:
    """Each before there is any data."""
    for wrong in (
        lambda: SmoothSensitivity.calibrate(0, "1e-6", most=1, steps=1),
        lambda: SmoothSensitivity.calibrate(1, 1, most=1, steps=1),
        lambda: SmoothSensitivity.calibrate(1, "1e-6", most=0, steps=1),
        lambda: SmoothSensitivity.calibrate(1, "1e-6", most=2**61, steps=1),
        lambda: ProposeTestRelease.calibrate(0, 1, "1e-6"),
        lambda: ProposeTestRelease.calibrate(1, 1, 0),
        lambda: SampleAndAggregate.calibrate(0, lower=0, upper=1, epsilon=1),
        lambda: SampleAndAggregate.calibrate(1, lower=1, upper=1, epsilon=1),
        lambda: median_sensitivities([1, 2], lower=0, upper=1, steps=1),
        lambda: median_sensitivities([1], lower=1, upper=0, steps=1),
    ):
        with pytest.raises(InvalidArgument):
            wrong()
