"""Continuous Gaussian noise, whole and on Poisson samples: never less than the integrals over its densities."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.accounting import Accountant, best_of, curve_of, gaussian_loss_of, renyi_curve_of, training
from discreet.privacy import ComposedEvent, Event, GaussianEvent, SampledEvent

REACH, CELLS = 14.0, 40_001


def densities(sigma: float, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """With and without a unit that moves the sum by 1: masses of narrow cells, by the midpoint rule."""
    x = np.linspace(-REACH * sigma, 1 + REACH * sigma, CELLS)
    without, here = np.exp(-((x / sigma) ** 2) / 2), np.exp(-(((x - 1) / sigma) ** 2) / 2)
    width = (x[1] - x[0]) / (sigma * sqrt(2 * np.pi))
    return width * (rate * here + (1 - rate) * without), width * without


def hockey_stick(p: NDArray[np.float64], q: NDArray[np.float64], epsilon: float) -> float:
    """∫ max(0, p − e^ε q)."""
    return float(np.maximum(p - exp(epsilon) * q, 0).sum())


def composed(p: NDArray[np.float64], q: NDArray[np.float64], steps: int, epsilon: float, grid: float) -> float:
    """The same for many steps, from below: losses are moved down to a grid before they are added up by FFT."""
    kept = (p > 1e-20) & (q > 1e-20)
    places = np.floor(np.log(p[kept] / q[kept]) / grid).astype(np.int64)
    low, high = int(places.min()), int(places.max())
    law = np.bincount(places - low, weights=p[kept])
    size = 1 << (steps * (high - low) + 1).bit_length()
    total = np.fft.irfft(np.fft.rfft(law, size) ** steps, size)
    losses = grid * (steps * low + np.arange(size))
    above = losses > epsilon
    return float((total[above] * -np.expm1(epsilon - losses[above])).sum())


def step(noise: float, rate: float) -> Event:
    """One step of DP-SGD."""
    whole = GaussianEvent(sigma=Fraction(repr(noise)), l2_squared=Fraction(1), continuous=True)
    return SampledEvent(event=whole, rate=Fraction(repr(rate)))


@pytest.mark.parametrize(("noise", "rate"), [(0.2, 0.5), (0.5, 0.5), (1.0, 0.01), (3.0, 0.99), (20.0, 0.1)])
def test_one_step_has_the_hockey_stick_of_its_densities_in_the_worse_order(noise: float, rate: float) -> None:
    """At every ε: never below the integral, and above it by no more than what the grid and the transform may add."""
    p, q = densities(noise, rate)
    curve = curve_of(step(noise, rate))
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0, 6.0):
        truth = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        assert truth * (1 - 1e-6) - 1e-13 <= curve.delta(epsilon) <= truth * 1.001 + 1e-12
        assert curve.optimistic.delta(epsilon) <= truth * (1 + 1e-6) + 1e-13


@pytest.mark.parametrize(
    ("numbers", "least"), [((0.5, 0.5, 1, 1e-3), 6.4505), ((0.6, 0.01, 100, 1e-5), 3.811)], ids=["one step", "many"]
)
@pytest.mark.parametrize("accountant", [curve_of, renyi_curve_of, best_of])
def test_a_training_run_is_never_said_to_give_away_less_than_it_does(
    accountant: Accountant, numbers: tuple[float, float, int, float], least: float
) -> None:
    """By every accountant: at the stated ε the δ of the run, computed from below, is within the δ that was given."""
    noise, rate, steps, delta = numbers
    run = training(noise=noise, rate=rate, steps=steps, delta=delta, accountant=accountant)
    assert float(run.epsilon) >= least * (1 - 1e-5)
    p, q = densities(noise, rate)
    for one, other in ((p, q), (q, p)):
        assert composed(one, other, steps, float(run.epsilon), grid=2e-3) <= delta * (1 + 1e-6)


def test_a_count_on_the_integers_gives_away_less_and_stays_what_it_is() -> None:
    """The wrong twin: by the law of discrete noise on one count the integral is undercut somewhere."""
    p, q = densities(0.5, 1.0)
    count = curve_of(GaussianEvent(sigma=Fraction(1, 2), l2_squared=Fraction(1)))
    real = curve_of(GaussianEvent(sigma=Fraction(1, 2), l2_squared=Fraction(1), continuous=True))
    at = np.linspace(0, 8, 13).tolist()
    assert all(real.delta(x) >= hockey_stick(p, q, x) * (1 - 1e-6) for x in at)
    assert any(count.delta(x) < hockey_stick(p, q, x) * 0.99 for x in at)


def test_continuous_noise_is_gaussian_dp_at_any_sigma() -> None:
    """μ = ℓ2/σ, also below 1 step, and squares add up."""
    half = GaussianEvent(sigma=Fraction(1, 2), l2_squared=Fraction(9), continuous=True)
    assert gaussian_loss_of(half).mu == 6
    assert gaussian_loss_of(ComposedEvent((half,) * 4)).mu == 12


def test_a_fine_grid_is_hardly_worse_than_no_grid() -> None:
    """Discrete noise with 1,024 steps to the clipping length: never below continuous noise, and next to it."""
    fine = SampledEvent(event=GaussianEvent(sigma=Fraction(1024), l2_squared=Fraction(2**20)), rate=Fraction(1, 100))
    on_grid, real = (curve_of(event, times=100).epsilon(1e-6) for event in (fine, step(1.0, 0.01)))
    assert real * (1 - 1e-6) <= on_grid <= real * 1.0001
