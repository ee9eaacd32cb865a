"""Sureness: how sure an attacker may be of a number with noise in it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat
from math import erf, hypot, sqrt

from discreet.attacks.result import Guess
from discreet.attacks.targets.answering import Reply

HALF = 0.5
"""Within this distance a whole number is told from all others."""


def deviation_of(replies: Iterable[Reply], factors: Iterable[Fraction] | None = None) -> float | None:
    """The standard deviation of the noise in a combination of replies; None if that of one is unknown.

    Noise of different answers is independent, so the squares add up.

    Args:
        replies: what is combined.
        factors: by which each is multiplied; all 1 or −1, as in a sum or a difference, if left out. What is multiplied
            by 0 doesn't count.

    Examples:
        >>> both = [Reply(value=5, deviation=3.0, epsilon=1.0), Reply(value=7, deviation=4.0, epsilon=1.0)]
        >>> deviation_of(both), deviation_of(both, [Fraction(1, 3), Fraction(0)])
        (5.0, 1.0)
    """
    weights = repeat(Fraction(1)) if factors is None else factors
    used = [(reply.deviation, abs(factor)) for reply, factor in zip(replies, weights, strict=False) if factor]
    known = [deviation * float(factor) for deviation, factor in used if deviation is not None]
    return hypot(*known) if len(known) == len(used) else None


def sureness(deviation: float | None) -> float:
    """How often noise of this standard deviation stays within ±½; 0 where it is unknown. The noise is taken for normal.

    Examples:
        >>> sureness(0), round(sureness(0.25), 3), round(sureness(20), 3)
        (1.0, 0.954, 0.02)
    """
    if deviation is None:
        return 0.0
    return 1.0 if deviation == 0 else erf(HALF / (sqrt(2) * deviation))


def is_right(found: float | None, truth: float | None) -> bool | None:
    """Whether a number is the true one, to the nearest whole; None where either is unknown."""
    return None if found is None or truth is None else abs(found - truth) < HALF


def told(
    who: str, measure: str, value: float | None, replies: Iterable[Reply], *, right: bool | None
) -> tuple[Guess, ...]:
    """The guess that somebody's number is this, put together from replies; none if it is unknown."""
    if value is None:
        return ()
    sure = sureness(deviation_of(replies))
    return (Guess(who=who, what=f"{measure} = {value:,.10g}", confidence=sure, right=right),)
