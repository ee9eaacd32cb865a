"""Staircase noise: Laplace noise in wide steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable
from discreet.noise.bernoulli import draw_bernoulli_odds
from discreet.noise.geometric import draw_geometric, geometric_law
from discreet.noise.sampling import Size, checked_scale, fill, integers
from discreet.noise.uniform import draw_uniform

WIDEST = 1 << 60
"""How wide a step may be: twice that is what the uniform sampler takes, with room to spare."""

_FITS = 1 << 62


@overload
def staircase(scale: Rationalizable, width: int, first: int, size: None = None) -> int: ...
@overload
def staircase(scale: Rationalizable, width: int, first: int, size: int | tuple[int, ...]) -> NDArray[Any]: ...
def staircase(scale: Rationalizable, width: int, first: int, size: Size = None) -> int | NDArray[Any]:
    """Draw from Pr[n] ∝ e^(-⌊(|n| + width − first)/width⌋ / scale), for every integer n.

    Guarantee: exactly that distribution, given uniform bits; see `Staircase`. Nothing is rejected, so every draw takes
    one path.

    Args:
        scale: in steps, a rational in [2^-10, 2^60], best an int or a Fraction; it isn't rounded. 1/ε.
        width: how many magnitudes a step holds, a whole number from 1 to 2^60.
        first: how many the first one holds, 0 among them; a whole number from 1 to `width`.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None. Otherwise an int64 array, or, if scale·width is above 2^52, an array of Python
        ints.

    Raises:
        InvalidArgument: an argument is of the wrong kind, or is out of range.
        OverflowError: a draw for an array doesn't fit int64, with a chance below e^(-1000) whatever the data.

    Source: Geng, Viswanath (2016), "The optimal noise-adding mechanism in differential privacy": Algorithm 1 for real
    numbers, and the section on integer-valued queries for the probabilities.

    Examples:
        >>> staircase(1, width=5, first=2, size=(2, 3)).shape
        (2, 3)
    """
    number = checked_scale(scale, "scale")
    if type(width) is not int or not 1 <= width <= WIDEST or type(first) is not int or not 1 <= first <= width:
        raise InvalidArgument("width must be a whole number from 1 to 2^60, and first one from 1 to width")
    dtype = integers(number * width, size)
    noise: int | NDArray[Any] = fill(size, dtype, partial(Staircase(number, width, first).draw, dtype))
    return noise


@dataclass(frozen=True, slots=True)
class Staircase:
    """The sampler for one staircase.

    Number the steps from 0. Step 0 holds 2·first − 1 integers, every other one 2·width; let an integer's place be its
    number among those of its step. With q = e^(-1/scale), an integer on step j has weight q^j. Call places below
    2·first − 1 near, the others far. Pair the near places of step g with the far ones of step g + 1: such a pair weighs
    q^g·((2·first − 1) + (2·width − 2·first + 1)·q). So g is geometric, and independently of it, a place is near with
    odds of e^(1/scale) to (2·width − 2·first + 1)/(2·first − 1), and uniform among those that are near, or far.
    """

    scale: Fraction
    width: int
    first: int

    def draw(self, dtype: type, count: int, source: Words) -> NDArray[Any]:
        """`count` independent draws from a source of words."""
        near = 2 * self.first - 1
        far = 2 * self.width - near
        steps = draw_geometric(geometric_law(self.scale), dtype, count, source)
        is_near = draw_bernoulli_odds(1 / self.scale, Fraction(far, near), count, source)
        places = np.where(is_near, draw_uniform(near, count, source), near + draw_uniform(far, count, source))
        places = places.astype(dtype, copy=False)
        steps = steps + (~is_near).astype(dtype)
        if dtype is not object and steps.max(initial=0) >= _FITS // self.width:
            raise OverflowError("a draw doesn't fit int64")
        magnitudes = (steps - 1) * self.width + self.first + (places >> 1)
        beyond = np.where(places & 1, -magnitudes, magnitudes)
        noise: NDArray[Any] = np.where(steps > 0, beyond, places - (self.first - 1))
        return noise
