"""Conversions: never below the truth, near it, and equal to what others have published."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log, log1p, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]  # SciPy ships no types
from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

from discreet.accounting import (
    bounded_range_to_zcdp,
    laplace_to_zcdp,
    pure_to_zcdp,
    rho_for,
    to_approx,
    zcdp,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from discreet.errors import InvalidArgument
from discreet.privacy import ZCDP, ApproxDP, PureDP

PAIRS = [(rho, delta) for rho in (1e-6, 1e-3, 0.02, 0.1, 0.5, 2.56, 10.0) for delta in (1e-2, 1e-6, 1e-10, 1e-30)]

rhos = st.fractions(Fraction(1, 10**9), 100)
deltas = st.fractions(Fraction(1, 10**20), Fraction(99, 100))


def least_epsilon(rho: float, delta: float) -> float:
    """The least ε over α, by another library's search."""

    def epsilon(log_excess: float) -> float:
        h = exp(log_excess)
        return (1 + h) * rho - log((1 + h) * delta) / h - log1p(1 / h)

    centre = log(sqrt(-log(delta) / rho))
    return float(
        minimize_scalar(epsilon, bounds=(centre - 5, centre + 5), method="bounded", options={"xatol": 1e-12}).fun
    )


@pytest.mark.parametrize(("rho", "delta"), PAIRS)
def test_epsilon_agrees_with_an_independent_search(rho: float, delta: float) -> None:
    """The same minimum, found by SciPy, to nine digits; the least ε stated, where that would be negative."""
    assert float(zcdp_to_epsilon(rho, delta)) == pytest.approx(max(least_epsilon(rho, delta), 2.0**-64), rel=1e-9)


@pytest.mark.parametrize(("rho", "delta"), PAIRS)
def test_epsilon_beats_the_older_bound(rho: float, delta: float) -> None:
    """Bun and Steinke's closed form (2016, Proposition 1.3) is larger, but by less than a factor of 2 at small δ."""
    old = rho + 2 * sqrt(-rho * log(delta))
    new = float(zcdp_to_epsilon(rho, delta))
    assert new < old
    assert delta > 1e-3 or new > old / 2


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [("2.56", 17.14), ("0.07", 2.47)],
)
def test_the_published_parameters_of_the_us_census(rho: str, epsilon: float) -> None:
    """The 2020 redistricting data: ε at δ = 10⁻¹⁰ for persons and housing; ρ was published to two decimals only."""
    half_a_digit = Fraction(1, 200)
    low, high = (zcdp_to_epsilon(Fraction(rho) + sign * half_a_digit, 1e-10) for sign in (-1, 1))
    assert float(low) - 0.005 <= epsilon <= float(high) + 0.005


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.125, 0.5, 2.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0, 8.0])
def test_delta_bounds_that_of_the_gaussian(rho: float, epsilon: float) -> None:
    """Gaussian noise of σ = 1/√(2ρ) is ρ-zCDP; its own δ(ε) is below the bound, though not by orders of magnitude."""
    mu = sqrt(2 * rho)
    true = float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))
    bound = float(zcdp_to_delta(rho, epsilon))
    assert true <= bound
    if 1e-12 < true < 0.1:
        assert bound < 6 * true


@given(rhos, deltas, st.fractions(Fraction(1, 100), 20), st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(3)]))
def test_each_number_is_rounded_in_its_direction(
    rho: Fraction, delta: Fraction, epsilon: Fraction, h: Fraction
) -> None:
    """At an α = 1 + h that is given, to 60 digits: ε and δ are at least what the formula gives, and ρ is at most."""
    with pytest.MonkeyPatch.context() as patch, localcontext() as context:
        context.prec = 60
        patch.setattr(zcdp, "minimise", lambda *_, **__: h)
        excess, hair = decimal(h), Decimal(2) ** -30
        r, d, e = map(decimal, (rho, delta, epsilon))
        rest = ((1 + excess) * d).ln() / excess + (1 + 1 / excess).ln()
        least = (1 + excess) * r - rest
        found = decimal(zcdp._epsilon.__wrapped__(rho, delta))
        assert found >= least
        assert found <= max(least, Decimal(2) ** -64) + abs(least) * hair
        log_delta = excess * ((1 + excess) * r - e - (1 + 1 / excess).ln()) - (1 + excess).ln()
        found = decimal(zcdp._delta.__wrapped__(rho, epsilon))
        assert min(log_delta.exp(), 1) <= found <= min(log_delta.exp() * (1 + hair), 1)
        most = (e + rest) / (1 + excess)
        if most > 0:
            assert most * (1 - hair) - hair <= decimal(zcdp._rho.__wrapped__(epsilon, delta)) <= most


def decimal(number: Fraction) -> Decimal:
    """A number as a decimal one, of as many digits as the context has."""
    return Decimal(number.numerator) / number.denominator


