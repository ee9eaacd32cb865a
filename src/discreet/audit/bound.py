"""The lower bound on ε that an event proves, at a confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.audit.outputs import Output
from discreet.exact.rounding import log, to_float
from discreet.stats import lower_bound, upper_bound


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound on ε, and the event that proves it.

    Args:
        epsilon: the true ε is at least this; 0 or more.
        opposite: whether the bound comes from draws in which the event doesn't happen.
    """

    epsilon: float
    opposite: bool


def epsilon_bound(hits: tuple[int, int], draws: int, delta: Fraction, confidence: Fraction) -> Bound:
    """An ε that the mechanism exceeds, or at least reaches, with the stated confidence; rounded down.

    Let an event that was fixed before the draws have the probabilities p and q under two neighbours. If the mechanism
    is (ε, δ)-DP then p ≤ e^ε·q + δ, and 1 − q ≤ e^ε·(1 − p) + δ for the opposite of the event. So ε is at least
    ln((p − δ)/q) and ln((1 − q − δ)/(1 − p)), and both grow with p and fall with q. With probability at least the
    confidence, p is no less than its Clopper–Pearson lower bound and q no more than its upper one, each of which fails
    with half of the doubt; then both hold with these in the place of p and q.

    Args:
        hits: how often the event happened, among draws for either neighbour; the first is meant to be the greater.
        draws: how many there were for each neighbour; 1 or more.
        delta: in [0, 1).
        confidence: in (0, 1).

    Source: Clopper, Pearson (1934), the definition of the limits; Ding, Wang, Wang, Zhang, Kifer (2018), the algorithm
    of the hypothesis test; Bichsel, Steffen, Bogunovic, Vechev (2021), the definition of an attack's power. Own proof.

    Examples:
        >>> round(epsilon_bound((8000, 3000), 10_000, Fraction(0), Fraction(19, 20)).epsilon, 3)
        1.201
        >>> epsilon_bound((50, 50), 100, Fraction(0), Fraction(19, 20))
        Bound(epsilon=0.0, opposite=False)
    """
    level = (1 + confidence) / 2
    p = Fraction(lower_bound(hits[0], draws, level))
    q = Fraction(upper_bound(hits[1], draws, level))
    direct, inverse = _log_ratio(p - delta, q), _log_ratio(1 - q - delta, 1 - p)
    return Bound(inverse, opposite=True) if inverse > direct else Bound(direct, opposite=False)


def _log_ratio(numerator: Fraction, denominator: Fraction) -> float:
    """The logarithm of a ratio, rounded down; 0 where it would be less."""
    if numerator <= denominator:
        return 0.0
    return to_float(log(numerator / denominator, round_up=False), round_up=False)


Predicate: TypeAlias = Callable[[Output], bool]
"""An event that is given: whether an output belongs to it."""


@dataclass(frozen=True, slots=True)
class Given:
    """An event that was thought of, not learned."""

    predicate: Predicate

    def count(self, outputs: Any) -> int:  # noqa: ANN401 — a list or an array
        """How many outputs are in the event."""
        return sum(bool(self.predicate(output)) for output in outputs)

    def __str__(self) -> str:
        return f"as given: {getattr(self.predicate, '__name__', 'a predicate')}"
