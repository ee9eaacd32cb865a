"""The law of the privacy loss, of a mechanism that adds noise or of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, inf, log
from typing import Protocol

from discreet.errors import InvalidArgument
from discreet.textbook.plots.numbers import finite


class AdditiveNoise(Protocol):
    """Noise that a mechanism adds to an integer. All additive mechanisms of discreet are such."""

    def mass(self, n: int) -> float:
        """Pr[noise = n]."""

    def radius(self, confidence: float) -> int:
        """An r with Pr[|noise| ≤ r] ≥ confidence."""

    def release(self, values: Sequence[int]) -> Sequence[int]:
        """The values with fresh noise."""


_NEARLY_ALL = 1 - 1e-12
"""How much of a law is looked at; a picture has no room for the rest."""

_MOST_OUTCOMES = 200_000
"""Beyond these a figure would take minutes."""


@dataclass(frozen=True, slots=True)
class LossLaw:
    """The law of the privacy loss ln(Pr[A(D) = a] / Pr[A(D′) = a]), with a drawn from A(D).

    For pictures: floats, rounded to the nearest. Accounts rest on `discreet.accounting`, which rounds in a stated
    direction.

    Args:
        losses: of each outcome that has a probability on both datasets.
        masses: the probability of each such outcome on D.
        impossible: the probability on D of outcomes that D′ never gives: there the loss is infinite.

    Source: Dwork, Roth (2014), Section 2.3.

    Examples:
        >>> response = LossLaw.of([0.75, 0.25], [0.25, 0.75])
        >>> [round(loss, 4) for loss in response.losses], response.masses
        ([1.0986, -1.0986], (0.75, 0.25))
    """

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    impossible: float = 0.0

    @classmethod
    def of(cls, here: Sequence[float], there: Sequence[float]) -> LossLaw:
        """The law for the probabilities of the same outcomes on D and on D′.

        Raises:
            InvalidArgument: they aren't probabilities, or not of the same outcomes.
        """
        first, second = finite(here, "probabilities", least=0), finite(there, "probabilities", least=0)
        if len(first) != len(second) or max(sum(first), sum(second)) > 1 + 1e-9:
            raise InvalidArgument("a privacy loss needs the probabilities of the same outcomes on D and on D′")
        both = [(log(p) - log(q), p) for p, q in zip(first, second, strict=True) if p > 0 and q > 0]
        if not both:
            raise InvalidArgument("no outcome is possible on both datasets, so there is no finite loss")
        return cls(
            losses=tuple(loss for loss, _ in both),
            masses=tuple(mass for _, mass in both),
            impossible=sum(p for p, q in zip(first, second, strict=True) if q == 0),
        )

    @classmethod
    def of_noise(cls, noise: AdditiveNoise, shift: int) -> LossLaw:
        """The law for noise on an integer that is greater by `shift` on D′.

        Args:
            noise: what is added.
            shift: 1 or more; the sensitivity for the worst case.

        Raises:
            InvalidArgument: the shift isn't positive, or the noise is too wide to be listed value by value.
        """
        if shift < 1:
            raise InvalidArgument(f"the shift must be 1 or more, not {shift}")
        reach = noise.radius(_NEARLY_ALL)
        if 2 * reach + shift > _MOST_OUTCOMES:
            raise InvalidArgument(
                "the noise is too wide to list its values one by one", hint="a coarser grid, or a smaller sensitivity"
            )
        masses = {n: noise.mass(n) for n in range(-reach - shift, reach + 1)}
        seen = range(-reach, reach + 1)
        return cls.of([masses[n] for n in seen], [masses[n - shift] for n in seen])

    def delta(self, epsilon: float) -> float:
        """The least δ for this pair: the expectation of 1 − e^(ε − loss) where the loss exceeds ε."""
        over = [(mass, epsilon - loss) for mass, loss in zip(self.masses, self.losses, strict=True) if loss > epsilon]
        return self.impossible - sum(mass * expm1(excess) for mass, excess in over)

    def beyond(self, epsilon: float) -> float:
        """The probability that the loss exceeds ε; what is above by rounding alone is not counted."""
        edge = epsilon + 1e-9 * max(epsilon, 1.0)
        return self.impossible + sum(mass for mass, loss in zip(self.masses, self.losses, strict=True) if loss > edge)

    @property
    def greatest(self) -> float:
        """The greatest loss; infinite if an outcome is impossible on D′."""
        return inf if self.impossible else max(self.losses)


def odds(epsilon: float) -> float:
    """How often a guess between D and D′ can be right at best, under ε-DP and even odds: e^ε/(1 + e^ε).

    Examples:
        >>> odds(0.0), round(odds(2), 3)
        (0.5, 0.881)
    """
    return 1 / (1 + exp(-epsilon))
