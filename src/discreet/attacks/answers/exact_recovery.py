"""Exact recovery: how often n noisy answers to one question give away the whole number that is the exact one.

The noise is Laplace noise of scale 1/ε (sensitivity 1), with fresh noise in each answer. An attacker reduces the
answers to one whole number, by one of three estimators:

- *mean*, rounded to the nearest whole number;
- *median*, rounded. If the number of answers is even, the last is left out. Where noise is discrete nothing is lost by
  that: a middle one of 2m answers, picked by a coin, is right as often as the middle one of 2m − 1 (a majority of 2m
  votes whose ties are broken by a coin, against one of 2m − 1);
- *maximum likelihood* among whole numbers: the m with the least Σ|answer − m|. Where noise is discrete that is the
  median: Σ|answer − m| is convex in m, and least where half of the answers are on either side, so at any median.

How each chance is found, and how far it may be off:

| estimator | continuous noise | discrete noise |
|---|---|---|
| mean | a finite mixture of Gamma laws; rounding, below 1e-9 | negative binomial laws up to 12 deviations; below 1e-9 |
| median | a binomial tail; rounding, below 1e-9 | the same |
| maximum likelihood | a law on a grid of 2⁻⁸, convolved by FFT; below 1e-6, see the tests | the median |
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, lgamma, log, log1p, sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability

Estimator: TypeAlias = Literal["mean", "median", "maximum likelihood"]
Noise: TypeAlias = Literal["discrete", "continuous"]
_Reals: TypeAlias = NDArray[np.float64]

_DEVIATIONS = 12
"""How many deviations the negative binomial laws are followed; the rest has a chance below 1e-9, see the tests."""

_GRID = 1 << 8
"""Steps in 1, for the law of a difference of likelihoods."""

_NEIGHBOURS = 8
"""How many numbers of answers on either side are tried around the one that bisection finds."""

_MOST = 400_000
"""The most answers; nobody asks more often, and the laws would take minutes."""


def answers_needed(
    epsilon: Rationalizable,
    estimator: Estimator = "median",
    confidence: Rationalizable = "0.95",
    *,
    noise: Noise = "discrete",
) -> int:
    """How many answers give away the exact one with this confidence.

    The least number n for which `chance` reaches the confidence. It is found by bisection, and its eight neighbours on
    either side are tried, in case that one answer more tells a little less (as a sum of 2m whole numbers can be half
    way between two means, and that of 2m + 1 can't).

    Args:
        epsilon: for each answer, from 1/100 to 20.
        estimator: "mean", "median" or "maximum likelihood".
        confidence: in (0, 1).
        noise: "discrete", as discreet adds to counts, or "continuous", as textbooks have it.

    Raises:
        InvalidArgument: an argument is out of range, or more than 400,000 answers would be needed.

    Examples:
        >>> answers_needed("0.5", "mean"), answers_needed("0.5", "median")
        (121, 63)
    """
    level, rate = float(probability(confidence, "confidence")), _rate(epsilon)
    high = 1
    while chance(rate, high, estimator, noise=noise) < level:
        high *= 2
        if high > _MOST:
            raise InvalidArgument(f"that takes more than {_MOST:,} answers")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(rate, middle, estimator, noise=noise) >= level else (middle, high)
    near = range(max(1, high - _NEIGHBOURS), high + 1)
    return next(n for n in near if chance(rate, n, estimator, noise=noise) >= level)


def chance(epsilon: Rationalizable, answers: int, estimator: Estimator, *, noise: Noise = "discrete") -> float:
    """How often this many answers give away the exact one. A tie between two whole numbers counts half.

    Args:
        epsilon: for each answer, from 1/100 to 20.
        answers: how many; 1 or more.
        estimator: as for `answers_needed`.
        noise: as above.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(chance("0.5", 1, "median"), 4), round(chance("0.5", 123, "mean", noise="continuous"), 3)
        (0.2449, 0.95)
    """
    if type(answers) is not int or not 1 <= answers <= _MOST:
        raise InvalidArgument(f"a number of answers is from 1 to {_MOST:,}")
    if estimator not in get_args(Estimator) or noise not in get_args(Noise):
        raise InvalidArgument(
            "no such estimator or noise", hint=", ".join((*get_args(Estimator), "and", *get_args(Noise)))
        )
    rate = _rate(epsilon)
    if estimator == "mean":
        wrong = _mean_discrete(rate, answers) if noise == "discrete" else _mean_continuous(rate, answers)
    elif estimator == "median" or noise == "discrete":
        # One answer alone is above ½, or at least 1, with this chance.
        above = exp(-rate) / (1 + exp(-rate)) if noise == "discrete" else exp(-rate / 2) / 2
        half = (answers + 1) // 2
        wrong = _binomial_tail(2 * half - 1, half, above)
    else:
        wrong = _likelihood(rate, answers)
    return max(0.0, 1 - 2 * wrong)  # both sides alike, and never both at once


def _rate(epsilon: Rationalizable) -> float:
    """ε as a float.

    Raises:
        InvalidArgument: it is out of range.
    """
    rate = float(positive(epsilon, "epsilon"))
    if not 0.01 <= rate <= 20:  # noqa: PLR2004 — the range is the docstring's
        raise InvalidArgument("epsilon is from 1/100 to 20 here")
    return rate


def _binomial_tail(trials: int, least: int, p: float) -> float:
    """Pr[Bin(trials, p) ≥ least], all terms positive, so no digits cancel."""
    counts = np.arange(trials + 1)
    rows = _log_factorials(trials)
    logs = rows[trials] - rows[counts] - rows[trials - counts] + counts * log(p) + (trials - counts) * log1p(-p)
    return float(np.exp(logs[least:]).sum())


def _mean_continuous(rate: float, answers: int) -> float:
    """Pr[mean > ½] of continuous Laplace noise.

    The sum S of n has the transform 1/((1 − s)(1 + s))^n, in units of the scale. Its partial fractions at s = 1 make
    the density above 0 a mixture of Gamma densities: Pr[S > x] = Σ_k w_k·Pr[Poisson(x) < k], for k = 1, …, n, where
    w_k = C(2n − k − 1, n − 1)/2^(2n − k) is above 0 and the weights add up to ½.
    """
    places, logs = np.arange(1, answers + 1), _log_factorials(2 * answers)
    weights = np.exp(
        logs[2 * answers - places - 1] - logs[answers - 1] - logs[answers - places] - (2 * answers - places) * log(2.0)
    )
    distance = answers * rate / 2
    poisson = np.exp((places - 1) * log(distance) - distance - logs[places - 1])
    return float(weights @ np.minimum(np.cumsum(poisson), 1.0))


def _mean_discrete(rate: float, answers: int) -> float:
    """Pr[mean > ½] + Pr[mean = ½]/2 of discrete Laplace noise.

    The noise is the difference of two geometric numbers with the ratio q = e^(−ε), so the sum of n is the difference of
    two negative binomial numbers.
    """
    ratio = exp(-rate)
    centre, spread = answers * ratio / -expm1(-rate), sqrt(answers * ratio) / -expm1(-rate)
    # Beyond its Gaussian middle the law falls like a geometric one, with a scale of 1/ε.
    start = max(0, int(centre - _DEVIATIONS * spread))
    places = np.arange(start, int(centre + _DEVIATIONS * spread + 64 / rate) + 2)
    rises = np.log((answers - 1 + places[1:]) / places[1:]) - rate
    logs = np.concatenate([[0.0], np.cumsum(rises)])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    above = np.concatenate([np.cumsum(law[::-1])[::-1], [0.0]])  # Pr[≥ place]
    return float((_shifted(above, answers // 2 + 1) + _shifted(above, (answers + 1) // 2)) @ law / 2)


def _shifted(above: _Reals, by: int) -> _Reals:
    """Pr[A ≥ b + by] for each place b of the law, 0 beyond its end."""
    moved = above[min(by, len(above)) : -1] if by < len(above) else above[:0]
    return np.concatenate([moved, np.zeros(len(above) - 1 - len(moved))])


def _likelihood(rate: float, answers: int) -> float:
    """Pr[1 is likelier than 0] of continuous Laplace noise, ties counted half.

    Σ(|x − 1| − |x|) must be below 0. Each term is 1 where x ≤ 0, −1 where x ≥ 1, and 1 − 2x between. By convexity, 0 is
    the likeliest whole number as soon as it is likelier than 1 and −1, and it can't lose to both.
    """
    edges = np.arange(-_GRID, _GRID + 1) / _GRID
    # Pr[term ≤ t] = Pr[x ≥ (1 − t)/2] for t in [−1, 1); the grid's cell around a point takes what falls into it.
    tails = np.exp(-rate * (1 - np.clip(edges[:-1] + 0.5 / _GRID, -1.0, 1.0)) / 2) / 2
    law = np.diff(np.concatenate([[0.0], tails, [1.0]]))
    # The sum is found on a circle that is long enough for all but 1e-9 of it: 24 deviations, of at most 1 each.
    size = 1 << (min(4 * answers, int(2 * _DEVIATIONS * sqrt(answers)) + 1) * _GRID + 1).bit_length()
    summed = np.fft.irfft(np.fft.rfft(law, size) ** answers, size)
    mean = round(answers * float(law @ edges) * _GRID)
    sums = (np.arange(size) - answers * _GRID - mean + size // 2) % size + mean - size // 2
    return float(summed[sums < 0].sum() + summed[sums == 0].sum() / 2)


@lru_cache(maxsize=8)
def _log_factorials(most: int) -> _Reals:
    """log(n!) for n = 0, …, most."""
    return np.array([lgamma(n + 1) for n in range(most + 1)])