@given(rhos, deltas)
def test_epsilon_and_delta_undo_each_other(rho: Fraction, delta: Fraction) -> None:
    """At the ε that goes with δ, the δ is that one again, or less where ε was cut off; but for the search of α."""
    back = zcdp_to_delta(rho, zcdp_to_epsilon(rho, delta))
    assert float(back) <= float(delta) * (1 + 1e-4)


@given(st.fractions(Fraction(1, 10**6), 50), deltas)
def test_the_rho_of_a_budget_never_exceeds_it(epsilon: Fraction, delta: Fraction) -> None:
    """Converted back it is at most ε, and near it, so that nothing is wasted.

    Each way searches an α for itself, and what it says holds at the α that it found, which the test above shows. So the
    way back may be poorer by what the search leaves: in floats, some hundred units of the last place.
    """
    rho = rho_for(epsilon, delta)
    assert zcdp_to_epsilon(rho, delta) <= epsilon * (1 + Fraction(1, 2**45))
    if epsilon > Fraction(1, 1000) and delta < Fraction(1, 1000):
        assert zcdp_to_epsilon(rho * Fraction(1001, 1000), delta) > epsilon


@given(rhos, rhos, deltas, deltas)
def test_more_noise_and_more_delta_mean_less_epsilon(a: Fraction, b: Fraction, d: Fraction, e: Fraction) -> None:
    """Monotone: in ρ upwards, in δ downwards."""
    assert zcdp_to_epsilon(min(a, b), d) <= zcdp_to_epsilon(max(a, b), d)
    assert zcdp_to_epsilon(a, max(d, e)) <= zcdp_to_epsilon(a, min(d, e))
    assert rho_for(min(a, b), d) <= rho_for(max(a, b), d)
    assert rho_for(a, min(d, e)) <= rho_for(a, max(d, e))


@given(st.fractions(Fraction(1, 1000), 20))
def test_pure_loss_in_zcdp_is_just_above_the_best(epsilon: Fraction) -> None:
    """At least ε·tanh(ε/2), in decimal arithmetic; at most ε²/2; and within 0.3 % of the former up to ε = 2."""
    rho = pure_to_zcdp(epsilon)
    e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    best = e * (e.exp() - 1) / (e.exp() + 1)
    assert Decimal(rho.numerator) / Decimal(rho.denominator) >= best * (1 - Decimal("1e-20"))
    assert rho <= epsilon**2 / 2
    assert epsilon > 2 or float(rho) <= float(best) * 1.003


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("alpha", [1.0001, 1.01, 1.5, 2.0, 5.0, 50.0])
def test_randomised_response_is_within_its_zcdp(epsilon: float, alpha: float) -> None:
    """The worst ε-DP release has Rényi divergence at most αρ for every α."""
    truth, lie = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    moment = log(truth) * alpha + log(lie) * (1 - alpha), log(lie) * alpha + log(truth) * (1 - alpha)
    divergence = (max(moment) + log1p(exp(min(moment) - max(moment)))) / (alpha - 1)
    assert divergence <= alpha * float(pure_to_zcdp(Fraction(repr(epsilon)))) * (1 + 1e-9)


def test_a_third_less_than_the_proved_rho_would_be_wrong() -> None:
    """The test above can fail: the best ρ is hardly below ours, so a smaller one is exceeded near α = 1."""
    epsilon, alpha = 1.0, 1.0001
    truth, lie = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    divergence = log(truth**alpha * lie ** (1 - alpha) + lie**alpha * truth ** (1 - alpha)) / (alpha - 1)
    assert divergence > alpha * float(pure_to_zcdp(1)) * 2 / 3


ORDERS = [Decimal("1.000001"), Decimal("1.01"), Decimal("1.5"), Decimal(2), Decimal(7), Decimal(50)]


def divergence(moment: Decimal, alpha: Decimal) -> Decimal:
    """D_α/α, of the moment Σ P^α·Q^(1−α)."""
    return moment.ln() / (alpha - 1) / alpha


def laplace_moment(scale: Fraction, shift: int, alpha: Decimal) -> Decimal:
    """Σ P^α·Q^(1−α) of discrete Laplace noise and the same moved: a geometric series at each side, and all between."""
    rate = Decimal(scale.denominator) / Decimal(scale.numerator)
    q = (-rate).exp()
    near, far = q ** (shift * (1 - alpha)), q ** (shift * alpha)  # up to 0, and from the shift on, times 1/(1 − q)
    between = sum((q ** (n * alpha + (shift - n) * (1 - alpha)) for n in range(1, shift)), start=Decimal(0))
    return (1 - q) / (1 + q) * ((near + far) / (1 - q) + between)


