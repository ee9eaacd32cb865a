"""Pseudorandom numbers for public fiction: streams that depend on a label alone.

Anyone who knows a stream's label knows all its numbers, so they must not protect anything. Noise comes from
`discreet.noise`, which has no label and no seed.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def uniform(label: str, n: int) -> Reals:
    """The first `n` numbers of the stream called `label`, evenly spread over [0, 1).

    The number at a place depends on label and place alone, so a longer stream begins with the shorter one, and a new
    label disturbs no other.

    Args:
        label: any text; streams of different labels are unrelated.
        n: how many; 0 or more.

    Source: Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", the algorithm
    SplitMix64, over a counter.

    Examples:
        >>> uniform("age", 2).round(6).tolist() == uniform("age", 3)[:2].round(6).tolist()
        True
    """
    key = np.uint64(int.from_bytes(blake2b(label.encode(), digest_size=8).digest(), "big"))
    state = np.arange(1, n + 1, dtype=np.uint64) * _GOLDEN + key  # wraps, as it should
    for shift, factor in _STEPS:
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(label: str, n: int) -> Reals:
    """The first `n` numbers of a stream with the standard normal distribution.

    Source: Box, Muller (1958), the equations of the pair of normal numbers.

    Examples:
        >>> bool(abs(normal("income", 10_000).mean()) < 0.05)
        True
    """
    radius = np.sqrt(-2.0 * np.log1p(-uniform(f"{label}: radius", n)))
    return np.asarray(radius * np.cos(2.0 * np.pi * uniform(f"{label}: angle", n)))


def pick(label: str, weights: Reals, n: int) -> Whole:
    """The first `n` places in `weights`, each as often as its weight says.

    Args:
        label: names the stream.
        weights: one per place, 0 or more, not all 0; or one row of them for each of the `n` draws.
        n: how many.

    Examples:
        >>> pick("coin", np.array([0.0, 1.0]), 3).tolist()
        [1, 1, 1]
    """
    ends = np.cumsum(weights, axis=-1)
    drawn = uniform(label, n) * ends[..., -1]
    if weights.ndim == 1:
        return np.searchsorted(ends, drawn, side="right").astype(np.int64)
    return np.asarray((drawn[:, np.newaxis] >= ends).sum(axis=1), dtype=np.int64)
