"""Geometric noise: one-sided, for counts that may only grow."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, overload

from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact.rational import Rationalizable
from discreet.noise.floored_exponential import FlooredExponential, floored_exponential, no_shift
from discreet.noise.sampling import Size, checked_scale, fill, integers

geometric_law = lru_cache(maxsize=256)(partial(floored_exponential, shift=no_shift))


@overload
def geometric(scale: Rationalizable, size: None = None) -> int: ...
@overload
def geometric(scale: Rationalizable, size: int | tuple[int, ...]) -> NDArray[Any]: ...
def geometric(scale: Rationalizable, size: Size = None) -> int | NDArray[Any]:
    """Draw from Pr[n] = (1 − e^(-1/scale))·e^(-n/scale) for n ≥ 0.

    Guarantee: exactly that distribution, given uniform bits. ⌊scale·E⌋ for a standard exponential E is geometric:
    it is at least n iff E ≥ n/scale, which has probability e^(-n/scale).

    Args:
        scale: a rational in [2^-10, 2^60], best an int or a Fraction; it isn't rounded.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None. Otherwise an int64 array, or, for scales above 2^52, an array of Python ints.

    Raises:
        InvalidArgument: the scale or the size is not a number, or is out of range.
        OverflowError: a draw for an array doesn't fit int64, with a chance below e^(-2047) whatever the data.

    Source: Ghosh, Roughgarden, Sundararajan (2009), the definition of the geometric mechanism, one side of it.

    Examples:
        >>> bool((geometric(10, size=100) >= 0).all())
        True
    """
    number = checked_scale(scale, "scale")
    law, dtype = geometric_law(number), integers(number, size)
    noise: int | NDArray[Any] = fill(size, dtype, partial(draw_geometric, law, dtype))
    return noise


def draw_geometric(law: FlooredExponential, dtype: type, count: int, source: Words) -> NDArray[Any]:
    """`count` independent draws from a source of words."""
    return law.draw(source.words(count), source.width, source, dtype)
