"""The piecewise mechanism: report a number that is more likely near the value than elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact import exp
from discreet.local.drawing import drawn
from discreet.local.estimate import Estimate, counted
from discreet.local.plateau import Plateau, plateau
from discreet.local.values import Values, checked_bounds, checked_epsilon, clamped, indices
from discreet.privacy.events import Pure

_LARGEST_SPAN = 1 << 30
_FINE = 1 << 16  # steps of the output grid over the values' span, at least


@dataclass(frozen=True, slots=True)
class PiecewiseMean(Pure):
    """The piecewise mechanism for means, on integers: at its worst value better than one bit if ε is above 1.3 or so.

    Reports are whole numbers from 0 to outputs − 1. A value raises a window of `window` reports in a row by the factor
    e^ε; the window moves by `stride` for each unit of the value, from one end to the other. So the mean report is
    linear in the value, which is what makes the estimator unbiased.

    Guarantee: ε-DP for each person against everybody, exactly. Values outside the bounds are clamped.

    Args:
        lower: the least value; a whole number, of whatever unit.
        upper: the largest; at most 2^30 above `lower`.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu (2019), "Collecting and analyzing multidimensional data with
    local differential privacy", Algorithm 2. Its window is 1/(e^(ε/2) + 1) of the range of reports; so is this one,
    rounded. Integers in place of its real numbers keep the law exact.

    Examples:
        >>> incomes = PiecewiseMean(lower=0, upper=250_000, epsilon=2)
        >>> reports = incomes.randomise_all([50_000] * 100_000)
        >>> bool(abs(incomes.estimate(reports).values - 50_000) < 10_000)
        True
    """

    lower: int
    upper: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_bounds(self.lower, self.upper, most=_LARGEST_SPAN)

    @property
    def stride(self) -> int:
        """How many reports the window moves for a unit of the value."""
        return -(-_FINE // (self.upper - self.lower))

    @property
    def window(self) -> int:
        """How many reports a value raises: e^(−ε/2) times as many as the window moves in all."""
        travel = self.stride * (self.upper - self.lower)
        return max(round(travel / exp(self.epsilon / 2, round_up=True)), 1)

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.stride * (self.upper - self.lower) + self.window

    @property
    def law(self) -> Plateau:
        """The reports' law: all of them, of which a window is raised."""
        return plateau(self.epsilon, self.outputs, self.window)

    def randomise(self, value: int) -> int:
        """One person's report: one of 0, …, outputs − 1."""
        return int(self.randomise_all([value])[0])

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value.

        Raises:
            InvalidArgument: values aren't whole numbers.
        """
        return drawn(clamped(values, self.lower, self.upper), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        outputs = self.outputs
        places = plateau(self.epsilon, outputs, self.window, source.width).draw(len(values), source)
        return np.where(places < outputs, places, (values - self.lower) * self.stride + places - outputs)

    def masses(self, value: int) -> list[Fraction]:
        """The probability of each report of a person who holds `value`; a list of `outputs` fractions."""
        start = (min(max(value, self.lower), self.upper) - self.lower) * self.stride
        places = np.arange(self.outputs)
        return self.law.masses((start <= places) & (places < start + self.window))

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """The mean of the (clamped) values; unbiased.

        Given a value whose window has the middle z, a report y is uniform over everything with probability 1 − t and
        over the window with probability t = `telling`. Both E[y] = (1 − t)·Y + t·z and E[y²] = (1 − t)·Y₂ + t·(z² + V)
        can be solved for the means of z and z², and with them the variance E[y²] − E[y]² averaged over people is known.

        Raises:
            InvalidArgument: there are no reports, or one isn't one of 0, …, outputs − 1.
        """
        users = counted(len(reports))
        t, whole, part = float(self.law.telling), float(self.outputs), float(self.window)
        centred = indices(reports, self.outputs) - (whole - 1) / 2  # so that Y = 0, and less is lost to rounding
        first, second = float(centred.mean()), float((centred**2).mean())
        middle = first / t
        squares = (second - (1 - t) * (whole**2 - 1) / 12) / t - (part**2 - 1) / 12
        variance = max(second - t**2 * max(squares, middle**2), 0.0)
        start = middle + (whole - part) / 2
        return Estimate(
            np.array(self.lower + start / self.stride), np.array(sqrt(variance / users) / t / self.stride), users
        )
