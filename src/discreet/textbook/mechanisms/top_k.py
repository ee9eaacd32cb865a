"""Top k: the best k options in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK(Selects):
    """Chooses the best option, then the best of the others, and so on: `most` of them, in order ("peeling").

    Guarantee: ε-DP with ε = most·rate·spread: each choice is (rate·spread)-DP, from a list that follows from the
    choices before it. It costs less in zCDP, and over many choices in (ε, δ), by the bounded range of each.

    One shot is the same: Gumbel noise of scale 1/rate added to each score once, and the greatest k named in order, has
    exactly this law, because which Gumbel is the greatest says nothing about those below it but that they are below.
    It is peeled here, so that nothing but the exponential mechanism has to be drawn exactly.

    Args:
        most: how many are chosen; 1 or more.
        spread: how far two scores of the list can move against each other between neighbours; above 0. See
            `Exponential`.
        epsilon: what all choices cost together; above 0.

    Attributes:
        selection: how one is chosen.

    Raises:
        InvalidArgument: a number is out of range.

    Source: McSherry, Talwar (2007), Theorem 6; Durfee, Rogers (2019), Section 4, for peeling and for one shot.

    Examples:
        >>> best = TopK.calibrate(2, sensitivity=1, epsilon=2)
        >>> best.choose([0, 500, 1000]), print(best.loss)
        ε = 2
        ((2, 1), None)
    """

    most: int
    spread: Fraction
    epsilon: Fraction
    selection: Exponential = field(init=False)

    def __post_init__(self) -> None:
        """Find the rate before there is any data."""
        if type(self.most) is not int or self.most < 1:
            raise InvalidArgument(f"most must be a whole number of at least 1, not {self.most!r}")
        for name in ("spread", "epsilon"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        total = self.most * self.spread
        object.__setattr__(self, "selection", Exponential(self.epsilon / total, self.spread, total))

    @classmethod
    def calibrate(
        cls, most: int, sensitivity: Rationalizable, epsilon: Rationalizable, *, monotone: bool = False
    ) -> Self:
        """The mechanism that is ε-DP over all its choices, and no more.

        Args:
            most: how many are chosen; 1 or more.
            sensitivity: Δ, how far one option's score can move between neighbours; above 0.
            epsilon: above 0.
            monotone: whether for any two neighbours all scores move in the same direction, or not at all.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread = spread_of(sensitivity, monotone=monotone)
        return cls(most=most, spread=spread, epsilon=positive(epsilon, "epsilon"))

    @classmethod
    def for_rho(cls, most: int, sensitivity: Rationalizable, rho: Rationalizable, *, monotone: bool = False) -> Self:
        """The mechanism that is ρ-zCDP over all its choices; the other arguments are as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        if type(most) is not int or most < 1:
            raise InvalidArgument(f"most must be a whole number of at least 1, not {most!r}")
        epsilon = epsilon_for(positive(rho, "rho"), Fraction(1, most))
        return cls.calibrate(most, sensitivity, epsilon, monotone=monotone)

    def choose(self, scores: Sequence[int | Fraction] | NDArray[Any]) -> tuple[int, ...]:
        """The indices of the options chosen, in the order in which they were.

        Args:
            scores: integers of any size, or fractions; at least `most` and at most 2²¹ of them.

        Raises:
            InvalidArgument: the scores are not valid.
        """
        import numpy as np

        if len(scores) < self.most:
            raise InvalidArgument(f"{self.most} options can't be chosen from fewer")
        left = np.ones(len(scores), dtype=np.int64)
        chosen: list[int] = []
        for _ in range(self.most):
            chosen.append(self.selection.choose(scores, left))
            left[chosen[-1]] = 0
        return tuple(chosen)

    def outcomes(self, options: int) -> list[tuple[int, ...]]:
        """The possible choices from this many options, in the order of `masses`."""
        return list(permutations(range(options), self.most))

    def masses(self, scores: Sequence[int | Fraction]) -> list[float]:
        """The probability of each of `outcomes(len(scores))`.

        For tests, audits and pictures; never where data are private.

        Args:
            scores: integers of any size, or fractions; few, for there are n·(n − 1)·… outcomes.

        Examples:
            >>> [round(chance, 4) for chance in TopK.calibrate(2, 1, 4).masses([0, 1])]
            [0.2689, 0.7311]
        """
        chances = []
        for sequence in self.outcomes(len(scores)):
            chance, left = 1.0, list(range(len(scores)))
            for option in sequence:
                chance *= self.selection.masses([scores[i] for i in left])[left.index(option)]
                left.remove(option)
            chances.append(chance)
        return chances

    def radius(self, confidence: Rationalizable, options: int) -> Fraction:
        """How far each chosen score lies below the best of those left at that point, at most; rounded up.

        The confidence is that of all choices together: each is given an equal part of the doubt.

        Args:
            confidence: in (0, 1); over the draws, whatever the scores.
            options: how many there are in all; at least `most`.
        """
        doubt = 1 - probability(confidence, "confidence")
        return self.selection.radius(1 - doubt / self.most, options)
