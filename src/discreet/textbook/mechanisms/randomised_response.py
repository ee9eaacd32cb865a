"""Randomised response: a value of a short list, told truly or not by the toss of a coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import GREATEST, short_enough
from discreet.privacy.events import Pure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LEAST = Fraction(1, 2**60)


@dataclass(frozen=True, slots=True)
class RandomisedResponse(Pure):
    """Tells one of the values 0 to size − 1: the true one, or with less probability any of the others.

    Guarantee: ε-DP for any two true values, exactly. The true value is told with probability e^ε/(e^ε + size − 1), each
    other one with probability 1/(e^ε + size − 1): one is e^ε times the other.

    Args:
        epsilon: from 2⁻⁶⁰ to 2¹⁰.
        size: how many values there are; 2 to 2⁶⁰.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Warner (1965), the equation of the estimator, for two values; Kairouz, Oh, Viswanath (2016), "Extremal
    mechanisms for local differential privacy", its theorem on randomised response at a large ε, for more.

    Examples:
        >>> smoker = RandomisedResponse.calibrate(epsilon=1, size=2)
        >>> smoker.choose(1) in {0, 1}, [round(mass, 4) for mass in smoker.masses(1)], print(smoker.loss)
        ε = 1
        (True, [0.2689, 0.7311], None)
    """

    epsilon: Fraction
    size: int

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "epsilon", short_enough(positive(self.epsilon, "epsilon"), "epsilon"))
        if not _LEAST <= self.epsilon <= 1 << 10:
            raise InvalidArgument("epsilon must be from 2⁻⁶⁰ to 2¹⁰")
        if type(self.size) is not int or not 2 <= self.size <= GREATEST:  # noqa: PLR2004 — one value needs no telling
            raise InvalidArgument("size must be a whole number from 2 to 2⁶⁰")

    @classmethod
    def calibrate(cls, epsilon: Rationalizable, size: int) -> Self:
        """The mechanism that is ε-DP and no more.

        Args:
            epsilon: from 2⁻⁶⁰ to 2¹⁰.
            size: how many values there are; 2 to 2⁶⁰.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(positive(epsilon, "epsilon"), size)

    def choose(self, value: int) -> int:
        """The value that is told.

        Args:
            value: the true one, from 0 to size − 1.

        Raises:
            InvalidArgument: it is out of range. The message says no more, because more might be private.
        """
        import numpy as np

        if type(value) is not int or not 0 <= value < self.size:
            raise InvalidArgument("a value must be a whole number from 0 to size − 1")
        return int(self.choose_all(np.array([value]))[0])

    def choose_all(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The values that are told by many, each by a draw of its own.

        Args:
            values: the true ones, an integer array of any shape.

        Raises:
            InvalidArgument: one is out of range. The message says no more, because more might be private.
        """
        import numpy as np

        from discreet.noise import bernoulli_odds, uniform

        if values.dtype.kind not in "iu" or (values.size and not 0 <= values.min() <= values.max() < self.size):
            raise InvalidArgument("values must be whole numbers from 0 to size − 1")
        true = values.astype(np.int64)
        truly = bernoulli_odds(self.epsilon, self.size - 1, size=true.shape)
        if self.size == 2:  # noqa: PLR2004 — there is but one other
            return np.where(truly, true, 1 - true)
        others = uniform(self.size - 1, size=true.shape)
        others += others >= true
        return np.where(truly, true, others)

    def masses(self, value: int) -> list[float]:
        """The probability of each value to be told, for pictures, audits and tests.

        Args:
            value: the true one.
        """
        true, other = _masses(self.epsilon, self.size)
        return [true if told == value else other for told in range(self.size)]

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|told − true| ≤ r] ≥ confidence, whatever the true value; rounded up.

        It is 0 where the truth is told with that confidence. A true value at either end is the worst: r of the others
        lie within r of it. So the truth has to be told, or one of r others of size − 1.

        Args:
            confidence: in (0, 1).
        """
        from discreet.exact.ball import ball, fraction, precision

        sure, others = probability(confidence, "confidence"), self.size - 1
        with precision(2048):  # e^ε has up to 1,478 bits
            odds = ball(self.epsilon).exp()
            needed = (ball(sure) * (odds + others) - odds).upper()
            return min(max(ceil(fraction(needed)), 0), others)


@lru_cache(maxsize=256)
def _masses(epsilon: Fraction, size: int) -> tuple[float, float]:
    """The probability of the true value, and of each other."""
    from discreet.exact.ball import ball
    from discreet.mechanisms.parameters import as_float

    true = as_float(lambda: 1 / (1 + (size - 1) * ball(-epsilon).exp()))
    return true, as_float(lambda: 1 / (ball(epsilon).exp() + size - 1))
