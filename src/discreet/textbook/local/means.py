"""Means of bounded numbers: by Laplace noise, by the piecewise mechanism, and by one bit of each person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import expm1, floor, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact import exp
from discreet.noise import discrete_laplace
from discreet.privacy import LaplaceEvent, PureDP
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, counted
from discreet.textbook.local.reports import (
    LARGEST_SPAN,
    WIDTH,
    NumberReports,
    TwoLevelLaw,
    Values,
    checked_bounds,
    checked_epsilon,
    clamped,
    indices,
    randomised,
    two_level_law,
)


@dataclass(frozen=True, slots=True)
class _BoundedMean(NumberReports):
    """The part that protocols for means of bounded numbers share: their parameters, and a report that is one number."""

    _most_span: ClassVar[int] = LARGEST_SPAN

    lower: int
    upper: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_bounds(self.lower, self.upper, most=self._most_span)


@dataclass(frozen=True, slots=True)
class LocalLaplace(_BoundedMean):
    """Input perturbation as the textbooks have it: each person adds Laplace noise to their value before they send it.

    Guarantee: ε-DP for each person against everyone, exactly: values are clamped to whole numbers within the bounds,
    and get discrete Laplace noise of scale (upper − lower)/ε, on the same grid whatever the value.

    Args:
        lower: the least value; a whole number, of whatever unit.
        upper: the largest; at most 2^40 above `lower`. The finer the unit the better the noise's shape is used.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Dwork, McSherry, Nissim, Smith (2006), Proposition 1, for a table of one row.

    Examples:
        >>> ages = LocalLaplace(lower=0, upper=110, epsilon=1)
        >>> reports = ages.randomise_all([40] * 100_000)
        >>> bool(abs(ages.estimate(reports).values - 40) < 5)
        True
    """

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return (self.upper - self.lower) / self.epsilon

    @property
    def event(self) -> LaplaceEvent:
        """The event that accounting counts for a report."""
        return LaplaceEvent(scale=self.scale, l1=self.upper - self.lower)

    @property
    def loss(self) -> PureDP:
        """The proved bound on what a report gives away."""
        return PureDP(self.epsilon)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: any whole number.

        Raises:
            InvalidArgument: values aren't whole numbers.
        """
        exact = clamped(values, self.lower, self.upper)
        reports: NDArray[np.int64] = exact + discrete_laplace(self.scale, len(exact))
        return reports

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """The mean of the (clamped) values; unbiased, and its standard error is known without a look at the reports.

        Raises:
            InvalidArgument: there are no reports, or they aren't whole numbers.
        """
        users = counted(len(reports))
        if reports.dtype != np.int64:
            raise InvalidArgument("reports must be whole numbers")
        q = math.exp(-1 / float(self.scale))
        deviation = sqrt(2 * q) / -expm1(-1 / float(self.scale))
        return Estimate(np.array(reports.mean()), np.array(deviation / sqrt(users)), users)


_FINE = 1 << 16  # steps of the output grid over the values' span, at least


