"""Rényi curves: never below divergences that are summed outcome by outcome, and equal to them where they are exact."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, exp, fsum, log

import numpy as np
import pytest
from flint import arb

from discreet.accounting import pure_to_renyi, renyi_curve_of
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact.ball import ball, fraction, precision
from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    RenyiDP,
    SampledEvent,
    SelectionEvent,
)
from discreet.textbook.accounting.renyi_divergences import GREATEST_ORDER, _without_replacement, log_moment
from discreet.textbook.accounting.sampled_gaussian import between
from support.pmf import Pmf, gaussian_pmf, laplace_pmf, shifted

ORDERS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4), Fraction(17, 2), Fraction(16)]
NEAR = 1 + 1e-9


def divergence(p: Pmf, q: Pmf, alpha: float) -> float:
    """D_α(p ‖ q), outcome by outcome."""
    logs = [alpha * log(p[n]) + (1 - alpha) * log(q[n]) for n in p if p[n] and q.get(n)]
    most = max(logs)
    return (most + log(fsum(exp(each - most) for each in logs))) / (alpha - 1)


def worse(p: Pmf, q: Pmf, alpha: float) -> float:
    """The greater of both directions."""
    return max(divergence(p, q, alpha), divergence(q, p, alpha))


def mixed(one: Pmf, other: Pmf, share: float) -> dict[int, float]:
    """`one` with the share's probability, else `other`."""
    outcomes = one.keys() | other.keys()
    return {n: share * one.get(n, 0.0) + (1 - share) * other.get(n, 0.0) for n in outcomes}


def response(epsilon: float) -> tuple[Pmf, Pmf]:
    """Randomised response with odds e^ε, on both neighbours."""
    truth = 1 / (1 + exp(-epsilon))
    return {0: truth, 1: 1 - truth}, {0: 1 - truth, 1: truth}


def sharings(l1: int, linf: int) -> Iterator[tuple[int, ...]]:
    """All ways to move coordinates by at most linf each and l1 in sum, up to order and sign."""
    for vector in product(range(linf + 1), repeat=l1):
        if 0 < sum(vector) <= l1 and list(vector) == sorted(vector):
            yield tuple(v for v in vector if v)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(9)])
@pytest.mark.parametrize(("l1", "linf"), [(1, 1), (4, 4), (4, 2), (5, 2), (4, 1)])
@pytest.mark.parametrize("alpha", ORDERS)
def test_laplace_noise_has_the_greatest_divergence_of_all_moves(
    scale: Fraction, l1: int, linf: int, alpha: Fraction
) -> None:
    """The closed form is that of the worst way to move within ℓ1 and ℓ∞, to nine digits."""
    noise = laplace_pmf(float(scale), reach=60)
    by = {v: divergence(noise, shifted(noise, v), float(alpha)) for v in range(1, linf + 1)}
    worst = max(sum(by[v] for v in moves) for moves in sharings(l1, linf))
    found = renyi_curve_of(LaplaceEvent(scale=scale, l1=l1, linf=linf)).divergence(alpha)
    assert float(found) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.8, 2.0, 7.0])
@pytest.mark.parametrize("alpha", ORDERS)
def test_gaussian_noise_is_exact_at_whole_orders_and_above_at_others(sigma: float, alpha: Fraction) -> None:
    """α·ℓ2²/2σ² for moves by 1 to 3."""
    noise = gaussian_pmf(sigma, reach=25)
    for move in (1, 2, 3):
        curve = renyi_curve_of(GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(move**2)))
        truth = divergence(noise, shifted(noise, move), float(alpha)) if alpha * move < 14 * sigma else None
        if truth is not None:
            assert truth <= float(curve.divergence(alpha)) * NEAR
            if alpha.denominator == 1:
                assert float(curve.divergence(alpha)) == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("alpha", ORDERS)
