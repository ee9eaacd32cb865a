"""Gaussian noise: three calibrations, each private as stated and none wasteful; radii that are exact."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq  # type: ignore[import-untyped]  # SciPy ships no types
from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian
from discreet.privacy import ZCDP, GaussianEvent, Sensitivity
from support.distributions import gaussian_pmf as exact_pmf
from support.examples import examples
from support.pmf import gaussian_pmf, hockey_stick, shifted, tail

ONE = Sensitivity.scalar(1)
GROUPS = Sensitivity(l0=5, linf=3, l1=15, l2_squared=Fraction(45))
ROWS = Sensitivity(l0=2**48, linf=50, l1=50, l2_squared=Fraction(2500))

GOALS = [(0.01, 1e-5), (0.1, 1e-6), (0.5, 1e-9), (1.0, 1e-6), (3.0, 1e-3), (8.0, 1e-10), (1.0, 0.1)]


def continuous(epsilon: float, delta: float) -> float:
    """Balle and Wang's σ for a real that moves by 1, found with SciPy."""

    def excess(sigma: float) -> float:
        mu = 1 / sigma
        second = exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))
        return float(log(max(norm.cdf(mu / 2 - epsilon / mu) - second, 1e-300)) - log(delta))

    return float(brentq(excess, 1e-2, 1e5, xtol=1e-12, rtol=1e-12))


@given(st.fractions(Fraction(1, 10**9), 50), st.sampled_from([ONE, GROUPS, ROWS]))
def test_rho_is_kept_and_nothing_is_wasted(rho: Fraction, sensitivity: Sensitivity) -> None:
    """σ² ≥ ℓ2²/2ρ exactly, and by less than 2⁻²⁹ of itself."""
    mechanism = Gaussian.for_rho(sensitivity, rho)
    least = sensitivity.l2_squared / (2 * rho)
    assert least <= mechanism.sigma**2 <= least * (1 + Fraction(1, 2**29))
    assert mechanism.loss == ZCDP(sensitivity.l2_squared / (2 * mechanism.sigma**2))
    assert mechanism.loss.rho <= rho
    assert mechanism.event == GaussianEvent(sigma=mechanism.sigma, l2_squared=sensitivity.l2_squared)


def test_a_square_has_an_exact_root() -> None:
    """ρ = 0.005 for a count is σ = 10, and costs 0.005."""
    mechanism = Gaussian.for_rho(ONE, "0.005")
    assert mechanism.sigma == 10
    assert mechanism.loss == ZCDP("0.005")


