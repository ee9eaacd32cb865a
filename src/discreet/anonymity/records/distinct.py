"""The different numbers of a list, by sorting: NumPy's own way hashes them, a hundred times as slow at millions."""

from __future__ import annotations

import numpy as np

from discreet.anonymity.records.column import Whole
from discreet.anonymity.records.grouping import starts_of


def distinct(numbers: Whole) -> Whole:
    """The different numbers, ascending.

    Examples:
        >>> distinct(np.array([3, 1, 3])).tolist()
        [1, 3]
    """
    ordered = np.sort(numbers)
    return ordered[starts_of(ordered)]
