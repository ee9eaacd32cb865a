"""Loss curves: known values, dp-accounting's beside them, sampling by enumeration, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)
from discreet.textbook.accounting.pld import LossCurve, curve_of
from support.pairs import Pair, mixed, noisy
from support.pmf import Pmf, gaussian_pmf, laplace_pmf

GRAIN = 1024
"""Steps that a number moves by, so that discrete noise is all but continuous."""

FLOATS = 1 + 1e-10


def gaussian(sigma: float) -> Event:
    """Noise of σ on a number that moves by 1, in fine steps."""
    return GaussianEvent(sigma=Fraction(sigma) * GRAIN, l2_squared=Fraction(GRAIN**2))


def laplace(epsilon: float) -> Event:
    """Noise of scale 1/ε on a number that moves by 1, in fine steps."""
    return LaplaceEvent(scale=GRAIN / Fraction(epsilon), l1=GRAIN)


def mix() -> LossCurve:
    """500 Gaussians and 500 Laplaces, no two alike."""
    gaussians = map(gaussian, np.linspace(20, 80, 500).tolist())
    return curve_of(ComposedEvent((*gaussians, *map(laplace, np.linspace(0.005, 0.02, 500).tolist()))))


def sgd() -> LossCurve:
    """10,000 steps of DP-SGD, a hundredth of the units in each, noise of one sensitivity."""
    return curve_of(SampledEvent(event=gaussian(1), rate=Fraction(1, 100)), times=10_000)


KNOWN: dict[str, tuple[Callable[[], LossCurve], float]] = {
    "1,000 Gaussians, σ = 50": (lambda: curve_of(gaussian(50), times=1000), 2.9216),
    "1,000 Laplaces, ε = 0.01": (lambda: curve_of(laplace(0.01), times=1000), 1.3629),
    "500 + 500 different ones": (mix, 2.922),
    "10,000 DP-SGD steps": (sgd, 6.907),
}


@cache
def known_curve(name: str) -> LossCurve:
    """Each of them, composed once for all tests; nothing changes a curve."""
    return KNOWN[name][0]()


@pytest.mark.parametrize("name", KNOWN)
def test_known_values_are_met_and_enclosed(name: str) -> None:
    """ε at δ = 10⁻⁶ within 0.1 % of what others found, and the lower bound within 0.3 % below."""
    curve, known = known_curve(name), KNOWN[name][1]
    epsilon = curve.epsilon(1e-6)
    assert epsilon == pytest.approx(known, rel=1e-3)
    assert epsilon * (1 - 3e-3) <= curve.optimistic.epsilon(1e-6) <= epsilon


DAILY = [pytest.param(name, marks=pytest.mark.soak) if "different" in name else name for name in KNOWN]
"""A thousand transforms for each point of a curve are too many: its values above are enough."""


@pytest.mark.parametrize("name", DAILY)
def test_dp_accounting_finds_the_same(name: str) -> None:
    """ε at δ = 10⁻⁶ within 0.1 % of dp-accounting's; it isn't below our lower bound."""
    reason = "dp-accounting isn't installed: nothing to compare with"
    module = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant", reason=reason)
    events = pytest.importorskip("dp_accounting", reason=reason)
    accountant: Any = module.PLDAccountant()
    match name:
        case "1,000 Gaussians, σ = 50":
            accountant.compose(events.GaussianDpEvent(50), 1000)
        case "1,000 Laplaces, ε = 0.01":
            accountant.compose(events.LaplaceDpEvent(100), 1000)
        case "10,000 DP-SGD steps":
            accountant.compose(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1)), 10_000)
        case _:
            for sigma, epsilon in zip(np.linspace(20, 80, 500), np.linspace(0.005, 0.02, 500), strict=True):
                accountant.compose(events.GaussianDpEvent(sigma))
                accountant.compose(events.LaplaceDpEvent(1 / epsilon))
    theirs = accountant.get_epsilon(1e-6)
    curve = known_curve(name)
    assert curve.epsilon(1e-6) == pytest.approx(theirs, rel=1e-3)
    assert curve.optimistic.epsilon(1e-6) <= theirs


@pytest.mark.parametrize("name", DAILY)
@pytest.mark.parametrize("targets", [(1e-5, 1e-12), pytest.param((1e-2, 1e-8), marks=pytest.mark.soak)], ids=str)
def test_a_curve_falls_and_epsilon_is_its_inverse(name: str, targets: tuple[float, ...]) -> None:
    """δ falls with ε; at ε(δ) it is δ or a little less; and the twin is never above."""
    curve = known_curve(name)
    deltas = [curve.delta(epsilon) for epsilon in (0, 1, 2, 8)]
    assert deltas == sorted(deltas, reverse=True)
    for target in targets:
        epsilon = curve.epsilon(target)
        assert target * 0.999 <= curve.delta(epsilon) <= target * 1.001
        assert 0.98 * epsilon <= curve.optimistic.epsilon(target) <= epsilon
        assert curve.optimistic.delta(epsilon) <= target


@pytest.mark.parametrize("sigma", [3, 10, 40])
def test_coarse_gaussian_noise_is_accounted_for_as_it_is(sigma: int) -> None:
    """One count and σ of a few steps: the curve of a single release is that of the discrete noise, never below it."""
    curve = curve_of(GaussianEvent(sigma=Fraction(sigma), l2_squared=Fraction(1)))
    truth = noisy(gaussian_pmf(float(sigma), reach=26), 0, 1)
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        assert truth.delta(epsilon) <= curve.delta(epsilon) * FLOATS + 1e-300
        assert curve.delta(epsilon) <= truth.delta(epsilon) * 1.02 + 1e-12
        assert curve.optimistic.delta(epsilon) <= truth.delta(epsilon) * 1.02


@pytest.mark.parametrize("moves", [[1, 1, 1, 1], [2], [1, 1, 1], [1, 1]])
@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_no_direction_of_a_vector_exceeds_the_gaussian_curve(moves: list[int], sigma: float) -> None:
    """ℓ2² = 4 in any way: several counts by 1, or one by 2."""
    curve = curve_of(GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(4)))
    truth = noisy(gaussian_pmf(sigma, reach=7), 0, moves[0])
    for move in moves[1:]:
        other = noisy(gaussian_pmf(sigma, reach=7), 0, move)
        big = truth @ other
        kept = big.p + big.q > 1e-13
        truth = Pair(big.p[kept], big.q[kept])
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        assert truth.delta(epsilon) <= curve.delta(epsilon) * FLOATS


# ── Sampling, on small tables ─────────────────────────────────────────────────────────────────────────────────────────

NOISES: dict[str, tuple[Pmf, Event]] = {
    "laplace": (laplace_pmf(2.0, reach=100), LaplaceEvent(scale=Fraction(2), l1=1)),
    "gaussian": (gaussian_pmf(1.5, reach=26), GaussianEvent(sigma=Fraction(3, 2), l2_squared=Fraction(1))),
    "wide gaussian": (gaussian_pmf(40.0, reach=26), GaussianEvent(sigma=Fraction(40), l2_squared=Fraction(1))),
}


def poisson_count(ones: int, rate: float) -> dict[int, float]:
    """How many of the ones are in a Poisson sample."""
    return {k: comb(ones, k) * rate**k * (1 - rate) ** (ones - k) for k in range(ones + 1)}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(2, 3)])
def test_poisson_samples_of_small_tables_are_within_their_curve(noise: str, rate: Fraction) -> None:
    """With and without a unit, in both orders: δ never above; and reached where nobody else counts."""
    pmf, event = NOISES[noise]
    curve = curve_of(SampledEvent(event=event, rate=rate))
    r = float(rate)
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        truths = []
        for ones in range(4):
            pair = mixed(pmf, poisson_count(ones + 1, r), poisson_count(ones, r))
            truths.append(max(pair.delta(epsilon), pair.flipped().delta(epsilon)))
        assert max(truths) <= curve.delta(epsilon) * FLOATS + 1e-14
        assert curve.delta(epsilon) <= truths[0] * 1.02 + 1e-9


def drawn_count(values: tuple[int, ...], size: int) -> dict[int, float]:
    """How many ones are in a sample of `size`, without replacement."""
    samples = list(combinations(values, size))
    return {k: sum(sum(s) == k for s in samples) / len(samples) for k in range(size + 1)}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_samples_without_replacement_are_within_their_curve(noise: str, size: int) -> None:
    """Five units, one of which changes its value: δ never above, and reached within a few per cent by some table."""
    pmf, event = NOISES[noise]
    curve = curve_of(SampledEvent(event=event, rate=Fraction(size, 5), size=5))
    assert len(curve._sides) == 1
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        truths = []
        for ones in range(5):
            rest = (1,) * ones + (0,) * (4 - ones)
            pair = mixed(pmf, drawn_count((1, *rest), size), drawn_count((0, *rest), size))
            truths.append(max(pair.delta(epsilon), pair.flipped().delta(epsilon)))
        assert max(truths) <= curve.delta(epsilon) * FLOATS + 1e-14
        assert curve.delta(epsilon) <= max(truths) * 1.02 + 1e-9


def test_forgetting_to_sample_is_caught() -> None:
    """The wrong twin: a sample accounted for at half its rate is below the truth."""
    pmf, event = NOISES["laplace"]
    truth = mixed(pmf, poisson_count(1, 0.2), {0: 1.0})
    halved, right = (curve_of(SampledEvent(event=event, rate=rate)) for rate in (Fraction(1, 10), Fraction(1, 5)))
    assert halved.delta(0.05) < truth.delta(0.05) * 0.7
    assert truth.delta(0.05) <= right.delta(0.05) * FLOATS


def test_a_sample_of_a_sample_is_a_smaller_sample() -> None:
    """Half of a tenth is a twentieth."""
    event = LaplaceEvent(scale=Fraction(2), l1=1)
    twice = SampledEvent(event=SampledEvent(event=event, rate=Fraction(1, 10)), rate=Fraction(1, 2))
    once = SampledEvent(event=event, rate=Fraction(1, 20))
    assert curve_of(twice, 50).epsilon(1e-6) == pytest.approx(curve_of(once, 50).epsilon(1e-6), rel=1e-9)


def test_several_things_done_to_one_sample_are_sampled_together() -> None:
    """A sum and a count of one sample: above either alone and, at its small ε, at most all without sampling."""
    parts = LaplaceEvent(scale=Fraction(2), l1=1), gaussian(3)
    together = curve_of(SampledEvent(event=ComposedEvent(parts), rate=Fraction(1, 4)))
    whole = curve_of(ComposedEvent(parts))
    alone = [curve_of(SampledEvent(event=part, rate=Fraction(1, 4))) for part in parts]
    for epsilon in (0.0, 0.2, 0.4):
        assert max(curve.delta(epsilon) for curve in alone) < together.delta(epsilon) < whole.delta(epsilon)


# ── What a curve is, and isn't ────────────────────────────────────────────────────────────────────────────────────────


def test_a_pure_event_costs_its_epsilon_at_most() -> None:
    """ε at any δ is at most the sum, and reaches it as δ falls; beyond, δ is 0 or what floats can't see."""
    curve = curve_of(PureEvent(epsilon=Fraction(1, 2)), times=4)
    assert 1.99 < curve.epsilon(1e-9) <= 2 + 1e-9
    assert curve.delta(2.0001) <= 1e-300
    assert curve.delta(1.9) > 1e-3


