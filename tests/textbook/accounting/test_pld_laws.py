"""Dominating pairs of single events: against all neighbours by enumeration, and their discretisations against δ(ε)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import exp, expm1, log, log1p

import numpy as np
import pytest
from flint import arb, ctx

from discreet.privacy import ExponentialEvent, GaussianEvent, LaplaceEvent
from discreet.textbook.accounting.pld.gaussian_pair import Gaussian
from discreet.textbook.accounting.pld.laws import (
    Atoms,
    Bins,
    Law,
    Rounding,
    Symmetric,
    atoms,
    bounded_range,
    diluted,
    laplace,
    response,
    selection,
    small_gaussian,
    undiluted,
)
from support.pairs import Pair, composed, noisy
from support.pairs import response as randomised_response
from support.pmf import gaussian_pmf, laplace_pmf

EPSILONS = [-3.0, -1.0, -0.3, -0.01, 0.0, 0.01, 0.1, 0.3, 0.7, 1.0, 2.0, 5.0]
FLOATS = 1 + 1e-11


def delta_of(bins: Bins, epsilon: float, rounding: Rounding = Rounding.CONNECT) -> float:
    """E[(1 − e^(ε−L))₊] on the grid."""
    masses = bins.masses(rounding)
    past = bins.step * np.arange(bins.low, bins.low + len(masses)) - epsilon
    return bins.infinity + bins.cut + float(np.where(past > 0, -np.expm1(-np.maximum(past, 0)), 0) @ masses)


def moves(l1: int, linf: int) -> Iterator[list[int]]:
    """All ways, up to order and sign, to move coordinates by at most linf each and l1 in sum."""
    for vector in product(range(linf + 1), repeat=l1):
        if 0 < sum(vector) <= l1 and list(vector) == sorted(vector):
            yield [v for v in vector if v]


def laplace_deltas(scale: float, vector: list[int]) -> Callable[[float], float]:
    """δ(ε) of Laplace noise on a vector that moves so."""
    # the noise is cut off to [0, v], which loses nothing: beyond, the likelihood ratio is the same
    p = exp(-1 / scale)
    pairs = []
    for v in vector:
        inner = [(1 - p) / (1 + p) * p**n for n in range(1, v)]
        masses = np.array([1 / (1 + p), *inner, p**v / (1 + p)])
        pairs.append(Pair(masses, masses[::-1]))
    return composed(pairs).delta


@pytest.mark.parametrize(("l1", "linf"), [(1, 1), (2, 1), (3, 1), (3, 2), (4, 2), (5, 3), (5, 2), (5, 5), (6, 4)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(20)])
def test_no_move_within_the_sensitivity_exceeds_the_pair_of_laplace_noise(l1: int, linf: int, scale: Fraction) -> None:
    """The pair is that of the most unequal move, to the digit, and no other is above it at any ε."""
    laws = laplace(LaplaceEvent(scale=scale, l1=l1, linf=linf))
    pairs = [Pair(law.chances, law.chances * np.exp(-law.losses)) for law, n in laws for _ in range(n)]
    bound = composed(pairs).delta
    deltas = [laplace_deltas(float(scale), vector) for vector in moves(l1, linf)]
    for epsilon in EPSILONS:
        truth = max(delta(epsilon) for delta in deltas)
        assert truth <= bound(epsilon) * FLOATS + 1e-15
        assert bound(epsilon) <= truth * FLOATS + 1e-15


def test_equal_moves_would_not_dominate() -> None:
    """The lemma's wrong twin: what moves evenly is easier to hide than the most unequal move."""
    even, uneven = (laplace_deltas(2.0, vector) for vector in ([2, 2], [3, 1]))
    assert even(0.5) < uneven(0.5) * 0.99


