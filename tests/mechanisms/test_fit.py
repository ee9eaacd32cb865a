"""What releases really look like: drawn afresh each run, false alarms of 10⁻¹⁰ and twins that must be found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log

import numpy as np
import pytest

from discreet.mechanisms import Gaussian, Laplace, Release, Threshold, gaussian, laplace
from discreet.mechanisms.functions import Grid
from discreet.privacy import Sensitivity
from discreet.stats import likelihood_ratio, likelihood_ratio_critical, lower_bound, upper_bound
from support.pmf import Pmf, gaussian_pmf, laplace_pmf

DRAWS = 500_000
"""Noise 3 % off in scale is missed with probability below 10⁻¹⁴ (Chernoff): its statistic is about 230 for Laplace
noise and 470 for Gaussian, with standard deviations of 22 and 31, and the critical value is 74."""

FALSE_ALARM = Fraction(1, 10**10)
ONE = Sensitivity.scalar(1)
REACH = 12


def statistic(noise: Sequence[int], claimed: Pmf) -> float:
    """The likelihood ratio of draws against a distribution, with what lies beyond REACH put together."""

    def binned(values: dict[int, float]) -> list[float]:
        inner = [values.get(n, 0) for n in range(1 - REACH, REACH)]
        below, above = (sum(v for n, v in values.items() if n * sign >= REACH) for sign in (-1, 1))
        return [below, *inner, above]

    expected = np.array(binned(dict(claimed)))
    return likelihood_ratio(np.array(binned(dict(Counter(noise)))), expected / expected.sum())


def fits(noise: Sequence[int], claimed: Pmf) -> bool:
    """Whether draws are such as a distribution gives, but for one time in 10¹⁰."""
    return statistic(noise, claimed) <= likelihood_ratio_critical(2 * REACH + 1, FALSE_ALARM)


NOISES: list[tuple[Callable[[float], Laplace | Gaussian], Pmf]] = [
    (lambda wrong: Laplace(Fraction(repr(4 * wrong)), ONE), laplace_pmf(4.0)),
    (lambda wrong: Gaussian(Fraction(repr(4 * wrong)), ONE), gaussian_pmf(4.0)),
]


@pytest.mark.parametrize(("mechanism", "claimed"), NOISES, ids=["laplace", "gaussian"])
def test_releases_have_the_noise_that_is_accounted_for(
    mechanism: Callable[[float], Laplace | Gaussian], claimed: Pmf
) -> None:
    """The scale in the event is the scale of the noise."""
    assert fits(mechanism(1.0).release([0] * DRAWS), claimed)


@pytest.mark.parametrize(("mechanism", "claimed"), NOISES, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("wrong", [0.97, 1.03])
def test_noise_that_is_three_percent_off_is_found_out(
    mechanism: Callable[[float], Laplace | Gaussian], claimed: Pmf, wrong: float
) -> None:
    """The same test rejects a twin whose scale is 3 % off, either way."""
    assert not fits(mechanism(wrong).release([0] * DRAWS), claimed)


def proved_loss(one: Sequence[int], other: Sequence[int]) -> float:
    """A lower bound on ε at δ = 10⁻⁶, from outcomes at or above any of a few cuts; too high one time in 10¹⁰."""
    cuts = range(-2, 6)
    doubt = 1 - FALSE_ALARM / (4 * len(cuts))
    bounds = [0.0]
    for cut in cuts:
        hits, others = (sum(value >= cut for value in values) for values in (one, other))
        low, high = lower_bound(hits, len(one), doubt), upper_bound(others, len(other), doubt)
        bounds.append(log(max(low - 1e-6, 1e-300) / high))
    return max(bounds)


def on_both(release: Callable[[float], Release], low: float, high: float, times: int) -> tuple[list[int], list[int]]:
    """Many releases of two neighbouring values, in steps; the mechanism is the same for both."""
    first, second = release(high), release(low)
    assert first.mechanism == second.mechanism
    grid = Grid(first.grid)
    drawn = [first.mechanism.release([grid.steps_of(Fraction(value))] * times) for value in (high, low)]
    return drawn[0], drawn[1]


COARSE: list[Callable[[float], Release]] = [
    lambda value: laplace(value, sensitivity=1, epsilon=1, grid=1),
    lambda value: gaussian(value, sensitivity=1, epsilon=1, delta=1e-6, grid=1),
]


@pytest.mark.parametrize("release", COARSE, ids=["laplace", "gaussian"])
def test_neighbours_cannot_be_told_apart_beyond_the_loss(release: Callable[[float], Release]) -> None:
    """Two values a sensitivity apart, that rounding moves as far as it can: the ε proved from outcomes is at most 1."""
    assert proved_loss(*on_both(release, 0.5, 1.5, 100_000)) <= 1


@pytest.mark.parametrize("release", COARSE[:1], ids=["laplace"])
def test_neighbours_twice_as_far_apart_can_be_told(release: Callable[[float], Release]) -> None:
    """The same proof finds ε above 1 where values move by twice the sensitivity that was declared."""
    assert proved_loss(*on_both(release, 0.5, 2.5, 100_000)) > 1


def test_groups_of_one_pass_as_rarely_as_promised() -> None:
    """Of many groups that hold one unit, no more pass than δ allows, and not none: the threshold isn't padded."""
    delta, draws = Fraction(1, 100), 1_000_000
    threshold = Threshold(Laplace.calibrate(ONE, 1), l0=1, linf=1, delta=delta)
    alone, together = (sum(map(threshold.passes, threshold.noise.release([count] * draws))) for count in (1, 2))
    doubt = 1 - FALSE_ALARM
    assert lower_bound(alone, draws, doubt) <= delta
    assert upper_bound(alone, draws, doubt) >= delta / 4  # in truth 0.0049
    assert lower_bound(together, draws, doubt) > delta  # in truth 0.0134, thirty standard deviations above
