"""What the samplers' public functions share: checked arguments, and arrays filled piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.noise.entropy import Keystream, Words

Size: TypeAlias = int | tuple[int, ...] | None
"""A number of draws, the shape of an array of them, or None for a single one."""

Sampler: TypeAlias = Callable[[int, Words], NDArray[Any]]
"""Makes `count` independent draws from a source of words."""

CHUNK = 1 << 12  # draws at a time: temporaries stay in the cache, and below the sizes that malloc maps and unmaps

_INT64 = 1 << 52
_LEAST, _MOST = Fraction(1, 2**10), Fraction(2**60)


def checked_scale(value: Rationalizable, name: str) -> Fraction:
    """Read a scale, which lies in [2^-10, 2^60].

    Raises:
        InvalidArgument: it isn't a number, or is outside the range.
    """
    scale = positive(value, name)
    if not _LEAST <= scale <= _MOST:
        raise InvalidArgument(
            f"{name} must be at least 2^-10 and at most 2^60, but it is {'above' if scale > 1 else 'below'} that",
            hint="choose another grid: the noise is counted in its steps",
        )
    return scale


def integers(scale: Fraction, size: Size) -> type:
    """What holds draws of this scale: int64, or Python integers of any size.

    It depends on the scale and not on the draws, so that it says nothing about them. Up to a scale of 2^52 a draw
    exceeds int64 with probability below e^(-2047), and then raises. A single draw is a Python integer anyway.
    """
    return object if size is None or scale > _INT64 else np.int64


def fill(size: Size, dtype: type, sampler: Sampler) -> Any:  # noqa: ANN401  # a Python value or an array, by `size`
    """Draw the array of shape `size`, or a single Python value if `size` is None.

    Beyond what it returns it holds a few chunks, whatever the size.

    Raises:
        InvalidArgument: the size isn't made of whole numbers of at least 0.
    """
    source = Keystream()
    if size is None:
        return sampler(1, source).item()
    shape = _shape(size)
    out: NDArray[Any] = np.empty(prod(shape), dtype=dtype)
    for start in range(0, len(out), CHUNK):
        piece = out[start : start + CHUNK]
        piece[:] = sampler(len(piece), source)
    return out.reshape(shape)


def _shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """The size as a tuple."""
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 0:
            raise InvalidArgument(
                f"size must be a whole number of at least 0, or a tuple of them, not {size!r}",
                hint="size=None draws a single number",
            )
    return tuple(int(length) for length in shape)