def test_many_selections_by_scores_cost_less_than_many_pure_events() -> None:
    """Bounded range is worth a factor of about √3 at the same ε, and 15 % above the best known for equal selections."""
    exponential = curve_of(ExponentialEvent(epsilon=Fraction(10), each=Fraction(1, 100))).epsilon(1e-6)
    pure = curve_of(PureEvent(epsilon=Fraction(1, 100)), times=1000).epsilon(1e-6)
    assert 1.6 < pure / exponential < 2


def test_no_epsilon_goes_with_less_than_what_is_given_away() -> None:
    """A selection releases with probability δ whatever ε is."""
    curve = curve_of(ComposedEvent((SelectionEvent(delta=Fraction(1, 10**5)), LaplaceEvent(scale=Fraction(9), l1=1))))
    assert curve.epsilon(2e-5) <= 1 / 9 + 1e-9
    for delta in (1e-6, 9.99e-6):
        with pytest.raises(InvalidArgument, match="no epsilon"):
            curve.epsilon(delta)
    with pytest.raises(InvalidArgument, match="no epsilon"):
        curve.optimistic.epsilon(1e-6)
    assert curve_of(SelectionEvent(delta=Fraction(1, 10**5))).epsilon(1.01e-5) == 0


@pytest.mark.parametrize(
    "event",
    [
        PureEvent(epsilon=Fraction(501)),
        LaplaceEvent(scale=Fraction(1), l1=501),
        GaussianEvent(sigma=Fraction(1, 50), l2_squared=Fraction(1)),
        GaussianEvent(sigma=Fraction(9, 10), l2_squared=Fraction(2)),
        SampledEvent(event=GaussianEvent(sigma=Fraction(64), l2_squared=Fraction(10**8)), rate=Fraction(1, 2)),
        SampledEvent(event=ComposedEvent((PureEvent(epsilon=Fraction(1, 9)),) * 1000), rate=Fraction(1, 2)),
        ComposedEvent(
            (
                SampledEvent(event=gaussian(1), rate=Fraction(1, 2)),
                SampledEvent(event=gaussian(1), rate=Fraction(1, 2), size=2),
            )
        ),
    ],
)
def test_what_has_no_curve_is_refused(event: Event) -> None:
    """Too little noise, too many parts of a sample, or samples that are about different neighbours."""
    with pytest.raises(LossNotAccepted):
        curve_of(event).epsilon(1e-6)


def test_arguments_are_checked() -> None:
    """ε from 0, δ strictly between 0 and 1, and a whole number of times."""
    event = ApproxEvent(epsilon=Fraction(1), delta=Fraction(1, 100))
    curve = curve_of(event)
    for call in (lambda: curve.delta(-1), lambda: curve.epsilon(0), lambda: curve.epsilon(1)):
        with pytest.raises(InvalidArgument):
            call()
    for times in (0, -1, 1.5, True):
        with pytest.raises(InvalidArgument, match="times"):
            curve_of(event, times=times)  # type: ignore[arg-type]  # that is what is tried
