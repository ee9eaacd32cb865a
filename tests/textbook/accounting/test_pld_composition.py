"""Compositions by FFT: against exact sums, at small δ too; and what goes wrong without tilt, error bound or window."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, exp, fsum, log

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)
from discreet.textbook.accounting.pld import curve_of
from discreet.textbook.accounting.pld.convolution import Composition, Tilted
from discreet.textbook.accounting.pld.gaussian_pair import Gaussian
from discreet.textbook.accounting.pld.laws import Bins, Rounding, response
from discreet.textbook.accounting.pld.sides import Above, Below
from support.examples import examples
from support.pairs import Pair, composed, noisy
from support.pairs import response as randomised_response
from support.pmf import gaussian_pmf, laplace_pmf

U = 2.0**-53


@cache
def many_responses(epsilon: Fraction, times: int, at: Fraction) -> float:
    """Σ C(n, k) e^((n−k)ε)·(1 − e^(at − (n−2k)ε))₊ / (1 + e^ε)^n, in 400 bits."""
    with ctx.workprec(400):
        e, total = arb(fmpq(epsilon.numerator, epsilon.denominator)), arb(0)
        a = arb(fmpq(at.numerator, at.denominator))
        for k in range(times + 1):
            if (times - 2 * k) * epsilon > at:
                total += comb(times, k) * ((times - k) * e).exp() * (1 - (a - (times - 2 * k) * e).exp())
        return float(total / (1 + e.exp()) ** times)


@pytest.mark.parametrize(("scale", "times"), [(100, 1000), (10, 100), (1, 5), (500, 3000)])
@pytest.mark.parametrize("target", [1e-3, 1e-6, 1e-9, 1e-12])
def test_many_laplaces_have_their_closed_form(scale: int, times: int, target: float) -> None:
    """Counts with Laplace noise are randomised response: never below the binomial sum, and within a millionth of it."""
    curve = curve_of(LaplaceEvent(scale=Fraction(scale), l1=1), times)
    epsilon = curve.epsilon(target)
    truth = many_responses(Fraction(1, scale), times, Fraction(epsilon))
    assert truth <= target
    assert curve.delta(epsilon) >= truth
    assert truth >= target * (1 - 1e-4) or epsilon == pytest.approx(times / scale)
    assert curve.delta(epsilon) <= truth * (1 + 1e-4) + target


@pytest.mark.parametrize("target", [1e-3, 1e-6, 1e-12, 1e-30])
def test_a_thousand_gaussians_have_their_closed_form(target: float) -> None:
    """By the grid and by FFT as in closed form: never below, and ε within 0.01 %."""
    step = 2e-4
    closed = curve_of(GaussianEvent(sigma=Fraction(50 * 2**20), l2_squared=Fraction(2**40)), 1000).epsilon(target)
    parts = [(Gaussian(mu=1 / 50).bins(step), 1000)]
    above = Above(composition=Composition(parts)).epsilon(target)
    below = Below(composition=Composition(parts)).epsilon(target)
    assert above is not None
    assert below is not None
    assert below <= closed <= above <= closed * (1 + 1e-4)
    assert below >= closed * 0.99


def test_rounding_down_is_below_the_closed_form() -> None:
    """The wrong twin: the same FFT of losses that were rounded down claims less than the truth, by much."""
    closed = curve_of(GaussianEvent(sigma=Fraction(50 * 2**20), l2_squared=Fraction(2**40)), 1000).epsilon(1e-6)
    parts = [(Gaussian(mu=1 / 50).bins(2e-4), 1000)]
    found = {r: Above(composition=Composition(parts, r)).epsilon(1e-6) or 0.0 for r in Rounding}
    assert found[Rounding.DOWN] < 0.98 * closed
    assert closed <= found[Rounding.CONNECT] < 1.0001 * closed
    assert found[Rounding.UP] > 1.02 * closed


def untilted(parts: list[tuple[Bins, int]]) -> Tilted:
    """The composition as plain FFT has it, without tilt and with nothing added for errors."""
    return replace(Composition(parts).tilted(0.0), error=0.0, outside=0.0)


def test_without_tilt_a_small_delta_drowns_in_rounding() -> None:
    """The wrong twin at δ = 10⁻²⁰: a plain FFT is off by factors; under the tilt the bound is within a thousandth."""
    parts = [(law.bins(1 / 50), 500) for law, _ in response(Fraction(1, 50))]
    epsilon = 4.2
    truth = many_responses(Fraction(1, 50), 500, Fraction(epsilon))
    assert 1e-25 < truth < 1e-18
    plain = untilted(parts).above(epsilon)
    assert not 0.5 * truth < plain < 2 * truth
    composition = Composition(parts)
    tilted = composition.tilted(composition.tilt_for(epsilon=epsilon))
    assert tilted.below(epsilon) <= truth * (1 + 1e-9)
    assert truth <= tilted.above(epsilon) <= truth * 1.001


def exact_transform(law: np.ndarray, size: int, frequency: int) -> complex:
    """One output of the Fourier transform, in extended precision."""
    turns = np.arange(len(law)) * frequency % size  # exact, so the angle is precise
    angle = 2 * np.pi * turns.astype(np.longdouble) / size
    weights = law.astype(np.longdouble)
    return complex(float((weights * np.cos(angle)).sum()), float(-(weights * np.sin(angle)).sum()))


@pytest.mark.parametrize("size", [2**10, 3 * 2**12, 5 * 2**13, 2**17])
def test_the_transform_is_as_precise_as_assumed(size: int) -> None:
    """Each output of NumPy's FFT is within 16·log₂N·u of the exact one, relative to Σ|x|; and is not exact."""
    x = np.arange(size)
    errors = []
    for law in (np.exp(-(((x - size / 3) / (size / 20)) ** 2)), np.exp(-x / 7.0), 1.0 + x % 3):
        whole = law / law.sum()
        spectrum = np.fft.rfft(whole)
        errors += [abs(spectrum[k] - exact_transform(whole, size, k)) for k in (1, 2, 7, size // 5, size // 3)]
    assert 0 < max(errors) <= 16 * np.log2(size) * U / 4


def test_the_window_holds_what_chernoff_promises() -> None:
    """At most 2e^(−44) is outside: the tilted chances in the window add up to 1 as closely as floats can tell."""
    composition = Composition([(Gaussian(mu=1.0, rate=0.01).bins(1e-3), 1000)])
    for theta in (0.0, 1.0, 4.0):
        tilted = composition.tilted(theta)
        exponent, mean, variance = composition.cumulants(theta)
        assert tilted.chances.sum() == pytest.approx(1, abs=1e-9)
        assert float((tilted.chances * tilted.losses).sum()) == pytest.approx(mean, rel=1e-6)
        assert len(tilted.losses) * composition.step < 100 * variance**0.5
        assert tilted.exponent == exponent


def test_a_window_that_is_too_narrow_shows() -> None:
    """The wrong twin: mass beyond a narrow window wraps around to where it doesn't belong, and moves the mean."""
    parts = [(Gaussian(mu=0.5).bins(1e-2), 16)]
    right = Composition(parts)
    narrow = Composition(parts)
    narrow._window = lambda *_: (100, 300)  # type: ignore[method-assign]  # that is the fault
    means = [float((t.chances * t.losses).sum()) for t in (right.tilted(0.0), narrow.tilted(0.0))]
    assert means[0] == pytest.approx(2.0, rel=1e-4)
    assert means[1] < 1.98 or means[1] > 2.02


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 7.0, 30.0])
def test_tilts_are_found_for_heavy_tails(epsilon: float) -> None:
    """K′(θ) is near ε, within two of the tilted law's standard deviations, where sampling makes the tail heavy."""
    composition = Composition([(Gaussian(mu=1.0, rate=0.01).bins(1e-3), 10_000)])
    _, mean, variance = composition.cumulants(composition.tilt_for(epsilon=epsilon))
    _, least, _ = composition.cumulants(0.0)
    assert abs(mean - max(epsilon, least)) < 2 * variance**0.5


