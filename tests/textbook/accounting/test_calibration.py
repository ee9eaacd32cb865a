"""Calibration: each number from the others, checked from the other side; accuracy by summing the noise."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    Noise,
    Training,
    best_of,
    gaussian_to_epsilon,
    optimal,
    radius_of,
    renyi_curve_of,
    scale_within,
    solve,
    training,
)
from discreet.errors import AccuracyUnreachable, InvalidArgument, LossNotAccepted
from discreet.exact.rational import Rationalizable
from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureDP,
    PureEvent,
)
from support.pmf import gaussian_pmf, hockey_stick, laplace_pmf, shifted

# ── Guarantees ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_best_guarantee_covers_the_hockey_stick_of_laplace_noise(epsilon: float, times: int) -> None:
    """Noise on a number, up to three times, by every pair of outcomes: within 1 % of the stated δ if it moves by 1."""
    noise = {n: chance for n, chance in laplace_pmf(1.0, reach=20).items() if chance}
    p, q = shifted(noise, 1), noise
    pair = [(a, b) for n, a in p.items() if (b := q.get(n)) is not None]
    outcomes = [(1.0, 1.0)]
    for _ in range(times):
        merged: dict[float, tuple[float, float]] = {}
        for a, b in ((x * c, y * d) for x, y in outcomes for c, d in pair):
            one, other = merged.get(round(a / b, 9), (0.0, 0.0))
            merged[round(a / b, 9)] = (one + a, other + b)
        outcomes = list(merged.values())
    truth = fsum(max(0.0, a - exp(epsilon) * b) for a, b in outcomes)
    bound = float(best_of(LaplaceEvent(scale=Fraction(1), l1=1), times).delta(repr(epsilon)))
    assert truth <= bound * (1 + 1e-7) + 1e-14
    assert bound <= truth * 1.01 + 1e-14 or times > 1


def test_gaussians_have_the_known_epsilon() -> None:
    """1,000 with σ = 50 at δ = 10⁻⁶: 2.9216, to 0.01 %; 1,000 Laplaces at 0.01: within 0.2 % of 1.3629."""
    noise = GaussianEvent(sigma=Fraction(50), l2_squared=Fraction(1))
    found = float(best_of(noise, 1000).epsilon(1e-6))
    assert 2.9216 * (1 - 1e-5) <= found <= 2.9216 * 1.0001
    counts = LaplaceEvent(scale=Fraction(100), l1=1)
    assert 1.3629 * (1 - 1e-4) <= float(best_of(counts, 1000).epsilon(1e-6)) <= 1.3629 * 1.002


EVENTS: list[Event] = [
    LaplaceEvent(scale=Fraction(10), l1=3, linf=1),
    GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1)),
    GaussianEvent(sigma=Fraction(1, 2), l2_squared=Fraction(1)),
    ExponentialEvent(epsilon=Fraction(1, 10)),
    PureEvent(epsilon=Fraction(1, 10)),
    ApproxEvent(epsilon=Fraction(1, 10), delta=Fraction(1, 10**8)),
    ComposedEvent((PureEvent(epsilon=Fraction(1, 10)), GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1)))),
]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("times", [1, 30])
def test_the_best_is_never_worse_than_any(event: Event, times: int) -> None:
    """At most the Rényi curve; more uses cost more; the δ of the ε of a δ is that δ, but for the search of α."""
    best, renyi = best_of(event, times), renyi_curve_of(event, times)
    assert best.epsilon(1e-5) <= renyi.epsilon(1e-5)
    assert best.delta(2) <= renyi.delta(2)
    assert best.epsilon(1e-5) <= best_of(event, times + 1).epsilon(1e-5)
    delta = best.delta(best.epsilon(1e-5))
    assert delta <= Fraction(1, 10**5) * (1 + Fraction(1, 10**4))


def test_without_a_delta_only_pure_losses_count() -> None:
    """Three tenths; Gaussian noise has none."""
    assert best_of(PureEvent(epsilon=Fraction(1, 10)), 3).epsilon(0) == Fraction(3, 10)
    assert best_of(PureEvent(epsilon=Fraction(1, 10)), 3).delta("0.3") == 0
    with pytest.raises(LossNotAccepted):
        best_of(GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))).epsilon(0)


# ── Accuracy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
def test_noise_stays_within_its_radius(scale: float, confidence: str) -> None:
    """By summing it; one step less isn't enough for Laplace noise, nor two steps less for Gaussian noise at 90 %."""
    for noise, chances in ((Noise.LAPLACE, laplace_pmf(scale, reach=60)), (Noise.GAUSSIAN, gaussian_pmf(scale))):
        radius = radius_of(noise, repr(scale), confidence)

        def inside(r: int, of: dict[int, float] = chances) -> float:
            return fsum(chance for n, chance in of.items() if abs(n) <= r)

        assert inside(radius) >= float(confidence) - 1e-12
        if noise is Noise.LAPLACE:
            assert radius == 0 or inside(radius - 1) < float(confidence)
        elif confidence != "0.5" and scale >= 1:
            assert inside(radius - 2) < float(confidence)


