"""Charges: what events add to each way of counting, against divergences summed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, fsum, log
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import Charge, bounded_range_to_zcdp, charge_of, laplace_to_zcdp
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import ComposedEvent, Event, ExponentialEvent, GaussianEvent, LaplaceEvent, SelectionEvent
from support.pmf import Pmf, gaussian_pmf, laplace_pmf, shifted

ALPHAS = [1.001, 1.1, 1.5, 2, 3, 5, 10, 40]

amounts = st.fractions(0, 10, max_denominator=10**9)
charges = st.builds(Charge, epsilon=st.none() | amounts, rho=st.none() | amounts, delta=amounts)


def renyi(p: Pmf, q: Pmf, alpha: float) -> float:
    """D_α(p ‖ q), summed in logarithms' reach."""
    total = fsum(exp(alpha * log(chance) + (1 - alpha) * log(q[n])) for n, chance in p.items() if chance and q.get(n))
    return log(total) / (alpha - 1)


def moves(l1: int, linf: int) -> Iterator[list[int]]:
    """All ways, up to order and sign, to move coordinates by at most linf each and l1 in sum."""
    for vector in product(range(linf + 1), repeat=l1):
        if 0 < sum(vector) <= l1 and list(vector) == sorted(vector):
            yield [v for v in vector if v]


@pytest.mark.parametrize(("l1", "linf"), [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (5, 2)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(4), Fraction(20)])
def test_laplace_noise_is_within_its_charge(l1: int, linf: int, scale: Fraction) -> None:
    """For every way to move within the sensitivity, no Rényi divergence exceeds αρ, and no log ratio exceeds ε."""
    charge = charge_of(LaplaceEvent(scale=scale, l1=l1, linf=linf))
    noise = laplace_pmf(float(scale), reach=60)
    by = {v: {alpha: renyi(noise, shifted(noise, v), alpha) for alpha in ALPHAS} for v in range(1, linf + 1)}
    assert charge.epsilon == l1 / scale
    for vector in moves(l1, linf):
        for alpha in ALPHAS:
            assert sum(by[v][alpha] for v in vector) <= alpha * float(charge.rho or 0) * (1 + 1e-9)


def test_the_charge_of_laplace_noise_is_tight() -> None:
    """A count that moves by 1 is randomised response; near α = 1 its divergence is the charge, but for 1 %."""
    noise = laplace_pmf(2.0, reach=60)
    charge = charge_of(LaplaceEvent(scale=Fraction(2), l1=1))
    assert renyi(noise, shifted(noise, 1), 1.001) >= 0.99 * float(charge.rho or 0)


def test_knowing_how_far_one_group_moves_saves_its_share() -> None:
    """Fifty groups that move by 1 cost in ρ what they cost each, some fiftieth of one that moves by 50."""
    together, apart = (charge_of(LaplaceEvent(scale=Fraction(500), l1=50, linf=linf)) for linf in (50, 1))
    assert together.epsilon == apart.epsilon
    assert (together.rho, apart.rho) == (laplace_to_zcdp(500, 50), 50 * laplace_to_zcdp(500, 1))
    assert 48 < (together.rho or 0) / (apart.rho or 1) < 50
    assert together == charge_of(LaplaceEvent(scale=Fraction(500), l1=50))


