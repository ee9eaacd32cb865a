"""Conversions among all kinds of loss: sound directions against worst cases by number, unsound ones refused."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq  # type: ignore[import-untyped]  # SciPy ships no types
from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

from discreet.accounting import (
    bounded_range_to_renyi,
    convert,
    gaussian_to_delta,
    gaussian_to_epsilon,
    lowered,
    mu_for,
    pure_to_gaussian,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_to_epsilon,
)
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import ZCDP, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP

KINDS: list[type[AnyLoss]] = [PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP]
NEEDS: dict[type[AnyLoss], dict[str, Any]] = {ApproxDP: {"delta": "1e-5"}, RenyiDP: {"alpha": 3}}

PURE, APPROX, CERTAIN = PureDP(1), ApproxDP(1, "1e-6"), ApproxDP(1, 0)
CONCENTRATED, RARELY = ZCDP("0.1"), ZCDP("0.1", "1e-6")
RENYI, NORMAL = RenyiDP(8, "0.5"), GaussianDP("0.7")

SOUND: dict[str, tuple[AnyLoss, set[type[AnyLoss]]]] = {
    "pure": (PURE, set(KINDS)),
    "approx": (APPROX, {ApproxDP, ZCDP}),
    "approx without delta": (CERTAIN, set(KINDS)),
    "zcdp": (CONCENTRATED, {ApproxDP, ZCDP, RenyiDP}),
    "zcdp with delta": (RARELY, {ApproxDP, ZCDP}),
    "renyi": (RENYI, {ApproxDP, RenyiDP}),
    "gaussian": (NORMAL, {ApproxDP, ZCDP, RenyiDP, GaussianDP}),
}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("kind", KINDS)
def test_a_loss_is_converted_where_that_is_sound_and_nowhere_else(name: str, kind: type[AnyLoss]) -> None:
    """The table of all directions; a refusal says why in words."""
    loss, sound = SOUND[name]
    face: Any = convert
    if kind in sound:
        assert isinstance(face(loss, kind, **NEEDS.get(kind, {})), kind)
    else:
        with pytest.raises(LossNotAccepted, match=r"δ anything|no bound|orders|no μ is known"):
            face(loss, kind, **NEEDS.get(kind, {}))


def test_what_is_of_the_right_kind_stays() -> None:
    """But for a δ or an order that is asked for."""
    assert convert(PURE, PureDP) == PURE
    assert convert(APPROX, ApproxDP) == APPROX
    assert convert(RARELY, ZCDP) == RARELY
    assert convert(NORMAL, GaussianDP) == NORMAL
    assert convert(RENYI, RenyiDP, alpha=8) == RENYI
    assert convert(PURE, ApproxDP) == CERTAIN
    assert convert(CERTAIN, PureDP) == PURE


def test_a_divergence_says_nothing_of_greater_orders() -> None:
    """It does of lower ones, where it holds unchanged."""
    assert convert(RENYI, RenyiDP, alpha=3) == RenyiDP(3, "0.5")
    with pytest.raises(LossNotAccepted):
        convert(RENYI, RenyiDP, alpha="8.001")


@pytest.mark.parametrize("arguments", [{}, {"alpha": 3}, {"delta": 1}, {"delta": 0}, {"delta": "1e-7"}])
def test_a_delta_is_asked_for_and_checked(arguments: dict[str, Any]) -> None:
    """Missing, misplaced, out of range, or below the loss's own."""
    face: Any = convert
    with pytest.raises(InvalidArgument):
        face(RARELY, ApproxDP, **arguments)
    with pytest.raises(InvalidArgument):
        face(PURE, RenyiDP, delta="1e-6")
    with pytest.raises(InvalidArgument):
        face(PURE, RenyiDP)
    with pytest.raises(InvalidArgument):
        face(PURE, int)


@pytest.mark.parametrize(("loss", "delta"), [(RARELY, "1e-7"), (RARELY, "1e-6"), (APPROX, "9e-7")])
def test_the_loss_has_a_delta_of_its_own(loss: AnyLoss, delta: str) -> None:
    """A smaller one is refused, and with zCDP an equal one, which leaves none for the conversion; in those words."""
    with pytest.raises(InvalidArgument, match="the loss's own"):
        convert(loss, ApproxDP, delta=delta)


