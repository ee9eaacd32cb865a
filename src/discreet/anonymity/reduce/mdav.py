"""MDAV: groups of k to 2k − 1 points that lie close together.

Coordinates are whole numbers, and so small that every distance is exact in floating point, whichever way it is summed.
So points at equal distance really tie, and ties go to the point that comes first: the groups are a function of the list
of points, on every machine.
"""

from __future__ import annotations

import numpy as np

from discreet.anonymity.columns import Reals, Whole

_EXACT = 53
"""Whole numbers up to two to this power are exact in floating point."""


def grid_bits(columns: int) -> int:
    """Coordinates below two to this power keep distances in that many columns exact.

    |x|² − 2x·c + |c|² has terms of at most 2 · columns · 4^bits.

    Examples:
        >>> grid_bits(1), grid_bits(8)
        (25, 24)
    """
    return (_EXACT - 1 - columns.bit_length()) // 2


def mdav(points: Reals, k: int) -> Whole:
    """The group of each point.

    As long as there are 3k points or more: the point farthest from their mean and the k − 1 nearest to it are a group,
    then the point farthest from that one, of those that are left, and the k − 1 nearest to it. Of 2k to 3k − 1 points
    the first such group is taken, and the rest are one. The mean is rounded to whole coordinates, halves upwards.

    Args:
        points: points × columns: whole numbers from 0 to less than two to the power `grid_bits`; at least k points,
            whose sums are below 2^53.
        k: 1 or more.

    Returns:
        Numbers from 0 on, one per group; each group has k to 2k − 1 points.

    Source: Domingo-Ferrer, Torra (2005), "Ordinal, continuous and heterogeneous k-anonymity through microaggregation":
    algorithm MDAV-generic, after Domingo-Ferrer, Mateo-Sanz (2002).

    Examples:
        >>> mdav(np.array([[0.0], [1.0], [50.0], [51.0], [98.0], [99.0]]), 2).tolist()
        [0, 0, 2, 2, 1, 1]
    """
    found = np.empty(len(points), dtype=np.int64)
    left = np.arange(len(points))
    squares = (points * points).sum(axis=1)
    number = 0
    while len(left) >= 2 * k:
        from_here = _center(points)
        for _ in range(2 if len(left) >= 3 * k else 1):
            start = int(_distances(points, squares, from_here).argmax())
            from_here = points[start]
            taken = _nearest(_distances(points, squares, from_here), k)
            found[left[taken]] = number
            number += 1
            rest = np.ones(len(left), dtype=np.bool_)
            rest[taken] = False
            points, squares, left = points[rest], squares[rest], left[rest]
    found[left] = number
    return found


def _center(points: Reals) -> Reals:
    """The mean, rounded to whole coordinates, halves upwards."""
    sums: Whole = points.sum(axis=0).astype(np.int64)
    return np.floor_divide(2 * sums + len(points), 2 * len(points)).astype(np.float64)


def _distances(points: Reals, squares: Reals, center: Reals) -> Reals:
    """The squared distance of each point from another."""
    found: Reals = squares - 2.0 * (points @ center) + float(center @ center)
    return found


def _nearest(distances: Reals, k: int) -> Whole:
    """The k least, of equal ones those that come first."""
    if k >= len(distances):
        return np.arange(len(distances))
    bound = np.partition(distances, k - 1)[k - 1]
    nearer = np.flatnonzero(distances < bound)
    ties = np.flatnonzero(distances == bound)
    return np.concatenate((nearer, ties[: k - len(nearer)]))
