"""MDAV: groups of k to 2k − 1 points that lie close together, and the averages of groups.

Coordinates are whole numbers, and so small that every distance is exact in floating point, whichever way it is summed.
So points at equal distance really tie, and ties go to the point that comes first: the groups are a function of the list
of points, on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.hierarchies.texts import is_number, present, texts
from discreet.anonymity.records.column import Coded, Reals, Whole
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


_EXACT = 53
"""Whole numbers up to two to this power are exact in floating point."""


def grid_bits(columns: int) -> int:
    """Coordinates below two to this power keep distances in so many columns exact.

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


_SAFE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Averages:
    """What the groups of one column become.

    Args:
        labels: of each group, what is shown.
        at: of each group, its coordinate, on the scale of `coordinates_of`.
    """

    labels: tuple[str, ...]
    at: Reals


def coordinates_of(column: Coded) -> Reals:
    """The values of a column as numbers; times count in the column's own unit.

    Raises:
        InvalidArgument: they aren't finite numbers or times, or one is missing.
    """
    import pyarrow as pa

    numeric = is_number(column.values) or pa.types.is_temporal(column.values.type)
    if not numeric:
        raise InvalidArgument(
            f"{column.name!r} holds no numbers and no times, so it has no mean",
            hint="Mondrian and the optimal search take every column",
        )
    if column.has_missing:
        raise InvalidArgument(
            f"{column.name!r} misses values, and a missing value has no place among numbers",
            hint="leave these rows out; Mondrian and the optimal search take them",
        )
    at = np.asarray(_stored(column.values).cast(pa.float64(), safe=False), dtype=np.float64)
    if not np.isfinite(at).all():
        raise InvalidArgument(f"{column.name!r} holds an infinite number, so it has no mean")
    return at


def medians(column: Coded, groups: Whole, number: int) -> Averages:
    """The median of each group, the lower one of two: a value that one of its rows has.

    Args:
        column: numbers or times.
        groups: row → its group, from 0 to `number` − 1; each has a row.
        number: how many groups there are.
    """
    sizes = np.bincount(groups, minlength=number)
    middle = np.cumsum(sizes) - sizes + (sizes - 1) // 2
    codes = column.codes[np.lexsort((column.codes, groups))][middle]
    shown = texts(present(column)).to_pylist()
    return Averages(labels=tuple(shown[code] for code in codes.tolist()), at=coordinates_of(column)[codes])


def means(column: Coded, groups: Whole, number: int, decimals: int) -> Averages:
    """The mean of each group: exact, then rounded once, halves to the even neighbour.

    Args:
        column: numbers or times.
        groups: row → its group, from 0 to `number` − 1; each has a row.
        number: how many groups there are.
        decimals: digits after the point that numbers are rounded to; times are rounded to the column's own unit.

    Examples:
        >>> from discreet.anonymity import read
        >>> age = read({"age": [20, 25, 31, 41]}).column("age")
        >>> means(age, np.array([0, 0, 0, 1]), 2, 2).labels
        ('25.33', '41')
    """
    import pyarrow as pa

    wholes, unit = _wholes(column.values)
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=number)
    sums = np.add.reduceat(wholes[column.codes[order]], np.cumsum(sizes) - sizes).tolist()
    kind = column.values.type
    scale = 1 if pa.types.is_temporal(kind) else 10**decimals
    # round() of a Fraction goes to the even neighbour, and is exact.
    rounded = [round(Fraction(total * scale, size * unit)) for total, size in zip(sums, sizes.tolist(), strict=True)]
    at = np.array([each / scale for each in rounded], dtype=np.float64)
    if pa.types.is_temporal(kind):
        return Averages(
            labels=tuple(texts(pa.array(rounded, _stored(column.values).type).view(kind)).to_pylist()), at=at
        )
    return Averages(labels=tuple(_written(each, decimals) for each in rounded), at=at)


def _written(number: int, decimals: int) -> str:
    """A number of units of 10^−decimals, without zeros at the end of its fraction."""
    digits = str(abs(number)).rjust(decimals + 1, "0")
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return f"{'-' if number < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


def _stored(values: pa.Array) -> pa.Array:
    """Times as the whole numbers they are kept as; numbers as they are."""
    import pyarrow as pa

    if not pa.types.is_temporal(values.type):
        return values
    return values.view(pa.int32() if values.type.bit_width == pa.int32().bit_width else pa.int64())


def _wholes(values: pa.Array) -> tuple[Whole, int]:
    """Whole numbers and the unit they are over: value i is exactly the i-th over the unit.

    They are Python's numbers where sums could outgrow 64 bits.
    """
    import pyarrow as pa

    stored = _stored(values)
    numbers: list[int | float | Decimal] = stored.to_pylist()
    if pa.types.is_integer(stored.type):
        wholes, unit = [int(number) for number in numbers], 1
    else:
        exact = [Fraction(number) for number in numbers]
        unit = lcm(*(number.denominator for number in exact))
        wholes = [number.numerator * (unit // number.denominator) for number in exact]
    most = max((abs(number) for number in wholes), default=0)
    # A group has fewer rows than a table can have, 2^31.
    small = most < _SAFE >> 31
    return np.array(wholes, dtype=np.int64 if small else object), unit