# ── Any few events, against the product of their laws ─────────────────────────────────────────────────────────────────


def clipped_laplace(scale: float, move: int) -> Pair:
    """Laplace noise on a number that moves, cut off to [0, move]: outcomes beyond have the same likelihood ratio."""
    p = exp(-1 / scale)
    masses = np.array([1.0, *[(1 - p) * p**n for n in range(1, move)], p**move]) / (1 + p)
    return Pair(masses, masses[::-1])


def plain(event: Event) -> Pair:
    """The law of an event by enumeration."""
    match event:
        case LaplaceEvent(scale=scale, l1=l1):
            return clipped_laplace(float(scale), l1)
        case GaussianEvent(sigma=sigma):
            return noisy(gaussian_pmf(float(sigma), reach=9), 0, 1)
        case PureEvent(epsilon=epsilon):
            return randomised_response(float(epsilon))
        case ApproxEvent(epsilon=epsilon, delta=delta):
            return randomised_response(float(epsilon), float(delta))
        case SelectionEvent(delta=delta):
            d = float(delta)
            return Pair(np.array([d, 1 - d, 0.0]), np.array([0.0, 1 - d, d]))
        case SampledEvent(event=inner, rate=rate):
            whole, r = plain(inner), float(rate)
            return Pair(r * whole.p + (1 - r) * whole.q, whole.q)
        case _:
            raise AssertionError


