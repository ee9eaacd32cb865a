"""Sums of many Laplace noises: their radius agrees with what is known of them in closed form, and with draws."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

from discreet.noise import discrete_laplace
from discreet.query.estimates import laplace_sums
from discreet.query.estimates.many_laplaces import repeated_radius as radius
from discreet.query.estimates.many_laplaces import repeated_tail as tail
from discreet.stats import lower_bound, upper_bound

SURE = 1 - Fraction(1, 10**10)


@pytest.mark.parametrize("outside", [0.5, 0.05, 1e-3])
def test_one_noise(outside: float) -> None:
    """Its tail is e^−t; whatever is said of noises that have no size."""
    assert radius((1.0, 0.0), (1, 20), outside) == pytest.approx(-log(outside), rel=1e-3)
    assert radius((1.0, 0.0), (1, 20), outside) >= -log(outside)


def test_two_equal_noises() -> None:
    """The tail of their sum is (1 + t/2)·e^−t."""
    for distance in (0.1, 1.0, 5.0, 12.0):
        assert tail((1.0, 1.0), (1, 1), distance) == pytest.approx((1 + distance / 2) * exp(-distance), abs=1e-6)


@pytest.mark.parametrize(("scales", "numbers"), [((0.9, 0.1), (2, 3)), ((0.5, 0.5), (3, 4)), ((1.0, 0.001), (3, 2))])
def test_few_noises_agree_with_partial_fractions(scales: tuple[float, float], numbers: tuple[int, int]) -> None:
    """Which raise scales that come close, by some per cent at the most."""
    listed = [scale for scale, number in zip(scales, numbers, strict=True) for _ in range(number)]
    other = laplace_sums.radius(listed, 0.05)
    assert 0.9 * other <= radius(scales, numbers, 0.05) <= other * 1.001


@pytest.mark.parametrize(("scales", "numbers"), [((0.5, 0.5), (14, 14)), ((0.95, 0.05), (20, 8))])
def test_draws_lie_within_as_often_as_said(scales: tuple[float, float], numbers: tuple[int, int]) -> None:
    """Of exact noise, on a fine grid; false alarm 4e-10, in both cases and on both sides together.

    Beyond a radius 10 % off lie more than 7.6 %, as an integral of the characteristic function says: it would be let
    through once in 1e80.
    """
    draws, fine = 60_000, 1_000
    within = radius(scales, numbers, 0.05)
    noise = discrete_laplace(fine, size=(draws, sum(numbers))).astype(float) / fine
    factors = [scale for scale, number in zip(scales, numbers, strict=True) for _ in range(number)]
    sums = abs(noise @ factors)
    outside = int((sums > within).sum())
    assert lower_bound(outside, draws, SURE) <= 0.05 <= upper_bound(outside, draws, SURE)
    shifted = int((sums > 0.9 * within).sum())
    assert lower_bound(shifted, draws, SURE) > 0.05


def test_no_noise_has_no_radius() -> None:
    """Nothing below, nothing above."""
    assert radius((0.0, 1.0), (5, 0), 0.05) == 0
