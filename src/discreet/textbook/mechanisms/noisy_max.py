"""Noisy max: the option whose score is greatest after noise was added to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import spread_of
from discreet.mechanisms.parameters import checked_scale, short_enough
from discreet.privacy.events import Pure
from discreet.textbook.mechanisms.permute_and_flip import MOST_OPTIONS, integer_scores

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


MaxNoise: TypeAlias = Literal["geometric", "laplace"]
"""The kinds of noise that may be added to each score."""

_REACH = 45
"""Where masses are summed, noise beyond this many times its scale is left out: e⁻⁴⁵ is below the rounding of a sum."""

_MOST_TERMS = 1 << 25


@dataclass(frozen=True, slots=True)
class NoisyMax(Pure):
    """Adds noise to each score, and names the option of the greatest; the noisy scores themselves are forgotten.

    Guarantee: ε-DP with ε = rate·spread, whichever of the two noises is added. The spread is how far two scores can
    move against each other between neighbours: 2Δ if each moves by at most Δ, and Δ if all of them move in the same
    direction, as counts do when a unit is added or removed.

    Proof. Ties go to the first in a random order that is drawn beforehand. Let q, q′ be the scores of neighbours and r
    an option. Adding one number to all scores changes nothing, so let q′ᵢ − qᵢ lie in [0, spread]. Given the order and
    the noise of the others, r is named under q iff its noise is at least some integer t, and under q′ if it is at
    least t + spread. For both noises Pr[X ≥ t + 1] ≥ exp(−rate)·Pr[X ≥ t]: with equality from t = 0 or 1 on, and
    before because their logarithms are concave, so that this ratio only falls.

    The proof takes no more of the noise than that. Two others have names of their own: continuous exponential noise
    makes it permute-and-flip (`PermuteAndFlip`), which in expectation never errs more than the exponential mechanism
    (`Exponential`), which Gumbel noise makes it, and which has the bounded range that zCDP rewards.

    Args:
        rate: one over the noise's scale; per unit of score, from 2⁻⁶⁰ to 2¹⁰.
        spread: in units of score; above 0.
        noise: "geometric", Pr[n] ∝ exp(−rate·n) for n ≥ 0, or "laplace", Pr[n] ∝ exp(−rate·|n|), which is the
            textbook's, and errs more.

    Raises:
        InvalidArgument: an argument is out of range.

    Source: Dwork, Roth (2014), Claim 3.9, for Laplace noise and monotone scores; Ding, Kifer, Saghaian, Steinke, Wang,
    Xiao, Zhang (2021), the theorem that it is permute-and-flip, for exponential noise; Durfee, Rogers (2019),
    Section 4, for Gumbel noise.

    Examples:
        >>> nearest = NoisyMax.calibrate(sensitivity=1, epsilon=1)
        >>> nearest.choose([-1000, 0, -1000]), print(nearest.loss)
        ε = 1
        (1, None)
    """

    rate: Fraction
    spread: Fraction
    noise: MaxNoise = "geometric"

    def __post_init__(self) -> None:
        """Check before there is any data."""
        for name in ("rate", "spread"):
            object.__setattr__(self, name, short_enough(positive(getattr(self, name), name), name))
        if self.noise not in get_args(MaxNoise):
            raise InvalidArgument(f"unknown noise {self.noise!r}", hint='"geometric" or "laplace"')
        checked_scale(1 / self.rate, "1/rate")
        short_enough(self.epsilon, "epsilon")

    @classmethod
    def calibrate(
        cls,
        sensitivity: Rationalizable,
        epsilon: Rationalizable,
        *,
        monotone: bool = False,
        noise: MaxNoise = "geometric",
    ) -> Self:
        """The mechanism that is ε-DP and no more.

        Args:
            sensitivity: Δ, how far one option's score can move between neighbours; above 0.
            epsilon: above 0.
            monotone: whether for any two neighbours all scores move in the same direction, or not at all.
            noise: as above.

        Raises:
            InvalidArgument: an argument is out of range.
        """
        spread = spread_of(sensitivity, monotone=monotone)
        return cls(positive(epsilon, "epsilon") / spread, spread, noise)

    @property
    def epsilon(self) -> Fraction:
        """The cost of a choice in pure ε."""
        return self.rate * self.spread

    def choose(self, scores: Sequence[int] | NDArray[Any]) -> int:
        """The index of one option.

        Args:
            scores: integers of any size; 1 to 2²¹ of them.

        Raises:
            InvalidArgument: the scores are not valid.
        """
        import numpy as np

        from discreet.noise import discrete_laplace, geometric, uniform

        exact = integer_scores(scores)
        scale = 1 / self.rate
        drawn = (geometric if self.noise == "geometric" else discrete_laplace)(scale, size=len(exact))
        noisy = exact.astype(object) + drawn if _may_overflow(drawn) else exact + drawn
        best = np.flatnonzero(noisy == noisy.max())
        return int(best[uniform(len(best))])

    def masses(self, scores: Sequence[int]) -> list[float]:
        """The probability of each option, summed over the noisy score v at which it wins.

        Each of the others is below v, or equal and later in the random order. As each has its own uniform place in that
        order, it is Σᵥ Pr[qᵣ + X = v] · ∫₀¹ Π_{s≠r} (Pr[qₛ + X < v] + u·Pr[qₛ + X = v]) du.

        For tests, audits and pictures; never where data are private.

        Args:
            scores: integers that span a few scales of the noise; some dozens of them at most.

        Raises:
            InvalidArgument: that would take sums of more than 2²⁵ terms.

        Examples:
            >>> [round(chance, 4) for chance in NoisyMax.calibrate(1, 2).masses([0, 1])]
            [0.1839, 0.8161]
        """
        import numpy as np

        from discreet.textbook.mechanisms.permute_and_flip import all_but_one, gauss_legendre

        reach = int(_REACH / float(self.rate)) + 1
        low, high = min(scores) - reach, max(scores) + reach
        places, weights = gauss_legendre(len(scores))
        if (high - low + 1) * len(scores) * len(places) > _MOST_TERMS:
            raise InvalidArgument("there are too many options, or scores too far apart, to sum masses")
        at = np.arange(high - low + 1)[:, None] - (np.array([score - low for score in scores]))[None, :]
        below, equal = self._law(at)
        others = sum(w * all_but_one(below + u * equal) for u, w in zip(places, weights, strict=True))
        chances: list[float] = (equal * others).sum(axis=0).tolist()
        return chances

    def radius(self, confidence: Rationalizable, options: int) -> int:
        """How far the chosen score lies below the best, at most, with this confidence and whatever the scores.

        An option k below the best is named only if its noise exceeds the best one's by k or more. That difference has
        a tail T(k) in closed form, and of n − 1 others any does with probability at most (n − 1)·T(k).

        Args:
            confidence: in (0, 1); over the draw, whatever the scores.
            options: how many there are; from 1 to 2²¹.

        Returns:
            In units of score: the least r with (n − 1)·T(r + 1) ≤ 1 − confidence.

        Examples:
            >>> NoisyMax.calibrate(1, 1).radius(0.95, options=100)
            14
            >>> NoisyMax.calibrate(1, 1, noise="laplace").radius(0.95, options=100)
            17
        """
        if type(options) is not int or not 1 <= options <= MOST_OPTIONS:
            raise InvalidArgument("options must be a whole number from 1 to 2²¹")
        doubt = 1 - probability(confidence, "confidence")
        return 0 if options == 1 else _radius(self.rate, self.noise, doubt / (options - 1))

    def _law(self, n: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pr[X < n] and Pr[X = n] of the noise, in floats."""
        import numpy as np

        rate = float(self.rate)
        if self.noise == "geometric":
            up = np.maximum(n, 0)
            return -np.expm1(-rate * up), np.where(n < 0, 0.0, -np.expm1(-rate) * np.exp(-rate * up))
        tail = np.exp(-rate * np.where(n <= 0, 1 - n, n)) / (1 + np.exp(-rate))
        return np.where(n <= 0, tail, 1 - tail), np.tanh(rate / 2) * np.exp(-rate * np.abs(n))


