"""Coins whose bias is an exact rational."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational
from discreet.noise.batch import Size, fill
from discreet.noise.entropy import Words


@overload
def bernoulli(p: Rationalizable, size: None = None) -> bool: ...
@overload
def bernoulli(p: Rationalizable, size: int | tuple[int, ...]) -> NDArray[np.bool_]: ...
def bernoulli(p: Rationalizable, size: Size = None) -> bool | NDArray[np.bool_]:
    """Toss coins that come up True with probability p.

    Guarantee: exactly that probability, given uniform bits. A uniform number is compared with p by integers: its first
    bits against the same bits of p. Where they are equal, the next bits are compared with the rest of p.

    Args:
        p: a rational in [0, 1], best an int or a Fraction; it isn't rounded.
        size: how many tosses, or a shape; None for a single one.

    Returns:
        A bool if `size` is None, otherwise an array of them.

    Raises:
        InvalidArgument: p isn't a number in [0, 1], or size isn't one.

    Examples:
        >>> bernoulli(1), bernoulli(0, size=2).tolist()
        (True, [False, False])
    """
    chance = rational(p, "p")
    if not 0 <= chance <= 1:
        raise InvalidArgument("p must be at least 0 and at most 1", hint="it is a probability")
    tosses: bool | NDArray[np.bool_] = fill(size, np.bool_, partial(draw, chance))
    return tosses


def draw(p: Fraction, count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent tosses from a source of words."""
    if p == 1:  # its first bits are a number no word holds
        return np.ones(count, dtype=np.bool_)
    known, rest = divmod(p * 2**source.width, 1)
    cells = source.words(count)
    tosses: NDArray[np.bool_] = cells < known
    for i in np.flatnonzero(cells == known):
        tosses[i] = _settle(rest, source)
    return tosses


def _settle(p: Fraction, source: Words) -> bool:
    """One toss; ends with probability 1, and at once if what is left of p is 0."""
    while p:
        known, p = divmod(p * 2**source.width, 1)
        word = int(source.words(1)[0])
        if word != known:
            return bool(word < known)
    return False
