"""Numbers beyond all bounds: each question of accounting has a finite answer, or a typed error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import pytest

from discreet.accounting import (
    Charge,
    Noise,
    Odometer,
    advanced,
    amplify_poisson,
    best_of,
    bounded_range_to_renyi,
    bounded_range_to_zcdp,
    charge_of,
    convert,
    curve_of,
    filter_for,
    group,
    heterogeneous,
    lowered,
    mu_for,
    optimal,
    optimal_delta,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zcdp,
    renyi_curve_of,
    renyi_to_delta,
    renyi_to_epsilon,
    rho_for,
    solve,
    zcdp_to_delta,
)
from discreet.errors import DiscreetError
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    Budget,
    Event,
    ExponentialEvent,
    GaussianDP,
    GaussianEvent,
    LaplaceEvent,
    PureDP,
    PureEvent,
    RenyiDP,
    SampledEvent,
    SelectionEvent,
)

TEN = Fraction(10)
SIZES = [TEN**-999, TEN**-320, TEN**-30, Fraction(1), Fraction(710), TEN**9, TEN**309, TEN**999]
CHANCES = [TEN**-999, TEN**-300, TEN**-6, 1 - TEN**-12, 1 - TEN**-400]
ORDERS = [1 + TEN**-400, 1 + TEN**-9, Fraction(101, 100), Fraction(10), TEN**30, TEN**400]


def readable(question: Callable[[], object]) -> None:
    """Ask; what comes back can be shown, and what is refused is refused in words."""
    with suppress(DiscreetError):
        assert "nan" not in str(question())


@pytest.mark.parametrize(
    "size", SIZES, ids=lambda size: f"{size.numerator.bit_length() - size.denominator.bit_length()}"
)
def test_no_amount_overflows(size: Fraction) -> None:
    """Conversions, compositions and filters, at every chance."""
    for one in (pure_to_zcdp, bounded_range_to_zcdp, pure_to_gaussian, PureDP, ZCDP, GaussianDP):
        readable(lambda one=one: one(size))
    for chance in CHANCES:
        for kind in (PureDP, ZCDP, GaussianDP):
            readable(lambda kind=kind, chance=chance: convert(kind(size), ApproxDP, delta=chance))
        questions: list[Callable[[], object]] = [
            lambda chance=chance: rho_for(size, chance),
            lambda chance=chance: mu_for(size, chance),
            lambda chance=chance: lowered(PureDP(size), chance),
            lambda chance=chance: amplify_poisson(ApproxDP(size, "0.1"), chance),
            lambda chance=chance: optimal(ApproxDP(size, "1e-9"), 30, chance),
            lambda chance=chance: advanced(PureDP(size), 3, chance),
            lambda chance=chance: heterogeneous([PureDP(size), PureDP(1)], chance),
            lambda chance=chance: group(ApproxDP(size, chance), 3),
            lambda chance=chance: Odometer.start(chance).record(ZCDP(size)).bound,
        ]
        for question in questions:
            readable(question)
        for budget in (Budget(epsilon=size), Budget(epsilon=size, delta=chance), Budget(rho=size, delta=chance)):
            readable(lambda budget=budget: filter_for(budget).remaining(Charge.zero()))
            readable(lambda budget=budget: filter_for(budget).remaining(Charge.zero()).to_dict())
    for other in SIZES:
        readable(lambda other=other: optimal_delta(ApproxDP(size, "1e-9"), 30, other))
        readable(lambda other=other: zcdp_to_delta(size, other))


@pytest.mark.parametrize("alpha", ORDERS, ids=range(len(ORDERS)))
def test_no_order_overflows(alpha: Fraction) -> None:
    """From and to Rényi divergences of orders next to 1 and far from it."""
    for size in SIZES:
        readable(lambda size=size: pure_to_renyi(size, alpha))
        readable(lambda size=size: bounded_range_to_renyi(size, alpha))
        for chance in CHANCES:
            readable(lambda size=size, chance=chance: renyi_to_epsilon(RenyiDP(alpha, size), chance))
        for epsilon in SIZES:
            readable(lambda size=size, epsilon=epsilon: renyi_to_delta(RenyiDP(alpha, size), epsilon))


FEW = [TEN**-999, TEN**-30, Fraction(1), Fraction(710), TEN**999]
GAUSSIANS = [
    GaussianEvent(sigma=size, l2_squared=Fraction(1), continuous=real) for size in FEW for real in (False, True)
]
OTHERS = [
    event
    for size in FEW
    for event in (
        LaplaceEvent(scale=size, l1=10**6, linf=7),
        ExponentialEvent(epsilon=size, each=size / 3),
        PureEvent(epsilon=size),
        SelectionEvent(delta=size / (size + 1)),
    )
]


@pytest.mark.parametrize("times", [1, 2000])
@pytest.mark.parametrize("events", [GAUSSIANS, OTHERS], ids=["gaussian", "other"])
def test_no_curve_by_orders_overflows(events: list[Event], times: int) -> None:
    """Rényi curves and the best of the simple ones, of everything, whole and sampled."""
    for event in events:
        readable(lambda event=event: charge_of(event))
        for each in (event, SampledEvent(event=event, rate=TEN**-400)):
            readable(lambda each=each: best_of(each, times).epsilon("1e-6"))
            readable(lambda each=each: best_of(each, times).delta(1))


CURVED = GAUSSIANS + [event for event in OTHERS if not isinstance(event, LaplaceEvent)]
DEAR = GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1))
"""A hundred tilts are tried for its sample; that of its continuous twin shows the same."""


@pytest.mark.parametrize("event", CURVED)
def test_no_loss_distribution_overflows(event: Event) -> None:
    """Where floats can't hold it, it is refused."""
    readable(lambda: curve_of(event).delta(1))