def test_the_face_gives_what_the_functions_give() -> None:
    """One function each."""
    assert convert(RARELY, ApproxDP, delta="1e-5").epsilon == zcdp_to_epsilon("0.1", "9e-6")
    assert convert(NORMAL, ApproxDP, delta="1e-5").epsilon == gaussian_to_epsilon("0.7", "1e-5")
    assert convert(RENYI, ApproxDP, delta="1e-5").epsilon == renyi_to_epsilon(RENYI, "1e-5")
    assert convert(PURE, GaussianDP).mu == pure_to_gaussian(1)
    assert convert(NORMAL, ZCDP) == ZCDP("0.245")
    assert convert(NORMAL, RenyiDP, alpha=3) == RenyiDP(3, "0.735")
    assert convert(CONCENTRATED, RenyiDP, alpha=3) == RenyiDP(3, "0.3")


# ── Pure and (ε, δ) ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("own", [0.0, 1e-3])
@pytest.mark.parametrize("extra", [1e-6, 1e-2, 0.04])
def test_more_delta_lowers_epsilon_as_far_as_randomised_response_allows(
    epsilon: float, own: float, extra: float
) -> None:
    """The worst (ε, δ)-DP release has exactly the δ stated at the ε stated, and more than it at 0.1 % less."""
    found = lowered(ApproxDP(epsilon, own), own + extra)

    def delta(at: float) -> float:
        return own + (1 - own) * max(0.0, exp(epsilon) - exp(at)) / (1 + exp(epsilon))

    assert found.epsilon < Fraction(repr(epsilon))
    assert delta(float(found.epsilon)) == pytest.approx(own + extra, rel=1e-9)
    assert delta(float(found.epsilon) * 0.999) > own + extra


# ── Gaussian differential privacy ─────────────────────────────────────────────────────────────────────────────────────


def normal_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of N(0, 1) and N(μ, 1)."""
    near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return float(norm.cdf(near) - exp(epsilon + norm.logcdf(far)))


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 10.0])
def test_the_delta_of_a_normal_pair(mu: float, epsilon: float) -> None:
    """SciPy's, to nine digits or what floats can hold; and by quadrature of the hockey stick at one place."""
    bound = float(gaussian_to_delta(repr(mu), repr(epsilon)))
    assert bound == pytest.approx(normal_delta(mu, epsilon), rel=1e-9, abs=1e-15)
    x = np.linspace(-12, 16, 400_001)
    density = np.maximum(norm.pdf(x, loc=mu) - exp(epsilon) * norm.pdf(x), 0)
    assert bound == pytest.approx(float(density.sum() * (x[1] - x[0])), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("mu", [16, 19, 22, 25, 26])
def test_a_delta_of_nearly_one_is_at_most_one(mu: int) -> None:
    """However it is rounded up."""
    assert 1 - Fraction(1, 10**12) < gaussian_to_delta(mu, "1e-9") <= 1


@given(st.floats(1e-3, 50), st.integers(1, 60))
def test_epsilon_and_mu_solve_for_delta(mu: float, digits: int) -> None:
    """ε is enough and 10⁻⁹ less isn't; μ back from it is no more, and hardly less."""
    delta, exact = Fraction(1, 10**digits), Fraction(mu)
    epsilon = gaussian_to_epsilon(exact, delta)
    assert gaussian_to_delta(exact, epsilon) <= delta * (1 + Fraction(1, 2**50))
    if epsilon > Fraction(1, 10**6):
        assert gaussian_to_delta(exact, epsilon * (1 - Fraction(1, 10**9))) > delta or digits < 3
        back = mu_for(epsilon, delta)
        assert gaussian_to_delta(back, epsilon) <= delta * (1 + Fraction(1, 2**50))
        assert abs(back - exact) < exact / 10**8


@pytest.mark.parametrize("amount", [Fraction(1, 2**99), Fraction(2**99)])
@pytest.mark.parametrize("delta", ["1e-900", "0.5", "0.999999"])
def test_gaussian_conversions_hold_at_the_ends_of_their_range(amount: Fraction, delta: str) -> None:
    """Tiny and huge amounts neither raise nor lose their direction."""
    assert 0 < gaussian_to_delta(amount, 1) <= 1
    assert 0 < gaussian_to_delta(1, amount) <= 1
    assert gaussian_to_epsilon(amount, delta) > 0
    assert mu_for(amount, delta) > 0


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 4.0, 30.0, 300.0])
def test_pure_losses_lie_above_the_stated_normal_pair(epsilon: float) -> None:
    """The trade-off of μ-GDP is at most that of randomised response everywhere, and touches it."""
    mu = float(pure_to_gaussian(repr(epsilon)))
    best = -2 * float(norm.ppf(1 / (1 + exp(epsilon)))) if epsilon > 1e-3 else epsilon * sqrt(np.pi / 2)
    assert mu == pytest.approx(best, rel=1e-6)
    if 0.01 < epsilon < 30:
        alarms = np.linspace(1e-6, 1 - 1e-6, 2001)
        gaussian = norm.cdf(norm.ppf(1 - alarms) - mu)
        response = np.maximum(0, np.maximum(1 - exp(epsilon) * alarms, exp(-epsilon) * (1 - alarms)))
        assert bool((gaussian <= response * (1 + 1e-9)).all())
        thinner = norm.cdf(norm.ppf(1 - alarms) - 0.99 * mu)
        assert bool((thinner > response).any())


