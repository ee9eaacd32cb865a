"""Stable histograms: counts of groups nobody knew of, for ε and δ; and no order that tells who came first."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian, Laplace, Threshold
from discreet.mechanisms.textbook import StableHistogram
from discreet.privacy import ZCDP, ApproxDP, ComposedEvent, SelectionEvent, Sensitivity
from discreet.stats import likelihood_ratio, likelihood_ratio_critical, lower_bound, upper_bound
from discreet.textbook.mechanisms.group_naming import in_order
from support.pmf import laplace_pmf

ONE = Sensitivity.scalar(1)


def released(epsilon: float, threshold: int, count: int) -> dict[int | None, float]:
    """The law of one group's answer: a noisy count, or None where it isn't released."""
    law: dict[int | None, float] = {None: 0.0}
    if count == 0:
        return {None: 1.0}
    for n, chance in laplace_pmf(1 / epsilon, reach=50).items():
        answer = count + n if count + n >= threshold else None
        law[answer] = law.get(answer, 0.0) + chance
    return law


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 1000)])
def test_one_group_loses_no_more_than_is_declared(epsilon: float, delta: Fraction) -> None:
    """Summed over all answers, neighbours' δ at ε is at most δ, also where the group is in one only; and near it there.

    The threshold is a whole number, so δ may be short of what was asked for by a factor of up to e^ε.
    """
    histogram = StableHistogram.calibrate(ONE, Fraction(epsilon), delta)
    assert histogram.loss == ApproxDP(Fraction(epsilon), delta)
    sticks = []
    for count in range(6):
        one, other = (released(epsilon, histogram.threshold.value, c) for c in (count, count + 1))
        for p, q in ((one, other), (other, one)):
            sticks.append(sum(max(0.0, chance - exp(epsilon) * q.get(a, 0.0)) for a, chance in p.items()))
    assert float(delta) / exp(epsilon) * 0.99 <= max(sticks) <= float(delta) * (1 + 1e-9)


def test_the_threshold_is_for_all_groups_of_a_unit() -> None:
    """With three groups per unit: the threshold that `Threshold` gives for them, and the events of both parts."""
    three = Sensitivity(l0=3, linf=2, l1=6, l2_squared=Fraction(12))
    histogram = StableHistogram.calibrate(three, 1, "1e-6")
    assert histogram.threshold == Threshold(Laplace.calibrate(three, 1), l0=3, linf=2, delta=Fraction(1, 10**6))
    parts = (histogram.noise.event, SelectionEvent(delta=Fraction(1, 10**6)))
    assert histogram.event == ComposedEvent(parts)
    gaussian = StableHistogram.for_rho(three, 2, "1e-6")
    assert gaussian.noise == Gaussian.for_rho(three, 2)
    assert isinstance(gaussian.loss, ZCDP)
    assert gaussian.loss.delta == Fraction(1, 10**6)
    assert gaussian.radius("0.9") == gaussian.noise.radius("0.9")
    assert gaussian.mass(2) == gaussian.noise.mass(2)


def test_groups_of_one_are_released_as_rarely_as_promised() -> None:
    """Of 200,000 groups of one unit no more than δ, and not none; twice as many if groups of two were meant.

    In truth 0.5 % and 1.3 %: false alarm below 1e-14.
    """
    histogram, names = StableHistogram.calibrate(ONE, 1, Fraction(1, 100)), 200_000
    alone, pairs = (len(histogram.release(dict.fromkeys(range(names), count))) for count in (1, 2))
    assert lower_bound(alone, names, 1 - 1e-9) <= Fraction(1, 100) < lower_bound(pairs, names, 1 - 1e-9)
    assert upper_bound(alone, names, 1 - 1e-9) > Fraction(1, 300)


def test_the_noise_of_released_groups_fits() -> None:
    """Likelihood ratio, false alarm 1e-9, of 2^20 noisy counts; noise of a scale 3 % off is 350 nats away."""
    histogram, names = StableHistogram.calibrate(ONE, "1/10", "1e-6"), 2**20
    found = histogram.release(dict.fromkeys(range(names), 10_000))
    reach = 80
    seen = np.bincount([min(max(count - 10_000, -reach), reach) + reach for count in found.values()])
    critical = likelihood_ratio_critical(2 * reach + 1, Fraction(1, 10**9))

    def law(scale: float) -> NDArray[np.float64]:
        """Discrete Laplace, all beyond the reach in the outermost cells."""
        odds = exp(-1 / scale)
        masses: NDArray[np.float64] = (1 - odds) / (1 + odds) * odds ** np.abs(np.arange(-reach, reach + 1.0))
        masses[[0, -1]] = odds**reach / (1 + odds)
        return masses

    assert likelihood_ratio(seen, law(10.0)) <= critical
    for wrong in (9.7, 10.3):
        assert likelihood_ratio(seen, law(wrong)) > critical


def test_large_groups_are_released_with_their_noise_and_empty_ones_never() -> None:
    """Within a radius that 200 leave one time in 10⁹; a count of 0 or less is as if it weren't listed."""
    histogram = StableHistogram.calibrate(ONE, 1, "1e-6")
    for _ in range(200):
        found = histogram.release({"big": 10_000, "none": 0, "less": -5})
        assert set(found) == {"big"}
        assert abs(found["big"] - 10_000) <= histogram.radius(1 - Fraction(1, 200 * 10**9))


def test_the_order_says_nothing_of_the_one_in_which_groups_came() -> None:
    """All orders of the same groups give the same one."""
    counts = {"b": 10**6, "a": 10**6, 3: 10**6, None: 10**6, ("x", 1): 10**6}
    histogram = StableHistogram.calibrate(ONE, 1, "1e-6")
    assert len({tuple(histogram.release(dict(order))) for order in permutations(counts.items())}) == 1
    assert in_order(reversed(["b", "a", 3])) == [3, "a", "b"]


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "1e-6"), (1, 0), (1, 1), (1, -1), ("x", "1e-6")])
def test_other_histograms_are_refused(epsilon: Any, delta: Any) -> None:
    """Out of range."""
    with pytest.raises(InvalidArgument):
        StableHistogram.calibrate(ONE, epsilon, delta)
