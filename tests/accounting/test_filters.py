"""Filters: never over the budget, near it, and sound against analysts who adapt, by summing over all transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import exp, fsum, pi

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.accounting import (
    Charge,
    Filter,
    Remaining,
    charge_of,
    filter_for,
    mu_for,
    pure_to_gaussian,
    pure_to_zcdp,
    rho_for,
    zcdp_to_epsilon,
)
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    Budget,
    ComposedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PureDP,
    SelectionEvent,
)

BUDGETS = [Budget(3), Budget(3, 1e-6), Budget("0.5", 1e-9), Budget(rho="0.2", delta=1e-6)]

epsilons = st.sampled_from([Fraction(n, 20) for n in range(1, 41)])
laplaces = st.builds(lambda epsilon: LaplaceEvent(scale=1 / epsilon, l1=1), epsilons)
gaussians = st.builds(
    lambda sigma: GaussianEvent(sigma=Fraction(sigma), l2_squared=Fraction(1)), st.sampled_from([2, 5, 10, 30])
)
selections = st.builds(lambda e: SelectionEvent(delta=Fraction(1, 10**e)), st.integers(6, 9))
questions = st.one_of(
    laplaces, gaussians, st.builds(lambda a, b: ComposedEvent((a, b)), laplaces | gaussians, selections)
)


def laplace(epsilon: Fraction) -> Event:
    """A count with Laplace noise."""
    return LaplaceEvent(scale=1 / epsilon, l1=1)


def gaussian(rho: Fraction) -> Charge:
    """What a count with Gaussian noise costs."""
    return Charge(epsilon=None, rho=rho, delta=Fraction(0))


@given(st.sampled_from(BUDGETS), st.lists(questions, max_size=3), questions)
def test_as_many_are_admitted_as_is_said(budget: Budget, before: list[Event], again: Event) -> None:
    """Asked one after the other, just so many questions of one cost are admitted."""
    found, spent, cost = filter_for(budget), Charge.zero(), charge_of(again)
    for event in before:
        if found.admits(spent + charge_of(event)):
            spent += charge_of(event)
    said = found.times(spent, cost)
    assert said is not None
    for _ in range(min(said, 100)):
        spent += cost
        assert found.admits(spent)
    assert said > 100 or not found.admits(spent + cost)
    assert found.times(spent, Charge.zero()) is None


def test_what_a_third_filter_would_gain_and_cost() -> None:
    """The figures for which there is none: of all of δc, of half of it, and for those who stay with the second."""
    half = Fraction(1, 2 * 10**6)
    rho = rho_for(3, half)
    assert round(mu_for(3, half) ** 2 / 2 / rho, 2) == Fraction("1.13")
    assert round(mu_for(3, half / 2) ** 2 / 2 / rho, 2) == Fraction("1.07")
    assert round(rho_for(3, half / 2) / rho, 2) == Fraction("0.95")
    assert pure_to_gaussian("0.001") ** 2 == pytest.approx(pi / 2 * 1e-6, rel=1e-3)
    assert 2 * pure_to_zcdp("0.001") == pytest.approx(1e-6, rel=1e-3)


@given(st.sampled_from(BUDGETS), st.lists(questions, max_size=40))
def test_what_is_admitted_stays_within_the_budget(budget: Budget, asked: list[Event]) -> None:
    """The totals of admitted questions, added up anew, obey one of the two conditions, whatever was asked between."""
    decide, spent = filter_for(budget), Charge.zero()
    kept: list[Charge] = []
    for event in asked:
        after = spent + charge_of(event)
        if decide.admits(after):
            spent, kept = after, [*kept, charge_of(event)]
    half = budget.delta / 2
    delta = sum((charge.delta for charge in kept), start=Fraction(0))
    pure = sum((charge.epsilon or Fraction(10**9) for charge in kept), start=Fraction(0))
    concentrated = sum((charge.rho or Fraction(0) for charge in kept), start=Fraction(0))
    if budget.epsilon is None:
        assert concentrated <= (budget.rho or 0)
        assert delta <= budget.delta
    elif budget.is_pure:
        assert pure <= budget.epsilon
        assert delta == 0
    else:
        assert delta <= half
        assert pure <= budget.epsilon or zcdp_to_epsilon(max(concentrated, Fraction(1, 2**90)), half) <= budget.epsilon


@pytest.mark.parametrize(
    ("budget", "guarantee"),
    [
        (Budget(3), PureDP(3)),
        (Budget(3, 1e-6), ApproxDP(3, 1e-6)),
        (Budget(rho="0.2", delta=1e-6), ZCDP("0.2", 1e-6)),
    ],
)
def test_the_guarantee_is_the_budget(budget: Budget, guarantee: PureDP | ApproxDP | ZCDP) -> None:
    """What holds for all answers together is what the custodian allowed."""
    assert filter_for(budget).guarantee == guarantee


def test_a_pure_budget_is_spent_to_the_last_digit() -> None:
    """Thirty questions at a tenth fit ε = 3; the thirty-first doesn't, however small."""
    decide = filter_for(Budget(3))
    spent = sum([charge_of(laplace(Fraction(1, 10)))] * 30, start=Charge.zero())
    assert decide.admits(spent)
    assert not decide.admits(spent + charge_of(laplace(Fraction(1, 10**9))))


