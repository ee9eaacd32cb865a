"""Randomising many people's values, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words

Randomiser: TypeAlias = Callable[[NDArray[np.int64], Words], NDArray[Any]]
"""Makes a report of each value, by draws from a source of words."""

CHUNK = 1 << 13
"""People at a time: what is made of them on the way stays in the cache."""


def drawn(values: NDArray[np.int64], randomiser: Randomiser, *, chunk: int = CHUNK) -> NDArray[Any]:
    """The reports of all values, in their order, from fresh randomness of the operating system."""
    source = Keystream()
    starts = range(0, max(len(values), 1), chunk)
    return np.concatenate([randomiser(values[start : start + chunk], source) for start in starts])
