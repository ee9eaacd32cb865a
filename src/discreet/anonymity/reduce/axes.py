"""Where the values of a quasi-identifier lie, how wide a range of them is, where it may be cut, what averages are.

Numbers and times lie where they are, other values one step apart in the order of their code points; a missing value
lies an average step beyond the greatest. Ranges of them may be cut between any two values.

Where a ladder is given, values lie in an order that keeps those of every group together, at every level: only then does
a range of categories mean something. It is shown as the smallest group that holds it, so it is as wide as that group,
and it is cut only between that group's parts: any other cut may leave both halves with the same cell.

| column | one value | more |
|---|---|---|
| numbers, times | `20` | `20–29`; `-5 to 9` where the column has negative numbers |
| other values, up to eight in the range | `Masters` | `{Bachelors, Masters}`: all values of the range |
| other values, more in the range | | `{Armed-Forces … Sales}`: all values between, in the order of code points |
| with a ladder | its label | the label of the smallest group that holds the range: it stands for the whole group |
| with a missing value | `(missing)` | `20–29 or (missing)`, `{Masters, (missing)}` |

Different ranges have different labels: a value with a comma, a brace, a quotation mark or an ellipsis in it is quoted
inside braces. Where a ladder has no group for everything, a range that no group holds is shown as the set of the
highest groups that it meets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.hierarchies.texts import MISSING, is_number, is_time, present, texts
from discreet.anonymity.reduce.recoding import Cells, ListedCells, RangeCells
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


# ── Axes ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Axis:
    """One quasi-identifier as a line.

    Args:
        column: the quasi-identifier.
        ladder: its hierarchy; None if ranges of its values are released.
        place: code → place on the line, from 0.
        at: place → coordinate, ascending.
        grains: level × place → the number of the place's group along the line. Level 0 is the places themselves;
            with a ladder its other levels follow, and one on which everything is a group.
        widths: level × place → how wide that group is, as a share of the line: its values but one over all but one.

    Examples:
        >>> from discreet.anonymity import read
        >>> axis = axis_of(read({"age": [20, 25, 40]}).column("age"), None)
        >>> axis.spans(np.array([0], np.int32), np.array([1], np.int32)).tolist()
        [0.25]
    """

    column: Coded
    ladder: Ladder | None
    place: Codes
    at: Reals
    grains: Codes
    widths: Reals

    def spans(self, low: Codes, high: Codes) -> Reals:
        """How wide each range of places is, as a share of the line; 0 for a single place."""
        if self.ladder is not None:
            return self.widths[self.levels(low, high), low]
        width = float(self.at[-1] - self.at[0])
        return (self.at[high] - self.at[low]) / (width if width > 0 else 1.0)

    def levels(self, low: Codes, high: Codes) -> Whole:
        """The lowest level at which each range is within one group; for axes with a ladder."""
        level = np.zeros(len(low), dtype=np.int64)
        for rung in range(len(self.grains) - 1, -1, -1):
            level[self.grains[rung][low] == self.grains[rung][high]] = rung
        return level


def axes_of(columns: Sequence[Coded], ladders: Mapping[str, Ladder]) -> tuple[Axis, ...]:
    """The axes of some quasi-identifiers.

    Raises:
        InvalidArgument: a ladder belongs to none of them, or to other values.
    """
    unknown = set(ladders) - {column.name for column in columns}
    if unknown:
        raise InvalidArgument(f"{min(unknown)!r} has a ladder, but isn't among the quasi-identifiers")
    return tuple(axis_of(column, ladders.get(column.name)) for column in columns)


def axis_of(column: Coded, ladder: Ladder | None) -> Axis:
    """The axis of one quasi-identifier.

    Raises:
        InvalidArgument: the ladder has another number of values than the column.
    """
    steps: Codes = np.arange(column.size, dtype=np.int32)
    if ladder is not None and len(ladder.maps[0]) != column.size:
        raise InvalidArgument(f"the ladder of {column.name!r} was made for another column: its values don't agree")
    # Sorted by the highest level first: a group's values follow each other, within a group those of a subgroup, …
    maps: tuple[Codes, ...] = (steps,) if ladder is None else (*ladder.maps, np.zeros_like(steps))
    order = np.lexsort(maps)
    place = np.empty_like(steps)
    place[order] = steps
    grains = np.zeros((len(maps), column.size), dtype=np.int32)
    for level, groups in enumerate(maps):
        np.cumsum(groups[order][1:] != groups[order][:-1], out=grains[level, 1:])
    widths = np.stack([np.bincount(grain)[grain] - 1 for grain in grains]) / max(1, column.size - 1)
    at = coordinates(column) if ladder is None else steps.astype(np.float64)
    return Axis(column=column, ladder=ladder, place=place, at=at, grains=grains, widths=widths)


def coordinates(column: Coded) -> Reals:
    """Where each value lies: numbers and times where they are, others one step apart, a missing value beyond them."""
    import pyarrow as pa

    values = present(column)
    if len(values) <= 1 or not (is_number(values) or pa.types.is_temporal(values.type)):
        return np.arange(column.size, dtype=np.float64)
    at = np.asarray(_stored(values).cast(pa.float64(), safe=False), dtype=np.float64)
    if not np.isfinite(at[-1] - at[0]):
        return np.arange(column.size, dtype=np.float64)  # infinitely far from all others: only the order is left
    if not column.has_missing:
        return at
    # One average step further; all are multiplied by the number of steps, so that whole numbers stay whole.
    return np.append(at * (len(at) - 1), at[-1] * len(at) - at[0])


# ── What ranges are shown as ──────────────────────────────────────────────────────────────────────────────────────────

_LISTED = 8
"""So many values are listed; of more, the first and the last are shown."""
_SPECIAL = frozenset('{},"…')


def shown(axis: Axis, low: Codes, high: Codes) -> tuple[Cells, Whole]:
    """The cells of one quasi-identifier, and the cell of each range.

    Args:
        axis: the quasi-identifier.
        low: of each range, the least place.
        high: of each range, the greatest; no two ranges have both in common.
    """
    if axis.ladder is not None:
        return _groups(axis, axis.ladder, low, high)
    column = axis.column
    missing = _unused(column) if column.has_missing else ""
    known = texts(present(column)).to_pylist()
    named = _interval if is_number(column.values) or is_time(column.values) else _set
    labels = tuple(named(known, missing, *pair) for pair in zip(low.tolist(), high.tolist(), strict=True))
    return RangeCells(name=column.name, labels=labels, low=low, high=high, size=column.size), np.arange(len(low))


def _unused(column: Coded) -> str:
    """A label for the missing value that no value has."""
    taken, name = set(texts(present(column)).to_pylist()), MISSING
    while name in taken:
        name = f"({name})"
    return name


def _interval(known: Sequence[str], missing: str, low: int, high: int) -> str:
    """A range of numbers or times; the place after the last known one is the missing value's."""
    if low == len(known):
        return missing
    last = min(high, len(known) - 1)
    to = " to " if known[0].startswith("-") else "–"  # the least is the first
    text = known[low] if low == last else f"{known[low]}{to}{known[last]}"
    return text if last == high else f"{text} or {missing}"


