"""Optimal selection: (ε, δ) holds exactly, no greater probability would do, and choices have the stated ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import exp, floor, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.exact import exp as exp_bound
from discreet.mechanisms import Laplace, Threshold
from discreet.mechanisms.textbook import TruncatedGeometric
from discreet.privacy import ApproxDP, ApproxEvent, Sensitivity
from discreet.stats import clopper_pearson, lower_bound
from support.examples import examples

epsilons = st.fractions(Fraction(1, 50), 8, max_denominator=100)
deltas = st.integers(2, 60).map(lambda exponent: Fraction(1, 2**exponent)) | st.fractions(
    Fraction(1, 10**9), Fraction(1, 3)
)


def probabilities(naming: TruncatedGeometric) -> list[Fraction]:
    """π(0), π(1), … up to 1, and once more."""
    chances = [naming.chance(0)]
    while chances[-1] < 1:
        chances.append(naming.chance(len(chances)))
    return [*chances, naming.chance(len(chances))]


@given(epsilons, deltas)
@examples(60)
def test_neighbours_obey_the_inequality_exactly(epsilon: Fraction, delta: Fraction) -> None:
    """For all n, named or not, either way: in rationals, with a lower bound of e^ε that is 2⁻⁴⁰⁰ tight."""
    naming = TruncatedGeometric.calibrate(epsilon, delta)
    growth = exp_bound(epsilon, round_up=False, bits=400)
    chances = probabilities(naming)
    assert chances[0] == 0
    for less, more in pairwise(chances):
        assert less <= more <= growth * less + delta
        assert 1 - less <= growth * (1 - more) + delta


@given(epsilons, deltas)
@examples(60)
def test_no_greater_probability_would_do(epsilon: Fraction, delta: Fraction) -> None:
    """One of the two bounds, computed from the probability before, is met to 2⁻¹⁸⁰, or the probability is 1."""
    naming = TruncatedGeometric.calibrate(epsilon, delta)
    growth = exp_bound(epsilon, round_up=True, bits=400)
    chances, slack = probabilities(naming), Fraction(1, 2**175)
    for less, more in pairwise(chances):
        rising, falling = growth * less + delta, 1 - (1 - less - delta) / growth
        assert more >= min(rising, falling, 1) - slack


@given(st.floats(0.1, 5), st.integers(2, 40))
@examples(60)
def test_probabilities_have_the_closed_form_of_the_source(epsilon: float, exponent: int) -> None:
    """Two geometric pieces that meet in the middle, as the paper's theorem writes them."""
    delta = 2.0**-exponent
    naming = TruncatedGeometric.calibrate(epsilon, Fraction(1, 2**exponent))
    middle = 1 + floor(log((exp(epsilon) + 2 * delta - 1) / ((exp(epsilon) + 1) * delta)) / epsilon)

    def rising(n: int) -> float:
        return (exp(n * epsilon) - 1) / (exp(epsilon) - 1) * delta

    def closed(n: int) -> float:
        if n <= middle:
            return rising(n)
        left = exp((middle - n) * epsilon)
        return min(1.0, (1 - left) * (1 + delta / (exp(epsilon) - 1)) + left * rising(middle))

    last = len(probabilities(naming)) - 2
    assert all(naming.mass(n) == pytest.approx(closed(n), rel=1e-6, abs=1e-9) for n in range(last + 1))


@pytest.mark.parametrize(
    ("l0", "epsilon", "delta"), [(2, Fraction(1), Fraction(1, 20)), (3, Fraction(2), Fraction(1, 10))]
)
def test_groups_compose_to_the_whole(l0: int, epsilon: Fraction, delta: Fraction) -> None:
    """All groups a unit is in, from no one to one each, and at any other counts: the product's δ at ε is at most δ."""
    naming = TruncatedGeometric.calibrate(epsilon, delta, l0)

    def least_delta(before: tuple[int, ...], after: tuple[int, ...]) -> float:
        found = 0.0
        for named in product((True, False), repeat=l0):
            p, q = 1.0, 1.0
            for yes, one, other in zip(named, before, after, strict=True):
                p *= naming.mass(one) if yes else 1 - naming.mass(one)
                q *= naming.mass(other) if yes else 1 - naming.mass(other)
            found += max(0.0, p - exp(float(epsilon)) * q)
        return found

    counts = list(product(range(7), repeat=l0))
    moved = [(count, tuple(n + 1 for n in count)) for count in counts]
    worst = max(max(least_delta(*pair), least_delta(*reversed(pair))) for pair in moved)
    assert worst <= float(delta) * (1 + 1e-9)
    assert least_delta((1,) * l0, (0,) * l0) == pytest.approx(float(delta), rel=1e-9)


