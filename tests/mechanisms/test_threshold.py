"""Thresholds: the exact probability that a group of one is named is at most δ, and not for one step less."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import ceil, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian, Laplace, Threshold
from discreet.privacy import SelectionEvent, Sensitivity
from support.pmf import exact_tail

COUNT = Sensitivity.scalar(1)


def laplace(epsilon: Fraction, l0: int) -> Laplace:
    """Noise for counts of a unit that is in l0 groups."""
    return Laplace.calibrate(Sensitivity(l0=l0, linf=1, l1=l0, l2_squared=Fraction(l0)), epsilon)


def passing(exponents: dict[int, Fraction], threshold: int, linf: int, l0: int) -> Decimal:
    """The exact probability that any of l0 groups that hold one unit reaches the threshold."""
    with localcontext() as context:
        context.prec = 60
        return 1 - (1 - exact_tail(exponents, threshold - linf)) ** l0


def laplace_exponents(scale: Fraction) -> dict[int, Fraction]:
    """Minus the logarithms of the weights, out to e^−120."""
    reach = int(120 * scale) + 2
    return {n: abs(n) / scale for n in range(-reach, reach + 1)}


def gaussian_exponents(sigma: Fraction) -> dict[int, Fraction]:
    """Minus the logarithms of the weights, out to e^−120."""
    reach = int(16 * sigma) + 2
    return {n: n * n / (2 * sigma**2) for n in range(-reach, reach + 1)}


GRID = list(
    product(
        [Fraction(1, 4), Fraction(1), Fraction(3)],
        [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**15)],
        [1, 2, 7],
    )
)


@pytest.mark.parametrize(("epsilon", "delta", "l0"), GRID)
def test_laplace_thresholds_hold_and_are_least(epsilon: Fraction, delta: Fraction, l0: int) -> None:
    """Summed in 60 digits: at most δ at the threshold, above δ one below it."""
    noise = laplace(epsilon, l0)
    threshold = Threshold(noise, l0=l0, linf=1, delta=delta).value
    exponents, goal = laplace_exponents(noise.scale), Decimal(delta.numerator) / Decimal(delta.denominator)
    assert passing(exponents, threshold, 1, l0) <= goal
    assert passing(exponents, threshold - 1, 1, l0) > goal


@pytest.mark.parametrize(("rho", "delta", "l0"), GRID)
def test_gaussian_thresholds_hold_and_are_least(rho: Fraction, delta: Fraction, l0: int) -> None:
    """The same for Gaussian noise."""
    noise = Gaussian.for_rho(Sensitivity(l0=l0, linf=1, l1=l0, l2_squared=Fraction(l0)), rho)
    threshold = Threshold(noise, l0=l0, linf=1, delta=delta).value
    exponents, goal = gaussian_exponents(noise.sigma), Decimal(delta.numerator) / Decimal(delta.denominator)
    assert passing(exponents, threshold, 1, l0) <= goal
    assert passing(exponents, threshold - 1, 1, l0) > goal


def test_a_threshold_is_rounded_up_and_not_cut_off() -> None:
    """A real threshold of 37.3 must become 38: at 37 a group of one passes too often. A known bug elsewhere."""
    epsilon, delta = Fraction(1, 4), Fraction(57, 10**6)
    real = 1 + log(1 / (2 * float(delta))) / float(epsilon)
    assert 37.2 < real < 37.4
    noise = Laplace.calibrate(COUNT, epsilon)
    threshold = Threshold(noise, l0=1, linf=1, delta=delta).value
    assert threshold == ceil(real) == 38
    cut_off = passing(laplace_exponents(noise.scale), 37, 1, 1)
    assert cut_off > Decimal(delta.numerator) / Decimal(delta.denominator)


@given(
    st.fractions(Fraction(1, 100), 5),
    st.integers(1, 40).map(lambda e: Fraction(1, 2**e)),
    st.integers(1, 2**48),
    st.integers(1, 1000),
)
def test_thresholds_are_monotone(epsilon: Fraction, delta: Fraction, l0: int, linf: int) -> None:
    """Higher for smaller δ, for more groups per unit, and for larger contributions, by exactly as much."""
    noise = Laplace.calibrate(Sensitivity.scalar(linf), epsilon)
    here = Threshold(noise, l0=l0, linf=linf, delta=delta).value
    assert Threshold(noise, l0=l0, linf=linf, delta=delta / 10).value >= here
    assert Threshold(noise, l0=l0 + 1, linf=linf, delta=delta).value >= here
    assert Threshold(noise, l0=l0, linf=linf + 5, delta=delta).value == here + 5
    assert here > linf


def test_a_group_passes_from_the_threshold_on() -> None:
    """The threshold itself passes; one less doesn't."""
    threshold = Threshold(Laplace.calibrate(COUNT, 1), l0=1, linf=1, delta=Fraction(1, 10**6))
    assert threshold.value == 15
    assert threshold.passes(15)
    assert not threshold.passes(14)


def test_the_event_is_the_delta_asked_for() -> None:
    """The noise is charged as an event of its own."""
    threshold = Threshold(Gaussian.for_rho(COUNT, 1), l0=3, linf=1, delta=Fraction(1, 10**6))
    assert threshold.event == SelectionEvent(delta=Fraction(1, 10**6))


def test_a_delta_above_a_half_is_no_invitation() -> None:
    """Absurd δ are used as a half, so a group of one never passes on average."""
    noise = Laplace.calibrate(COUNT, 1)
    assert Threshold(noise, l0=1, linf=1, delta=Fraction(999, 1000)).value == 2
    assert Threshold(noise, l0=9, linf=1, delta=1 - Fraction(1, 2**100)).value >= 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"l0": 0},
        {"l0": -1},
        {"l0": 1.0},
        {"l0": True},
        {"linf": 0},
        {"linf": "1"},
        {"delta": 0},
        {"delta": 1},
        {"delta": -0.1},
        {"delta": float("nan")},
        {"delta": Fraction(1, 3**500)},
    ],
)
def test_other_thresholds_are_refused(wrong: dict[str, Any]) -> None:
    """What would let everybody pass, or can't be accounted for."""
    arguments: dict[str, Any] = {"l0": 1, "linf": 1, "delta": Fraction(1, 10**6)} | wrong
    with pytest.raises(InvalidArgument):
        Threshold(Laplace.calibrate(COUNT, 1), **arguments)
