"""Budgets, losses and sensitivities: exact, and refused when they mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import ZCDP, ApproxDP, Budget, PureDP, Sensitivity

NOT_POSITIVE: list[Any] = [0, -1, -0.1, float("nan"), float("inf"), "one", None, True, [1]]
NOT_BELOW_ONE: list[Any] = [-1e-9, 1, 2, float("nan"), "tiny"]


@pytest.mark.parametrize("make", [PureDP, ZCDP, Budget, lambda epsilon: ApproxDP(epsilon, 1e-6)])
@pytest.mark.parametrize("amount", NOT_POSITIVE)
def test_an_amount_must_be_a_number_above_zero(make: Callable[[Any], object], amount: Any) -> None:
    """A loss of 0 can't be promised, and a negative one would be a refund."""
    with pytest.raises(InvalidArgument):
        make(amount)


@pytest.mark.parametrize("make", [lambda d: ApproxDP(1, d), lambda d: ZCDP(1, d), lambda d: Budget(1, d)])
@pytest.mark.parametrize("delta", NOT_BELOW_ONE)
def test_delta_must_be_a_probability_below_one(make: Callable[[Any], object], delta: Any) -> None:
    """At δ = 1 everything may be revealed."""
    with pytest.raises(InvalidArgument):
        make(delta)


@pytest.mark.parametrize("given_as", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_amounts_are_exact_decimals(given_as: Any) -> None:
    """0.1 is a tenth, however it's given, so ten of them are 1."""
    assert PureDP(given_as).epsilon * 10 == 1
    assert ApproxDP(given_as, given_as).delta * 10 == 1
    assert ZCDP(given_as).rho * 10 == 1
    assert Budget(given_as).epsilon == Fraction(1, 10)


def test_losses_of_different_kinds_are_never_equal() -> None:
    """Each guarantee is its own type, and says what it is."""
    losses = [PureDP(1), ApproxDP(1, 0), ZCDP(1)]
    assert len(set(losses)) == len(losses)
    assert [str(loss) for loss in losses] == ["ε = 1", "ε = 1, δ = 0", "ρ = 1"]
    assert str(ZCDP(1, 1e-6)) == "ρ = 1, δ = 1e-06"


@pytest.mark.parametrize(
    ("budget", "pure", "text"),
    [
        (Budget(3), True, "ε = 3"),
        (Budget(3, 1e-6), False, "ε = 3, δ = 1e-06"),
        (Budget(rho="0.2", delta=1e-6), False, "ρ = 0.2, δ = 1e-06"),
    ],
)
def test_budgets_come_in_three_kinds(budget: Budget, pure: bool, text: str) -> None:
    """Pure, in ε and δ, and in ρ and δ."""
    assert budget.is_pure is pure
    assert str(budget) == text


@pytest.mark.parametrize(
    "arguments", [{}, {"delta": 1e-6}, {"epsilon": 1, "rho": 1, "delta": 1e-6}, {"rho": 1}, {"epsilon": 1, "delta": 0}]
)
def test_other_budgets_are_refused(arguments: dict[str, Any]) -> None:
    """Neither or both of ε and ρ, ρ without δ, or a δ of 0."""
    with pytest.raises(InvalidArgument):
        Budget(**arguments)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=6))
def test_the_norms_of_every_vector_are_consistent(vector: list[int]) -> None:
    """No true statement about how far an answer moves is refused."""
    Sensitivity(
        l0=sum(v != 0 for v in vector),
        linf=max(map(abs, vector)),
        l1=sum(map(abs, vector)),
        l2_squared=Fraction(sum(v * v for v in vector)),
    )


@pytest.mark.parametrize(
    "norms",
    [
        {"l0": 1, "linf": 2, "l1": 1, "l2_squared": 4},  # l1 below linf
        {"l0": 1, "linf": 1, "l1": 2, "l2_squared": 1},  # two steps in one coordinate of at most one
        {"l0": 2, "linf": 2, "l1": 4, "l2_squared": 3},  # l2 below linf
        {"l0": 9, "linf": 3, "l1": 3, "l2_squared": 10},  # l2 above l1
        {"l0": 9, "linf": 1, "l1": 3, "l2_squared": 4},  # l2² above l1·linf
        {"l0": 1, "linf": -1, "l1": 1, "l2_squared": 1},
    ],
)
def test_norms_that_contradict_each_other_are_refused(norms: dict[str, int]) -> None:
    """A declaration that no vector fits hides a mistake."""
    with pytest.raises(InvalidArgument):
        Sensitivity(l0=norms["l0"], linf=norms["linf"], l1=norms["l1"], l2_squared=Fraction(norms["l2_squared"]))
