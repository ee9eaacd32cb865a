"""Averages of groups: means and medians, which show no value that fewer than k people have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, lcm
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Whole
from discreet.anonymity.hierarchies.texts import is_number, present, texts
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

_SAFE = 1 << 62

_FINER = {"date": ("s", 86_400), "s": ("ms", 1_000), "ms": ("us", 1_000), "us": ("ns", 1_000)}
"""The unit below the one that times are kept in, and how many of it make one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Averages:
    """The averages that the groups of one column become.

    Args:
        labels: for each group, what is shown.
        at: for each group, its coordinate, on the scale of `coordinates_of`.
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
            f"{column.name!r} has missing values, which have no place among numbers",
            hint="leave these rows out; Mondrian and the optimal search take them",
        )
    at = np.asarray(as_stored(column.values).cast(pa.float64(), safe=False), dtype=np.float64)
    if not np.isfinite(at).all():
        raise InvalidArgument(f"{column.name!r} holds an infinite number, so it has no mean")
    return at


def medians(column: Coded, groups: Whole, number: int, rare: Mask) -> Averages:
    """The median of each group, the lower one of two: a value that one of its rows has, or halfway to the next.

    Args:
        column: numbers or times.
        groups: row → its group, from 0 to `number` − 1; each has a row.
        number: how many groups there are.
        rare: code → whether too few people share the value. If one would be shown, all medians are halfway between two
            units of the column.

    Raises:
        InvalidArgument: the column has no finer unit to be halfway between.
    """
    sizes = np.bincount(groups, minlength=number)
    middle = np.cumsum(sizes) - sizes + (sizes - 1) // 2
    codes = column.codes[np.lexsort((column.codes, groups))][middle]
    if rare[codes].any():
        wholes, unit = _wholes(column.values)
        return _halfway(column, [Fraction(int(whole), unit) for whole in wholes[codes].tolist()])
    shown = texts(present(column)).to_pylist()
    return Averages(labels=tuple(shown[code] for code in codes.tolist()), at=coordinates_of(column)[codes])


def means(column: Coded, groups: Whole, number: int, decimals: int, rare: Mask) -> Averages:
    """The mean of each group: exact, then rounded once, halves to the even neighbour.

    Args:
        column: numbers or times.
        groups: row → its group, from 0 to `number` − 1; each has a row.
        number: how many groups there are.
        decimals: digits after the point that numbers are rounded to; times are rounded to the column's own unit.
        rare: code → whether too few people share the value. If one would be shown, all means are rounded to halfway
            between two units of the column, where no value is.

    Raises:
        InvalidArgument: the column has no finer unit to be halfway between.

    Examples:
        >>> from discreet.anonymity import read
        >>> age = read({"age": [20, 25, 31, 41]}).column("age")
        >>> means(age, np.array([0, 0, 0, 1]), 2, 2, np.zeros(4, np.bool_)).labels
        ('25.33', '41')
        >>> means(age, np.array([0, 0, 0, 1]), 2, 2, np.ones(4, np.bool_)).labels
        ('25.5', '41.5')
    """
    import pyarrow as pa

    wholes, unit = _wholes(column.values)
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=number)
    sums = np.add.reduceat(wholes[column.codes[order]], np.cumsum(sizes) - sizes).tolist()
    exact = [Fraction(total, size * unit) for total, size in zip(sums, sizes.tolist(), strict=True)]
    kind = column.values.type
    scale = 1 if pa.types.is_temporal(kind) else 10**decimals
    rounded = [round(mean * scale) for mean in exact]  # round() of a Fraction goes to the even neighbour, and is exact
    at = np.array([each / scale for each in rounded], dtype=np.float64)
    if pa.types.is_temporal(kind):
        shown = texts(pa.array(rounded, as_stored(column.values).type).view(kind)).to_pylist()
    else:
        shown = [_written(each, decimals) for each in rounded]
    hidden = {text for text, few in zip(texts(present(column)).to_pylist(), rare.tolist(), strict=False) if few}
    return Averages(labels=tuple(shown), at=at) if hidden.isdisjoint(shown) else _halfway(column, exact)


def _halfway(column: Coded, exact: Sequence[Fraction]) -> Averages:
    """Averages, each moved to halfway between the two units of the column that it lies between: no value is there.

    Raises:
        InvalidArgument: times are kept to a unit that has no half.
    """
    import pyarrow as pa

    kind = column.values.type
    if not pa.types.is_temporal(kind):
        exponents = (int(Decimal(text).as_tuple().exponent) for text in texts(present(column)).to_pylist())
        decimals = max(0, *(-exponent for exponent in exponents))
        tenfold = [10 * floor(each * 10**decimals) + 5 for each in exact]
        at = np.array([each / 10 ** (decimals + 1) for each in tenfold], dtype=np.float64)
        return Averages(labels=tuple(_written(each, decimals + 1) for each in tenfold), at=at)
    unit = "date" if pa.types.is_date(kind) else kind.unit
    if unit not in _FINER:
        raise InvalidArgument(
            f"an average of {column.name!r} would be a time that fewer than k people have, and there is no finer one",
            hint="Mondrian and the optimal search take this column",
        )
    finer, steps = _FINER[unit]
    halves = pa.array([floor(each) * steps + steps // 2 for each in exact], pa.int64())
    times = halves.view(pa.timestamp(finer, tz=None if unit == "date" else kind.tz))
    at = np.array([floor(each) + 0.5 for each in exact], dtype=np.float64)
    return Averages(labels=tuple(texts(times).to_pylist()), at=at)


def _written(number: int, decimals: int) -> str:
    """A number of units of 10^−decimals, without zeros at the end of its fraction."""
    digits = str(abs(number)).rjust(decimals + 1, "0")
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return f"{'-' if number < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


def as_stored(values: pa.Array) -> pa.Array:
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

    stored = as_stored(values)
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
