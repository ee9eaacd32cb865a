"""Kolmogorov–Smirnov: the distance is the largest gap, the critical value keeps its promise, also for discrete laws."""

from __future__ import annotations

from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kstest  # type: ignore[import-untyped]  # scipy ships no types

from discreet.errors import InvalidArgument
from discreet.stats import ks_critical, ks_distance, ks_draws


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_distance_is_scipys_for_continuous_laws(draws: list[float]) -> None:
    """Against the uniform distribution it is scipy's statistic."""
    array = np.array(draws)
    expected = kstest(array, "uniform").statistic
    assert ks_distance(array, lambda x: x) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_distance_is_the_largest_gap_for_discrete_laws(draws: list[int]) -> None:
    """For five equally likely values it is the largest gap of the two step functions, looked for everywhere."""
    array = np.array(draws)
    grid = np.arange(-1, 6, 0.25)

    def at_most(x: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(np.clip(np.floor(x) + 1, 0, 5) / 5)

    empirical = (array[:, None] <= grid[None, :]).mean(axis=0)
    expected = np.abs(empirical - at_most(grid)).max()
    found = ks_distance(array, at_most, lambda x: at_most(x - 1))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("false_alarm", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("draws", [1, 3, 8])
def test_false_alarms_are_as_rare_as_stated(draws: int, false_alarm: float) -> None:
    """Over all samples of three values: the true law is rejected with probability at most the stated one.

    At half the critical distance it is rejected more often, for some law and level, so the bound isn't empty.
    """

    def alarm(law: tuple[float, ...], critical: float) -> float:
        steps = np.cumsum(law)
        total = 0.0
        for sample in product(range(3), repeat=draws):
            distance = ks_distance(np.array(sample), lambda x: steps[x], lambda x: np.concatenate([[0.0], steps])[x])
            total += float(np.prod([law[value] for value in sample])) * (distance > critical + 1e-12)
        return total

    critical = ks_critical(draws, false_alarm)
    for law in [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0.0), (0.1, 0.2, 0.7)]:
        assert alarm(law, critical) <= false_alarm
    assert alarm((0.5, 0.5, 0.0), critical / 4) > false_alarm


def test_critical_values_are_the_inequalitys() -> None:
    """√(log(2/α)/2n), rounded up by no more than the last digit."""
    for draws, alarm in [(1, 0.5), (100, 0.05), (10**6, 1e-9)]:
        assert ks_critical(draws, alarm) == pytest.approx(sqrt(log(2 / alarm) / (2 * draws)), rel=1e-14)
        assert 2 * np.exp(-2 * draws * ks_critical(draws, alarm) ** 2) <= alarm * (1 + 1e-12)


def test_enough_draws_separate_critical_values() -> None:
    """At equal error rates the draws computed make the distance twice the critical value; one fewer is not enough."""
    for distance in (0.5, 0.01, 0.001):
        draws = ks_draws(distance, 1e-9, 1e-9)
        assert 2 * ks_critical(draws, 1e-9) <= distance * (1 + 1e-12)
        assert 2 * ks_critical(draws - 1, 1e-9) > distance


@pytest.mark.parametrize("alarm", [0, 1, -1e-9, 2, float("nan")])
def test_impossible_levels_are_refused(alarm: float) -> None:
    """A false alarm lies strictly between 0 and 1."""
    with pytest.raises(InvalidArgument):
        ks_critical(10, alarm)
    with pytest.raises(InvalidArgument):
        ks_draws(0.1, 0.1, alarm)


def test_nothing_can_be_said_of_no_draws() -> None:
    """No draws, or no gap to find, are refused."""
    with pytest.raises(InvalidArgument):
        ks_critical(0, 0.1)
    with pytest.raises(InvalidArgument):
        ks_distance(np.array([]), lambda x: x)
    with pytest.raises(InvalidArgument):
        ks_draws(0, 0.1, 0.1)