def test_one_large_question_or_many_small_ones_fit_the_same_budget() -> None:
    """ε = 3, δ = 10⁻⁶ admits three questions at ε = 1, and a hundred at 0.05, whose plain sum would be 5."""
    decide = filter_for(Budget(3, 1e-6))
    assert decide.admits(sum([charge_of(laplace(Fraction(1)))] * 3, start=Charge.zero()))
    assert decide.admits(sum([charge_of(laplace(Fraction(1, 20)))] * 100, start=Charge.zero()))
    assert not decide.admits(sum([charge_of(laplace(Fraction(1)))] * 4, start=Charge.zero()))
    assert not filter_for(Budget(3)).admits(sum([charge_of(laplace(Fraction(1, 20)))] * 100, start=Charge.zero()))


def test_half_of_delta_pays_for_groups() -> None:
    """Selection may spend half of δ, in either way of counting; the other half reads zCDP as (ε, δ)."""
    decide = filter_for(Budget(3, 1e-6))
    half = Fraction(1, 2 * 10**6)
    assert decide.admits(Charge(epsilon=Fraction(3), rho=Fraction(0), delta=half))
    assert decide.admits(Charge(epsilon=None, rho=rho_for(3, half), delta=half))
    crumb = Fraction(1, 10**30)
    assert not decide.admits(Charge(epsilon=Fraction(0), rho=Fraction(0), delta=half + crumb))
    assert not decide.admits(Charge(epsilon=None, rho=rho_for(3, half) + crumb, delta=half))
    assert not decide.admits(Charge(epsilon=Fraction(3) + crumb, rho=rho_for(3, half) + crumb, delta=half))


@pytest.mark.parametrize(
    ("budget", "pure", "noisy", "selecting"),
    [
        (Budget(3), True, False, False),
        (Budget(3, 1e-6), True, True, True),
        (Budget(rho=1, delta=1e-6), True, True, True),
    ],
)
def test_accounts_know_what_they_can_hold(budget: Budget, *, pure: bool, noisy: bool, selecting: bool) -> None:
    """Whatever its size: a pure budget holds no Gaussian noise and no δ; the others hold both."""
    decide = filter_for(budget)
    assert decide.accepts(charge_of(laplace(Fraction(1000)))) is pure
    assert decide.accepts(gaussian(Fraction(10**6))) is noisy
    assert decide.accepts(charge_of(SelectionEvent(delta=Fraction(1, 2)))) is selecting


@given(st.sampled_from(BUDGETS), st.lists(questions, max_size=20))
def test_what_remains_can_be_spent_and_hardly_more(budget: Budget, asked: list[Event]) -> None:
    """A question at the remaining ε, ρ or δ is admitted; at a ten-thousandth more it isn't."""
    decide, spent = filter_for(budget), Charge.zero()
    for event in asked:
        after = spent + charge_of(event)
        spent = after if decide.admits(after) else spent
    left = decide.remaining(spent)
    more = Fraction(10_001, 10_000)
    none = Charge.zero()
    costs: list[tuple[Fraction, Callable[[Fraction], Charge]]] = [
        (left.epsilon, lambda epsilon: charge_of(laplace(epsilon))),
        (left.rho, gaussian),
        (left.delta, lambda delta: replace(none, delta=delta)),
    ]
    for amount, cost in costs:
        if amount:
            assert decide.admits(spent + cost(amount))
        assert not decide.admits(spent + cost(amount * more + Fraction(1, 10**14)))


def test_remaining_amounts_can_be_asked_for_as_shown() -> None:
    """The decimal numbers in JSON are never above what's left, so they're admitted when typed back."""
    decide = filter_for(Budget(3, 1e-6))
    spent = charge_of(laplace(Fraction("0.1234567890123456789")))
    shown = decide.remaining(spent).to_dict()
    assert decide.admits(spent + charge_of(laplace(Fraction(repr(shown["epsilon"])))))
    assert decide.admits(spent + gaussian(Fraction(repr(shown["rho"]))))
    assert shown["epsilon"] == pytest.approx(3 - 0.1234567890123456789)