def test_a_pure_event_diverges_as_randomised_response(epsilon: float, alpha: Fraction) -> None:
    """To ten digits, and so does the conversion of a pure loss."""
    truth = divergence(*response(epsilon), float(alpha))
    assert float(pure_to_renyi(repr(epsilon), alpha).epsilon) == pytest.approx(truth, rel=1e-10)
    assert truth <= float(pure_to_renyi(repr(epsilon), alpha).epsilon) * NEAR


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("alpha", ORDERS)
def test_a_choice_diverges_as_the_worst_of_its_range(epsilon: float, alpha: Fraction) -> None:
    """No two-point pair with a range of ε diverges more, the best of a fine grid hardly less; three points neither."""
    bound = float(renyi_curve_of(ExponentialEvent(epsilon=Fraction(repr(epsilon)))).divergence(alpha))
    found = []
    for low in np.linspace(-epsilon, 0, 802)[1:-1]:
        u = exp(low)
        high = (1 - u) / (u * (exp(epsilon) - 1))
        q = {0: high, 1: 1 - high}
        found.append(divergence({0: high * u * exp(epsilon), 1: (1 - high) * u}, q, float(alpha)))
    assert max(found) <= bound * NEAR
    assert max(found) >= bound * 0.999
    logits = [0.0, 0.4, 1.1]
    for moves in product((0, epsilon / 3, epsilon), repeat=3):
        one, other = (
            {n: exp(x) / fsum(map(exp, scores)) for n, x in enumerate(scores)}
            for scores in (logits, [a + b for a, b in zip(logits, moves, strict=True)])
        )
        assert worse(one, other, float(alpha)) <= bound * NEAR


def test_small_choices_diverge_less_for_their_size() -> None:
    """f(a)/a increases, which is why many choices cost as if each were as large as may be."""
    sizes = [Fraction(n, 20) for n in range(1, 120, 7)]
    for alpha in ORDERS:
        shares = [log_moment(ExponentialEvent(epsilon=a), alpha) / a for a in sizes]
        assert shares == sorted(shares)
    parts = [Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)]
    apart = sum(log_moment(ExponentialEvent(epsilon=a), Fraction(4)) for a in parts)
    assert apart <= log_moment(ExponentialEvent(epsilon=sum(parts, start=Fraction(0)), each=parts[0]), Fraction(4))


# ── Samples ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def poisson(event: Event, rate: float) -> SampledEvent:
    """An event that happens to a Poisson sample."""
    return SampledEvent(event=event, rate=Fraction(repr(rate)))


@pytest.mark.parametrize("sigma", [1.0, 2.0])
@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("alpha", ORDERS)
def test_a_sampled_gaussian_is_within_its_curve_and_reaches_it(sigma: float, rate: float, alpha: Fraction) -> None:
    """Both directions, moves of 1 and 2; exact at whole orders, close at low ones in between."""
    noise = gaussian_pmf(sigma, reach=37)
    for move in (1, 2):
        event = GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(move**2))
        bound = float(renyi_curve_of(poisson(event, rate)).divergence(alpha))
        with_unit = mixed(shifted(noise, move), noise, rate)
        truth = worse({n: with_unit[n] for n in noise}, noise, float(alpha)) if alpha * move < 17 * sigma else bound
        assert truth <= bound * (1 + 1e-7)
        if alpha.denominator == 1:
            assert bound <= truth * (1 + 1e-6)
        elif alpha < 4 and move == 1 and rate < 0.1:
            assert bound <= truth * 1.025


def test_moves_in_several_directions_diverge_no_more() -> None:
    """A move of (1, 1) with sensitivity √2, of which one direction alone knows nothing, at a fractional order."""
    noise = gaussian_pmf(1.0, reach=12)
    for alpha, share in ((2.5, 0.05), (1.3, 0.2), (3.0, 0.05)):
        total = fsum(
            chance_a * chance_b * (1 - share + share * exp(((2 * a - 1) + (2 * b - 1)) / 2)) ** alpha
            for a, chance_a in noise.items()
            for b, chance_b in noise.items()
            if chance_a and chance_b
        )
        event = GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(2))
        bound = float(renyi_curve_of(poisson(event, share)).divergence(repr(alpha)))
        assert log(total) / (alpha - 1) <= bound * NEAR


def test_the_parabola_beats_the_chord() -> None:
    """At order 3/2 the chord is half the log-moment of order 2; what is stated is a quarter less."""
    close = between(Fraction(1, 2), Fraction(1, 100), Fraction(3, 2))
    of_two = renyi_curve_of(poisson(GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1)), 0.01)).log_moment(
        Fraction(2)
    )
    assert close is not None
    assert close < of_two / 2 * Fraction(3, 4) + of_two / 1000


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("alpha", ORDERS)
def test_sampled_laplace_noise_is_within_its_curve(rate: float, scale: Fraction, alpha: Fraction) -> None:
    """Both directions; exact at whole orders if a number moves by 1."""
    noise = laplace_pmf(float(scale), reach=60)
    for move in (1, 2):
        bound = float(renyi_curve_of(poisson(LaplaceEvent(scale=scale, l1=move), rate)).divergence(alpha))
        with_unit = mixed(shifted(noise, move), noise, rate)
        truth = worse({n: with_unit[n] for n in noise}, noise, float(alpha))
        assert truth <= bound * (1 + 1e-7)
        if move == 1:
            assert bound == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("alpha", ORDERS)
