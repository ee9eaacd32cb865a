"""The probabilities of outputs, where they are known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.textbook import BoundedLaplace, Staircase, TruncatedLaplace

_NOISES = (Laplace, Gaussian, Staircase, TruncatedLaplace)
"""Noise that is added: the law for any value is the law for 0, moved."""

_SURE = 1 - Fraction(1, 2**40)
"""The probability of the outcomes that count; those further out belong to no event."""

_MOST_OUTCOMES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """The probability of each outcome for either neighbour.

    Args:
        outcomes: all that matter.
        one: their probabilities for the first neighbour.
        other: for the second.
    """

    outcomes: Sequence[Hashable]
    one: NDArray[np.float64]
    other: NDArray[np.float64]


def laws_of(mechanism: Any, one: Any, other: Any) -> Laws | None:  # noqa: ANN401 — whatever is audited
    """The laws of a mechanism's outputs; None if they aren't known, or are too long to write down.

    Args:
        mechanism: noise on a single integer, or a chooser or randomiser with `masses`.
        one: data of the first neighbour.
        other: of the second.
    """
    whole = type(one) is int and type(other) is int
    if isinstance(mechanism, BoundedLaplace) and whole:
        outcomes = range(mechanism.low, mechanism.high + 1)
        return _summed(outcomes, lambda n, data: mechanism.mass(n - data, data), one, other)
    if isinstance(mechanism, _NOISES) and whole:
        reach = mechanism.radius(_SURE)
        outcomes = range(min(one, other) - reach, max(one, other) + reach + 1)
        return _summed(outcomes, lambda n, data: mechanism.mass(n - data), one, other)
    if hasattr(mechanism, "masses"):
        chances = [np.array([float(chance) for chance in mechanism.masses(data)]) for data in (one, other)]
        listed = mechanism.outcomes(len(one)) if hasattr(mechanism, "outcomes") else range(len(chances[0]))
        return Laws(listed, *chances)
    return None


def _summed(outcomes: range, mass: Callable[[int, int], float], one: int, other: int) -> Laws | None:
    """The probability of each integer of a range."""
    if len(outcomes) > _MOST_OUTCOMES:
        return None
    return Laws(outcomes, *(np.array([mass(n, data) for n in outcomes]) for data in (one, other)))
