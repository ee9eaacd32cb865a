"""Kolmogorov's distance, a test of fit whose false alarms are proved.

Massart's constant makes the inequality of Dvoretzky, Kiefer and Wolfowitz valid without any limit theorem: somewhere
the empirical distribution function of n draws strays from the true one by more than d, with probability at most
2·e^(-2nd²). It is nearly sharp for continuous distributions and conservative for discrete ones, where a true hypothesis
is rejected even less often than stated.

Source: Massart, "The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality" (1990), Corollary 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact import log, positive, sqrt, to_float
from discreet.exact.rational import Rationalizable, probability


def ks_distance(
    draws: NDArray[Any],
    at_most: Callable[[NDArray[Any]], NDArray[np.float64]],
    below: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None,
) -> float:
    """The greatest distance between the empirical distribution function of `draws` and the claimed one.

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
