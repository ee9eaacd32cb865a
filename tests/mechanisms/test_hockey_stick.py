"""The δ that goes with an ε: exact in one dimension, a bound in many, against sums over all outcomes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, pi, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

from discreet.accounting import zcdp_to_delta
from discreet.exact.ball import precision
from discreet.mechanisms.gaussian_calibration import delta_bound, many_coordinates, one_coordinate, smoothing_for
from discreet.privacy import Sensitivity
from support.pmf import gaussian_pmf, hockey_stick, shifted

CASES = [
    (sigma, shift, epsilon)
    for sigma in (0.5, 1.0, 3.3, 20.0, 80.0)
    for shift in (1, 2, 7)
    for epsilon in (0.01, 0.3, 1.0, 4.0)
]


def vector(*moves: int) -> Sensitivity:
    """The sensitivity of a vector that moves by exactly this."""
    return Sensitivity(
        l0=sum(v != 0 for v in moves),
        linf=max(moves),
        l1=sum(moves),
        l2_squared=Fraction(sum(v * v for v in moves)),
    )


@pytest.mark.parametrize(("sigma", "shift", "epsilon"), CASES)
def test_delta_in_one_dimension_is_exact(sigma: float, shift: int, epsilon: float) -> None:
    """Equal to the sum over all outcomes of what exceeds e^ε, to nine digits of what floats can sum."""
    noise = gaussian_pmf(sigma)
    true = hockey_stick(noise, shifted(noise, shift), epsilon)
    found = float(delta_bound(Sensitivity.scalar(shift), Fraction(repr(sigma)), Fraction(repr(epsilon))))
    assert found == pytest.approx(true, rel=1e-9, abs=1e-14)


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 60))
def test_a_smaller_move_is_better_hidden(sigma: int, shift: int, tenths: int) -> None:
    """δ(ε) grows with the shift, so the greatest is the worst case; and it falls with ε."""
    with precision(160):
        here = one_coordinate(Fraction(sigma, 2), shift, Fraction(tenths, 10))
        assert not here > one_coordinate(Fraction(sigma, 2), shift + 1, Fraction(tenths, 10))
        assert not here < one_coordinate(Fraction(sigma, 2), shift, Fraction(tenths + 1, 10))


@pytest.mark.parametrize("moves", [(1, 1), (1, 2), (3, 1), (1, 1, 1), (2, 1, 1)])
@pytest.mark.parametrize("sigma", [0.6, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_delta_in_several_dimensions_is_never_below_the_truth(
    moves: tuple[int, ...], sigma: float, epsilon: float
) -> None:
    """For vectors that move in two or three coordinates, against the sum over all outcomes in the plane or in space."""
    noise = gaussian_pmf(sigma, reach=6.5)
    outcomes = list(product(noise, repeat=len(moves)))

    def joint(at: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        values = {}
        for outcome in outcomes:
            chance = 1.0
            for n, v in zip(outcome, at, strict=True):
                chance *= noise.get(n - v, 0.0)
            values[outcome] = chance
        return values

    x, y = joint((0,) * len(moves)), joint(moves)
    true = sum(max(0.0, chance - exp(epsilon) * y[outcome]) for outcome, chance in x.items() if y[outcome])
    found = float(delta_bound(vector(*moves), Fraction(repr(sigma)), Fraction(repr(epsilon))))
    assert found >= true * (1 - 1e-9)


@pytest.mark.parametrize("moves", [1, 2, 5, 100, 2**20])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0])
def test_delta_in_many_dimensions_is_near_the_continuous_one(moves: int, epsilon: float) -> None:
    """From σ = 10 for a count on, at most 1 % is lost, and what is claimed isn't below continuous noise by more."""
    mu = 0.1
    found = float(
        delta_bound(vector(*[1] * moves), Fraction(10 * round(sqrt(moves) * 2**20), 2**20), Fraction(repr(epsilon)))
    )
    continuous = float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))
    if continuous > 1e-14:
        assert 0.97 * continuous <= found <= (1.35 if moves < 100 else 1.02) * continuous


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(50)])
@pytest.mark.parametrize("coordinates", [2, 5, 1000])
def test_the_bound_is_never_worse_than_through_zcdp(sigma: Fraction, coordinates: int) -> None:
    """It is the lesser of two, and zCDP gives the other."""
    move = vector(*[1] * coordinates)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
        through = zcdp_to_delta(move.l2_squared / (2 * sigma**2), epsilon)
        assert delta_bound(move, sigma, epsilon) <= through * (1 + Fraction(1, 10**6))


@given(st.integers(1, 64 * 8), st.integers(1, 40))
def test_any_smoothing_is_sound(sixty_fourths: int, tenths: int) -> None:
    """However the bound is tuned, for one coordinate it isn't below the exact δ(ε)."""
    sigma, epsilon = Fraction(3), Fraction(tenths, 10)
    with precision(160):
        exact = one_coordinate(sigma, 2, epsilon)
        bound = many_coordinates(sigma, Fraction(4), 1, epsilon, Fraction(sixty_fourths, 64))
        assert not bound < exact


def test_without_the_correction_the_bound_would_be_wrong() -> None:
    """The continuous δ(ε) with σ itself is below the discrete one for some ε: what the lemma pays for is real."""
    sigma, shift = 1.0, 1
    noise = gaussian_pmf(sigma)
    worse = [
        hockey_stick(noise, shifted(noise, shift), epsilon / 20)
        > norm.cdf(0.5 - epsilon / 20) - exp(epsilon / 20) * norm.cdf(-0.5 - epsilon / 20)
        for epsilon in range(1, 60)
    ]
    assert any(worse)


@given(st.integers(1, 2**40), st.integers(1, 2**48), st.integers(1, 1000))
def test_the_smoothing_chosen_is_moderate(sigma: int, coordinates: int, hundredths: int) -> None:
    """It grows with logarithms only, so it costs nothing once σ is large."""
    assert 0 < smoothing_for(Fraction(sigma), coordinates, Fraction(hundredths, 100)) < 8


@pytest.mark.parametrize("sigma", [20, 300, 10_000])
@pytest.mark.parametrize("coordinates", [1, 40])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(3)])
def test_smoothing_costs_least(sigma: int, coordinates: int, epsilon: Fraction) -> None:
    """A tenth more costs more in variance than it gains in ε, and a tenth less the other way round."""

    def cost(variance: float) -> float:
        return float(epsilon) * variance / sigma**2 + 4 * coordinates * exp(-2 * pi**2 * variance)

    best = float(smoothing_for(Fraction(sigma), coordinates, epsilon))
    assert cost(best) < min(cost(best * 1.1), cost(best * 0.9))
