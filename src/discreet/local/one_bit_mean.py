"""The one-bit mean: a number within bounds becomes a coin whose bias grows with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact import exp
from discreet.local.drawing import drawn
from discreet.local.estimate import Estimate, counted
from discreet.local.plateau import WIDTH
from discreet.local.values import Values, checked_bounds, checked_epsilon, clamped, indices
from discreet.privacy.events import Pure

_LARGEST_SPAN = 1 << 32  # beyond that rounding the step would cost more than a hundredth of ε = 20


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
class OneBitMean(Pure):
    """Microsoft's one-bit mean: report a 1 with probability 1/(e^ε + 1) + x/span·(e^ε − 1)/(e^ε + 1), else a 0.

    Guarantee: ε-DP for each person against everybody, exactly: the chance of either bit is between 1/(e^ε + 1) and
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

    lower: int
    upper: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_bounds(self.lower, self.upper, most=_LARGEST_SPAN)

    @property
    def law(self) -> Slope:
        """The chances of a 1, by how far a value is above `lower`."""
        return slope(self.epsilon, self.upper - self.lower)

    def randomise(self, value: int) -> int:
        """One person's report: 0 or 1."""
        return int(self.randomise_all([value])[0])

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A report for each value.

        Raises:
            InvalidArgument: values aren't whole numbers.
        """
        return drawn(clamped(values, self.lower, self.upper), self.draw)

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
