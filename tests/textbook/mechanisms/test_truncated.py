"""Truncated Laplace noise: δ is that of the distribution exactly, and the reach is the least that has it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.parameters import delta_share, joint_delta
from discreet.mechanisms.textbook import TruncatedLaplace
from discreet.privacy import ApproxDP, ApproxEvent, Sensitivity
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.pmf import hockey_stick, shifted

ONE = Sensitivity.scalar(1)


def truncated(scale: float, reach: int) -> dict[int, float]:
    """The docstring's probabilities, summed anew."""
    weights = {n: exp(-abs(n) / scale) for n in range(-reach, reach + 1)}
    total = fsum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


@given(st.integers(1, 5), st.integers(0, 30), st.fractions(Fraction(1, 4), 5, max_denominator=9))
def test_delta_is_that_of_the_distribution(move: int, more: int, epsilon: Fraction) -> None:
    """Summed over all outcomes, the hockey stick at the stated ε is δ; less moves have less; a smaller ε has more."""
    mechanism = TruncatedLaplace(move / epsilon, move + more, Sensitivity.scalar(move))
    noise = truncated(float(mechanism.scale), mechanism.reach)
    sticks = [hockey_stick(noise, shifted(noise, by), float(epsilon)) for by in range(1, move + 1)]
    assert sticks[-1] == pytest.approx(float(mechanism.delta), rel=1e-9, abs=1e-15)
    assert max(sticks) == sticks[-1]
    assert mechanism.loss == ApproxDP(epsilon, mechanism.delta)
    assert mechanism.event == ApproxEvent(epsilon=epsilon, delta=mechanism.delta)
    assert all(mechanism.mass(n) == pytest.approx(noise.get(n, 0.0), rel=1e-12) for n in range(-99, 100))


@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-30"])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_reach_is_the_least(epsilon: Any, delta: str, size: int) -> None:
    """At it δ is at most what was asked for; one less has more, unless it would be below the sensitivity."""
    mechanism = TruncatedLaplace.calibrate(Sensitivity.scalar(size), epsilon, delta)
    assert mechanism.delta <= Fraction(delta)
    if mechanism.reach > size:
        assert TruncatedLaplace(mechanism.scale, mechanism.reach - 1, mechanism.sensitivity).delta > Fraction(delta)


def test_coordinates_share_delta() -> None:
    """Two coordinates that move together: the product distribution's δ at ε is the stated one, to nine digits."""
    both = Sensitivity(l0=2, linf=1, l1=2, l2_squared=Fraction(2))
    mechanism = TruncatedLaplace.calibrate(both, 2, Fraction(1, 50))
    noise = truncated(float(mechanism.scale), mechanism.reach)
    delta = 0.0
    for a, b in product(range(-60, 61), repeat=2):
        here = noise.get(a, 0.0) * noise.get(b, 0.0)
        delta += max(0.0, here - exp(2) * noise.get(a - 1, 0.0) * noise.get(b - 1, 0.0))
    assert delta == pytest.approx(float(mechanism.delta), rel=1e-9)
    assert mechanism.delta <= Fraction(1, 50)


@given(st.integers(1, 2**40), st.integers(1, 10**6))
def test_shares_are_rounded_to_the_safe_side(parts: int, millionths: int) -> None:
    """So many shares together are at most the whole, and short of it by next to nothing."""
    delta = Fraction(millionths, 2 * 10**6)
    share = delta_share(delta, parts)
    assert 0 < share <= delta
    assert delta * (1 - Fraction(1, 10**20)) <= 1 - (1 - share) ** parts <= delta if parts < 50 else True
    assert delta * (1 - Fraction(1, 10**20)) <= joint_delta(share, parts) <= delta * (1 + Fraction(1, 10**20))


@given(st.integers(1, 30), st.integers(0, 20), st.integers(1, 999))
def test_the_radius_is_the_least_that_holds(scale: int, more: int, thousandths: int) -> None:
    """Noise lies within it with the confidence asked for, and within one step less it doesn't; never beyond reach."""
    mechanism = TruncatedLaplace(Fraction(scale, 3), 1 + more, ONE)
    noise, doubt = truncated(scale / 3, 1 + more), 1 - thousandths / 1000
    radius = mechanism.radius(Fraction(thousandths, 1000))
    assert fsum(c for n, c in noise.items() if abs(n) > radius) <= doubt + 1e-12
    assert radius == 0 or fsum(c for n, c in noise.items() if abs(n) >= radius) > doubt - 1e-12
    assert radius <= mechanism.reach


def test_releases_fit_and_those_of_another_scale_do_not() -> None:
    """Likelihood ratio, false alarm 1e-9: the noise is the mass; a scale 3 % off is 200 nats away, missed at 1e-15."""
    mechanism = TruncatedLaplace(Fraction(4), 12, ONE)
    claimed = np.array([mechanism.mass(n) for n in range(-12, 13)])
    critical = likelihood_ratio_critical(25, Fraction(1, 10**9))

    def statistic(scale: Fraction) -> float:
        seen = Counter(TruncatedLaplace(scale, 12, ONE).release([7] * 800_000))
        assert set(seen) <= set(range(-5, 20))
        return likelihood_ratio(np.array([seen[n + 7] for n in range(-12, 13)]), claimed)

    assert statistic(Fraction(4)) <= critical
    assert statistic(Fraction(97, 25)) > critical


def test_the_ends_of_the_range_can_be_drawn() -> None:
    """What is accepted before there is data doesn't fail after; δ above a half is used as a half."""
    for epsilon, size in ((1000, 1), (Fraction(1, 2**59), 1), (1, 2**59), (2**40, 2**45)):
        mechanism = TruncatedLaplace.calibrate(Sensitivity.scalar(size), epsilon, "1e-9")
        assert all(abs(n) <= mechanism.reach for n in mechanism.release([0] * 3))
        assert mechanism.radius("0.999") <= mechanism.reach
    assert TruncatedLaplace.calibrate(ONE, "1e-3", "0.999").delta <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("scale", "reach", "sensitivity"),
    [(0, 5, ONE), (1, 0, ONE), (1, 2, Sensitivity.scalar(3)), (1, 5.0, ONE), (1, 5, Sensitivity.scalar(0))],
)
def test_other_truncations_are_refused(scale: Any, reach: Any, sensitivity: Sensitivity) -> None:
    """Out of range, or a reach that neighbours would leave altogether."""
    with pytest.raises(InvalidArgument):
        TruncatedLaplace(scale, reach, sensitivity)


def test_no_more_coordinates_move_than_there_are_steps() -> None:
    """Where five may move, by two steps together, two do: δ isn't that of five."""
    few, many = (Sensitivity(l0=l0, linf=1, l1=2, l2_squared=Fraction(2)) for l0 in (2, 5))
    assert TruncatedLaplace.calibrate(few, 1, "1e-6").reach == TruncatedLaplace.calibrate(many, 1, "1e-6").reach


def test_a_radius_is_from_0_to_the_reach() -> None:
    """However small or large the confidence."""
    noise = TruncatedLaplace.calibrate(Sensitivity.scalar(1), 1, "1e-3")
    assert noise.radius("1e-9") == 0
    assert noise.radius(1 - Fraction(1, 10**300)) == noise.reach
