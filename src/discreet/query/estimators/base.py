"""What all estimators have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from discreet.privacy import KeyValue
from discreet.query.noise import Noise
from discreet.query.uncertainty.intervals import Interval

Noisy: TypeAlias = Mapping[str, int | tuple[int, ...]]
"""What was released of one group, by name: a noisy integer for each measure, the number of a bin (or several) for each
choice."""

Noises: TypeAlias = Mapping[str, Noise]

Value: TypeAlias = KeyValue | float | list[KeyValue]
"""What an estimate can be."""


class Estimator(Protocol):
    """How one aggregate is estimated from what was released."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the released integers that are used."""
        ...

    def estimate(self, noisy: Noisy, noises: Noises) -> Value:
        """The statistic of one group; None where a noisy count leaves nothing to divide by."""
        ...

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval that holds the statistic with at least this confidence, over the noise; None if there is none."""
        ...


def integer(name: str, noisy: Noisy) -> int:
    """One released integer."""
    value = noisy[name]
    if not isinstance(value, int):
        raise TypeError("this was released as a list")
    return value


def scaled(name: str, noisy: Noisy, noises: Noises) -> float:
    """A noisy measure in the units of its values."""
    return float(noises[name].step * integer(name, noisy))


def radius(noise: Noise, confidence: float) -> float:
    """The half width of a measure's interval, in the units of its values."""
    return float(noise.radius(confidence))


def clip(value: float, lo: float, hi: float) -> float:
    """The value, moved into [lo, hi]."""
    return min(max(value, lo), hi)