@pytest.mark.parametrize(("epsilon", "delta"), GOALS[1:])  # the first would need too many outcomes
@pytest.mark.parametrize("move", [1, 2, 10])
def test_exact_calibration_is_private_and_tight(epsilon: float, delta: float, move: int) -> None:
    """Summed over all outcomes, δ(ε) is at most δ, within 0.1 % of it; with 1 % less noise it exceeds δ."""
    sigma = float(Gaussian.for_epsilon_delta(Sensitivity.scalar(move), epsilon, delta).sigma)
    noise, less = gaussian_pmf(sigma, reach=20), gaussian_pmf(sigma * 0.99, reach=20)
    found = hockey_stick(noise, shifted(noise, move), epsilon)
    assert delta * (1 - 1e-3) <= found <= delta * (1 + 1e-8)
    assert hockey_stick(less, shifted(less, move), epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
def test_fine_grids_need_what_continuous_noise_needs(epsilon: float, delta: float) -> None:
    """On a grid of 2²⁰ steps the discrete σ is Balle and Wang's, to the resolution of 2⁻²⁰."""
    sigma = float(Gaussian.for_epsilon_delta(Sensitivity.scalar(2**20), epsilon, delta).sigma) / 2**20
    assert sigma == pytest.approx(continuous(epsilon, delta), rel=2.0**-20)


def test_a_published_calibration() -> None:
    """Balle and Wang's example: at ε = 1, δ = 10⁻⁵ the exact σ is 3.73, the textbook's 4.84."""
    fine = Sensitivity.scalar(2**20)
    assert float(Gaussian.for_epsilon_delta(fine, 1, 1e-5).sigma) / 2**20 == pytest.approx(3.7306, abs=1e-4)
    assert float(Gaussian.classical(fine, 1, 1e-5).sigma) / 2**20 == pytest.approx(4.8448, abs=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
@pytest.mark.parametrize("sensitivity", [ONE, GROUPS, ROWS, Sensitivity.scalar(10**6)])
def test_what_is_calibrated_says_so_itself(epsilon: float, delta: float, sensitivity: Sensitivity) -> None:
    """The δ stated for the σ found is at most the one asked for; one step of the resolution less exceeds it."""
    goal = Fraction(repr(delta))
    mechanism = Gaussian.for_epsilon_delta(sensitivity, epsilon, goal)
    assert mechanism.delta_at(epsilon) <= goal
    less = Gaussian(mechanism.sigma * (1 - Fraction(1, 2**18)), sensitivity)
    assert less.delta_at(epsilon) > goal


@given(st.fractions(Fraction(1, 100), 5), st.integers(2, 60), st.sampled_from([ONE, GROUPS, ROWS]))
def test_stronger_guarantees_need_more_noise(epsilon: Fraction, digits: int, sensitivity: Sensitivity) -> None:
    """σ falls with ε and with δ."""
    delta = Fraction(1, 10**digits)
    sigma = Gaussian.for_epsilon_delta(sensitivity, epsilon, delta).sigma
    assert Gaussian.for_epsilon_delta(sensitivity, epsilon * 2, delta).sigma < sigma
    assert Gaussian.for_epsilon_delta(sensitivity, epsilon, delta / 10).sigma > sigma


@given(
    st.one_of(st.integers(-300, 12).map(lambda e: Fraction(10) ** e), st.fractions(Fraction(1, 10**9), 2000)),
    st.one_of(
        st.integers(1, 150).map(lambda e: Fraction(1, 10**e)), st.integers(1, 99).map(lambda p: Fraction(p, 100))
    ),
    st.sampled_from([ONE, GROUPS, ROWS, Sensitivity.scalar(2**59), Sensitivity.scalar(2**80)]),
)
def test_any_guarantee_is_kept_or_refused(epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity) -> None:
    """From one end of the range to the other there is an answer, and it holds, or a typed error."""
    try:
        mechanism = Gaussian.for_epsilon_delta(sensitivity, epsilon, delta)
    except InvalidArgument:
        return
    assert mechanism.delta_at(epsilon) <= delta


@pytest.mark.parametrize("epsilon", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-8])
@pytest.mark.parametrize("sensitivity", [ONE, GROUPS, ROWS])
def test_the_classical_formula_is_the_textbooks(epsilon: float, delta: float, sensitivity: Sensitivity) -> None:
    """σ = √(2·ln(1.25/δ))·ℓ2/ε, rounded up; private, and more noise than needed."""
    mechanism = Gaussian.classical(sensitivity, epsilon, delta)
    textbook = sqrt(2 * log(1.25 / delta)) * sqrt(sensitivity.l2_squared) / epsilon
    assert float(mechanism.sigma) == pytest.approx(textbook, rel=1e-8)
    assert mechanism.delta_at(epsilon) <= delta
    assert mechanism.sigma > Gaussian.for_epsilon_delta(sensitivity, epsilon, delta).sigma


def test_the_classical_formula_falls_back_where_it_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the formula's σ not pass for discrete noise, the σ that passes is used."""
    monkeypatch.setattr(Gaussian, "delta_at", lambda *_: Fraction(1))
    assert Gaussian.classical(ONE, 1, 1e-6) == Gaussian.for_epsilon_delta(ONE, 1, 1e-6)


@pytest.mark.parametrize("epsilon", ["1.000001", 2, 10])
def test_the_classical_formula_is_refused_above_one(epsilon: Any) -> None:
    """There it isn't private, and the error names what is."""
    with pytest.raises(InvalidArgument, match="for_epsilon_delta"):
        Gaussian.classical(ONE, epsilon, 1e-6)


@given(st.integers(1, 400), st.integers(1, 999))
def test_the_radius_is_the_least_that_holds(eighths: int, thousandths: int) -> None:
    """Noise lies within it with the confidence asked for, and within one step less it doesn't."""
    sigma, confidence = Fraction(eighths, 8), Fraction(thousandths, 1000)
    radius = Gaussian(sigma, ONE).radius(confidence)
    noise = gaussian_pmf(float(sigma), reach=12)
    slack = 1e-12
    assert 2 * tail(noise, radius + 1) <= 1 - float(confidence) + slack
    assert radius == 0 or 2 * tail(noise, radius) > 1 - float(confidence) - slack


@pytest.mark.parametrize("exponent", [10, 20, 40, 59])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_the_radius_of_enormous_noise_is_that_of_the_normal(exponent: int, confidence: str) -> None:
    """At 2⁵⁹ steps there is nothing to add up; the quantile is the normal's, to all digits of a float."""
    radius = Gaussian(Fraction(2**exponent), ONE).radius(confidence)
    assert radius + 0.5 == pytest.approx(2**exponent * norm.ppf((1 + float(confidence)) / 2), rel=1e-9, abs=1)


@given(st.integers(1, 10**9), st.integers(2, 400))
def test_the_cutoff_is_monotone(sigma: int, exponent: int) -> None:
    """Rarer means farther out, and so does more noise."""
    mechanism, wider = (Gaussian(Fraction(s), ONE) for s in (sigma, 2 * sigma))
    near, far = Fraction(1, 2**exponent), Fraction(1, 2 ** (exponent + 1))
    assert 1 <= mechanism.cutoff(near) <= mechanism.cutoff(far)
    assert mechanism.cutoff(near) <= wider.cutoff(near)


def test_release_adds_to_integers_of_any_size() -> None:
    """Python integers in and out, one for one; nothing overflows."""
    values = [0, -1, 2**63 - 1, -(2**63), 10**50]
    noisy = Gaussian(Fraction(10), GROUPS).release(values)
    assert [type(value) for value in noisy] == [int] * len(values)
    assert all(abs(a - b) < 10**4 for a, b in zip(noisy, values, strict=True))
    assert Gaussian(Fraction(10), GROUPS).release([]) == []


@pytest.mark.parametrize("sigma", [Fraction(1, 2**10), Fraction(2**60)])
def test_the_ends_of_the_range_can_be_drawn(sigma: Fraction) -> None:
    """What is accepted before the data is touched doesn't fail after."""
    assert len(Gaussian(sigma, GROUPS).release([1, 2, 3])) == 3


@pytest.mark.parametrize(
    ("sigma", "sensitivity"),
    [
        (Fraction(1, 2**11), ONE),
        (Fraction(2**60) + 1, ONE),
        (Fraction(-1), ONE),
        (float("inf"), ONE),
        (Fraction(10**200, 10**200 + 1), ONE),
        (Fraction(1), Sensitivity(l0=1, linf=0, l1=0, l2_squared=Fraction(0))),
        (Fraction(1), Sensitivity.scalar(2**81)),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_beforehand(sigma: Any, sensitivity: Sensitivity) -> None:
    """A σ out of range, with endless digits, or nothing to hide: all known without data."""
    with pytest.raises(InvalidArgument):
        Gaussian(sigma, sensitivity)


@pytest.mark.parametrize("rho", [0, -1, "1e-60", "1e60", float("nan"), None])
def test_a_rho_that_cannot_be_kept_is_refused(rho: Any) -> None:
    """No ρ, or one whose noise is out of range."""
    with pytest.raises(InvalidArgument):
        Gaussian.for_rho(ONE, rho)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 1e-6), (-1, 1e-6), (1, 0), (1, 1), (1, -0.1), (float("nan"), 1e-6), ("1e-30", 1e-20)]
)
def test_an_epsilon_and_delta_that_cannot_be_kept_are_refused(epsilon: Any, delta: Any) -> None:
    """Out of range, or beyond the noise there is."""
    with pytest.raises(InvalidArgument):
        Gaussian.for_epsilon_delta(ONE, epsilon, delta)


@given(st.fractions(Fraction(1, 1024), 64, max_denominator=1024), st.integers(-2000, 2000))
@examples(50)
def test_the_mass_is_within_its_error(sigma: Fraction, n: int) -> None:
    """Relative error below 10⁻¹² against proved bounds of e^(−n²/2σ²) over its sum; 0 below the range of floats."""
    low, high = exact_pmf(sigma)(n)
    mass, error, tiny = Fraction(Gaussian(sigma, ONE).mass(n)), Fraction(1, 10**12), Fraction(1, 2**1022)
    assert low * (1 - error) - tiny <= mass <= high * (1 + error) + tiny