def test_it_names_more_than_a_threshold_does() -> None:
    """At every count, at ε = 1, δ = 1e-6, the probability is at least that of Laplace noise and a threshold."""
    naming, noise = TruncatedGeometric.calibrate(1, "1e-6"), Laplace.calibrate(Sensitivity.scalar(1), 1)
    threshold = Threshold(noise, l0=1, linf=1, delta=Fraction(1, 10**6)).value
    passing = [sum(noise.mass(n) for n in range(threshold - count, 200)) for count in range(60)]
    assert all(naming.mass(count) >= chance - 1e-12 for count, chance in enumerate(passing) if count)
    assert naming.mass(10) > 1.5 * passing[10]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_groups_are_named_as_often_as_stated(count: int) -> None:
    """Of 2^23 groups of each size: Clopper–Pearson at 1 − 2e-10 holds π, and not a π 3 % off on its rarer side.

    So the four sizes share a false alarm of 1e-9; a π that is off is held with probability below 1e-38.
    """
    naming, draws = TruncatedGeometric.calibrate("0.8", "0.05"), 2**21
    named = sum(int(naming.choose_all(np.full(draws, count)).sum()) for _ in range(4))
    low, high = clopper_pearson(named, 4 * draws, 1 - Fraction(2, 10**10))
    claimed = naming.mass(count)
    rarer = min(claimed, 1 - claimed)
    assert low <= claimed <= high
    assert not low <= claimed - 0.03 * rarer <= high
    assert not low <= claimed + 0.03 * rarer <= high


def test_the_empty_group_is_never_named_and_the_large_always() -> None:
    """Whatever is drawn; and names come in an order of their own."""
    naming = TruncatedGeometric.calibrate(2, "1e-5")
    counts = {"zoo": 50, "empty": 0, "ant": 10**30, 7: 99, "minus": -3}
    for _ in range(50):
        assert naming.release(counts) == [7, "ant", "zoo"]
    assert naming.release({}) == []
    assert naming.chance(10**40) == 1
    assert naming.chance(-5) == 0


def test_the_radius_is_the_least_count_that_is_named_so_surely() -> None:
    """π reaches the confidence there, and not for one unit less."""
    naming = TruncatedGeometric.calibrate("0.3", "1e-8", l0=2)
    for confidence in (Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)):
        radius = naming.radius(confidence)
        assert naming.chance(radius) >= confidence > naming.chance(radius - 1)


def test_what_it_costs_is_what_was_asked_for() -> None:
    """As an event and as a loss."""
    naming = TruncatedGeometric.calibrate("0.3", "1e-8", l0=4)
    assert naming.event == ApproxEvent(epsilon=Fraction(3, 10), delta=Fraction(1, 10**8))
    assert naming.loss == ApproxDP("0.3", "1e-8")


def test_a_twin_with_twice_delta_is_found_out() -> None:
    """Groups of one that pass twice as often as δ allows: the proved lower bound is above δ; ours isn't.

    False alarm 1e-9.
    """
    draws, delta = 2**20, Fraction(1, 100)
    passed = [
        int(TruncatedGeometric.calibrate(1, twice * delta).choose_all(np.ones(draws, dtype=np.int64)).sum())
        for twice in (1, 2)
    ]
    assert lower_bound(passed[0], draws, 1 - 1e-9) <= delta < lower_bound(passed[1], draws, 1 - 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"delta": 0},
        {"delta": 1},
        {"l0": 0},
        {"l0": 1.0},
        {"delta": Fraction(1, 3**500)},
    ],
    ids=str,
)
def test_other_selections_are_refused(wrong: dict[str, Any]) -> None:
    """Out of range, or of too many digits."""
    with pytest.raises(InvalidArgument):
        TruncatedGeometric.calibrate(**({"epsilon": 1, "delta": Fraction(1, 10**6)} | wrong))


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-9", "1e-12"), (1, Fraction(1, 2**300))])
def test_selections_that_would_name_nothing_are_refused(epsilon: Any, delta: Any) -> None:
    """An ε or δ so small that a million units in a group wouldn't do."""
    with pytest.raises(InvalidArgument, match="no group would be named"):
        TruncatedGeometric.calibrate(epsilon, delta)