@given(st.sampled_from(list(Noise)), st.integers(1, 10**6), st.sampled_from(["0.5", "0.95", "0.999999"]))
def test_a_radius_leaves_room_for_a_scale(noise: Noise, radius: int, confidence: str) -> None:
    """At the scale found noise stays within it, at a millionth more it doesn't."""
    scale = scale_within(noise, radius, confidence)
    assert radius_of(noise, scale, confidence) <= radius
    assert radius_of(noise, scale * (1 + Fraction(1, 10**6)), confidence) > radius


def test_no_noise_stays_within_less_than_nothing() -> None:
    """A typed error."""
    with pytest.raises(AccuracyUnreachable):
        scale_within(Noise.LAPLACE, -1, "0.95")


# ── Solving ───────────────────────────────────────────────────────────────────────────────────────────────────────────

GIVEN: dict[str, Any] = {"scale": 60, "epsilon": 1, "delta": "1e-6", "uses": 50}


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("left_out", list(GIVEN))
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_each_number_follows_from_the_others(noise: Noise, left_out: str, sensitivity: int) -> None:
    """What is found holds, by the guarantee itself, and the next smaller one doesn't."""
    known = {name: value for name, value in GIVEN.items() if name != left_out}
    found = solve(noise, sensitivity=sensitivity, **known)

    def delta(scale: Fraction, uses: int, epsilon: Fraction) -> Fraction:
        event: Event = LaplaceEvent(scale=scale, l1=sensitivity)
        if noise is Noise.GAUSSIAN:
            event = GaussianEvent(sigma=scale, l2_squared=Fraction(sensitivity**2))
        return best_of(event, uses).delta(epsilon)

    close = 1 + Fraction(1, 10**5)
    assert delta(found.scale, found.uses, found.epsilon) <= found.delta * (1 + Fraction(1, 10**9))
    match left_out:
        case "scale":
            assert delta(found.scale / close, found.uses, found.epsilon) > found.delta
        case "uses":
            assert delta(found.scale, found.uses + 1, found.epsilon) > found.delta
        case "epsilon":
            assert delta(found.scale, found.uses, found.epsilon / (1 + Fraction(1, 100))) > found.delta
        case _:
            assert found.delta == delta(found.scale, found.uses, found.epsilon)
    assert found.radius == radius_of(noise, found.scale, "0.95")


def test_an_accuracy_says_how_often_it_can_be_had() -> None:
    """±30 at 95 % needs a Laplace scale of 10.2, so ε = 1 pays for ten; as many need that scale or less."""
    found = solve(Noise.LAPLACE, radius=30, epsilon=1, delta=0)
    assert found.uses == 10
    assert solve(Noise.LAPLACE, epsilon=1, delta=0, uses=10).radius <= 30
    assert solve(Noise.LAPLACE, epsilon=1, delta=0, uses=10).scale == 10
    assert solve(Noise.LAPLACE, scale=10, delta=0, uses=10).epsilon == 1


def test_one_use_of_gaussian_noise_is_nearly_the_analytic_calibration() -> None:
    """σ at ε = 1, δ = 10⁻⁶ is 4.2248 for continuous noise; here its μ is a quarter of a percent more."""
    found = solve(Noise.GAUSSIAN, epsilon=1, delta=1e-6, uses=1)
    assert 4.2248 <= float(found.scale) <= 4.2248 * 1.004
    noise = gaussian_pmf(float(found.scale))
    assert hockey_stick(shifted(noise, 1), noise, 1.0) <= 1e-6


class Exactly:
    """A guarantee made of optimal composition, as one of loss distributions would be plugged in."""

    def __init__(self, event: Event, times: int) -> None:
        assert isinstance(event, LaplaceEvent)
        self.loss, self.times = PureDP(event.l1 / event.scale), times

    def epsilon(self, delta: Rationalizable) -> float:
        """As a float, as other curves have it."""
        return float(optimal(self.loss, self.times, delta).epsilon)

    def delta(self, epsilon: Rationalizable) -> float:
        """Solved from ε."""
        from discreet.accounting import optimal_delta

        return float(optimal_delta(self.loss, self.times, epsilon))


