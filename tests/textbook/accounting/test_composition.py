"""Composition: against the sum over all outcomes of randomised responses, which are the worst releases there are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, exp, fsum, log, prod, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    advanced,
    amplify_poisson,
    amplify_without_replacement,
    group,
    heterogeneous,
    optimal,
    optimal_delta,
    parallel,
    sequential,
)
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, ZCDP, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP


def outcomes(loss: PureDP | ApproxDP) -> list[tuple[float, float]]:
    """The worst release of a loss: with probability δ say which neighbour it is, else randomised response."""
    truth = 1 / (1 + exp(-float(loss.epsilon)))
    delta = float(loss.delta) if isinstance(loss, ApproxDP) else 0.0
    kept = 1 - delta
    return [(delta, 0.0), (kept * truth, kept * (1 - truth)), (kept * (1 - truth), kept * truth), (0.0, delta)]


def delta_of(losses: Sequence[PureDP | ApproxDP], epsilon: float) -> float:
    """The δ at ε of all of them together, by every combination of outcomes."""
    found = []
    for combination in product(*map(outcomes, losses)):
        p, q = prod(one for one, _ in combination), prod(other for _, other in combination)
        found.append(max(0.0, p - exp(epsilon) * q))
    return fsum(found)


# ── Optimal ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("loss", [PureDP("0.1"), PureDP(1), PureDP(3), ApproxDP("0.5", "0.01"), ApproxDP(2, "1e-4")])
@pytest.mark.parametrize("times", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.77])
def test_the_optimal_delta_is_that_of_all_outcomes(loss: PureDP | ApproxDP, times: int, share: float) -> None:
    """To eleven digits, wherever ε lies; and ε solved from that δ is the least."""
    epsilon = share * times * float(loss.epsilon)
    truth = delta_of([loss] * times, epsilon)
    found = optimal_delta(loss, times, repr(epsilon))
    assert float(found) == pytest.approx(truth, rel=1e-11)
    assert float(optimal(loss, times, found).epsilon) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("loss", [PureDP("0.1"), ApproxDP("0.5", "0.001")])
@pytest.mark.parametrize("times", [4, 9])
def test_the_pairs_of_the_theorem(loss: PureDP | ApproxDP, times: int) -> None:
    """((k − 2i)ε, 1 − (1 − δ)^k (1 − δᵢ)), with δᵢ as Kairouz, Oh and Viswanath write it."""
    e, own = float(loss.epsilon), float(loss.delta) if isinstance(loss, ApproxDP) else 0.0
    for i in range(1, times // 2 + 1):
        terms = (comb(times, j) * (exp((times - j) * e) - exp((times - 2 * i + j) * e)) for j in range(i))
        delta_i = fsum(terms) / (1 + exp(e)) ** times
        if times > 2 * i:
            found = optimal_delta(loss, times, (times - 2 * i) * loss.epsilon)
            assert float(found) == pytest.approx(1 - (1 - own) ** times * (1 - delta_i), rel=1e-10)


@pytest.mark.parametrize("times", [1, 7, 100, 5000])
def test_a_pure_sum_is_never_exceeded(times: int) -> None:
    """At tiny δ it's kε; at large δ next to nothing."""
    assert optimal(PureDP("0.01"), times, Fraction(1, 10**400)).epsilon <= times * Fraction(1, 100)
    assert optimal(PureDP("0.01"), times, Fraction(999, 1000)).epsilon == Fraction(1, 2**64)
    assert optimal_delta(PureDP("0.01"), times, times) == 0


def test_one_percent_less_epsilon_would_be_wrong() -> None:
    """The δ of all outcomes at 99 % of the stated ε exceeds the δ stated."""
    found = optimal(PureDP("0.4"), 6, "0.01")
    assert delta_of([PureDP("0.4")] * 6, float(found.epsilon)) <= 0.01 * (1 + 1e-9)
    assert delta_of([PureDP("0.4")] * 6, float(found.epsilon) * 0.99) > 0.01


@pytest.mark.parametrize(("times", "delta"), [(0, "1e-6"), (100_001, "1e-6"), (10, 0), (10, 1)])
def test_parameters_of_optimal_composition_are_checked(times: int, delta: str | int) -> None:
    """A number of releases, and a δ between 0 and 1."""
    with pytest.raises(InvalidArgument):
        optimal(PureDP(1), times, delta)


