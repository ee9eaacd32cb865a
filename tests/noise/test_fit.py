"""Fit: fresh noise agrees with the stated distribution, and a sampler of a scale 3 % off is found out.

False alarm and miss are at most 2e-11 each, proved, so that the cases of a test share less than 1e-9: `ks_critical` and
`ks_draws` rest on an inequality that holds for every distribution, and the number of draws is computed from the gap
between the right and the wrong distribution. At scale 2^-10 no sample tells the two apart (both are 0 but for
e^(-1024)); there `test_boundaries.py` does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import bernoulli, bernoulli_exp, discrete_gaussian, discrete_laplace, geometric
from discreet.stats import (
    clopper_pearson,
    ks_critical,
    ks_distance,
    ks_draws,
    likelihood_ratio,
    likelihood_ratio_critical,
)
from support.distributions import Integers, gaussian_cdf, geometric_cdf, laplace_cdf
from support.twins import enough

ALARM = MISS = 2e-11
ROUNDING = 1e-9  # of the distribution functions, which are in floats
WRONG = Fraction(97, 100)  # too little noise, which is the dangerous side
SCALES = [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000), Fraction(2**20), Fraction(2**40), Fraction(2**60)]
SAMPLERS: dict[str, tuple[Callable[[Fraction, int], NDArray[Any]], Callable[[Fraction], Integers]]] = {
    "geometric": (geometric, geometric_cdf),
    "laplace": (discrete_laplace, laplace_cdf),
    "gaussian": (discrete_gaussian, gaussian_cdf),
}


def fits(draws: NDArray[Any], claim: Integers) -> bool:
    """Whether draws stay within the critical distance of the claim."""
    distance = ks_distance(draws.astype(np.float64), claim.at_most, claim.below)
    return distance <= ks_critical(draws.size, ALARM) + ROUNDING


def ks_enough(scale: Fraction, cdf: Callable[[Fraction], Integers]) -> int:
    """So many draws that a scale 3 % smaller is missed one time in 5e10 at the most."""
    return ks_draws(cdf(scale).gap(cdf(scale * WRONG)) - 2 * ROUNDING, ALARM, MISS)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_noise_fits(name: str, scale: Fraction) -> None:
    """Kolmogorov–Smirnov: the sampler passes, but for 2e-11."""
    sampler, cdf = SAMPLERS[name]
    assert fits(sampler(scale, ks_enough(scale, cdf)), cdf(scale))


@pytest.mark.parametrize(
    "scale",
    [each if each in {1, 2**40} else pytest.param(each, marks=pytest.mark.soak) for each in SCALES],
    ids=str,
)
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_wrong_scale_does_not_fit(name: str, scale: Fraction) -> None:
    """The wrong twin, whose scale is 3 % smaller, fails, but for 2e-11: at each scale the same statement says so."""
    sampler, cdf = SAMPLERS[name]
    assert not fits(sampler(scale * WRONG, ks_enough(scale, cdf)), cdf(scale))


@pytest.mark.soak
@pytest.mark.parametrize("scale", SCALES[:-1], ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_noise_fits_and_a_slightly_wrong_scale_does_not(name: str, scale: Fraction) -> None:
    """As above with a scale 1 % smaller, which takes nine times the draws."""
    sampler, cdf = SAMPLERS[name]
    claim, wrong = cdf(scale), scale * Fraction(99, 100)
    draws = ks_draws(claim.gap(cdf(wrong)) - 2 * ROUNDING, ALARM, MISS)
    assert fits(sampler(scale, draws), claim)
    assert not fits(sampler(wrong, draws), claim)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(2**40)], ids=str)
def test_the_difference_of_two_geometrics_is_laplace(scale: Fraction) -> None:
    """Two independent geometrics of one scale differ by a discrete Laplace of that scale: two samplers agree."""
    claim = laplace_cdf(scale)
    draws = ks_draws(claim.gap(laplace_cdf(scale * WRONG)) - 2 * ROUNDING, ALARM, MISS)
    assert fits(geometric(scale, draws) - geometric(scale, draws), claim)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10)], ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_small_values_have_their_frequencies(name: str, scale: Fraction) -> None:
    """Likelihood ratio over single values, tails pooled: false alarm at most 2e-11, proved.

    Of as many draws that a scale 3 % smaller is found out but for 1e-10.
    """
    sampler, cdf = SAMPLERS[name]
    edges = np.arange(-int(3 * scale) - 2, int(3 * scale) + 2)
    probabilities, wrong = (
        np.diff(cdf(each).at_most(edges.astype(np.float64)), prepend=0.0, append=1.0) for each in (scale, scale * WRONG)
    )
    kept = probabilities > 0
    draws = enough(probabilities[kept], wrong[kept], ALARM)
    critical = likelihood_ratio_critical(int(kept.sum()), ALARM)

    def statistic(draws: NDArray[np.int64]) -> float:
        counts = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
        assert counts[~kept].sum() == 0
        return likelihood_ratio(counts[kept], probabilities[kept])

    assert statistic(sampler(scale, draws)) <= critical
    assert statistic(sampler(scale * WRONG, draws)) > critical


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(3)], ids=str)
def test_coins_have_their_bias(x: Fraction) -> None:
    """Clopper–Pearson at 1 − 2e-11 around 2^21 tosses holds e^(-x), and doesn't for an x 3 % smaller.

    The interval is less than 14 standard deviations wide, the wrong bias at least 18 away.
    """
    heads = [int(bernoulli_exp(y, 2**21).sum()) for y in (x, x * WRONG)]
    right, wrong = (clopper_pearson(count, 2**21, 1 - ALARM) for count in heads)
    assert right[0] <= np.exp(-float(x)) <= right[1]
    assert not wrong[0] <= np.exp(-float(x)) <= wrong[1]
    low, high = clopper_pearson(int(bernoulli(Fraction(1, 3), 2**21).sum()), 2**21, 1 - ALARM)
    assert low <= 1 / 3 <= high


def test_neighbouring_draws_are_independent() -> None:
    """The sum of consecutive draws has the distribution of such sums, tested on 2^20 pairs of geometrics.

    Pr[X + Y ≤ n] = 1 − q^(n+1)·(1 + (n+1)(1−q)); a sampler that repeated every draw would be off by more than 0.1.
    """
    scale = 10.0
    q = np.exp(-1 / scale)

    def at_most(n: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(n < 0, 0.0, 1 - q ** (n + 1) * (1 + (n + 1) * (1 - q)))

    draws = geometric(10, (2**20, 2))
    claim = Integers(at_most, scale)
    assert fits(draws.sum(axis=1), claim)
    assert not fits(2 * draws[:, 0], claim)