@pytest.mark.parametrize("sigma", [0.7, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("move", [1, 2, 5])
def test_gaussian_noise_is_within_its_charge_and_reaches_it(sigma: float, move: int) -> None:
    """No Rényi divergence of the discrete noise exceeds αρ, and those of whole α equal it."""
    charge = charge_of(GaussianEvent(sigma=Fraction(repr(sigma)), l2_squared=Fraction(move**2)))
    noise = gaussian_pmf(sigma, reach=26)
    assert charge.epsilon is None
    for alpha in (1.1, 1.5, 2, 3):
        divergence = renyi(noise, shifted(noise, move), alpha)
        assert divergence <= alpha * float(charge.rho or 0) * (1 + 1e-9)
    assert renyi(noise, shifted(noise, move), 2) == pytest.approx(2 * float(charge.rho or 0), rel=1e-6)


def test_a_selection_costs_its_delta_alone() -> None:
    """The noise of the count is an event of its own."""
    charge = charge_of(SelectionEvent(delta=Fraction(1, 10**6)))
    assert charge == Charge(epsilon=Fraction(0), rho=Fraction(0), delta=Fraction(1, 10**6))


def softmax(logits: list[float]) -> Pmf:
    """Probabilities ∝ e^logit, by number."""
    best = max(logits)
    weights = [exp(logit - best) for logit in logits]
    return {n: weight / fsum(weights) for n, weight in enumerate(weights)}


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("base", [0.0, 0.7, 3.0, 30.0])
def test_a_selection_by_scores_is_within_its_charge(epsilon: Fraction, base: float) -> None:
    """Logits that move by ε/2 either way, or by ε one way: no divergence exceeds αρ, and no log ratio ε."""
    charge = charge_of(ExponentialEvent(epsilon=epsilon))
    e, logits = float(epsilon), [0.0, base, base / 2]
    assert charge == Charge(epsilon=epsilon, rho=bounded_range_to_zcdp(epsilon), delta=Fraction(0))
    for moves in [*product((-e / 2, 0, e / 2), repeat=3), *product((0, e / 3, e), repeat=3)]:
        one, other = softmax(logits), softmax([logit + move for logit, move in zip(logits, moves, strict=True)])
        assert all(abs(log(one[n] / other[n])) <= e * (1 + 1e-9) for n in one)
        for alpha in ALPHAS:
            assert renyi(one, other, alpha) <= alpha * float(charge.rho or 0) * (1 + 1e-9)


def test_the_charge_of_a_selection_is_tight() -> None:
    """Two equal options that move by ε/2 each way reach ρ but for 1 % near α = 1; moved by 3 % more they exceed it."""
    charge = charge_of(ExponentialEvent(epsilon=Fraction(1, 10)))
    for factor, exceeds in ((1.0, False), (1.03, True)):
        one, other = (softmax([sign * 0.025 * factor, -sign * 0.025 * factor]) for sign in (1, -1))
        divergence = renyi(one, other, 1.001) / 1.001
        assert divergence >= 0.99 * float(charge.rho or 0)
        assert (divergence > float(charge.rho or 0)) is exceeds


def test_many_selections_cost_as_if_few_took_all() -> None:
    """Ten selections of a tenth each cost a tenth in ρ of a single one, and the same ε; it is the sum of their own."""
    apart = charge_of(ExponentialEvent(epsilon=Fraction(2), each=Fraction(1, 5)))
    alone = charge_of(ExponentialEvent(epsilon=Fraction(1, 5)))
    assert apart.epsilon == 2
    assert apart.rho == 10 * (alone.rho or 0)
    assert charge_of(ExponentialEvent(epsilon=Fraction(2), each=Fraction(2))).rho == bounded_range_to_zcdp(2)
    lopsided = [Fraction(1, 5)] * 9 + [Fraction(1, 10)] * 2
    assert sum(lopsided) == 2
    assert sum(map(bounded_range_to_zcdp, lopsided)) <= (apart.rho or 0)


def test_composition_adds_up() -> None:
    """Each currency is summed; an infinite part makes the sum infinite."""
    laplace, gaussian = (
        LaplaceEvent(scale=Fraction(10), l1=1),
        GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1)),
    )
    selection = SelectionEvent(delta=Fraction(1, 8))
    both = charge_of(ComposedEvent((laplace, ComposedEvent((laplace, selection)))))
    assert (both.epsilon, both.delta) == (Fraction(1, 5), Fraction(1, 8))
    assert both.rho == 2 * (charge_of(laplace).rho or 0)
    mixed = charge_of(ComposedEvent((laplace, gaussian)))
    assert mixed.epsilon is None
    assert mixed.rho == Fraction(1, 200) + (charge_of(laplace).rho or 0)
    assert charge_of(ComposedEvent(())) == Charge.zero()


def test_an_unknown_event_is_refused() -> None:
    """What isn't understood isn't charged at a guess."""
    with pytest.raises(LossNotAccepted):
        charge_of(cast("Event", object()))


@pytest.mark.parametrize("currency", ["epsilon", "rho", "delta"])
def test_a_negative_charge_is_refused(currency: str) -> None:
    """A refund would let a budget be overspent."""
    amounts_of = {"epsilon": Fraction(1), "rho": Fraction(1), "delta": Fraction(0)} | {currency: Fraction(-1, 10**30)}
    with pytest.raises(InvalidArgument):
        Charge(**amounts_of)


@given(charges, charges, charges)
def test_sums_are_exact_and_in_any_order(a: Charge, b: Charge, c: Charge) -> None:
    """Decimals, thirds and sevenths add up exactly."""
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Charge.zero() == a
    assert (a + b).delta == a.delta + b.delta


@given(charges, charges)
def test_within_compares_each_currency(spent: Charge, limit: Charge) -> None:
    """Nothing exceeds an infinite limit; an infinite amount exceeds any other."""

    def at_most(amount: Fraction | None, most: Fraction | None) -> bool:  # None comes last, whatever it stands beside
        return (amount is None, amount or 0) <= (most is None, most or 0)

    expected = at_most(spent.epsilon, limit.epsilon) and at_most(spent.rho, limit.rho)
    assert spent.within(limit) == (expected and spent.delta <= limit.delta)


def test_a_limit_is_reached_exactly_and_not_passed() -> None:
    """Ten tenths are 1, and not a digit more fits."""
    tenth = Charge(epsilon=Fraction(1, 10), rho=Fraction(1, 10), delta=Fraction(1, 10))
    limit = Charge(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(1))
    spent = sum([tenth] * 10, start=Charge.zero())
    assert spent.within(limit)
    crumb = Charge(epsilon=Fraction(1, 10**30), rho=Fraction(0), delta=Fraction(0))
    assert not (spent + crumb).within(limit)


@given(st.lists(st.fractions(0, 1, max_denominator=10**35), min_size=2, max_size=60))
def test_a_long_account_stays_short_and_never_low(epsilons: list[Fraction]) -> None:
    """However unrelated the denominators, sums stay below fifty digits, are never below the exact sum, and near it."""
    total = Charge.zero()
    for epsilon in epsilons:
        total += Charge(epsilon=epsilon, rho=epsilon, delta=epsilon)
    exact = sum(epsilons)
    for amount in (total.epsilon, total.rho, total.delta):
        assert amount is not None
        assert exact <= amount <= exact + Fraction(len(epsilons), 10**40)
        assert amount.denominator <= 10**40


def test_a_charge_is_written_exactly() -> None:
    """JSON-ready data keeps every digit."""
    charge = Charge(epsilon=Fraction(1, 3), rho=None, delta=Fraction(1, 10**6))
    assert charge.to_dict() == {"epsilon": "1/3", "rho": None, "delta": "1/1000000"}