def _set(known: Sequence[str], missing: str, low: int, high: int) -> str:
    """A range of other values."""
    names = [*known[low : high + 1], *([missing] if high == len(known) else [])]
    # A value that looks like a set is shown as a set of itself, which nothing else looks like.
    looks = low < len(known) and known[low].startswith("{")
    return _listed(names) if low < high or looks else names[0]


def _listed(names: Sequence[str]) -> str:
    """A set, or its ends if it is large."""
    if len(names) > _LISTED:
        return f"{{{_quoted(names[0])} … {_quoted(names[-1])}}}"
    return f"{{{', '.join(map(_quoted, names))}}}"


def _quoted(text: str) -> str:
    """A value as it stands in a set."""
    return json.dumps(text, ensure_ascii=False) if _SPECIAL & set(text) else text


def _groups(axis: Axis, ladder: Ladder, low: Codes, high: Codes) -> tuple[Cells, Whole]:
    """The smallest groups that hold the ranges of a column with a ladder, and the group of each range."""
    order = np.argsort(axis.place)  # place → code
    level = axis.levels(low, high)
    # Level by level, the groups from that of the least place to that of the greatest: one, unless nothing holds both.
    rung = np.minimum(level, ladder.height)
    ends = np.stack((level, axis.grains[rung, low], axis.grains[rung, high]), axis=1)
    distinct, place = np.unique(ends, axis=0, return_inverse=True)
    labels, covered = [], []
    for found, first, last in distinct.tolist():
        at = min(found, ladder.height)
        codes = order[(axis.grains[at] >= first) & (axis.grains[at] <= last)]
        names = [ladder.labels[at][group] for group in dict.fromkeys(ladder.maps[at][codes].tolist())]
        labels.append(names[0] if len(names) == 1 else _listed(names))
        covered.append(codes.astype(np.int32))
    return ListedCells.of(axis.column.name, labels, covered), place.reshape(-1)


# ── Averages ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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
