"""Randomised response: people tell the truth by chance, else anything."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.privacy.events import Pure
from discreet.textbook.local.estimates import Estimate, frequencies
from discreet.textbook.local.reports import (
    NumberReports,
    TwoLevelLaw,
    Values,
    checked_epsilon,
    checked_size,
    indices,
    randomised,
    two_level_law,
)


@dataclass(frozen=True, slots=True)
class RandomisedResponse(NumberReports, Pure):
    """k-ary randomised response: the truth with probability e^ε/(e^ε + k − 1), else one of the other values, evenly.

    Guarantee: ε-DP for each person against everyone, the collector included; exactly, since the probabilities are
    rationals whose ratio is e^ε rounded down. Best of those here for few values, k < 3e^ε + 2; with more values use
    `LocalHashing`, `UnaryEncoding` or `HadamardResponse`.

    Args:
        size: k, how many different values there are; 2 to 2^31. Values are 0, …, k − 1, or False and True.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Warner (1965), the equation of the estimator, for k = 2; Kairouz, Bonawitz, Ramage (2016), the definition of
    k-ary randomised response; Wang, Blocki, Li, Jha (2017), the section on direct encoding, for the estimator and when
    it is best.

    Examples:
        >>> coin = RandomisedResponse(size=2, epsilon=1)
        >>> float(coin.law.high)  # e/(e + 1)
        0.7310585786300049
        >>> reports = coin.randomise_all(np.arange(100_000) % 2)
        >>> bool(abs(coin.estimate(reports).values[1] - 50_000) < 10_000)
        True
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size)

    @property
    def law(self) -> TwoLevelLaw:
        """The reports' law: k outputs, of which the true one is raised."""
        return two_level_law(self.epsilon, self.size, 1)

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: one of 0, …, k − 1.

        Raises:
            InvalidArgument: a value isn't one of 0, …, k − 1.
        """
        return randomised(indices(values, self.size), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        places = two_level_law(self.epsilon, self.size, 1, source.width).draw(len(values), source)
        return np.where(places < self.size, places, values)

    def masses(self, value: int) -> list[Fraction]:
        """The probability of each report of a person who holds `value`."""
        return self.law.masses(np.arange(self.size) == value)

    def estimate(self, reports: NDArray[np.int64]) -> Estimate:
        """How many of those who reported hold each value; unbiased.

        Raises:
            InvalidArgument: there are no reports, or one isn't one of 0, …, k − 1.
        """
        supports = np.bincount(indices(reports, self.size), minlength=self.size)
        return frequencies(supports, len(reports), self.law.high, self.law.low)
