"""Pearson's χ² test of fit.

Tail probabilities of the χ² distribution are exact here, proved in ball arithmetic and rounded up. That the statistic
*has* that distribution is a limit theorem: far tails are off when a category expects few counts. Where a false alarm
has to be proved, use the likelihood ratio or Kolmogorov's distance.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from discreet.errors import InvalidArgument
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