def test_far_pure_losses_have_a_simple_mu() -> None:
    """From ε = 4,096 on it is √(8ε), which never jumps down."""
    assert pure_to_gaussian(4097) ** 2 >= 8 * 4097
    assert pure_to_gaussian(4095) <= pure_to_gaussian(4097) <= pure_to_gaussian(4095) * Fraction(1001, 1000)


# ── One Rényi divergence ──────────────────────────────────────────────────────────────────────────────────────────────


def greatest_delta(alpha: float, gamma: float, epsilon: float) -> float:
    """The greatest p − e^ε q over binary pairs whose divergence is at most γ, by a grid of p and a root in q."""

    def moment(p: float, q: float) -> float:
        first = alpha * log(p) + (1 - alpha) * log(q)
        return float(np.logaddexp(first, alpha * log1p(-p) + (1 - alpha) * log1p(-q))) - (alpha - 1) * gamma

    best = 0.0
    for p in np.exp(np.linspace(log(1e-9), log(1 - 1e-9), 4001)):
        q = brentq(lambda x, p=p: moment(p, x), p * 1e-290, p, xtol=1e-300, rtol=1e-13)
        best = max(best, p - exp(epsilon) * q)
    return best


@pytest.mark.parametrize(
    ("alpha", "gamma", "epsilon"),
    [(2.0, 0.1, 0.2), (2.0, 0.1, 1.0), (5.0, 0.5, 1.0), (10.0, 1.0, 2.0), (1.5, 0.02, 0.05), (30.0, 0.3, 0.5)],
)
def test_one_divergence_gives_exactly_the_delta_of_the_worst_binary_pair(
    alpha: float, gamma: float, epsilon: float
) -> None:
    """Never below, within 0.1 % above; and ε solved from that δ is the one it began with."""
    loss = RenyiDP(repr(alpha), repr(gamma))
    truth = greatest_delta(alpha, gamma, epsilon)
    bound = float(renyi_to_delta(loss, repr(epsilon)))
    assert truth <= bound * (1 + 1e-9)
    assert bound <= truth * 1.001
    assert float(renyi_to_epsilon(loss, bound)) == pytest.approx(epsilon, rel=1e-6)


@given(st.fractions(Fraction(11, 10), 200), st.fractions(Fraction(1, 1000), 20), st.integers(1, 30))
def test_the_tight_bound_never_exceeds_the_closed_form(alpha: Fraction, gamma: Fraction, digits: int) -> None:
    """Canonne, Kamath and Steinke's is sound, so nothing above it is ever stated."""
    a, delta = float(alpha), 10.0**-digits
    closed = float(gamma) - log(a * delta) / (a - 1) + log(1 - 1 / a)
    found = float(renyi_to_epsilon(RenyiDP(alpha, gamma), Fraction(1, 10**digits)))
    assert 0 < found <= max(closed, 2.0**-64) * (1 + 1e-9)


def test_the_range_of_a_choice_is_worth_less_than_its_epsilon() -> None:
    """At small ε a quarter; near order 1 it is its zCDP."""
    quarter = bounded_range_to_renyi("0.01", 2).epsilon / convert(PureDP("0.01"), RenyiDP, alpha=2).epsilon
    assert float(quarter) == pytest.approx(0.25, rel=1e-3)
    assert float(bounded_range_to_renyi(1, "1.001").epsilon) == pytest.approx(1.001 / 8, rel=0.03)


def test_reading_one_kind_as_another_would_be_wrong() -> None:
    """Twins of refused conversions: Gaussian noise at σ = 1, with ρ = 1/2 and D₂ = 1, exceeds both readings."""
    assert normal_delta(1.0, 0.5) > 0.2  # of ρ as pure ε: there would be no δ at ε = 1/2
    bound = float(renyi_to_delta(RenyiDP(20, 1), 4))  # of order 2 as order 20
    assert normal_delta(1.0, 4.0) > 10 * bound