def test_a_delta_below_that_of_the_parts_is_refused() -> None:
    """Ten times 10⁻⁶ isn't 5·10⁻⁶."""
    with pytest.raises(InvalidArgument):
        optimal(ApproxDP(1, "1e-6"), 10, "5e-6")


# ── Advanced ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("times", [10, 400])
def test_advanced_composition_is_the_textbooks_and_never_better_than_optimal(epsilon: float, times: int) -> None:
    """The formula in floats, or the plain sum if that is less; optimal composition at the same δ is at most it."""
    found = advanced(ApproxDP(epsilon, "1e-9"), times, "1e-6")
    formula = sqrt(2 * times * log(1e6)) * epsilon + times * epsilon * (exp(epsilon) - 1)
    assert float(found.epsilon) == pytest.approx(min(formula, times * epsilon), rel=1e-12)
    assert found.delta == times * Fraction(1, 10**9) + Fraction(1, 10**6)
    assert optimal(ApproxDP(epsilon, "1e-9"), times, found.delta).epsilon <= found.epsilon


@pytest.mark.parametrize("slack", ["1e-6", "0.01", "0.2"])
def test_heterogeneous_composition_bounds_all_outcomes(slack: str) -> None:
    """Eight different losses, of which two have a δ; the formula in floats where it beats the sum."""
    losses: list[PureDP | ApproxDP] = [PureDP(Fraction(n, 10)) for n in (1, 2, 2, 3, 5, 8)]
    losses += [ApproxDP("0.3", "0.001"), ApproxDP("0.1", "0.002")]
    found = heterogeneous(losses, slack)
    assert delta_of(losses[2:], float(found.epsilon)) <= delta_of(losses[2:], 0.0)
    assert delta_of(losses, float(found.epsilon)) <= float(found.delta)
    epsilons = [float(loss.epsilon) for loss in losses]
    mean = fsum(e * (exp(e) - 1) / (exp(e) + 1) for e in epsilons)
    formula = mean + sqrt(2 * fsum(e * e for e in epsilons) * log(1 / float(slack)))
    assert float(found.epsilon) == pytest.approx(min(formula, fsum(epsilons)), rel=1e-12)
    assert float(found.delta) == pytest.approx(1 - (1 - float(slack)) * 0.999 * 0.998, rel=1e-12)


def test_half_of_the_heterogeneous_bound_would_be_wrong() -> None:
    """The sum over outcomes notices: at half the stated ε there is more δ than stated."""
    losses = [PureDP(Fraction(n, 10)) for n in (2, 3, 5, 8, 4, 4)]
    found = heterogeneous(losses, "0.05")
    assert delta_of(losses, float(found.epsilon) / 2) > 0.05


# ── Sequential, parallel, groups, samples ─────────────────────────────────────────────────────────────────────────────

EACH: list[tuple[AnyLoss, AnyLoss, AnyLoss, AnyLoss]] = [
    (PureDP(1), PureDP(2), PureDP(3), PureDP(2)),
    (ApproxDP(1, "0.2"), ApproxDP(2, "0.1"), ApproxDP(3, "0.3"), ApproxDP(2, "0.2")),
    (ZCDP(1, "0.2"), ZCDP(2, "0.1"), ZCDP(3, "0.3"), ZCDP(2, "0.2")),
    (GaussianDP(3), GaussianDP(4), GaussianDP(5), GaussianDP(4)),
    (RenyiDP(2, 1), RenyiDP(2, 2), RenyiDP(2, 3), RenyiDP(2, 2)),
]


@pytest.mark.parametrize(("one", "other", "both", "greater"), EACH)
def test_each_kind_adds_up_in_its_own_way(one: AnyLoss, other: AnyLoss, both: AnyLoss, greater: AnyLoss) -> None:
    """In sequence; in parallel the greatest counts, and under substitution the two greatest."""
    add: Any = sequential
    beside: Any = parallel
    assert add([one, other]) == both
    assert beside([one, other, one], adjacency=ADD_REMOVE) == greater
    assert beside([one, other], adjacency=SUBSTITUTION) == both
    assert add([one]) == beside([one], adjacency=SUBSTITUTION) == one


@pytest.mark.parametrize("losses", [[PureDP(1), ZCDP(1)], [RenyiDP(2, 1), RenyiDP(3, 1)]])
def test_different_kinds_dont_mix(losses: list[AnyLoss]) -> None:
    """Nor do different orders."""
    add: Any = sequential
    beside: Any = parallel
    with pytest.raises(LossNotAccepted):
        add(losses)
    with pytest.raises(LossNotAccepted):
        beside(losses, adjacency=ADD_REMOVE)