def test_other_sampled_events_are_within_their_curves(rate: float, alpha: Fraction) -> None:
    """Lopsided pairs, whose directions differ: choices, and choices beside Gaussian noise, which has no pure loss."""
    low, high = exp(-0.9), exp(0.3)
    often = (1 - low) / (high - low)
    q: Pmf = {0: often, 1: 1 - often}
    p: Pmf = {0: often * high, 1: (1 - often) * low}
    choice = ExponentialEvent(epsilon=Fraction(12, 10))
    noise = gaussian_pmf(2.0, reach=19)
    beside = ComposedEvent((choice, GaussianEvent(sigma=Fraction(2), l2_squared=Fraction(1))))
    moved = shifted(noise, 1)
    pairs = [(n, c) for n in noise for c in q if n in moved]
    both_q = {k: noise[n] * q[c] for k, (n, c) in enumerate(pairs)}
    both_p = {k: moved[n] * p[c] for k, (n, c) in enumerate(pairs)}
    for event, one, other in ((choice, p, q), (choice, q, p), (beside, both_p, both_q), (beside, both_q, both_p)):
        bound = float(renyi_curve_of(poisson(event, rate)).divergence(alpha))
        assert worse(mixed(one, other, rate), other, float(alpha)) <= bound * (1 + 1e-7)


@pytest.mark.parametrize("alpha", [Fraction(2), Fraction(5, 2), Fraction(6), Fraction(20)])
def test_a_sample_without_replacement_is_within_its_curve(alpha: Fraction) -> None:
    """Sums over samples of two of five units, one of whom is in the place of another; Gaussian noise and response."""
    values, other = [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]
    samples = [(a, b) for a in range(5) for b in range(a)]
    for noise, event in (
        (gaussian_pmf(2.0, reach=18), GaussianEvent(sigma=Fraction(2), l2_squared=Fraction(1))),
        (laplace_pmf(1.0, reach=60), LaplaceEvent(scale=Fraction(1), l1=1)),
    ):
        p, q = (
            {n: fsum(noise.get(n - data[a] - data[b], 0.0) for a, b in samples) / len(samples) for n in noise}
            for data in (values, other)
        )
        sampled = SampledEvent(event=event, rate=Fraction(2, 5), size=5)
        bound = float(renyi_curve_of(sampled).divergence(alpha))
        assert worse({n: c for n, c in p.items() if c}, q, float(alpha)) <= bound * NEAR
        assert bound <= float(renyi_curve_of(event).divergence(alpha))


def test_a_small_sample_without_replacement_gains() -> None:
    """At 1 % the divergence is a few hundred times less than without sampling."""
    event = GaussianEvent(sigma=Fraction(4), l2_squared=Fraction(1))
    sampled = renyi_curve_of(SampledEvent(event=event, rate=Fraction(1, 100), size=1000))
    assert sampled.divergence(2) < renyi_curve_of(event).divergence(2) / 100


@pytest.mark.parametrize("factor", [0.97, 0.5])
def test_a_sampled_curve_that_is_lower_would_be_wrong(factor: float) -> None:
    """The tests above can fail: the truth at order 4 is above 97 % of the bound."""
    noise = gaussian_pmf(1.0, reach=37)
    with_unit = mixed(shifted(noise, 1), noise, 0.01)
    event = poisson(GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1)), 0.01)
    truth = worse({n: with_unit[n] for n in noise}, noise, 4.0)
    assert truth > float(renyi_curve_of(event).divergence(4)) * factor


# ── Curves ────────────────────────────────────────────────────────────────────────────────────────────────────────────

GAUSSIAN = GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))
LAPLACE = LaplaceEvent(scale=Fraction(10), l1=1)


def test_curves_add_up() -> None:
    """Of different events, and of one that happens often, however that is written."""
    both = renyi_curve_of(ComposedEvent((GAUSSIAN, ComposedEvent((LAPLACE, LAPLACE)))))
    for alpha in ORDERS:
        apart = renyi_curve_of(GAUSSIAN).divergence(alpha) + 2 * renyi_curve_of(LAPLACE).divergence(alpha)
        assert both.divergence(alpha) == apart
    often = ComposedEvent((GAUSSIAN,) * 7)
    assert renyi_curve_of(often).divergence(3) == renyi_curve_of(GAUSSIAN, times=7).divergence(3)