def _may_overflow(drawn: NDArray[Any]) -> bool:
    """Whether noise may be so large that a score of 2⁶² with it doesn't fit 64 bits; a matter of the noise alone."""
    return drawn.dtype != object and bool((abs(drawn) >= 1 << 62).any())


@lru_cache(maxsize=1024)
def _radius(rate: Fraction, noise: MaxNoise, chance: Fraction) -> int:
    """The least r ≥ 0 with T(r + 1) ≤ chance, by doubling and halving; proved at r."""
    from discreet.exact.ball import ball, precision

    def suffices(r: int) -> bool:
        with precision(256):
            return bool(_difference_tail(rate, noise, r + 1) <= ball(chance))

    low, high = -1, 0
    while not suffices(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _difference_tail(rate: Fraction, noise: MaxNoise, k: int) -> arb:
    """T(k) = Pr[X − Y ≥ k] for two independent noises and k ≥ 1, as a ball.

    With q = e^(−rate): for geometric noise X − Y is discrete Laplace, so T(k) = qᵏ/(1 + q). For Laplace noise
    Pr[X − Y = m] = ((1 − q)/(1 + q))²·qᵐ·(m + b) for m ≥ 0, with b = (1 + q²)/(1 − q²), and the sum from k on is
    ((1 − q)/(1 + q))²·qᵏ·((k + b)/(1 − q) + q/(1 − q)²).
    """
    from discreet.exact.ball import ball

    q, power = ball(-rate).exp(), ball(-rate * k).exp()
    if noise == "geometric":
        return power / (1 + q)
    offset = (1 + q**2) / (1 - q**2)
    return ((1 - q) / (1 + q)) ** 2 * power * ((k + offset) / (1 - q) + q / (1 - q) ** 2)
