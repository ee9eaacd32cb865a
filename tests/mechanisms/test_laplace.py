"""Laplace noise: exact in scale, loss and radius, and never in doubt before there's data."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Laplace
from discreet.privacy import LaplaceEvent, PureDP, Sensitivity
from support.distributions import laplace_pmf as exact_pmf
from support.pmf import hockey_stick, laplace_pmf, shifted, tail

ERROR, TINY = Fraction(1, 10**12), Fraction(1, 2**1022)

GROUPS = Sensitivity(l0=5, linf=3, l1=15, l2_squared=Fraction(45))

sensitivities = st.builds(
    lambda l0, linf: Sensitivity(l0=l0, linf=linf, l1=l0 * linf, l2_squared=Fraction(l0 * linf**2)),
    st.integers(1, 50),
    st.integers(1, 10**6),
)


@given(sensitivities, st.fractions(Fraction(1, 10**6), 10))
def test_calibration_is_exact(sensitivity: Sensitivity, epsilon: Fraction) -> None:
    """The loss is the ε asked for, not a digit more or less."""
    mechanism = Laplace.calibrate(sensitivity, epsilon)
    assert mechanism.scale == sensitivity.l1 / epsilon
    assert mechanism.loss == PureDP(epsilon)
    assert mechanism.event == LaplaceEvent(scale=mechanism.scale, l1=sensitivity.l1, linf=sensitivity.linf)


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0, 2.5])
@pytest.mark.parametrize("move", [1, 3])
def test_the_loss_is_that_of_the_distribution(epsilon: float, move: int) -> None:
    """Summed over all outcomes, δ at the stated ε is 0, and at a hundredth less it isn't."""
    mechanism = Laplace.calibrate(Sensitivity.scalar(move), epsilon)
    noise = laplace_pmf(float(mechanism.scale), reach=60)
    assert hockey_stick(noise, shifted(noise, move), epsilon) < 1e-12
    assert hockey_stick(noise, shifted(noise, move), epsilon * 0.99) > 1e-4


@given(st.integers(1, 600), st.integers(1, 999))
def test_the_radius_is_the_least_that_holds(twelfths: int, thousandths: int) -> None:
    """Noise lies within it with the confidence asked for, and within one step less it doesn't."""
    scale, confidence = Fraction(twelfths, 12), Fraction(thousandths, 1000)
    radius = Laplace(scale, Sensitivity.scalar(1)).radius(confidence)
    noise = laplace_pmf(float(scale), reach=60)
    slack = 1e-12
    assert 2 * tail(noise, radius + 1) <= 1 - float(confidence) + slack
    assert radius == 0 or 2 * tail(noise, radius) > 1 - float(confidence) - slack


@pytest.mark.parametrize(
    ("epsilon", "confidence", "radius"), [(0.1, 0.95, 30), (1, 0.95, 3), (0.1, 0.99, 46), (10, 0.95, 0)]
)
def test_the_radius_of_textbook_counts(epsilon: float, confidence: float, radius: int) -> None:
    """About ln(1/(1 − confidence))/ε: 30 at ε = 0.1 and 95 %."""
    assert Laplace.calibrate(Sensitivity.scalar(1), epsilon).radius(confidence) == radius


def test_the_radius_of_enormous_noise_is_exact() -> None:
    """At 2⁵⁹ steps floats would err by hundreds; the closed form in decimal arithmetic gives every digit."""
    with localcontext() as context:
        context.prec = 60
        scale = Decimal(2**59)
        odds = 2 / (Decimal("0.05") * (1 + (-1 / scale).exp()))
        expected = int((scale * odds.ln()).to_integral_value(ROUND_CEILING)) - 1
    assert Laplace(Fraction(2**59), Sensitivity.scalar(1)).radius("0.95") == expected


@given(st.integers(1, 10**6), st.integers(2, 400))
def test_the_cutoff_is_monotone(scale: int, exponent: int) -> None:
    """Rarer means farther out, and so does more noise."""
    mechanism, wider = (Laplace(Fraction(s), Sensitivity.scalar(1)) for s in (scale, 2 * scale))
    near, far = Fraction(1, 2**exponent), Fraction(1, 2 ** (exponent + 1))
    assert 1 <= mechanism.cutoff(near) <= mechanism.cutoff(far)
    assert mechanism.cutoff(near) <= wider.cutoff(near)


def test_release_adds_to_integers_of_any_size() -> None:
    """Python integers in and out, one for one; nothing overflows, and 0.01 % tails don't reach 10⁹ scales."""
    values = [0, -1, 2**63 - 1, -(2**63), 10**50]
    noisy = Laplace(Fraction(10), GROUPS).release(values)
    assert [type(value) for value in noisy] == [int] * len(values)
    assert all(abs(a - b) < 10**4 for a, b in zip(noisy, values, strict=True))
    assert Laplace(Fraction(10), GROUPS).release([]) == []


def test_noise_beyond_64_bits_is_exact() -> None:
    """At the greatest scale sums still are Python integers; low bits are noise: both parities occur, but for 1e-14."""
    noisy = Laplace(Fraction(2**60), GROUPS).release([2**70] * 200)
    assert {value % 2 for value in noisy} == {0, 1}
    assert len(set(noisy)) == len(noisy)


@pytest.mark.parametrize(
    ("scale", "sensitivity"),
    [
        (Fraction(1, 2**10) - Fraction(1, 2**40), GROUPS),
        (Fraction(2**60) + 1, GROUPS),
        (Fraction(0), GROUPS),
        (Fraction(-1), GROUPS),
        (float("nan"), GROUPS),
        (Fraction(10**200, 10**200 + 1), GROUPS),
        (Fraction(1), Sensitivity(l0=1, linf=0, l1=0, l2_squared=Fraction(0))),
        (Fraction(1), Sensitivity.scalar(2**81)),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_beforehand(scale: Any, sensitivity: Sensitivity) -> None:
    """A scale out of range, with endless digits, or nothing to hide: all known without data."""
    with pytest.raises(InvalidArgument):
        Laplace(scale, sensitivity)


@pytest.mark.parametrize("epsilon", [0, -1, "1e-30", "1e9", float("inf"), None, "1/3" + "0" * 300])
def test_guarantees_that_cannot_be_kept_are_refused(epsilon: Any) -> None:
    """No ε, or one whose noise is out of range."""
    with pytest.raises(InvalidArgument):
        Laplace.calibrate(Sensitivity.scalar(1), epsilon)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, float("nan"), "most"])
def test_confidence_is_a_probability(confidence: Any) -> None:
    """Strictly between 0 and 1."""
    with pytest.raises(InvalidArgument):
        Laplace(Fraction(1), GROUPS).radius(confidence)


@pytest.mark.parametrize("scale", [Fraction(1, 2**10), Fraction(2**60)])
def test_the_ends_of_the_range_can_be_drawn(scale: Fraction) -> None:
    """What is accepted before the data is touched doesn't fail after."""
    assert len(Laplace(scale, GROUPS).release([1, 2, 3])) == 3


@given(st.fractions(Fraction(1, 1024), 2**20, max_denominator=1024), st.integers(-(10**6), 10**6))
def test_the_mass_is_within_its_error(scale: Fraction, n: int) -> None:
    """Relative error below 10⁻¹² against proved bounds of (1 − p)/(1 + p)·p^|n|; 0 below the range of floats."""
    low, high = exact_pmf(scale)(n)
    mass = Fraction(Laplace(scale, Sensitivity.scalar(1)).mass(n))
    assert low * (1 - ERROR) - TINY <= mass <= high * (1 + ERROR) + TINY