@given(st.floats(1e-9, 1e9))
@example(0.3)  # in binary it is below 3/10, which is how it is written
@example(1e23)
def test_no_decimal_number_is_above_what_it_stands_for(amount: float) -> None:
    """Nor more than a hair below it."""
    left = Fraction(amount)
    for shown in Remaining(epsilon=left, rho=left, delta=left).to_dict().values():
        assert left * (1 - Fraction(1, 2**50)) <= Fraction(repr(shown)) <= left


def test_a_spent_account_has_nothing_left() -> None:
    """Beyond every limit all amounts are 0."""
    everything = Charge(epsilon=None, rho=Fraction(100), delta=Fraction(1))
    left = filter_for(Budget(3, 1e-6)).remaining(everything)
    assert left == Remaining(epsilon=Fraction(0), rho=Fraction(0), delta=Fraction(0))


# ── Against an analyst who adapts: every transcript of a small conversation, with its exact probability ──────────────

SMALL = Budget(1, "0.05")
DEPTH = 8

Outcomes = list[tuple[float, float]]
"""For each outcome, its probability on x and on x′."""


def outcomes(event: Event) -> Outcomes:
    """A release that gives away as much as its event may: randomised response, or a secret with probability δ."""
    match event:
        case LaplaceEvent(scale=scale, l1=l1):
            truth = 1 / (1 + exp(-float(l1 / scale)))
            return [(truth, 1 - truth), (1 - truth, truth)]
        case SelectionEvent(delta=delta):
            d = float(delta)
            return [(d, 0.0), (0.0, d), (1 - d, 1 - d)]
        case _:
            raise AssertionError(event)


def transcripts(
    decide: Filter, ask: Callable[[int], Event], node: int = 1, depth: int = 0, spent: Charge | None = None
) -> Iterator[tuple[float, float]]:
    """The probabilities of each transcript on x and on x′; what is asked next depends on all that went before."""
    if depth == DEPTH:
        yield 1.0, 1.0
        return
    event = ask(node)
    before = spent or Charge.zero()
    after = before + charge_of(event)
    refused = [(1.0, 1.0)]
    allowed = decide.admits(after)
    for branch, (p, q) in enumerate(outcomes(event) if allowed else refused):
        for rest_p, rest_q in transcripts(decide, ask, 4 * node + branch, depth + 1, after if allowed else before):
            yield p * rest_p, q * rest_q


def delta_of(decide: Filter, ask: Callable[[int], Event]) -> float:
    """The least δ with which the whole conversation is (1, δ)-DP."""
    return fsum(max(0.0, p - exp(1) * q) for p, q in transcripts(decide, ask))


MENU: list[Event] = [laplace(Fraction(n, 20)) for n in (1, 3, 5, 8, 12, 20)]
MENU += [SelectionEvent(delta=Fraction(n, 400)) for n in (1, 4, 10)]


@given(st.lists(st.sampled_from(MENU), min_size=1, max_size=24), st.integers(1, 10**6))
def test_no_adaptive_analyst_exceeds_the_guarantee(menu: list[Event], salt: int) -> None:
    """Whatever is asked after whatever answer, the exact δ(ε) of all transcripts together is within the budget's."""
    assert delta_of(filter_for(SMALL), lambda node: menu[node * salt % 104_729 % len(menu)]) <= 0.05 + 1e-12


def greedy(node: int) -> Event:
    """Ask for secrets until they're refused, then for counts as large as they get, then for small ones."""
    depth = (node.bit_length() - 1) // 2
    return MENU[-1] if depth < 2 else MENU[5 - min(depth - 2, 5)]


def test_the_guarantee_is_hardly_slack() -> None:
    """A greedy analyst comes within a factor of two of the δ allowed: half of it is kept for zCDP."""
    assert delta_of(filter_for(SMALL), greedy) >= 0.025 - 1e-12


@pytest.mark.parametrize("times", [2, 3])
def test_a_filter_that_admits_more_is_found_out(times: int) -> None:
    """With limits twice or thrice as wide, the same sum over transcripts exceeds the guarantee."""
    honest = filter_for(SMALL)
    wide = [
        replace(
            limit,
            epsilon=None if limit.epsilon is None else limit.epsilon * times,
            rho=None if limit.rho is None else limit.rho * times,
        )
        for limit in honest.limits
    ]
    assert delta_of(replace(honest, limits=tuple(wide)), greedy) > 0.05
