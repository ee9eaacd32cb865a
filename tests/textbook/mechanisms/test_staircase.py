"""Staircase noise: the stated probabilities, the loss they have, and the first step that errs least."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Laplace
from discreet.mechanisms.textbook import Staircase
from discreet.privacy import PureDP, PureEvent, Sensitivity
from support.pmf import Pmf, hockey_stick, shifted

PAIR = Sensitivity(l0=2, linf=7, l1=14, l2_squared=Fraction(98))


def stairs(epsilon: float, width: int, first: int) -> dict[int, float]:
    """The docstring's probabilities, summed anew out to e^−60."""
    reach = width * (int(60 / epsilon) + 2)
    weights = {n: exp(-((abs(n) + width - first) // width) * epsilon) for n in range(-reach, reach + 1)}
    total = fsum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def mean_size(pmf: Pmf) -> float:
    """E|noise|."""
    return fsum(abs(n) * chance for n, chance in pmf.items())


@pytest.mark.parametrize(("epsilon", "width", "first"), [(0.5, 4, 3), (2.0, 7, 1), (5.0, 3, 3)])
def test_the_mass_is_the_formula(epsilon: float, width: int, first: int) -> None:
    """Each probability to twelve digits; so they sum to 1."""
    mechanism = Staircase(1 / Fraction(repr(epsilon)), Sensitivity.scalar(width), first)
    for n, chance in stairs(epsilon, width, first).items():
        assert mechanism.mass(n) == pytest.approx(chance, rel=1e-12)


@given(st.integers(1, 6), st.integers(1, 6), st.fractions(Fraction(1, 5), 6, max_denominator=20))
def test_the_loss_is_that_of_the_distribution(width: int, first: int, epsilon: Fraction) -> None:
    """For every move up to Δ, δ at the stated ε is 0; for some, at a hundredth less, it isn't."""
    mechanism = Staircase(1 / epsilon, Sensitivity.scalar(width), min(first, width))
    assert mechanism.loss == PureDP(epsilon)
    noise = stairs(float(epsilon), width, mechanism.first)
    assert max(hockey_stick(noise, shifted(noise, move), float(epsilon)) for move in range(1, width + 1)) < 1e-12
    assert hockey_stick(noise, shifted(noise, width), 0.99 * float(epsilon)) > 1e-6
    assert hockey_stick(noise, shifted(noise, width + 1), float(epsilon)) > 1e-9  # a move too far is found out


def test_coordinates_share_the_loss() -> None:
    """Two that move by up to Δ lose twice what one does; and one row that moves by one step as much as by Δ."""
    mechanism = Staircase.calibrate(PAIR, 3)
    assert mechanism.scale == Fraction(2, 3)
    assert mechanism.loss == PureDP(3)
    assert mechanism.event == PureEvent(epsilon=Fraction(3))


@given(st.integers(1, 25), st.fractions(Fraction(1, 5), 8, max_denominator=30))
def test_the_first_step_errs_least(width: int, epsilon: Fraction) -> None:
    """No other first step has a smaller mean of |noise|, summed over the distribution."""
    mechanism = Staircase.calibrate(Sensitivity.scalar(width), epsilon)
    errors = [mean_size(stairs(float(epsilon), width, first)) for first in range(1, width + 1)]
    assert errors[mechanism.first - 1] <= min(errors) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 12.0])
def test_a_large_step_is_split_as_for_real_numbers(epsilon: float) -> None:
    """γ tends to 1/(1 + e^(ε/2)), Geng and Viswanath's optimum for the mean of |noise|."""
    mechanism = Staircase.calibrate(Sensitivity.scalar(2**40), epsilon)
    assert float(mechanism.gamma) == pytest.approx(1 / (1 + exp(epsilon / 2)), rel=1e-6)


def test_at_a_sensitivity_of_one_it_is_laplace_noise() -> None:
    """The same probabilities and radii."""
    mechanism, laplace = (kind.calibrate(Sensitivity.scalar(1), "0.7") for kind in (Staircase, Laplace))
    assert all(mechanism.mass(n) == pytest.approx(laplace.mass(n), rel=1e-12) for n in range(-50, 51))
    assert [mechanism.radius(c) for c in ("0.5", "0.9", "0.999")] == [
        laplace.radius(c) for c in ("0.5", "0.9", "0.999")
    ]


def test_it_errs_less_than_half_as_much_at_epsilon_five() -> None:
    """As the docstring has it."""
    mechanism = Staircase.calibrate(Sensitivity.scalar(200), 5)
    assert mean_size(stairs(5, 200, mechanism.first)) < 0.5 * 200 / 5


@given(st.integers(1, 9), st.fractions(Fraction(1, 3), 4, max_denominator=9), st.integers(1, 999))
def test_the_radius_is_the_least_that_holds(width: int, epsilon: Fraction, thousandths: int) -> None:
    """Noise lies within it with the confidence asked for, and within one step less it doesn't."""
    mechanism = Staircase.calibrate(Sensitivity.scalar(width), epsilon)
    noise, radius, doubt = stairs(float(epsilon), width, mechanism.first), None, 1 - thousandths / 1000
    radius = mechanism.radius(Fraction(thousandths, 1000))
    assert fsum(c for n, c in noise.items() if abs(n) > radius) <= doubt + 1e-12
    assert radius == 0 or fsum(c for n, c in noise.items() if abs(n) >= radius) > doubt - 1e-12


def test_release_adds_to_integers_of_any_size() -> None:
    """Python integers in and out, also at the ends of the range."""
    assert [type(v) for v in Staircase.calibrate(PAIR, 1).release([0, 2**70, -5])] == [int] * 3
    for scale, width in ((Fraction(2**60), 2**60), (Fraction(1, 2**10), 2**60), (Fraction(2**60), 1)):
        mechanism = Staircase(scale, Sensitivity.scalar(width), 1)
        assert len(mechanism.release([1, 2])) == 2
        assert mechanism.radius("0.95") >= 0


def test_releases_have_the_loss_that_is_accounted_for() -> None:
    """Of 20,000 releases at Δ = 7, ε = 2, the share on the first step is that of the mass, within 7 deviations.

    False alarm below 1e-11.
    """
    mechanism = Staircase.calibrate(Sensitivity.scalar(7), 2)
    inside = sum(abs(n) < mechanism.first for n in mechanism.release([0] * 20_000)) / 20_000
    claimed = fsum(mechanism.mass(n) for n in range(1 - mechanism.first, mechanism.first))
    assert abs(inside - claimed) < 7 * (claimed * (1 - claimed) / 20_000) ** 0.5
    assert log(mechanism.mass(0) / mechanism.mass(7)) == pytest.approx(2)


@pytest.mark.parametrize(
    ("scale", "sensitivity", "first"),
    [
        (0, PAIR, 1),
        (Fraction(1, 2**11), PAIR, 1),
        (1, PAIR, 0),
        (1, PAIR, 8),
        (1, PAIR, 1.0),
        (1, Sensitivity.scalar(0), 1),
        (1, Sensitivity.scalar(2**61), 1),
    ],
)
def test_other_stairs_are_refused(scale: Any, sensitivity: Sensitivity, first: Any) -> None:
    """Out of range, or nothing to hide."""
    with pytest.raises(InvalidArgument):
        Staircase(scale, sensitivity, first)
