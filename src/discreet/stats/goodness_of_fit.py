"""Tests of fit: Pearson's χ², the likelihood ratio of counts, and Kolmogorov's distance.

**χ².** Tail probabilities of the χ² distribution are exact here, proved in ball arithmetic and rounded up. That the
statistic *has* that distribution is a limit theorem: far tails are off when a category expects few counts. Where a
false alarm has to be proved, use one of the other two.

**Likelihood ratio.** The statistic is n·KL(observed ‖ claimed), in nats. If the claim is true, its moment generating
function is at most that of a gamma variable with shape categories − 1. So by Chernoff it exceeds t with probability at
most e^(-t)·(e·t/(categories − 1))^(categories − 1) wherever t is larger than categories − 1: no limit theorem, no least
expected count.

**Kolmogorov–Smirnov.** Massart's constant makes the inequality of Dvoretzky, Kiefer and Wolfowitz valid without any
limit theorem: somewhere the empirical distribution function of n draws strays from the true one by more than d, with
probability at most 2·e^(-2nd²). It is nearly sharp for continuous distributions and conservative for discrete ones,
where a true hypothesis is rejected even less often than stated.

Sources: Agrawal, "Finite-sample concentration of the multinomial in relative entropy" (2020), Theorem 1.2. Massart,
"The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality" (1990), Corollary 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact import log, positive, sqrt, to_float
from discreet.exact.rational import Rationalizable, probability, rational
from discreet.stats.confidence_bounds import boundary, excess, rounded_up

if TYPE_CHECKING:
    from flint import arb


def chi_square(observed: NDArray[Any], expected: NDArray[Any]) -> float:
    """The statistic Σ (observed − expected)²/expected.

    Args:
        observed: counts.
        expected: counts too, all above 0; by custom 5 or more.

    Raises:
        InvalidArgument: the shapes differ, or nothing is expected of a category.

    Examples:
        >>> import numpy as np
        >>> chi_square(np.array([12, 8]), np.array([10, 10]))
        0.8
    """
    if observed.shape != expected.shape or not (expected > 0).all():
        raise InvalidArgument("each category needs a count and an expectation above 0")
    return float(((observed - expected) ** 2 / expected).sum())


def chi_square_p_value(statistic: Rationalizable, freedom: int) -> float:
    """The probability that a χ² variable is at least `statistic`; rounded up.

    Args:
        statistic: 0 or above.
        freedom: degrees of freedom, 1 or more: categories less one.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(chi_square_p_value(0.8, 1), 4)
        0.3711
    """
    from discreet.exact.ball import precision

    _check_chi_square(statistic, freedom)
    if rational(statistic, "statistic") == 0:
        return 1.0
    with precision(256):
        return rounded_up(_tail(statistic, freedom))


def chi_square_critical(freedom: int, false_alarm: Rationalizable) -> float:
    """The value that a χ² variable exceeds with probability at most `false_alarm`; within 2^-40, above.

    Args:
        freedom: degrees of freedom, 1 or more.
        false_alarm: in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(chi_square_critical(1, 0.05), 3)
        3.841
    """
    _check_chi_square(0, freedom)
    level = probability(false_alarm, "false_alarm")
    outer = float(freedom)

    def above(statistic: float) -> float:
        return excess(partial(_tail, statistic, freedom), level)

    while above(outer) > 0:
        outer *= 2
    return boundary(above, outer, 0.0)


def _tail(statistic: Rationalizable, freedom: int) -> arb:
    """Pr[χ² ≥ statistic], as a ball at the working precision."""
    from discreet.exact.ball import ball

    return (ball(rational(statistic, "statistic")) / 2).gamma_upper(ball(freedom) / 2, regularized=1)


def _check_chi_square(statistic: Rationalizable, freedom: int) -> None:
    """Refuse what no table of χ² has."""
    if freedom < 1:
        raise InvalidArgument(f"freedom must be at least 1, not {freedom}")
    if rational(statistic, "statistic") < 0:
        raise InvalidArgument(f"a χ² statistic is at least 0, not {statistic}")


def likelihood_ratio(observed: NDArray[Any], probabilities: NDArray[np.float64]) -> float:
    """The statistic n·KL(observed/n ‖ probabilities) = Σ observed·log(observed/(n·probability)), in nats.

    Args:
        observed: counts per category, at least one of them above 0.
        probabilities: what is claimed, summing to 1; infinite statistic if a category of probability 0 was observed.

    Raises:
        InvalidArgument: the shapes differ, nothing was observed, or the probabilities don't sum to 1.

    Examples:
        >>> round(likelihood_ratio(np.array([60, 40]), np.array([0.5, 0.5])), 4)
        2.0136
    """
    if observed.shape != probabilities.shape or observed.sum() < 1:
        raise InvalidArgument("each category needs a count and a probability, and some count must be above 0")
    if (probabilities < 0).any() or abs(probabilities.sum() - 1) > 1e-9:  # noqa: PLR2004  # far above rounding
        raise InvalidArgument("probabilities must be at least 0 and sum to 1")
    seen = observed > 0
    expected = observed.sum() * probabilities[seen]
    with np.errstate(divide="ignore"):
        return float((observed[seen] * np.log(observed[seen] / expected)).sum())


def likelihood_ratio_p_value(statistic: float, categories: int) -> float:
    """A proved bound on the probability that a true claim gives a statistic of at least `statistic`; rounded up.

    Args:
        statistic: 0 or above; infinity is allowed.
        categories: 2 or more.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> likelihood_ratio_p_value(0.5, 2), likelihood_ratio_p_value(30, 2) < 1e-11
        (1.0, True)
    """
    from discreet.exact.ball import precision

    _check_categories(categories)
    if statistic == float("inf"):
        return 0.0
    if rational(statistic, "statistic") <= categories - 1:
        return 1.0
    with precision(128):
        return rounded_up(_bound(statistic, categories))


def likelihood_ratio_critical(categories: int, false_alarm: Rationalizable) -> float:
    """The statistic that a true claim exceeds with probability at most `false_alarm`.

    Args:
        categories: 2 or more.
        false_alarm: in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(likelihood_ratio_critical(2, 1e-9), 2)
        24.94
    """
    _check_categories(categories)
    level = probability(false_alarm, "false_alarm")
    outer = 2.0 * categories

    def above(statistic: float) -> float:
        return excess(partial(_bound, statistic, categories), level)

    while above(outer) > 0:
        outer *= 2
    return boundary(above, outer, float(categories - 1))


def _bound(statistic: float, categories: int) -> arb:
    """e^(-t)·(e·t/(k−1))^(k−1) with t ≥ k − 1, as a ball at the working precision."""
    from flint import arb

    t, shape = arb(statistic), categories - 1
    return (shape - t).exp() * (t / shape) ** shape


def _check_categories(categories: int) -> None:
    """Refuse what has nothing to test."""
    if categories < 2:  # noqa: PLR2004  # with one category there is nothing to be wrong about
        raise InvalidArgument(f"a test of fit needs at least 2 categories, not {categories}")


def ks_distance(
    draws: NDArray[Any],
    at_most: Callable[[NDArray[Any]], NDArray[np.float64]],
    below: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None,
) -> float:
    """How far the empirical distribution function of `draws` strays from the claimed one, at the most.

    Args:
        draws: at least one.
        at_most: the claimed Pr[X ≤ x], for an ascending array of distinct x.
        below: the claimed Pr[X < x]; needed if the distribution has atoms, which is what makes integers different.

    Raises:
        InvalidArgument: no draws.

    Examples:
        >>> ks_distance(np.array([0.25, 0.75]), lambda x: x)
        0.25
    """
    if draws.size == 0:
        raise InvalidArgument("a test needs at least one draw")
    values, counts = np.unique(draws, return_counts=True)
    upto = np.cumsum(counts) / draws.size
    before = upto - counts / draws.size
    after = np.abs(upto - at_most(values))
    return float(max(after.max(), np.abs(before - (below or at_most)(values)).max()))


def ks_critical(draws: int, false_alarm: Rationalizable) -> float:
    """The distance that a true hypothesis exceeds with probability at most `false_alarm`; rounded up.

    Args:
        draws: how many; 1 or more.
        false_alarm: in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(ks_critical(10_000, 1e-9), 5)
        0.03272
    """
    if draws < 1:
        raise InvalidArgument(f"a test needs at least one draw, not {draws}")
    return to_float(sqrt(_exponent(false_alarm) / (2 * draws), round_up=True), round_up=True)


def ks_draws(distance: Rationalizable, false_alarm: Rationalizable, miss: Rationalizable) -> int:
    """How many draws make the test reject a distribution `distance` away, but for a probability of `miss`.

    By the same inequality: the empirical function stays near the wrong distribution's own, so the test misses it
    only if that strays by more than distance − critical.

    Args:
        distance: largest gap between the two distribution functions, above 0.
        false_alarm: of the test, in (0, 1).
        miss: the probability of not rejecting the wrong distribution, in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> ks_draws(0.01, 1e-9, 1e-9)
        428329
    """
    roots = sum(sqrt(_exponent(chance) / 2, round_up=True) for chance in (false_alarm, miss))
    return ceil((roots / positive(distance, "distance")) ** 2)


def _exponent(chance: Rationalizable) -> Fraction:
    """log(2/chance), rounded up."""
    return log(2 / probability(chance, "probability"), round_up=True)
