"""Estimates: numbers learnt from reports, each with its standard error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability

_SHOWN = 6
CONFIDENCE = Fraction(19, 20)
"""The default confidence of an interval."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """Unbiased estimates from randomised reports. All of it may be published.

    Intervals are ± a normal quantile times the standard error: sums over many independent people are nearly normal.
    That is an approximation, not a bound. With fewer than about a hundred people intervals hold the truth less often
    than stated, and at confidences near 1 they miss it many times as often as they should, for the error is itself
    estimated. They speak of a value that was named before there were reports, not of one that was picked by its count.

    Args:
        values: the estimates: counts of people, one for each value or candidate; or a mean. A count may come out
            negative; to cut it off would bias what is added up from it.
        errors: their standard errors.
        users: how many people reported.

    Examples:
        >>> print(Estimate(np.array([510.0, 490.0]), np.array([20.0, 20.0]), 1000))
        [510 ± 39, 490 ± 39] of 1000 (95 %)
    """

    values: Floats
    errors: Floats
    users: int

    @property
    def shares(self) -> Floats:
        """Counts as shares of all who reported."""
        return self.values / self.users

    def radius(self, confidence: Rationalizable = CONFIDENCE) -> Floats:
        """How far each truth is from its estimate, at this confidence for each alone.

        Args:
            confidence: in (0, 1).
        """
        doubt = float(1 - probability(confidence, "confidence"))
        return -NormalDist().inv_cdf(doubt / 2) * self.errors  # the nearest float, for ± only

    def interval(self, confidence: Rationalizable = CONFIDENCE) -> tuple[Floats, Floats]:
        """The lower and the upper ends of the intervals, each of this confidence for itself.

        Args:
            confidence: in (0, 1).
        """
        radius = self.radius(confidence)
        return self.values - radius, self.values + radius

    def __str__(self) -> str:
        radii = np.atleast_1d(self.radius()).tolist()
        pairs = list(zip(np.atleast_1d(self.values).tolist(), radii, strict=True))
        shown = ", ".join(f"{value:.6g} ± {radius:.2g}" for value, radius in pairs[:_SHOWN])
        more = f", … ({len(pairs)} values)" if len(pairs) > _SHOWN else ""
        return f"[{shown}{more}] of {self.users} (95 %)" if self.values.ndim else f"{shown} (95 %)"

    def __repr__(self) -> str:
        return f"<Estimate {self}>"


def counted(users: int) -> int:
    """How many people reported; refused if nobody did."""
    if users < 1:
        raise InvalidArgument("there are no reports to estimate from")
    return users


def frequencies(supports: NDArray[np.int64], users: int, own: Fraction, other: Fraction) -> Estimate:
    """Counts of values, from how many reports support each.

    A report supports the value its user holds with probability `own`, and any other with probability `other`. So
    the count (supports − users·other)/(own − other) has the true one as its mean, and a variance of
    (n·own(1 − own) + (users − n)·other(1 − other))/(own − other)² where n people hold the value; n is estimated.

    Source: Wang, Blocki, Li, Jha (2017), Theorems 1 and 2, on pure protocols.
    """
    p, q = float(own), float(other)
    values = np.asarray((supports - counted(users) * q) / (p - q), dtype=np.float64)
    return Estimate(values, spread(values, users, p * (1 - p), q * (1 - q)) / (p - q), users)


def spread(values: Floats, users: int, own: float, other: float) -> Floats:
    """The square root of n·own + (users − n)·other, for the counts n = values, cut to what counts can be."""
    holders = np.clip(values, 0, users)
    return np.asarray(np.sqrt(holders * own + (users - holders) * other))
