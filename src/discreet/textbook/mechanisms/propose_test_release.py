"""Propose, test, release: an answer with little noise, if the table is far from any that would need more."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parameters import short_enough
from discreet.privacy import ApproxDP, ApproxEvent, Sensitivity


@dataclass(frozen=True, slots=True)
class ProposeTestRelease:
    """Releases an integer with noise for a proposed bound, unless a noisy test says that the bound may not hold.

    Let D be how many units must change until neighbours' integers can differ by more than the bound; 0 if they already
    can. The test is passed if D, with noise, reaches a threshold.

    Guarantee: (ε, δ)-DP. D moves by at most 1, and its noise costs ε/2; whether the test is passed follows from it. Let
    x and x′ be neighbours. If their integers differ by at most the bound, those cost another ε/2. Otherwise D is 0 for
    both, so each passes with probability at most δ, and fails as likely as the other: Pr[M(x) ∈ T] ≤ δ +
    Pr[M(x′) ∈ T].

    The textbook spends ε on each part and calls it ε together; and its threshold, ln(2/δ)/(2ε), lets a table at D = 0
    pass with probability ½·√(δ/2). The threshold here is the least that keeps δ: about ln(1/2δ)/(ε/2).

    Args:
        bound: on how far the integer moves between neighbours; public, 1 or more.
        epsilon: above 0; half for the test, half for the release.
        delta: in (0, 1). Above 1/2 it is used as 1/2.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Dwork, Lei (2009), the section that proposes the paradigm; the proof above is for discrete noise.

    Examples:
        >>> test = ProposeTestRelease.calibrate(bound=1, epsilon=1, delta=1e-6)
        >>> test.threshold, test.radius(0.95), print(test.loss)
        ε = 1, δ = 1e-06
        (27, 6, None)
        >>> test.release(1000, distance=0), abs(test.release(1000, distance=1000) - 1000) < 1000
        (None, True)
    """

    bound: int
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "epsilon", short_enough(positive(self.epsilon, "epsilon"), "epsilon"))
        delta = min(short_enough(probability(self.delta, "delta"), "delta"), Fraction(1, 2))
        object.__setattr__(self, "delta", delta)
        if type(self.bound) is not int or self.bound < 1:
            raise InvalidArgument("bound must be a whole number of 1 or more")
        _ = self.test, self.noise  # whose scales are checked

    @classmethod
    def calibrate(cls, bound: int, epsilon: Rationalizable, delta: Rationalizable) -> Self:
        """The mechanism that is (ε, δ)-DP; arguments and errors are as in the class."""
        return cls(bound, positive(epsilon, "epsilon"), probability(delta, "delta"))

    @property
    def test(self) -> Laplace:
        """The noise on the distance."""
        return Laplace.calibrate(Sensitivity.scalar(1), self.epsilon / 2)

    @property
    def noise(self) -> Laplace:
        """The noise on the integer."""
        return Laplace.calibrate(Sensitivity.scalar(self.bound), self.epsilon / 2)

    @property
    def threshold(self) -> int:
        """What the noisy distance must reach."""
        return self.test.cutoff(self.delta)

    @property
    def event(self) -> ApproxEvent:
        """The event that accounting counts for a release, or for none."""
        return ApproxEvent(epsilon=self.epsilon, delta=self.delta)

    @property
    def loss(self) -> ApproxDP:
        """The proved bound on what a release, or its absence, gives away."""
        return ApproxDP(self.epsilon, self.delta)

    def release(self, value: int, distance: int) -> int | None:
        """The integer with noise, or None if the test failed; either is paid for.

        Args:
            value: the exact one.
            distance: D, or less as long as it moves by at most 1 between neighbours and is 0 where D is.
        """
        passed = self.test.release([distance])[0] >= self.threshold
        (noisy,) = self.noise.release([value])  # drawn in both cases, so that both take as long
        return noisy if passed else None

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for an integer that was released.

        Args:
            confidence: in (0, 1).
        """
        return self.noise.radius(confidence)