@pytest.mark.parametrize("move", [1, 2, 7])
def test_the_laplace_formula_is_that_of_the_noise(move: int) -> None:
    """Losses (s − 2n)/scale with n cut off to [0, s], against the noise on two values."""
    law = laplace(LaplaceEvent(scale=Fraction(3), l1=move))[0][0]
    ours, theirs = Pair(law.chances, law.chances * np.exp(-law.losses)), noisy(laplace_pmf(3.0, reach=60), 0, move)
    for epsilon in EPSILONS:
        assert ours.delta(epsilon) == pytest.approx(theirs.delta(epsilon), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("move", [4097, 10**5, 2**40, 3**50])
def test_losses_are_gathered_upward(move: int) -> None:
    """With many steps the pair is just above the continuous law, of 1 − e^((ε−a)/2) and 0 beyond a."""
    law = laplace(LaplaceEvent(scale=Fraction(move) / Fraction(3, 2), l1=move))[0][0]
    ours = Pair(np.append(law.chances, 0.0), np.append(law.chances * np.exp(-law.losses), law.never))
    assert ours.p.sum() == pytest.approx(1, abs=1e-12)
    assert ours.q.sum() == pytest.approx(1, abs=1e-12)
    for epsilon in (0.0, 0.5, 1.0, 1.4):
        truth = -expm1((epsilon - 1.5) / 2)
        assert truth <= ours.delta(epsilon) <= truth + 1e-3


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 20.0])
def test_small_gaussian_noise_has_the_law_of_the_noise(sigma: float) -> None:
    """On one count that moves by 1, against the noise on two values."""
    law = small_gaussian(GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(1)))[0][0]
    ours, theirs = Pair(law.chances, law.chances * np.exp(-law.losses)), noisy(gaussian_pmf(sigma, reach=26), 0, 1)
    for epsilon in EPSILONS:
        assert ours.delta(epsilon) == pytest.approx(theirs.delta(epsilon), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("epsilon", "delta"), [("1/10", 0), ("2", 0), ("1", "1/100")])