def test_nothing_has_no_loss() -> None:
    """A loss of 0 is never given."""
    for empty in (lambda: sequential([]), lambda: parallel([], adjacency=ADD_REMOVE), lambda: heterogeneous([], "0.1")):
        with pytest.raises(InvalidArgument):
            empty()


def test_each_amount_counts_by_itself_in_parallel() -> None:
    """Whichever two parts change, each of their amounts is at most the sum of the two greatest."""
    parts = [ApproxDP(1, "0.2"), ApproxDP(2, "0.1"), ApproxDP(1, "0.2")]
    assert parallel(parts, adjacency=SUBSTITUTION) == ApproxDP(3, "0.4")
    assert parallel(parts, adjacency=ADD_REMOVE) == ApproxDP(2, "0.2")


def test_a_unit_that_changes_parts_costs_two() -> None:
    """Two parts, a count of each by randomised response: under substitution the ratio is e^(1 + 2), not e^2."""
    one, other = outcomes(PureDP(1))[1:3], outcomes(PureDP(2))[1:3]
    ratio = max(log(a[0] * b[0] / (a[1] * b[1])) for a in one for b in other)
    assert ratio == pytest.approx(float(parallel([PureDP(1), PureDP(2)], adjacency=SUBSTITUTION).epsilon))
    assert ratio > float(parallel([PureDP(1), PureDP(2)], adjacency=ADD_REMOVE).epsilon)


@given(st.fractions(Fraction(1, 100), 2), st.integers(2, 6))
def test_groups_of_an_approximate_loss(epsilon: Fraction, size: int) -> None:
    """δ·Σ e^(jε): the geometric series in floats."""
    found = group(ApproxDP(epsilon, "1e-9"), size)
    assert found.epsilon == size * epsilon
    assert float(found.delta) == pytest.approx(1e-9 * fsum(exp(j * float(epsilon)) for j in range(size)), rel=1e-12)


def test_groups_of_each_kind() -> None:
    """kε, k²ρ, kμ, and an order that falls as the divergence grows."""
    assert group(PureDP(1), 3) == PureDP(3)
    assert group(ApproxDP(1, 0), 3) == ApproxDP(3, 0)
    assert group(ZCDP("0.1"), 3) == ZCDP("0.9")
    assert group(GaussianDP(1), 3) == GaussianDP(3)
    assert group(RenyiDP(16, 1), 2) == RenyiDP(8, 3)
    assert group(RenyiDP(16, 1), 3) == group(RenyiDP(16, 1), 4) == RenyiDP(4, 9)
    assert group(ZCDP("0.1", "0.1"), 1) == ZCDP("0.1", "0.1")


@pytest.mark.parametrize(("loss", "size"), [(ZCDP(1, "0.1"), 2), (RenyiDP(3, 1), 2), (ApproxDP(1, "0.5"), 2)])
def test_groups_of_which_nothing_is_known(loss: AnyLoss, size: int) -> None:
    """Approximate zCDP, too low an order, a δ that reaches 1."""
    of: Any = group
    with pytest.raises(LossNotAccepted):
        of(loss, size)
    with pytest.raises(InvalidArgument):
        of(loss, 0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("rate", [0.01, 0.5, 0.99])
def test_a_sample_of_randomised_response_has_the_amplified_loss(epsilon: float, rate: float) -> None:
    """Mixed with the other neighbour's, the greatest ratio is e^ε′ exactly; the δ is the rate's share."""
    loss = amplify_poisson(PureDP(epsilon), rate)
    truth = 1 / (1 + exp(-epsilon))
    ratio = log((rate * truth + (1 - rate) * (1 - truth)) / (1 - truth))
    assert float(loss.epsilon) == pytest.approx(ratio, rel=1e-12)
    assert isinstance(loss, PureDP)
    approx = amplify_poisson(ApproxDP(epsilon, "1e-6"), rate)
    assert approx == ApproxDP(loss.epsilon, Fraction(repr(rate)) / 10**6)


def test_a_sample_without_replacement_is_amplified_alike() -> None:
    """With the share of all units as the rate; a sample of all of them isn't one."""
    assert amplify_without_replacement(PureDP(1), 1, of=100) == amplify_poisson(PureDP(1), "0.01")
    with pytest.raises(InvalidArgument):
        amplify_without_replacement(PureDP(1), 5, of=5)
