"""Groups whose list is private, with counts: those whose noisy count reaches a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.threshold import Noise, Threshold
from discreet.privacy import ZCDP, ApproxDP, ComposedEvent, Sensitivity
from discreet.textbook.mechanisms.group_naming import Key, in_order


@dataclass(frozen=True, slots=True)
class StableHistogram:
    """Adds noise to the count of each group that holds something, and releases those that reach a threshold.

    Guarantee: private but for an event of probability δ; otherwise it costs what the noise on the counts costs. Groups
    present in both neighbours have the same noise and the same threshold. A group present in one only holds nobody but
    the units that differ, and all of them together pass with probability at most δ; see `Threshold`. So empty groups
    needn't be known, listed, or given noise.

    Args:
        noise: which is added to each count, for the sensitivity of the whole histogram.
        delta: in (0, 1). Above 1/2 it is used as 1/2.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Korolova, Kenthapadi, Mishra, Ntoulas (2009), Section 4; Bun, Nissim, Stemmer (2016), "Simultaneous private
    learning of multiple concepts", its algorithm for stability-based histograms.

    Examples:
        >>> words = StableHistogram.calibrate(Sensitivity.scalar(1), epsilon=1, delta=1e-6)
        >>> words.threshold.value, list(words.release({"the": 10_000, "": 0})), print(words.loss)
        ε = 1, δ = 1e-06
        (15, ['the'], None)
    """

    noise: Noise
    delta: Fraction

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "delta", self.threshold.delta)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity, epsilon: Rationalizable, delta: Rationalizable) -> Self:
        """The (ε, δ)-DP histogram, with Laplace noise.

        Args:
            sensitivity: of the histogram, in steps of its counts.
            epsilon: above 0.
            delta: in (0, 1).

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(Laplace.calibrate(sensitivity, positive(epsilon, "epsilon")), probability(delta, "delta"))

    @classmethod
    def for_rho(cls, sensitivity: Sensitivity, rho: Rationalizable, delta: Rationalizable) -> Self:
        """The (ρ, δ)-zCDP histogram, with Gaussian noise; the other arguments are as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(Gaussian.for_rho(sensitivity, positive(rho, "rho")), probability(delta, "delta"))

    @property
    def threshold(self) -> Threshold:
        """The threshold that a noisy count must reach."""
        sensitivity = self.noise.sensitivity
        moving = min(sensitivity.l0, sensitivity.l1)
        return Threshold(self.noise, l0=moving, linf=sensitivity.linf, delta=self.delta)

    @property
    def event(self) -> ComposedEvent:
        """The event that accounting counts for a release."""
        return ComposedEvent((self.noise.event, self.threshold.event))

    @property
    def loss(self) -> ApproxDP | ZCDP:
        """The proved bound on what a release gives away."""
        if isinstance(self.noise, Laplace):
            return ApproxDP(self.noise.loss.epsilon, self.delta)
        return ZCDP(self.noise.loss.rho, self.delta)

    def release(self, counts: Mapping[Key, int]) -> dict[Key, int]:
        """The noisy counts that reach the threshold, in an order that says nothing of the one in which groups came.

        Args:
            counts: of each group, in steps; those that aren't above 0 are as if they weren't listed.
        """
        names = in_order(name for name, count in counts.items() if count > 0)
        noisy = self.noise.release([counts[name] for name in names])
        threshold = self.threshold
        return {name: count for name, count in zip(names, noisy, strict=True) if threshold.passes(count)}

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one count, for pictures, audits and tests."""
        return self.noise.mass(n)

    def radius(self, confidence: Rationalizable) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence, for one count; it doesn't speak of those left out.

        Args:
            confidence: in (0, 1).
        """
        return self.noise.radius(confidence)
