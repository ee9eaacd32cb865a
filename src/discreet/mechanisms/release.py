"""Releases: private numbers with their error bars, and choices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import to_float
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.privacy import Loss, PureDP

_SHOWN = 6
"""How many values of a vector are printed."""

_SMALLEST, _LARGEST = -12, 14
"""Powers of ten between which a radius is written out."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Release:
    """A number or a vector with noise, and what is known about the noise. All of it may be published.

    Args:
        steps: the noisy values, in steps of the grid.
        grid: the size of a step.
        whole: whether the values are whole numbers.
        rounded: whether the exact values were put on the grid by rounding them.
        is_vector: whether it's a vector, be it of one value, rather than a number.
        mechanism: what made the noise.
        loss: the proved bound on what the whole release gives away.

    Examples:
        >>> from discreet.privacy import PureDP, Sensitivity
        >>> noise = Laplace.calibrate(Sensitivity.scalar(1), epsilon="0.1")
        >>> release = Release(
        ...     steps=(17432,), grid=Fraction(1), whole=True, rounded=False, is_vector=False,
        ...     mechanism=noise, loss=PureDP("0.1"),
        ... )
        >>> print(release)
        17432 ± 30 (95 %)
        >>> release.interval(confidence=0.95)
        (17402, 17462)
    """

    steps: tuple[int, ...]
    grid: Fraction
    whole: bool
    rounded: bool
    is_vector: bool
    mechanism: Laplace | Gaussian
    loss: Loss

    @property
    def value(self) -> int | float | list[int] | list[float]:
        """The noisy number, or the list of them; beyond the range of floats, the last one."""
        exact = [step * self.grid for step in self.steps]
        numbers = [int(each) if self.whole else to_float(each, round_up=each < 0) for each in exact]
        return numbers if self.is_vector else numbers[0]

    def interval(
        self, confidence: Rationalizable = Fraction(19, 20)
    ) -> tuple[int, int] | tuple[float, float] | list[tuple[int, int]] | list[tuple[float, float]]:
        """An interval that holds the exact number with at least this confidence; for a vector, one for each value.

        The confidence is that of each interval alone, and it is over the noise: whatever the exact value, the interval
        holds it with this probability.

        Args:
            confidence: in (0, 1).
        """
        radius = self._radius(probability(confidence, "confidence"))
        intervals = [self._ends(step * self.grid, radius) for step in self.steps]
        return intervals if self.is_vector else intervals[0]

    def __str__(self) -> str:
        """The value and the radius of its 95 % interval, to the digits that mean something."""
        radius = self._radius(Fraction(19, 20))
        decimals = 0 if self.whole else _decimals(radius)
        shown = [_text(step * self.grid, decimals) for step in self.steps[:_SHOWN]]
        more = f", … ({len(self.steps)} values)" if len(self.steps) > _SHOWN else ""
        value = f"[{', '.join(shown)}{more}]" if self.is_vector else shown[0]
        if decimals is not None:
            radius = Fraction(ceil(radius * 10**decimals), 10**decimals)
        return f"{value} ± {_text(radius, decimals)} (95 %)"

    def __repr__(self) -> str:
        return f"<Release {self}, {self.loss}>"

    def _radius(self, confidence: Fraction) -> Fraction:
        """How far the exact value may lie from the released one: noise, and half a step of rounding."""
        return self.grid * (self.mechanism.radius(confidence) + Fraction(int(self.rounded), 2))

    def _ends(self, centre: Fraction, radius: Fraction) -> tuple[int, int] | tuple[float, float]:
        """The ends of an interval, rounded outwards where floats don't hold them."""
        if self.whole:
            return floor(centre - radius), ceil(centre + radius)
        return to_float(centre - radius, round_up=False), to_float(centre + radius, round_up=True)


def _decimals(radius: Fraction) -> int | None:
    """How many decimals show two digits of the radius; None for powers of ten."""
    magnitude = floor(log10(radius.numerator) - log10(radius.denominator))
    return max(1 - magnitude, 0) if _SMALLEST <= magnitude <= _LARGEST else None


def _text(number: Fraction, decimals: int | None) -> str:
    """The number with this many decimals, or in powers of ten."""
    if decimals is None:
        return f"{to_float(number, round_up=number < 0):.6g}"
    scaled = round(number * 10**decimals)
    whole, part = divmod(abs(scaled), 10**decimals)
    sign = "-" if scaled < 0 else ""
    return f"{sign}{whole}.{part:0{decimals}d}" if decimals else f"{sign}{whole}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Choice:
    """An option that the exponential mechanism chose. All of it may be published.

    Args:
        value: the option.
        options: how many there were to choose from.
        mechanism: what chose it.

    Examples:
        >>> print(Choice(value="left", options=2, mechanism=Exponential.calibrate(sensitivity=1, epsilon=1)))
        'left', at most 5.89 below the best score (95 %)
    """

    value: Any
    options: int
    mechanism: Exponential

    @property
    def loss(self) -> PureDP:
        """The proved bound on what the choice gives away."""
        return self.mechanism.loss

    def radius(self, confidence: Rationalizable = Fraction(19, 20)) -> float:
        """The most by which the option's score lies below the best, with this confidence; rounded up.

        Args:
            confidence: in (0, 1); over the draw, whatever the scores.
        """
        return to_float(self.mechanism.radius(confidence, self.options), round_up=True)

    def __str__(self) -> str:
        return f"{self.value!r}, at most {self.radius():.3g} below the best score (95 %)"

    def __repr__(self) -> str:
        return f"<Choice {self}, {self.loss}>"