def test_rare_events_keep_their_delta() -> None:
    """It is part of the δ stated, for a sample only its share of it; no single divergence is stated beside it."""
    risky = ComposedEvent((ApproxEvent(epsilon=Fraction(1), delta=Fraction(1, 10**6)), GAUSSIAN))
    curve = renyi_curve_of(ComposedEvent((risky, SelectionEvent(delta=Fraction(1, 10**6)))))
    pure = renyi_curve_of(ComposedEvent((PureEvent(epsilon=Fraction(1)), GAUSSIAN)))
    assert curve.rare == Fraction(2, 10**6)
    assert curve.epsilon(Fraction(12, 10**6)) == pure.epsilon(Fraction(10, 10**6))
    assert curve.delta(3) == pure.delta(3) + Fraction(2, 10**6)
    assert renyi_curve_of(SampledEvent(event=risky, rate=Fraction(1, 10))).rare == Fraction(1, 10**7)
    with pytest.raises(LossNotAccepted):
        curve.at(2)
    with pytest.raises(InvalidArgument):
        curve.epsilon(2e-6)
    assert pure.at(2) == RenyiDP(2, pure.divergence(2))


def test_what_isnt_known_of_samples_counts_as_if_nothing_had_been_sampled() -> None:
    """Samples in samples, and rare events in samples without replacement."""
    once = poisson(GAUSSIAN, 0.1)
    assert renyi_curve_of(poisson(once, 0.1)).divergence(2) == renyi_curve_of(once).divergence(2)
    risky = ApproxEvent(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    whole, part = renyi_curve_of(risky), renyi_curve_of(SampledEvent(event=risky, rate=Fraction(1, 10), size=10))
    assert (part.divergence(2), part.rare) == (whole.divergence(2), whole.rare)
    far = Fraction(GREATEST_ORDER + 1)
    assert renyi_curve_of(once).divergence(far) == renyi_curve_of(GAUSSIAN).divergence(far)


def test_samples_of_both_sorts_dont_mix() -> None:
    """They speak of different neighbours."""
    pair = SampledEvent(event=GAUSSIAN, rate=Fraction(1, 2), size=2)
    with pytest.raises(LossNotAccepted):
        renyi_curve_of(ComposedEvent((poisson(GAUSSIAN, 0.1), pair)))


@pytest.mark.parametrize("epsilon", [1.25, 1.5, 2.0])
def test_the_curve_bounds_the_hockey_stick(epsilon: float) -> None:
    """δ(ε) of Gaussian noise used ten times, against that of the one number that says as much as all of them."""
    from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

    mu = 10**0.5 / 10
    truth = float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))
    curve = renyi_curve_of(GAUSSIAN, times=10)
    assert truth <= float(curve.delta(epsilon)) <= 8 * truth
    assert float(curve.epsilon(curve.delta(epsilon))) == pytest.approx(epsilon, rel=1e-3)


def test_dp_sgd_agrees_with_dp_accounting() -> None:
    """10,000 steps at q = 0.01, σ = 1, δ = 10⁻⁶: as dp-accounting's Rényi accountant, to 0.1 %."""
    curve = renyi_curve_of(poisson(GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1)), 0.01), times=10_000)
    dp_accounting = pytest.importorskip("dp_accounting")
    account = dp_accounting.rdp.RdpAccountant()
    step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1))
    account.compose(dp_accounting.SelfComposedDpEvent(step, 10_000))
    assert float(curve.epsilon(1e-6)) == pytest.approx(account.get_epsilon(1e-6), rel=1e-3)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_sums_for_samples_are_rounded_up(order: int) -> None:
    """Never below the same sum with three times as many digits."""
    noise, rate = _Known(), Fraction(1, 7)
    with precision(512):
        second, total = ball(noise.log_moment(Fraction(2))), arb(0)
        for j in range(2, order + 1):
            moment = 4 * second.expm1() if j == 2 else 2 * ball(noise.log_moment(Fraction(j))).exp()
            total = total + comb(order, j) * ball(rate) ** j * (moment.min(2 * second.exp()) if j == 2 else moment)
        exact = fraction(total.log1p().lower())
    assert 0 <= _without_replacement(noise, None, rate, order) - exact < exact / 2**50


class _Known:
    """Noise with simple log-moments."""

    def __hash__(self) -> int:
        return 1

    def log_moment(self, alpha: Fraction) -> Fraction:
        return alpha * (alpha - 1) / 100
