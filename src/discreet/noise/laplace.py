"""Laplace noise: two-sided."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact.rational import Rationalizable
from discreet.noise.sampling import Size, checked_scale, fill, integers

if TYPE_CHECKING:
    from flint import arb
from discreet.noise.floored_exponential import FlooredExponential, floored_exponential


@overload
def discrete_laplace(scale: Rationalizable, size: None = None) -> int: ...
@overload
def discrete_laplace(scale: Rationalizable, size: int | tuple[int, ...]) -> NDArray[Any]: ...
def discrete_laplace(scale: Rationalizable, size: Size = None) -> int | NDArray[Any]:
    """Draw from Pr[n] = (1 − q)/(1 + q)·q^|n| with q = e^(-1/scale), for every integer n.

    Guarantee: exactly that distribution, given uniform bits. The sign is a fair bit and the magnitude is
    M = ⌊c + scale·E⌋ for a standard exponential E and c = scale·log(2/(1 + q)), which lies in (0, 1/2]. For n ≥ 1,
    M ≥ n iff E ≥ (n − c)/scale, with probability q^n·e^(c/scale) = 2q^n/(1 + q), which is Pr[|noise| ≥ n]. Nothing is
    rejected, so every draw takes one path.

    Args:
        scale: a rational in [2^-10, 2^60], best an int or a Fraction; it isn't rounded. Sensitivity over ε.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None. Otherwise an int64 array, or, for scales above 2^52, an array of Python ints.

    Raises:
        InvalidArgument: the scale or the size is not a number, or is out of range.
        OverflowError: a draw for an array doesn't fit int64, with a chance below e^(-2047) whatever the data.

    Source: Ghosh, Roughgarden, Sundararajan (2009), the definition of the (two-sided) geometric mechanism.

    Examples:
        >>> noise = discrete_laplace(Fraction(5, 2), size=(2, 3))
        >>> noise.shape, noise.dtype.name
        ((2, 3), 'int64')
    """
    number = checked_scale(scale, "scale")
    law, dtype = laplace_law(number), integers(number, size)
    noise: int | NDArray[Any] = fill(size, dtype, partial(draw_laplace, law, dtype))
    return noise


@lru_cache(maxsize=256)
def laplace_law(scale: Fraction) -> FlooredExponential:
    """The sampler of the magnitude."""
    return floored_exponential(scale, partial(centre, scale))


def centre(scale: Fraction) -> arb:
    """The shift c = scale·log(2/(1 + e^(-1/scale))), at the working precision."""
    from discreet.exact.ball import ball

    return ball(scale) * (2 / (1 + (-1 / ball(scale)).exp())).log()


def draw_laplace(law: FlooredExponential, dtype: type, count: int, source: Words) -> NDArray[Any]:
    """`count` independent draws from a source of words: a word's lowest bit is the sign, the rest the magnitude."""
    words = source.words(count)
    sign = 1 - 2 * (words & 1)
    noise: NDArray[Any] = law.draw(words >> 1, source.width - 1, source, dtype) * sign
    return noise
