"""Gaussian noise on samples without replacement: never below sums over outcomes, nor above the bound for any noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb, cos, exp, fsum, log, log1p, pi, sqrt

import pytest

from discreet.accounting import renyi_curve_of
from discreet.privacy import GaussianEvent, SampledEvent
from discreet.textbook.accounting.pld import curve_of
from discreet.textbook.accounting.renyi_divergences import GREATEST_ORDER
from discreet.textbook.accounting.sampled_gaussian import _even, replaced
from support.pmf import gaussian_pmf

Point = tuple[int, int]

TRIANGLES: list[tuple[int, tuple[Point, Point, Point]]] = [
    (16, ((0, 0), (4, 0), (2, 3))),  # nearly equilateral
    (16, ((0, 0), (4, 0), (4, 0))),
    (16, ((0, 0), (4, 0), (2, 0))),
    (18, ((0, 0), (4, 1), (1, 4))),
    (2, ((0, 0), (1, 0), (0, 1))),
    (1, ((0, 0), (1, 0), (0, 0))),
]
"""A greatest squared distance, and where the outcomes on three samples are centred."""


def truths(sigma: float, points: tuple[Point, Point, Point], rate: float, alpha: float) -> list[float]:
    """D_α between the mixtures, outcome by outcome, for every way to say which point is which."""
    width = int(9 * sigma) + 8
    pmf = gaussian_pmf(sigma, reach=26)
    found = []
    for (ax, ay), (bx, by), (cx, cy) in permutations(points):
        total = fsum(
            (p / q) ** alpha * q
            for x in range(-width, width)
            for y in range(-width, width)
            for third in [(1 - rate) * pmf[x - cx] * pmf[y - cy]]
            for p, q in [(third + rate * pmf[x - ax] * pmf[y - ay], third + rate * pmf[x - bx] * pmf[y - by])]
            if q > 0
        )
        found.append(log(total) / (alpha - 1))
    return found


def divergence(sigma: float, l2_squared: int, rate: float, alpha: float) -> float:
    """What the curve says."""
    event = GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(l2_squared))
    sampled = SampledEvent(event=event, rate=Fraction(repr(rate)), size=1000)
    return float(renyi_curve_of(sampled).divergence(repr(alpha)))


@pytest.mark.parametrize(("l2_squared", "points"), TRIANGLES)
@pytest.mark.parametrize("rate", [0.01, 0.4])
@pytest.mark.parametrize("alpha", [2.0, 3.0, 4.5, 7.0])
def test_no_pair_of_samples_diverges_more(
    l2_squared: int, points: tuple[Point, Point, Point], rate: float, alpha: float
) -> None:
    """Three outcomes two by two within ℓ2 of each other, in all six orders."""
    sigma = 1.5 * sqrt(l2_squared)
    assert max(truths(sigma, points, rate, alpha)) <= divergence(sigma, l2_squared, rate, alpha) * (1 + 1e-7)


@pytest.mark.parametrize("alpha", [2.0, 4.0, 6.0])
def test_it_is_close(alpha: float) -> None:
    """A triangle that is equilateral but for 1 %, at σ of twice its side, and a rate of 1 %: within 4 %."""
    points: tuple[Point, Point, Point] = ((0, 0), (8, 0), (4, 7))  # squared sides 64, 65, 65
    truth = max(truths(16.0, points, 0.01, alpha))
    assert truth <= divergence(16.0, 65, 0.01, alpha) * (1 + 1e-7)
    assert divergence(16.0, 65, 0.01, alpha) <= truth * 1.04


def test_a_bound_lower_by_three_percent_would_be_wrong() -> None:
    """The tests above can fail: two samples of which one noisy number differs by ℓ2, the third lying with the other."""
    truth = max(truths(4.0, ((0, 0), (1, 0), (0, 0)), 0.01, 2.0))
    assert truth > 0.97 * divergence(4.0, 1, 0.01, 2.0)


def moment(a: tuple[float, float], b: tuple[float, float], j: int) -> float:
    """E_r[((p − q)/r)^j] for noise of σ = 1 about the origin, a and b."""
    aa, bb, ab = (u[0] * v[0] + u[1] * v[1] for u, v in ((a, a), (b, b), (a, b)))
    terms = (
        comb(j, s) * (-1) ** (j - s) * exp(s * (s - 1) * aa / 2 + (j - s) * (j - s - 1) * bb / 2 + s * (j - s) * ab)
        for s in range(j + 1)
    )
    return fsum(terms)


@pytest.mark.parametrize("side", [0.5, 1.0, 1.6])
@pytest.mark.parametrize("j", [2, 4, 6, 8])
def test_no_triangle_has_a_greater_moment(side: float, j: int) -> None:
    """Lemma 2, on a grid of all triangles whose sides are at most 1, 0.5 or 1.6."""
    corner = (side * cos(pi / 3), side * sqrt(3) / 2)
    greatest = max(moment((side, 0.0), corner, j), moment((side, 0.0), (0.0, 0.0), j))
    steps = [side * n / 24 for n in range(-24, 25)]
    seen = [
        moment((far, 0.0), (x, y), j)
        for far in steps[24:]
        for x in steps
        for y in steps[24:]
        if x**2 + y**2 <= side**2 and (x - far) ** 2 + y**2 <= side**2
    ]
    assert max(seen) <= greatest * (1 + 1e-9)
    assert max(seen) >= 0.6 * greatest  # the grid comes near the worst


def of_any_noise(rho: float, rate: float, order: int) -> float:
    """Theorem 9 of Wang, Balle and Kasiviswanathan, for an event with m(j) = j(j − 1)ρ."""
    total = comb(order, 2) * rate**2 * min(4 * (exp(2 * rho) - 1), 2 * exp(2 * rho))
    total += fsum(comb(order, j) * rate**j * 2 * exp(j * (j - 1) * rho) for j in range(3, order + 1))
    return log1p(total)


@pytest.mark.parametrize("rho", ["0.5", "0.03", "0.001", "0.000001"])
@pytest.mark.parametrize("rate", ["0.001", "0.1", "0.7"])
@pytest.mark.parametrize("order", [2, 3, 4, 9, 20])
def test_it_is_never_above_the_bound_for_any_noise(rho: str, rate: str, order: int) -> None:
    """And about a quarter of it where there is much noise and a small rate."""
    found = float(replaced(Fraction(rho), Fraction(rate), order))
    assert found <= of_any_noise(float(rho), float(rate), order) * (1 + 1e-9)
    if rho == "0.001" and rate == "0.001":
        assert found <= of_any_noise(float(rho), float(rate), order) * 0.26


def test_terms_that_cancel_leave_enough_digits() -> None:
    """Of noise that is very wide, an even moment is of the size of x^(j/2), not of what rounding leaves."""
    x = Fraction(1, 2**59)
    assert 0 < float(_even(x / 2, Fraction(1, 2), 8) / float(x**4)) < 105 * 1.1  # of a normal: 7·5·3·1


def test_the_greatest_order_is_finite_and_sound() -> None:
    """Where simple bounds take over, the log-moment still grows with the order, and stays below that of all units."""
    rho, rate = Fraction(1, 5000), Fraction(1, 10)
    found = [replaced(rho, rate, order) for order in (2, 255, 256, 257, 300, GREATEST_ORDER)]
    assert found == sorted(found)
    assert found[-1] < GREATEST_ORDER * (GREATEST_ORDER - 1) * rho


def test_training_costs_half_of_what_was_known() -> None:
    """1,000 steps at σ = 4 and 1 %, δ = 10⁻⁶: between the loss distribution's ε and half of dp-accounting's."""
    event = GaussianEvent(sigma=Fraction(4), l2_squared=Fraction(1))
    step = SampledEvent(event=event, rate=Fraction(1, 100), size=1000)
    found = float(renyi_curve_of(step, times=1000).epsilon(1e-6))
    assert found == pytest.approx(0.35886, abs=1e-5)
    assert curve_of(step, times=1000).epsilon(1e-6) < found
    dp_accounting = pytest.importorskip("dp_accounting")
    account = dp_accounting.rdp.RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
    theirs = dp_accounting.SampledWithoutReplacementDpEvent(1000, 10, dp_accounting.GaussianDpEvent(4))
    account.compose(dp_accounting.SelfComposedDpEvent(theirs, 1000))
    assert found < account.get_epsilon(1e-6) / 2