@pytest.mark.parametrize("shift", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(4), Fraction(30)])
def test_the_rho_of_laplace_noise_is_the_least(shift: int, epsilon: Fraction) -> None:
    """No divergence exceeds αρ, at any order; and 0.1 % less is exceeded near order 1."""
    rho = laplace_to_zcdp(shift / epsilon, shift)
    with localcontext(prec=80):
        least = Decimal(rho.numerator) / Decimal(rho.denominator)
        found = [divergence(laplace_moment(shift / epsilon, shift, alpha), alpha) for alpha in ORDERS]
    assert max(found) <= least
    assert max(found) > least * Decimal("0.999")


@given(st.fractions(Fraction(1, 10**4), 1000), st.integers(1, 30))
def test_laplace_noise_costs_no_more_than_any_noise_would(scale: Fraction, shift: int) -> None:
    """By steps of 1 it is randomised response; ρ by distance doesn't fall, but for its last digits."""
    rho, more = laplace_to_zcdp(scale, shift), laplace_to_zcdp(scale, shift + 1)
    assert rho <= pure_to_zcdp(shift / scale)
    assert rho / shift <= more / (shift + 1) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(4), Fraction(8), Fraction(30)]
)
def test_the_rho_of_a_range_is_the_least(epsilon: Fraction) -> None:
    """Of losses with two values that lie ε apart none exceeds αρ; and of 0.1 % less one does, near order 1."""
    rho = bounded_range_to_zcdp(epsilon)
    found = []
    with localcontext(prec=80):
        e, least = Decimal(epsilon.numerator) / Decimal(epsilon.denominator), Decimal(rho.numerator) / rho.denominator
        for step in range(1, 200):
            q = 1 / (1 + (Decimal(step - 100) * (e + 4) / 100).exp())  # from one end to the other, dense at neither
            p = q * e.exp() / (q * e.exp() + 1 - q)
            logs = (p.ln(), q.ln()), ((1 - p).ln(), (1 - q).ln())  # powers would take them anew for each order
            found += [
                divergence(sum((alpha * one + (1 - alpha) * other).exp() for one, other in logs), alpha)
                for alpha in ORDERS
            ]
    assert max(found) <= least
    assert max(found) > least * Decimal("0.999")


@pytest.mark.parametrize("function", [zcdp_to_epsilon, zcdp_to_delta, rho_for])
@pytest.mark.parametrize("first", [0, -1, float("nan"), float("inf"), "1e400", "1e-400", None])
def test_amounts_out_of_range_are_refused(function: Any, first: Any) -> None:
    """A typed error, whatever the number; never an overflow."""
    with pytest.raises(InvalidArgument):
        function(first, Fraction(1, 2))


@pytest.mark.parametrize("delta", [0, 1, -0.5, 1.5, float("nan")])
def test_delta_must_be_a_probability(delta: float) -> None:
    """Strictly between 0 and 1."""
    with pytest.raises(InvalidArgument):
        zcdp_to_epsilon(0.1, delta)
    with pytest.raises(InvalidArgument):
        rho_for(1, delta)


@given(
    st.integers(-99, 99).map(lambda e: Fraction(2) ** e),
    st.one_of(deltas, st.integers(1, 2000).map(lambda e: Fraction(1, 10**e)), st.just(1 - Fraction(1, 10**30))),
)
def test_conversions_hold_at_the_ends_of_their_range(amount: Fraction, delta: Fraction) -> None:
    """Tiny and huge amounts neither raise nor lose the direction of rounding."""
    assert zcdp_to_epsilon(amount, delta) > 0
    rho = rho_for(amount, delta)
    assert rho > 0
    assert Fraction(1, 2**100) > rho or zcdp_to_epsilon(rho, delta) <= max(amount, Fraction(1, 2**64))
    assert 0 < zcdp_to_delta(amount, Fraction(1)) <= 1


def test_losses_are_compared_in_terms_of_epsilon_and_delta() -> None:
    """Each kind reads as (ε, δ); a loss's own δ is part of the δ stated."""
    assert to_approx(PureDP(1), 1e-6) == ApproxDP(1, 1e-6)
    assert to_approx(ApproxDP(1, 1e-9), 1e-6) == ApproxDP(1, 1e-6)
    assert to_approx(ZCDP("0.1"), 1e-6).epsilon == zcdp_to_epsilon("0.1", 1e-6)
    assert to_approx(ZCDP("0.1", 1e-7), 1e-6).epsilon == zcdp_to_epsilon("0.1", Fraction(9, 10**7))


@pytest.mark.parametrize("loss", [ApproxDP(1, 1e-5), ZCDP(1, 1e-5), ZCDP(1, 1e-6)])
def test_a_delta_below_the_losss_own_is_refused(loss: ApproxDP | ZCDP) -> None:
    """What happens with probability δ can't be stated away."""
    with pytest.raises(InvalidArgument):
        to_approx(loss, 1e-6)
