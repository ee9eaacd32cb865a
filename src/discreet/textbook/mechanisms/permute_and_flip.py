"""Permute-and-flip: a choice by coins, never further from the best than the exponential mechanism's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import spread_of
from discreet.mechanisms.parameters import checked_scale, short_enough
from discreet.privacy.events import Pure

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


MOST_OPTIONS = 1 << 21
"""As many as the exponential mechanism takes."""

_FITS = 1 << 62


def integer_scores(scores: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """The scores in an array: int64 if none is beyond 2⁶², so that noise can be added to them, else Python integers.

    Args:
        scores: integers of any size; 1 to 2²¹ of them.

    Raises:
        InvalidArgument: they are not valid. No score is quoted.

    Examples:
        >>> integer_scores([3, 1 << 80]).dtype, integer_scores([3, 4]).dtype
        (dtype('O'), dtype('int64'))
    """
    import numpy as np

    if isinstance(scores, np.ndarray) and scores.dtype == np.int64:
        array: NDArray[Any] = scores
    else:
        listed = scores.tolist() if isinstance(scores, np.ndarray) else list(scores)
        if not set(map(type, listed)) <= {int}:
            raise InvalidArgument("scores must be integers", hint="put them on a grid that doesn't depend on the data")
        array = np.array(listed, dtype=object)
    if array.ndim != 1 or not 1 <= len(array) <= MOST_OPTIONS:
        raise InvalidArgument("there must be at least one score and at most 2²¹, in one dimension")
    small = int(array.min()) > -_FITS and int(array.max()) < _FITS
    return array.astype(np.int64 if small else object, copy=False)


def distances_to_best(scores: NDArray[Any]) -> NDArray[Any]:
    """How far each score lies below the best; of an array that `integer_scores` made.

    Examples:
        >>> distances_to_best(integer_scores([3, 7, 7])).tolist()
        [4, 0, 0]
    """
    distances: NDArray[Any] = int(scores.max()) - scores
    return distances


def gauss_legendre(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights with which the integral over [0, 1] of any polynomial of degree count − 1 is exact (Gauss).

    Examples:
        >>> nodes, weights = gauss_legendre(4)
        >>> round(float((weights * nodes**3).sum()), 12)
        0.25
    """
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(max(1, -(-count // 2)))
    return (nodes + 1) / 2, weights / 2


def all_but_one(factors: NDArray[Any]) -> NDArray[Any]:
    """For each factor along the last axis, the product of the others; without dividing, so that zeros do no harm.

    Examples:
        >>> import numpy as np
        >>> all_but_one(np.array([2.0, 3.0, 0.0])).tolist()
        [0.0, 0.0, 6.0]
    """
    import numpy as np

    ones = np.ones((*factors.shape[:-1], 1))
    before = np.cumprod(np.concatenate((ones, factors[..., :-1]), axis=-1), axis=-1)
    after = np.cumprod(np.concatenate((ones, factors[..., :0:-1]), axis=-1), axis=-1)[..., ::-1]
    products: NDArray[Any] = before * after
    return products


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(Pure):
    """Looks at the options in random order, and takes the first whose coin, of bias exp(−rate·distance), comes up.

    An option's distance is how far its score lies below the best; so the best one's coin always comes up.

    Guarantee: ε-DP with ε = rate·spread. The spread is how far two scores can move against each other between
    neighbours: 2Δ if each moves by at most Δ, and Δ if all of them move in the same direction (see `Exponential`).

    Proof. Pr[distance ≤ E/rate] = exp(−rate·distance) for a standard exponential E, so an option's coin comes up iff
    its score plus E/rate reaches the best score. By memorylessness the excesses of those that reach it are again
    exponential, so each of them is the greatest with the same probability: the mechanism takes the option of the
    greatest score + E/rate. Let q, q′ be the scores of neighbours and r an option. Adding one number to all scores
    changes nothing, so let q′ᵢ − qᵢ lie in [0, spread]. Given the noise of the others, r is taken under q iff its
    noise exceeds some t, and under q′ if it exceeds t + spread; and Pr[E/rate > t + s] ≥ exp(−rate·s)·Pr[E/rate > t].

    The order is never drawn: the first of those whose coins come up, in random order, is any of them alike.

    Args:
        rate: per unit of score; above 0, from 2⁻⁶⁰ to 2¹⁰.
        spread: in units of score; above 0.

    Raises:
        InvalidArgument: a number is out of range.

    Source: McKenna, Sheldon (2020), Algorithm 1; Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang (2021), the theorem
    that it equals report-noisy-max with exponential noise.

    Examples:
        >>> nearest = PermuteAndFlip.calibrate(sensitivity=1, epsilon=1)
        >>> nearest.rate, nearest.choose([-1000, 0, -1000])
        (Fraction(1, 2), 1)
        >>> print(nearest.loss)
        ε = 1
    """

    rate: Fraction
    spread: Fraction

    def __post_init__(self) -> None:
        """Check before there is any data."""
        for name in ("rate", "spread"):
            object.__setattr__(self, name, short_enough(positive(getattr(self, name), name), name))
        checked_scale(1 / self.rate, "1/rate")
        short_enough(self.epsilon, "epsilon")

    @classmethod
    def calibrate(cls, sensitivity: Rationalizable, epsilon: Rationalizable, *, monotone: bool = False) -> Self:
        """The mechanism that is ε-DP and no more.

        Args:
            sensitivity: Δ, how far one option's score can move between neighbours; above 0.
            epsilon: above 0.
            monotone: whether for any two neighbours all scores move in the same direction, or not at all.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread = spread_of(sensitivity, monotone=monotone)
        return cls(positive(epsilon, "epsilon") / spread, spread)

    @property
    def epsilon(self) -> Fraction:
        """The cost of a choice in pure ε."""
        return self.rate * self.spread

    def choose(self, scores: Sequence[int] | NDArray[Any]) -> int:
        """The index of one option.

        The coins are tossed by geometric noise, exactly: it is at least d with probability exp(−rate·d).

        Args:
            scores: integers of any size; 1 to 2²¹ of them.

        Raises:
            InvalidArgument: the scores are not valid.
        """
        import numpy as np

        from discreet.noise import geometric, uniform

        distances = distances_to_best(integer_scores(scores))
        up = np.flatnonzero(geometric(1 / self.rate, size=len(distances)) >= distances)
        return int(up[uniform(len(up))])

    def masses(self, scores: Sequence[int]) -> list[float]:
        """The probability of each option: pᵣ·∫₀¹ Π_{s≠r}(1 − u·pₛ) du, with pₛ the bias of s's coin.

        If each option is looked at when its own uniform clock strikes, r is taken at time u if its coin comes up and
        no other's whose clock struck before. All terms are of one sign, so nothing cancels. For tests, audits and
        pictures; never where data are private.

        Examples:
            >>> [round(chance, 4) for chance in PermuteAndFlip.calibrate(1, 2).masses([0, 1])]
            [0.1839, 0.8161]

        Args:
            scores: integers of any size; a few thousand of them at most.
        """
        import numpy as np

        coins = np.exp([-float(self.rate * int(distance)) for distance in distances_to_best(integer_scores(scores))])
        times, weights = gauss_legendre(len(coins))
        chances: list[float] = (coins * (weights @ all_but_one(1 - np.outer(times, coins)))).tolist()
        return chances

    def radius(self, confidence: Rationalizable, options: int) -> int:
        """How far the chosen score lies below the best, at most, with this confidence and whatever the scores.

        Of n options let those more than r below the best have coins of bias at most q = exp(−rate·(r + 1)). One of
        them is taken with the greatest probability if it is all but the best, each with bias q; then the best is taken
        with probability ∫₀¹ (1 − u·q)^(n−1) du = (1 − (1 − q)ⁿ)/(n·q).

        Args:
            confidence: in (0, 1); over the draw, whatever the scores.
            options: how many there are; from 1 to 2²¹.

        Returns:
            In units of score: the least such r, or one more where floats can't tell.

        Examples:
            >>> PermuteAndFlip.calibrate(1, 1).radius(0.95, options=100)
            13
        """
        if type(options) is not int or not 1 <= options <= MOST_OPTIONS:
            raise InvalidArgument("options must be a whole number from 1 to 2²¹")
        return _radius(self.rate, probability(confidence, "confidence"), options)


@lru_cache(maxsize=1024)
def _radius(rate: Fraction, confidence: Fraction, options: int) -> int:
    """`PermuteAndFlip.radius`, once the arguments are checked."""
    from discreet.exact.rounding import log
    from discreet.stats.confidence_bounds import boundary, excess

    doubt = 1 - confidence
    if options == 1 or Fraction(options - 1, options) <= doubt:
        return 0  # any option will do: even at q = 1 the best is taken with probability 1/n
    bias = boundary(lambda q: excess(partial(_missed, options, q), doubt), 0.0, 1.0)
    return max(ceil(-log(Fraction(bias), round_up=False) / rate) - 1, 0)


def _missed(options: int, bias: float) -> arb:
    """1 − (1 − (1 − q)ⁿ)/(n·q), as a ball at the working precision."""
    from flint import arb

    q = arb(bias)
    return 1 + (options * (-q).log1p()).expm1() / (options * q)