def test_pure_and_approximate_events_are_randomised_response(epsilon: str, delta: str | int) -> None:
    """To the digit, on both sides of 0."""
    bins = response(Fraction(epsilon), Fraction(delta))[0][0].bins(float(Fraction(epsilon)))
    truth = randomised_response(float(Fraction(epsilon)), float(Fraction(delta)))
    for at in (0.0, float(Fraction(epsilon))):
        assert delta_of(bins, at) == pytest.approx(truth.delta(at), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_selection_of_bounded_range_is_the_envelope_of_generalised_responses(epsilon: float) -> None:
    """No t makes generalised randomised response exceed the pair, and at each ε some t reaches it."""
    (law, times), *rest = bounded_range(ExponentialEvent(epsilon=Fraction(repr(epsilon))))
    assert (times, rest) == (1, [])
    bins = law.bins(epsilon / 500)
    ts = np.linspace(0, epsilon, 2001)
    for at in np.linspace(-epsilon, epsilon, 23)[1:-1]:
        truths = np.maximum(-np.expm1(at - ts) * -np.expm1(ts - epsilon) / -expm1(-epsilon), -expm1(at))
        assert truths.max() <= delta_of(bins, float(at)) * FLOATS
        assert delta_of(bins, float(at)) <= truths.max() * (1 + 1e-3)


def test_a_selection_by_scores_is_within_its_pair() -> None:
    """Softmax over three options whose logits move against each other by ε, in any way."""
    law = bounded_range(ExponentialEvent(epsilon=Fraction(1)))[0][0]
    bins = law.bins(1 / 200)
    for base, ups in product((0.0, 0.7, 3.0), product((-0.5, 0.0, 0.5), repeat=3)):
        weights = np.exp([0.0, base, base / 2])
        moved = weights * np.exp(ups)
        pair = Pair(moved / moved.sum(), weights / weights.sum())
        for at in (-0.5, 0.0, 0.2, 0.6):
            assert pair.delta(at) <= delta_of(bins, at) * FLOATS


def test_selections_of_unequal_range_dominate_equal_ones() -> None:
    """Ranges 3 and 1 are worse than 2 and 2, and a single one of 4 is worse than both."""
    deltas = []
    for ranges in ((4,), (3, 1), (2, 2)):
        laws = [bounded_range(ExponentialEvent(epsilon=Fraction(r, 2)))[0][0].bins(1 / 50) for r in ranges]
        masses = [(bins.low, bins.masses(Rounding.CONNECT)) for bins in laws]
        low, total = masses[0]
        for more, other in masses[1:]:
            low, total = low + more, np.convolve(total, other)
        past = np.arange(low, low + len(total)) / 50 - 0.5
        deltas.append(float(np.where(past > 0, -np.expm1(-np.maximum(past, 0)), 0) @ total))
    assert deltas[0] > 1.05 * deltas[1] > 1.05**2 * deltas[2]


def test_a_share_of_selections_is_split_into_as_many_of_the_largest_as_fit() -> None:
    """ε = 1 in ranges of 0.3 is three of these, and one of 0.1."""
    laws = bounded_range(ExponentialEvent(epsilon=Fraction(1), each=Fraction(3, 10)))
    assert [(round(law.reach, 10), n) for law, n in laws] == [(0.3, 3), (0.1, 1)]


LAWS: dict[str, Law] = {
    "laplace": laplace(LaplaceEvent(scale=Fraction(3), l1=4))[0][0],
    "gaussian": Gaussian(mu=0.7),
    "sampled gaussian": Gaussian(mu=1.0, rate=0.1),
    "sampled laplace": atoms(laplace(LaplaceEvent(scale=Fraction(3), l1=4))[0][0]).sampled(0.2),
    "approximate": response(Fraction(1), Fraction(1, 1000))[0][0],
    "selection": selection(Fraction(1, 1000))[0][0],
    "without replacement": Symmetric(Gaussian(mu=1.0, rate=0.3)),
}


@pytest.mark.parametrize("name", LAWS)
def test_up_and_connected_are_above_and_down_is_below(name: str) -> None:
    """At every ε: rounding up ≥ connecting dots ≥ a grid a hundred times finer ≥ rounding down; and so for the flip."""
    step = 0.05
    fine, bins = LAWS[name].bins(step / 100), LAWS[name].bins(step)
    for coarse, truth in ((bins, fine), (bins.flipped(), fine.flipped())):
        for epsilon in (-0.513, -0.1, -0.017, 0.0, 0.021, 0.15, 0.33, 0.81, 1.2):
            best = delta_of(truth, epsilon)
            up, connected, down = (delta_of(coarse, epsilon, r) for r in (Rounding.UP, Rounding.CONNECT, Rounding.DOWN))
            assert up * FLOATS >= connected
            assert connected * FLOATS >= delta_of(truth, epsilon, Rounding.DOWN)
            assert down <= best * FLOATS


def test_rounding_down_is_caught() -> None:
    """The wrong twin: where losses lie between the points of the grid, rounding down is below the truth, by much."""
    law, truth = LAWS["laplace"], laplace_deltas(3.0, [4])
    bins = law.bins(0.05)
    assert delta_of(bins, 0.33, Rounding.DOWN) < 0.99 * truth(0.33)
    assert delta_of(bins, 0.33, Rounding.CONNECT) >= truth(0.33) / FLOATS
    assert delta_of(bins, 0.33, Rounding.CONNECT) < 1.001 * truth(0.33)
    assert delta_of(bins, 0.33, Rounding.UP) > 1.01 * truth(0.33)


@pytest.mark.parametrize("name", LAWS)
def test_connected_dots_keep_both_laws(name: str) -> None:
    """P and Q both add up to 1; and flipping twice changes nothing."""
    bins = LAWS[name].bins(0.03)
    masses = bins.masses(Rounding.CONNECT)
    points = bins.step * np.arange(bins.low, bins.low + len(masses))
    assert masses.sum() + bins.infinity == pytest.approx(1, abs=1e-12)
    assert (masses * np.exp(-points)).sum() + bins.never == pytest.approx(1, abs=1e-12)
    twice = bins.flipped().flipped()
    assert twice.low == bins.low
    np.testing.assert_allclose(twice.masses(Rounding.CONNECT), masses, rtol=1e-12, atol=1e-300)


def exact_delta(mu: float, rate: float, epsilon: float) -> float:
    """rate·δ(ε₁) of the Gaussian pair with e^ε₁ = (e^ε − 1 + rate)/rate, in 300 bits."""
    with ctx.workprec(300):
        odds = (arb(epsilon).exp() - 1 + arb(rate)) / arb(rate)
        if not odds > 0:
            return float(1 - arb(epsilon).exp())
        inner, m, root = odds.log(), arb(mu), arb(2).sqrt()
        near, far = (inner / m - m / 2) / root, (inner / m + m / 2) / root
        return float(arb(rate) * (near.erfc() - odds * far.erfc()) / 2)


@pytest.mark.parametrize(
    ("mu", "rate", "step"),
    [(1.0, 0.01, 2.5e-4), (1.0, 1.0, 1e-3), (0.02, 1.0, 1e-4), (1.0, 0.01, 0.05), (3.0, 0.5, 1e-2), (1.0, 1e-4, 0.01)],
)
def test_the_masses_of_gaussian_noise_are_precise(mu: float, rate: float, step: float) -> None:
    """On the points of the grid, connected dots have the exact δ to 2⁻³⁶, far into the tail; so has the flip."""
    bins = Gaussian(mu=mu, rate=rate).bins(step)
    for where in (0.02, 0.2, 0.4, 0.5, 0.6, 0.7):
        i = bins.low + round(where * len(bins.left))
        truth = exact_delta(mu, rate, i * step)
        assert delta_of(bins, i * step) - bins.cut == pytest.approx(truth, rel=2.0**-36, abs=1e-36)
        flipped = 1 - exp(-i * step) + exp(-i * step) * truth
        assert delta_of(bins.flipped(), -i * step) == pytest.approx(flipped, rel=2.0**-36, abs=1e-14)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.999])
