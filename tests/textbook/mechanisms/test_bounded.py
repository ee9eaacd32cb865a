"""Bounded Laplace noise: ε holds for every pair of values, the textbook's scale doesn't, and no step is wasted."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, fsum, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.textbook import BoundedLaplace
from discreet.privacy import PureDP, PureEvent, Sensitivity
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.examples import examples


def law(scale: float, low: int, high: int, at: int) -> list[float]:
    """The docstring's probabilities of low to high, summed anew."""
    weights = [exp(-abs(y - at) / scale) for y in range(low, high + 1)]
    total = fsum(weights)
    return [weight / total for weight in weights]


def loss(scale: float, low: int, high: int, move: int) -> float:
    """The greatest log ratio of any outcome, over all pairs of values at most so far apart."""
    laws = [law(scale, low, high, at) for at in range(low, high + 1)]
    return max(
        log(p / q)
        for i, one in enumerate(laws)
        for other in laws[max(0, i - move) : i + move + 1]
        for p, q in zip(one, other, strict=True)
    )


@given(st.integers(-20, 20), st.integers(1, 14), st.integers(1, 20), st.fractions(Fraction(1, 4), 6, max_denominator=9))
@examples(60)
def test_the_loss_is_that_of_the_distribution(low: int, span: int, move: int, epsilon: Fraction) -> None:
    """Over all pairs of values and all outcomes: at most ε, and within a thousandth of it."""
    mechanism = BoundedLaplace.calibrate(low, low + span, Sensitivity.scalar(move), epsilon)
    assert mechanism.loss == PureDP(epsilon)
    assert mechanism.event == PureEvent(epsilon=epsilon)
    found = loss(float(mechanism.scale), low, low + span, move)
    assert 0.999 * float(epsilon) < found <= float(epsilon) * (1 + 1e-12)


def test_the_textbooks_scale_is_not_private() -> None:
    """With Δ/ε, as if there were no bounds, the loss is above ε: by a third here."""
    assert loss(10.0, 0, 40, 10) > 1.3


def test_coordinates_share_the_loss() -> None:
    """Three that move by 1, 2 or 3 and 6 in all: their losses sum to at most ε however they share it."""
    three = Sensitivity(l0=3, linf=3, l1=6, l2_squared=Fraction(14))
    mechanism = BoundedLaplace.calibrate(0, 9, three, 2)
    each = [0.0, *(loss(float(mechanism.scale), 0, 9, move) for move in (1, 2, 3))]
    shares = [(a, b, c) for a in range(4) for b in range(4) for c in range(4) if a + b + c <= 6]
    assert 1.998 < max(each[a] + each[b] + each[c] for a, b, c in shares) <= 2 + 1e-12


@given(st.integers(1, 25), st.integers(1, 60), st.integers(1, 999))
def test_the_radius_holds_for_every_value_and_is_near(span: int, sixths: int, thousandths: int) -> None:
    """The worst value's error exceeds it with at most the doubt, and exceeds two less with more than the doubt."""
    mechanism = BoundedLaplace.calibrate(5, 5 + span, Sensitivity.scalar(1), Fraction(sixths, 6))
    radius, doubt = mechanism.radius(Fraction(thousandths, 1000)), 1 - thousandths / 1000

    def beyond(reach: int) -> float:
        laws = [(at, law(float(mechanism.scale), 5, 5 + span, at)) for at in range(5, 6 + span)]
        return max(fsum(c for y, c in enumerate(chances, 5) if abs(y - at) > reach) for at, chances in laws)

    assert beyond(radius) <= doubt + 1e-12
    assert radius <= 1 or beyond(radius - 2) > doubt - 1e-12


def test_releases_fit_and_those_of_another_value_do_not() -> None:
    """Likelihood ratio, false alarm 1e-10, of 5,000 releases each; a mass 1 off in value is 230 nats away.

    Critical are 51: it is missed with probability below 1e-12.
    """
    mechanism = BoundedLaplace.calibrate(-2, 9, Sensitivity.scalar(2), 1)
    critical = likelihood_ratio_critical(12, Fraction(1, 10**10))
    for value, clamped in ((-2, -2), (3, 3), (1000, 9)):
        seen = Counter(mechanism.release([value] * 5_000))
        counts = np.array([seen[y] for y in range(-2, 10)])
        claimed = np.array([mechanism.mass(y - clamped, clamped) for y in range(-2, 10)])
        other = (
            np.array([mechanism.mass(y - clamped + 1, clamped - 1) for y in range(-2, 10)]) if clamped > -2 else None
        )
        assert counts.sum() == 5_000
        assert likelihood_ratio(counts, claimed) <= critical
        assert other is None or likelihood_ratio(counts, other) > critical


@pytest.mark.soak
def test_a_scale_that_is_a_little_off_is_found_out() -> None:
    """Likelihood ratio, false alarm 1e-9, of 2^20 releases; those of a scale 3 % off, either way, don't fit."""
    mechanism = BoundedLaplace.calibrate(0, 30, Sensitivity.scalar(4), 1)
    critical = likelihood_ratio_critical(31, Fraction(1, 10**9))
    seen = Counter(mechanism.release([12] * 2**20))
    counts = np.array([seen[y] for y in range(31)])
    assert likelihood_ratio(counts, np.array(law(float(mechanism.scale), 0, 30, 12))) <= critical
    for wrong in (0.97, 1.03):
        assert likelihood_ratio(counts, np.array(law(wrong * float(mechanism.scale), 0, 30, 12))) > critical


def test_the_mass_is_the_formula() -> None:
    """Each probability to twelve digits; none outside."""
    mechanism = BoundedLaplace.calibrate(0, 30, Sensitivity.scalar(4), "0.8")
    for at in (0, 11, 30):
        for y, chance in enumerate(law(float(mechanism.scale), 0, 30, at)):
            assert mechanism.mass(y - at, at) == pytest.approx(chance, rel=1e-9)
    assert mechanism.mass(-1, 0) == mechanism.mass(31, 0) == 0
    with pytest.raises(InvalidArgument):
        mechanism.mass(0, 31)


def test_the_ends_of_the_range_can_be_drawn() -> None:
    """Bounds 2⁶⁰ apart, large and small ε: what is accepted doesn't fail with data."""
    for high, epsilon, size in ((2**60, 1, 1), (2**60, "1e-9", 2**20), (1, 500, 1), (2, "1e-9", 1)):
        mechanism = BoundedLaplace.calibrate(0, high, Sensitivity.scalar(size), epsilon)
        assert all(0 <= y <= high for y in mechanism.release([0, high // 2, high, -5, 2 * high]))
        assert 0 <= mechanism.radius("0.95") <= high


@pytest.mark.parametrize(
    ("low", "high", "size", "epsilon"),
    [(0, 0, 1, 1), (1, 0, 1, 1), (0.0, 1, 1, 1), (0, 2**60 + 1, 1, 1), (0, 9, 0, 1), (0, 9, 1, 0), (0, 9, 1, "1e-30")],
)
def test_other_bounds_are_refused(low: Any, high: Any, size: int, epsilon: Any) -> None:
    """Out of range, the wrong way round, or nothing to hide."""
    with pytest.raises(InvalidArgument):
        BoundedLaplace.calibrate(low, high, Sensitivity.scalar(size), epsilon)
