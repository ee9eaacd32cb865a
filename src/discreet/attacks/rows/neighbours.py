"""Neighbours: which released rows are nearest to each person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.anonymity.columns import Mask, Whole
from discreet.attacks.rows.three_tables import Column

_BLOCK = 1 << 21
"""How many distances are held at a time, for each column."""


def distances(columns: Sequence[Column], side: int, rows: Whole) -> Iterator[NDArray[np.float32]]:
    """People of a table × released rows: Gower's distance, times the number of columns; some people at a time."""
    released = len(columns[0].cells[0])
    step = max(1, _BLOCK // released)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        total = columns[0].apart(side, part)
        for column in columns[1:]:
            total += column.apart(side, part)
        yield total


def linked(hands: tuple[list[Column], list[Column]], side: int, neighbors: int, rows: Whole) -> Mask:
    """For people of a table, whether what either party knows leads to the same released row."""
    found = []
    for one, other in zip(*(distances(hand, side, rows) for hand in hands), strict=True):
        if neighbors == 1:
            found.append(one.argmin(axis=1) == other.argmin(axis=1))
            continue
        nearest = [
            np.argpartition(each, min(neighbors, each.shape[1]) - 1, axis=1)[:, :neighbors] for each in (one, other)
        ]
        found.append(np.array([len(np.intersect1d(a, b)) > 0 for a, b in zip(*nearest, strict=True)]))
    return np.concatenate(found)
