"""The likelihood ratio of counts, a test of fit whose false alarms are proved.

The statistic is n·KL(observed ‖ claimed), in nats. If the claim is true, its moment generating function is at most that
of a gamma variable with shape categories − 1. So by Chernoff it exceeds t with probability at most
e^(-t)·(e·t/(categories − 1))^(categories − 1) wherever t is larger than categories − 1: no limit theorem, no least
expected count.

Source: Agrawal, "Finite-sample concentration of the multinomial in relative entropy" (2020), Theorem 1.2.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability, rational
from discreet.stats.confidence_bounds import boundary, excess, rounded_up

if TYPE_CHECKING:
    from flint import arb


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