fractions = st.fractions(Fraction(1, 10), 2, max_denominator=20)
noise = (
    st.builds(LaplaceEvent, scale=st.sampled_from([Fraction(1), Fraction(5, 2)]), l1=st.integers(1, 3))
    | st.builds(GaussianEvent, sigma=st.sampled_from([Fraction(1), Fraction(2)]), l2_squared=st.just(Fraction(1)))
    | st.builds(PureEvent, epsilon=fractions)
    | st.builds(ApproxEvent, epsilon=fractions, delta=st.just(Fraction(1, 1000)))
    | st.builds(SelectionEvent, delta=st.just(Fraction(1, 10**6)))
)
sampled = st.builds(SampledEvent, event=noise, rate=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))


@examples(40)
@given(events=st.lists(noise | sampled, min_size=1, max_size=3))
def test_a_composition_of_any_events_encloses_the_product_of_their_laws(events: list[Event]) -> None:
    """Both orders of neighbours, at several ε: optimistic ≤ truth ≤ curve, and the curve is close.

    What the grid adds is at most what is on the truth one step to the left for each law, and far less where that is no
    kink; steps are at most 1.6 % of the losses' deviation.
    """
    pairs = [plain(event) for event in events]
    truth = composed(pairs)
    shift = 0.016 * len(pairs) ** 0.5 * fsum(max(each.variance(), each.flipped().variance()) for each in pairs) ** 0.5
    curve = curve_of(ComposedEvent(tuple(events)))
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        exact = max(truth.delta(epsilon), truth.flipped().delta(epsilon))
        rounded = 1e-11 * exact + 1e-14  # the enumeration's own
        assert curve.optimistic.delta(epsilon) - rounded <= exact <= curve.delta(epsilon) + rounded
        nearby = max(truth.delta(epsilon - shift), truth.flipped().delta(epsilon - shift))
        assert curve.delta(epsilon) <= nearby * 1.002 + 2e-5


def test_one_order_of_neighbours_is_not_enough() -> None:
    """The wrong twin: after sampling, the pair and its flip differ, and either can be the worse."""
    whole = noisy(laplace_pmf(2.0, reach=60), 0, 1)
    pair = Pair(0.3 * whole.p + 0.7 * whole.q, whole.q)
    assert pair.delta(0.05) > pair.flipped().delta(0.05) * 1.01
    curve = curve_of(SampledEvent(event=LaplaceEvent(scale=Fraction(2), l1=1), rate=Fraction(3, 10)))
    deltas = [side.delta(0.05) for side in curve._sides]
    assert len(deltas) == 2
    assert min(deltas) < 0.99 * pair.delta(0.05) <= max(deltas) * (1 + 1e-9)


def test_infinite_losses_add_up() -> None:
    """1 − Π(1 − δ), plus nothing where the rest can't exceed ε."""
    event = ApproxEvent(epsilon=Fraction(1, 100), delta=Fraction(1, 10**6))
    curve = curve_of(event, times=1000)
    truth = 1 - (1 - 1e-6) ** 1000
    assert truth * (1 - 1e-9) <= curve.delta(10) <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-6) <= curve.optimistic.delta(10) <= truth * (1 + 1e-12)


def test_the_order_of_parts_and_repetition_do_not_matter() -> None:
    """Composed of compositions, repeated by `times` or listed: one curve."""
    one, two = PureEvent(epsilon=Fraction(1, 10)), LaplaceEvent(scale=Fraction(7), l1=2)
    listed = curve_of(ComposedEvent((one, two, one, two, one, two)))
    nested = curve_of(ComposedEvent((ComposedEvent((two, one)),)), times=3)
    assert listed.epsilon(1e-4) == pytest.approx(nested.epsilon(1e-4), rel=1e-9)


def test_laws_of_very_different_size_share_a_grid() -> None:
    """A strong event and a million weak ones: never below the strong one, and no more than all ε in sum."""
    strong, weak = PureEvent(epsilon=Fraction(2)), PureEvent(epsilon=Fraction(1, 10**6))
    curve = curve_of(ComposedEvent((strong, *[weak] * 1000)), times=1)
    alone = randomised_response(2.0)
    for epsilon in (0.0, 1.0, 1.9):
        assert alone.delta(epsilon) <= curve.delta(epsilon) <= alone.delta(epsilon - 1e-3) * 1.01
    assert curve.delta(2.002) <= 1e-300
    assert log(exp(curve.epsilon(1e-12))) <= 2.0011