def test_dilution_is_undone(rate: float) -> None:
    """ln(1 − r + r·e^l) and back, for losses of all sizes; and none is diluted below ln(1 − r)."""
    losses = np.array([1e-3, 0.5, 3.0, 29.0, 31.0, 200.0, 5000.0])
    np.testing.assert_allclose(undiluted(diluted(losses, rate), rate), losses, rtol=1e-9)
    assert diluted(np.array([2.0]), rate)[0] == pytest.approx(log(1 - rate + rate * exp(2)), rel=1e-9)
    assert undiluted(np.array([log1p(-rate) - 1e-3]), rate)[0] == -np.inf


def test_joined_laws_are_just_above_the_product() -> None:
    """Two Laplace laws joined by plain convolution, against their product."""
    one, two = (laplace(LaplaceEvent(scale=Fraction(3), l1=l1))[0][0] for l1 in (1, 4))
    joined = one.joined(two)
    truth = composed([Pair(law.chances, law.chances * np.exp(-law.losses)) for law in (one, two)])
    bound = Pair(joined.chances, joined.chances * np.exp(-joined.losses))
    for epsilon in EPSILONS:
        assert truth.delta(epsilon) <= bound.delta(epsilon) * FLOATS <= truth.delta(epsilon) * 1.001 + 1e-12


def test_a_numeric_pair_is_taken_as_it_is() -> None:
    """Any pair can be given by its losses and chances: here four outcomes, one of which Q lacks, and one P."""
    p, q = np.array([0.5, 0.3, 0.15]), np.array([0.2, 0.3, 0.4])
    law = Atoms(losses=np.log(p / q), chances=p, infinity=0.05, never=0.1)
    truth = Pair(np.append(p, [0.05, 0.0]), np.append(q, [0.0, 0.1]))
    bins = law.bins(1e-3)
    for epsilon in EPSILONS:
        assert truth.delta(epsilon) <= delta_of(bins, epsilon) * FLOATS <= truth.delta(epsilon) + 1e-3
        assert truth.flipped().delta(epsilon) <= delta_of(bins.flipped(), epsilon) * FLOATS