@pytest.mark.parametrize(
    "event", [pytest.param(event, marks=pytest.mark.soak) if event == DEAR else event for event in CURVED]
)
def test_no_loss_distribution_of_a_sample_overflows(event: Event) -> None:
    """One of a unit in 10⁴⁰⁰."""
    readable(lambda: curve_of(SampledEvent(event=event, rate=TEN**-400)).delta(1))


def test_two_thousand_gaussians_have_an_epsilon_above_what_floats_exponentiate() -> None:
    """ρ = 1,000 in all: ε is finite, above ρ, and calibration finds it, too; and back from ε to uses."""
    noise = GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1))
    found = renyi_curve_of(noise, times=2000).epsilon("1e-6")
    assert 1000 < found < 1300
    assert best_of(noise, times=2000).epsilon("1e-6") <= found
    assert solve(Noise.GAUSSIAN, scale=1, delta="1e-6", uses=2000).epsilon <= found
    assert solve(Noise.GAUSSIAN, scale=1, epsilon=found, delta="1e-6").uses >= 2000


@pytest.mark.parametrize("gamma", ["1e-6", "1", "700", "1000"])
@pytest.mark.parametrize("alpha", ["1.01", "2", "100"])
def test_epsilon_and_delta_of_one_order_follow_from_one_another(alpha: str, gamma: str) -> None:
    """Both are proved, and nearly the least: the δ of an ε is the δ it was found for, or less by little."""
    loss = RenyiDP(alpha, gamma)
    for delta in (Fraction(1, 1000), TEN**-9):
        epsilon = renyi_to_epsilon(loss, delta)
        if epsilon > 1 / TEN**15:
            assert delta * 2 / 3 <= renyi_to_delta(loss, epsilon) <= delta * (1 + TEN**-6)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "3", "4.6", "8", "12", "12.1", "20", "400", "1e9"])
def test_pure_losses_in_zcdp_are_next_to_the_least_there_is(epsilon: str) -> None:
    """ρ is above ε·tanh(ε/2), which randomised response needs, and by no more than 2 %; and what remains is used up."""
    from math import tanh

    exact, rho = Fraction(epsilon), pure_to_zcdp(epsilon)
    least = float(exact) * tanh(float(exact) / 2)
    assert least * (1 - 1e-12) <= float(rho) <= least * 1.02
    assert bounded_range_to_zcdp(epsilon) <= rho * Fraction(1001, 1000)
    remaining = filter_for(Budget(rho=rho, delta="1e-6")).remaining(Charge.zero()).epsilon
    assert remaining <= exact
    assert remaining >= exact * (1 - TEN**-15)
    assert pure_to_zcdp(remaining) <= rho