def test_another_way_of_accounting_can_be_plugged_in() -> None:
    """Any curve with ε(δ) and δ(ε), floats included."""
    ours, plugged = (solve(Noise.LAPLACE, scale=100, epsilon=1, delta=1e-6, accountant=a) for a in (best_of, Exactly))
    assert ours.uses >= plugged.uses > 400
    assert solve(Noise.LAPLACE, scale=100, uses=500, delta=1e-6, accountant=Exactly).epsilon > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"epsilon": 1, "delta": 0},
        {"scale": 1, "radius": 3, "epsilon": 1, "delta": 0},
        {"scale": 1, "epsilon": 1, "delta": 0, "uses": 3},
        {"scale": 1, "epsilon": 0, "delta": 0},
        {"scale": 1, "epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": 0, "uses": 0},
        {"epsilon": 1, "delta": 0, "uses": 1, "sensitivity": 0},
    ],
)
def test_parameters_are_checked(wrong: dict[str, Any]) -> None:
    """Exactly one is left out, and the others are in range."""
    with pytest.raises(InvalidArgument):
        solve(Noise.LAPLACE, **wrong)


def test_what_doesnt_fit_once_is_unreachable() -> None:
    """Noise of scale 1 isn't (1/2)-DP."""
    with pytest.raises(AccuracyUnreachable):
        solve(Noise.LAPLACE, scale=1, epsilon="0.5", delta=0)


# ── Training ──────────────────────────────────────────────────────────────────────────────────────────────────────────

RUN: dict[str, Any] = {"noise": "1.2", "steps": 500, "rate": "0.02", "epsilon": 3, "delta": "1e-6"}


@pytest.mark.parametrize("left_out", list(RUN))
def test_each_number_of_a_training_run_follows_from_the_others(left_out: str) -> None:
    """What is found is within ε and δ by the curve itself, and the next cheaper one isn't."""
    found = training(**{name: value for name, value in RUN.items() if name != left_out})

    def delta(noise: Fraction, steps: int, rate: Fraction) -> Fraction:
        run = Training(noise=noise, steps=steps, rate=rate, epsilon=found.epsilon, delta=found.delta)
        return renyi_curve_of(run.event, run.steps).delta(run.epsilon)

    close = 1 + Fraction(1, 1000)
    assert delta(found.noise, found.steps, found.rate) <= found.delta * (1 + Fraction(1, 1000))
    match left_out:
        case "noise":
            assert delta(found.noise / close, found.steps, found.rate) > found.delta
        case "steps":
            assert delta(found.noise, found.steps + 1, found.rate) > found.delta
        case "rate":
            assert delta(found.noise, found.steps, found.rate * close) > found.delta


def test_noise_without_samples_is_more() -> None:
    """At a rate near 1 a run costs what plain Gaussian noise does; at 1 % a hundredth of the steps' loss or less."""
    often, rarely = (training(noise=4, steps=100, rate=rate, delta="1e-6").epsilon for rate in ("0.9999", "0.01"))
    plain = renyi_curve_of(GaussianEvent(sigma=Fraction(4), l2_squared=Fraction(1)), 100).epsilon("1e-6")
    assert plain * Fraction(99, 100) <= often <= plain
    assert rarely < plain / 20
    assert gaussian_to_epsilon("2.5", "1e-6") <= plain


@pytest.mark.parametrize("wrong", [{}, RUN, RUN | {"steps": 0, "noise": None}, RUN | {"rate": 1, "noise": None}])
def test_parameters_of_training_are_checked(wrong: dict[str, Any]) -> None:
    """Exactly one is left out, and the others are in range."""
    with pytest.raises(InvalidArgument):
        training(**wrong)


@pytest.mark.parametrize(
    "known", [{"epsilon": 1, "uses": 1}, {"scale": 1000, "uses": 1}, {"scale": 1000, "epsilon": 1}], ids=str
)
def test_no_gaussian_noise_is_said_to_be_pure(known: dict[str, Any]) -> None:
    """Without a δ there is no scale, no ε and no number of uses for it: every ε is exceeded by some outcome."""
    with pytest.raises(LossNotAccepted, match="pure"):
        solve(Noise.GAUSSIAN, delta=0, **known)
