"""The exponential mechanism: pure differential privacy for a choice from a public list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten, sqrt
from discreet.mechanisms.parameters import short_enough
from discreet.privacy import ExponentialEvent, PureDP, rho_of_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = 40
"""Binary digits of an ε that is found by a root; rounding it down costs at most 2⁻³⁹ of accuracy."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """Chooses an option, from a list that is the same for all neighbours, with probability ∝ exp(rate·score).

    Guarantee: with ε = rate·total, the choices are ε-DP, exactly, and (ε²/8)-zCDP if there is only one.

    The *spread* matters: how far two scores of a list can move against each other between neighbours. The log of an
    option's probability is rate·score less the log of a sum that is the same for all options. So the privacy losses of
    all options lie within an interval of length rate·spread, which holds 0, because both laws sum to 1. If each score
    moves by at most Δ, the spread is at most 2Δ; that is the textbook's exp(ε·score/2Δ). If for any two neighbours all
    scores move in the same direction, or not at all, it is at most Δ.

    Args:
        rate: how many times e an option is likelier per unit of score; above 0.
        spread: of one selection, in units of score; above 0.
        total: the spreads of all selections of a release, added up; at least `spread`.

    Raises:
        InvalidArgument: a number is out of range, or has more digits than accounts can carry.

    Source: McSherry, Talwar (2007), Theorem 6; Dwork, Roth (2014), Section 3.4; Durfee, Rogers (2019), Section 4, for
    the range.

    Examples:
        >>> nearest = Exponential.calibrate(sensitivity=1, epsilon=1)
        >>> nearest.rate, nearest.choose([-1000, 0, -1000])
        (Fraction(1, 2), 1)
        >>> print(nearest.loss)
        ε = 1
    """

    rate: Fraction
    spread: Fraction
    total: Fraction

    def __post_init__(self) -> None:
        """Check before there is any data."""
        for name in ("rate", "spread", "total"):
            object.__setattr__(self, name, short_enough(positive(getattr(self, name), name), name))
        if self.total < self.spread:
            raise InvalidArgument("all selections together can't spread less than one of them")
        short_enough(self.epsilon, "epsilon")

    @classmethod
    def calibrate(cls, sensitivity: Rationalizable, epsilon: Rationalizable, *, monotone: bool = False) -> Self:
        """The mechanism for one selection that is ε-DP and no more.

        Args:
            sensitivity: Δ, how far one option's score can move between neighbours; above 0.
            epsilon: above 0.
            monotone: whether for any two neighbours all scores move in the same direction, or not at all. Counts do
                when a unit is added or removed; when one is substituted for another, they don't.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread = spread_of(sensitivity, monotone=monotone)
        return cls(positive(epsilon, "epsilon") / spread, spread, spread)

    @classmethod
    def for_rho(cls, sensitivity: Rationalizable, rho: Rationalizable, *, monotone: bool = False) -> Self:
        """The mechanism for one selection that is ρ-zCDP: ε = √(8ρ), rounded down to 40 binary digits.

        Args:
            sensitivity: as in `calibrate`.
            rho: above 0.
            monotone: as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls.calibrate(sensitivity, epsilon_for(positive(rho, "rho")), monotone=monotone)

    @property
    def epsilon(self) -> Fraction:
        """The total cost in pure ε of all selections of a release."""
        return self.rate * self.total

    @property
    def event(self) -> ExponentialEvent:
        """The event that accounting counts for a release."""
        return ExponentialEvent(
            epsilon=self.epsilon, each=None if self.spread == self.total else self.rate * self.spread
        )

    @property
    def loss(self) -> PureDP:
        """The proved bound on what a release gives away."""
        return PureDP(self.epsilon)

    def choose(
        self, scores: Sequence[int | Fraction] | NDArray[Any], weights: Sequence[int] | NDArray[Any] | None = None
    ) -> int:
        """The index of one entry, drawn with probability ∝ weight·exp(rate·score).

        Args:
            scores: integers of any size, or fractions; 1 to 2²¹ of them.
            weights: how many options of this score an entry stands for, from 0 to 2⁴⁰; None for one each. They may
                depend on the data only as a way to write down a list of options that doesn't.

        Raises:
            InvalidArgument: the scores or weights are not valid.
        """
        from discreet.noise import categorical

        return categorical(scores, self.rate, weights=weights)

    def masses(self, scores: Sequence[int | Fraction]) -> list[float]:
        """The probability of each option, exp(rate·score) over the sum of all; relative error below 10⁻¹².

        For tests, audits and pictures; never where data are private.

        Args:
            scores: integers of any size, or fractions; one or more.

        Examples:
            >>> [round(chance, 4) for chance in Exponential.calibrate(1, 2).masses([0, 1])]
            [0.2689, 0.7311]
        """
        from math import exp, fsum

        best = max(scores)
        weights = [exp(-float(self.rate * (best - score))) for score in scores]
        total = fsum(weights)
        return [weight / total for weight in weights]

    def radius(self, confidence: Rationalizable, options: int) -> Fraction:
        """The most by which the chosen score lies below the best, with this confidence, whatever the scores.

        It is ln((n − 1)·c/(1 − c))/rate for n options and confidence c. The options that are more than r below the best
        have weights that add up to less than q = (n − 1)·exp(−rate·r) times that of the best, so one of them is chosen
        with probability below q/(1 + q), which is 1 − c. There are scores that come as near to that as one likes.

        Args:
            confidence: in (0, 1).
            options: how many there are in all; 1 or more.

        Returns:
            In units of score, rounded up.

        Source: Dwork, Roth (2014), Theorem 3.11, whose ln(n/(1 − c))/rate is a little larger.

        Examples:
            >>> float(round(Exponential.calibrate(1, 1).radius(0.95, options=100), 2))
            15.08
        """
        if type(options) is not int or options < 1:
            raise InvalidArgument("options must be a whole number of at least 1")
        sure = probability(confidence, "confidence")
        return _log_above((options - 1) * sure / (1 - sure)) / self.rate


class Selects:
    """A base for mechanisms that do nothing but select by the exponential mechanism, as often as `selection` counts."""

    __slots__ = ()

    selection: Exponential

    @property
    def event(self) -> ExponentialEvent:
        """The event that accounting counts for all choices together."""
        return self.selection.event

    @property
    def loss(self) -> PureDP:
        """The proved bound on what all choices give away together."""
        return self.selection.loss


@lru_cache(maxsize=1024)
def epsilon_for(rho: Fraction, share: Fraction = Fraction(1)) -> Fraction:
    """The ε of selections that cost ρ in all, if a single one takes at most this share of ε.

    With ε₁ + … = ε and εᵢ ≤ share·ε they cost Σ r(εᵢ) in zCDP, r as in `rho_of_range`. As r(x)/x doesn't fall in x,
    that is at most r(share·ε)/share. Since r(x) is at most x²/8 and at most x, what is looked for isn't below
    √(8ρ/share), nor below ρ.

    Args:
        rho: above 0.
        share: above 0, at most 1.

    Returns:
        The greatest ε that costs at most ρ so, or next to it, rounded down to 40 binary digits.
    """
    limit = rho * share
    low = max(sqrt(8 * limit, round_up=False), limit)
    high = 2 * low
    while rho_of_range(high) <= limit:
        low, high = high, 2 * high
    while (high - low) * 2 ** (_BITS + 4) > high:
        middle = shorten((low + high) / 2, bits=2 * _BITS, round_up=False)
        low, high = (middle, high) if rho_of_range(middle) <= limit else (low, middle)
    return shorten(low / share, bits=_BITS, round_up=False)


def spread_of(sensitivity: Rationalizable, *, monotone: bool) -> Fraction:
    """How far two scores can move against each other, if each moves by at most the sensitivity."""
    return positive(sensitivity, "sensitivity") * (1 if monotone else 2)


@lru_cache(maxsize=1024)
def _log_above(odds: Fraction) -> Fraction:
    """The natural logarithm, rounded up to 53 binary digits; 0 where it would be less."""
    from discreet.exact.rounding import log

    return shorten(log(odds, round_up=True), bits=53, round_up=True) if odds > 1 else Fraction(0)
