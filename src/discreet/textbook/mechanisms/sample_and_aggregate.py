"""Sample and aggregate: any function at all, asked of small parts of a table, and its answers averaged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeVar

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, rational
from discreet.exact.rounding import to_float
from discreet.mechanisms.functions import Grid
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parameters import short_enough
from discreet.privacy import Sensitivity
from discreet.privacy.events import Pure

_MOST_BLOCKS = 1 << 20

Held = TypeVar("Held")


@dataclass(frozen=True, slots=True)
class SampleAndAggregate(Pure):
    """Puts each unit into one of a public number of blocks, and releases the mean of a function's answers with noise.

    Guarantee: ε-DP, whatever the function. Each unit's block is drawn by itself, evenly, and doesn't depend on the
    data. Let neighbours' other units be in the same blocks: then one block differs, by one unit added, removed or
    substituted. Its answer was moved to the bounds and put on a grid, so the sum of all answers moves by at most the
    distance of the bounds in steps. A block without units has an answer, too.

    Blocks must not be cut from the rows in their order, as the textbook does: a row more moves one row across each cut
    behind it, so all blocks differ. And as it rounds the size of blocks up, there are fewer than it divides by: 593
    for 600, with 1.2 % too little noise.

    The function runs in this process, and anything else that it does isn't stopped: it must not keep what it sees, nor
    is it hidden how long it takes.

    Args:
        blocks: how many, 1 to 2²⁰; public.
        lower: the least answer that counts, from public knowledge.
        upper: the greatest, above `lower`.
        epsilon: above 0.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Nissim, Raskhodnikova, Smith (2007), the section on the sample-aggregate framework; the mean is the
    aggregation of the textbook.

    Examples:
        >>> from statistics import median
        >>> private = SampleAndAggregate.calibrate(blocks=100, lower=0, upper=100, epsilon=1)
        >>> middle = private.release([20, 35, 50] * 1000, median)
        >>> print(private.loss, "and within", round(private.radius(0.95), 2))
        ε = 1 and within 3.0
    """

    blocks: int
    lower: Fraction
    upper: Fraction
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "epsilon", short_enough(positive(self.epsilon, "epsilon"), "epsilon"))
        for name in ("lower", "upper"):
            object.__setattr__(self, name, short_enough(rational(getattr(self, name), name), name))
        if type(self.blocks) is not int or not 1 <= self.blocks <= _MOST_BLOCKS:
            raise InvalidArgument("blocks must be a whole number from 1 to 2²⁰")
        if self.lower >= self.upper:
            raise InvalidArgument("lower must be below upper")
        _ = self.noise  # whose scale is checked

    @classmethod
    def calibrate(cls, blocks: int, *, lower: Rationalizable, upper: Rationalizable, epsilon: Rationalizable) -> Self:
        """The mechanism that is ε-DP; arguments and errors are as in the class."""
        return cls(blocks, rational(lower, "lower"), rational(upper, "upper"), positive(epsilon, "epsilon"))

    @property
    def grid(self) -> Grid:
        """The grid that answers are put on."""
        width = self.upper - self.lower
        return Grid.fitting(width, width / self.epsilon, 1)

    @property
    def noise(self) -> Laplace:
        """The noise on the sum of all answers, in steps of the grid."""
        grid = self.grid
        width = grid.steps_of(self.upper) - grid.steps_of(self.lower)
        return Laplace.calibrate(Sensitivity.scalar(width), self.epsilon)

    def release(self, units: Sequence[Held], function: Callable[[list[Held]], Any]) -> float:
        """The mean of the function's answers, with noise.

        Args:
            units: all that is known of each unit, one element each.
            function: takes the units of a block and answers with a real number. Where it raises an error, or answers
                with anything else, `lower` counts.
        """
        from discreet.noise import uniform

        parts: list[list[Held]] = [[] for _ in range(self.blocks)]
        for unit, block in zip(units, uniform(self.blocks, size=len(units)).tolist(), strict=True):
            parts[block].append(unit)
        grid = self.grid
        answers = [grid.steps_of(min(max(self._asked(function, part), self.lower), self.upper)) for part in parts]
        (noisy,) = self.noise.release([sum(answers)])
        mean = noisy * grid.step / self.blocks
        return to_float(mean, round_up=mean < 0)

    def _asked(self, function: Callable[[list[Held]], Any], part: list[Held]) -> Fraction:
        """What the function makes of a block."""
        try:
            return Fraction(function(part))
        except Exception:  # noqa: BLE001 — that it fails on these units mustn't be told
            return self.lower

    def radius(self, confidence: Rationalizable) -> float:
        """How far the mean of the exact answers, moved to the bounds, lies from the released one, at this confidence.

        It says nothing of how far that mean is from what the function would answer about all units together.

        Args:
            confidence: in (0, 1); over the noise.
        """
        grid = self.grid
        return to_float(
            grid.step * (Fraction(self.noise.radius(confidence), self.blocks) + Fraction(1, 2)), round_up=True
        )