@dataclass(frozen=True, slots=True)
class PiecewiseMean(_BoundedMean, Pure):
    """The piecewise mechanism for means, on integers: at its worst value better than one bit if ε is above 1.3 or so.

    Reports are whole numbers from 0 to outputs − 1. A value raises a window of `window` reports in a row by the factor
    e^ε; the window moves by `stride` for each unit of the value, from one end to the other. So the mean report is
    linear in the value, which is what makes the estimator unbiased.

    Guarantee: ε-DP for each person against everyone, exactly. Values outside the bounds are clamped.

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

    _most_span: ClassVar[int] = 1 << 30

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
    def law(self) -> TwoLevelLaw:
        """The reports' law: all of them, of which a window is raised."""
        return two_level_law(self.epsilon, self.outputs, self.window)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: one of 0, …, outputs − 1.

        Raises:
            InvalidArgument: values aren't whole numbers.
        """
        return randomised(clamped(values, self.lower, self.upper), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        outputs = self.outputs
        places = two_level_law(self.epsilon, outputs, self.window, source.width).draw(len(values), source)
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


@dataclass(frozen=True, slots=True)
class Slope:
    """Chances of a coin that are linear in a number x from 0 to `span`: (base + x·step)/2^width.

    Args:
        base: cells at x = 0, and short of all at x = span.
        step: cells more for each unit of x.
        width: bits of a word; 2·base + span·step = 2^width.
    """

    base: int
    step: int
    width: int

    def chance(self, x: int) -> Fraction:
        """The probability that the coin comes up."""
        return Fraction(self.base + x * self.step, 2**self.width)


@lru_cache(maxsize=256)
def slope(epsilon: Fraction, span: int, width: int = WIDTH) -> Slope:
    """The steepest chances that are ε-DP: from 1/(e^ε + 1) to e^ε/(e^ε + 1), their difference rounded down.

    Rounding down flattens: base is larger than it might be, and the ratio of the chances at the two ends smaller.
    """
    odds = exp(epsilon, round_up=False, bits=128)
    step = floor(2**width * (odds - 1) / ((odds + 1) * span))
    step -= step * span % 2  # 2^width less span·step must be even
    return Slope((2**width - span * step) // 2, step, width)


@dataclass(frozen=True, slots=True)
class OneBitMean(_BoundedMean, Pure):
    """Microsoft's one-bit mean: report a 1 with probability 1/(e^ε + 1) + x/span·(e^ε − 1)/(e^ε + 1), else a 0.

    Guarantee: ε-DP for each person against everyone, exactly: the chance of either bit is between 1/(e^ε + 1) and
    e^ε/(e^ε + 1) for every value. Values outside the bounds are clamped. The ε of fresh reports add up; for one
    question asked again and again about a value that doesn't change there is `MemoisedOneBit`.

    Args:
        lower: the least value; a whole number, of whatever unit.
        upper: the largest; at most 2^32 above `lower`.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately", Theorem 1 with Lemmas 1 and 2 on
    mechanism 1BitMean.

    Examples:
        >>> minutes = OneBitMean(lower=0, upper=1440, epsilon=1)
        >>> reports = minutes.randomise_all([300] * 100_000)
        >>> bool(abs(minutes.estimate(reports).values - 300) < 60)
        True
    """

    _most_span: ClassVar[int] = 1 << 32  # beyond that rounding the step would cost more than a hundredth of ε = 20

    @property
    def law(self) -> Slope:
        """The chances of a 1, by how far a value is above `lower`."""
        return slope(self.epsilon, self.upper - self.lower)

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value: 0 or 1.

        Raises:
            InvalidArgument: values aren't whole numbers.
        """
        return randomised(clamped(values, self.lower, self.upper), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
        """Reports from a source of words."""
        law = slope(self.epsilon, self.upper - self.lower, source.width)
        chances = (values - self.lower) * law.step + law.base
        return (source.words(len(values)) < chances).view(np.uint8)

    def masses(self, value: int) -> list[Fraction]:
        """The probabilities of 0 and of 1 for a person who holds `value`."""
        up = self.law.chance(min(max(value, self.lower), self.upper) - self.lower)
        return [1 - up, up]

    def estimate(self, reports: NDArray[np.uint8]) -> Estimate:
        """The mean of the (clamped) values; unbiased.

        The standard error is that for the mean of the population whose members reported by chance. For the mean of
        just those who reported it is an upper bound, near if ε is small: a bit says nothing of how values vary.

        Raises:
            InvalidArgument: there are no reports, or one isn't 0 or 1.
        """
        users = counted(len(reports))
        return self.read(int(indices(reports, 2).sum()), users)

    def read(self, ups: int, users: int) -> Estimate:
        """The same from how many of that many reports are 1."""
        law = self.law
        unit = law.step / 2**law.width
        value = self.lower + float((Fraction(ups, users) - law.chance(0)) * 2**law.width / law.step)
        least = float(law.chance(0))
        share = min(max(ups / users, least), 1 - least)
        return Estimate(np.array(value), np.array(sqrt(share * (1 - share) / users) / unit), users)
