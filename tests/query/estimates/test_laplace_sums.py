"""Sums of Laplace noises: tails against an integral of the characteristic function, and never on the narrow side."""

from __future__ import annotations

from math import exp, log, pi, prod, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.query.estimates.laplace_sums import radius, tail

SCALES = st.lists(st.floats(0.01, 100), min_size=1, max_size=10)


def integral(scales: list[float], distance: float) -> float:
    """Pr[|Σ aᵢXᵢ| > t] by Gil-Pelaez: 1 − (2/π) ∫ sin(ut)/u Π 1/(1 + aᵢ²u²) du."""

    def density(u: float) -> float:
        return (sin(u * distance) / u if u else distance) / prod(1 + (a * u) ** 2 for a in scales)

    return 1 - 2 / pi * quad(density, 0, 60 / min(scales), limit=2_000)[0]


@pytest.mark.parametrize("scales", [[1.0, 2.0], [1.0, 1.0], [3.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.5, 2.0, 2.0, 5.0]])
@pytest.mark.parametrize("distance", [0.5, 3.0, 8.0])
def test_tails_are_those_of_the_distribution(scales: list[float], distance: float) -> None:
    """To a thousandth where scales are equal, to a millionth where they aren't; and never below."""
    exact, found = integral(scales, distance), tail(scales, distance)
    assert exact - 1e-6 <= found <= exact * 1.001 + 1e-6
    assert tail([0.99 * scale for scale in scales], distance) < exact - 1e-6  # the comparison tells 1 % less noise


@pytest.mark.parametrize(
    "scales", [[1.0] * 5, [1.0] * 8, [1.0] * 9, [1.0] * 10, [1.0, 1.1, 5.0, 5.0, 5.0, 5.0], [1.0] * 20]
)
def test_many_equal_scales_err_on_the_wide_side(scales: list[float]) -> None:
    """By less than a tenth up to nine terms; beyond, by Chernoff's bound."""
    outside = 0.05
    found = radius(scales, outside)
    assert integral(scales, found) <= outside
    if len(scales) <= 9:
        assert integral(scales, found / 1.1) > outside


def test_one_and_two_terms_have_closed_forms() -> None:
    """e^(−t/a), and (1 + t/2)e^(−t) for two of the same scale."""
    assert tail([2.0], 3.0) == pytest.approx(exp(-1.5))
    assert tail([1.0, -1.0], 3.0) == pytest.approx(2.5 * exp(-3), rel=1e-6)
    assert radius([5.0], 0.01) == pytest.approx(5 * log(100), rel=1e-6)


@given(scales=SCALES, distance=st.floats(0, 1_000), more=st.floats(1, 10))
def test_tails_are_probabilities_that_fall_with_distance_and_rise_with_noise(
    scales: list[float], distance: float, more: float
) -> None:
    """Whatever the scales; and one noise more never makes a tail smaller."""
    found = tail(scales, distance)
    assert 0 <= found <= 1
    assert tail(scales, distance * more) <= found + 1e-6
    assert tail([more * scale for scale in scales], distance) >= found - 1e-6
    assert tail([*scales, more], distance) >= found * 0.999 - 1e-6 or len(scales) >= 8
    assert found >= exp(-distance / max(scales)) - 1e-6


@given(scales=SCALES, outside=st.floats(1e-6, 0.5))
def test_the_radius_is_where_the_tail_is_small_enough(scales: list[float], outside: float) -> None:
    """No larger than it need be, by the tail's own account."""
    found = radius(scales, outside)
    assert tail(scales, found) <= outside
    assert tail(scales, found * (1 - 1e-6)) >= outside * (1 - 1e-3)


def test_no_noise_has_no_tail() -> None:
    """Factors of 0 leave nothing."""
    assert radius([0.0], 0.05) == 0
    assert tail([0.0, 0.0], 1.0) == 0
