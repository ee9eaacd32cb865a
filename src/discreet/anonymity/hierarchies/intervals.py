"""Hierarchies of numbers: intervals that widen level by level."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import ceil, isfinite
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import are_whole, numbers, same_number
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_INTERVALS = 1_000_000
"""More intervals than that is a mistake in a width."""

_SHORTEST, _LONGEST = Decimal("1e-6"), Decimal(10**15)
"""Numbers in between are written without an exponent."""

Number = int | float | Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Level 1 shows the interval that a number lies in; each level above merges `fanout` of them; the last is `*`.

    Numbers beyond the ends are clipped: at level 1 they are `<17` and `≥90`, above it they belong to the outermost
    intervals. An outermost interval is shown as open where a number lies beyond the end: the labels are always true.

    Intervals of whole numbers are shown by their first and last, `20–29`; others as `[20, 30)`, without 30.

    Args:
        cuts: two or more numbers, ascending: where an interval begins, and where the last one ends.
        fanout: how many intervals make one at the next level; 2 or more.

    Raises:
        InvalidArgument: the cuts don't ascend, or the fan-out is below 2.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [16, 17, 18, 25, 64, 93]}).column("age")
        >>> for labels in Intervals.equal(17, 90, width=10).ladder(ages).labels[1:]:
        ...     print(*labels)
        <17 17–26 57–66 ≥90
        <37 57–76 ≥77
        <57 ≥57
        *
        >>> Intervals(cuts=(0, 18, 65, 120)).ladder(ages).labels[1]
        ('0–17', '18–64', '65–119')
    """

    cuts: Sequence[Number]
    fanout: int = 2

    def __post_init__(self) -> None:
        cuts = tuple(self.cuts)
        if len(cuts) <= 1 or not all(map(isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
            raise InvalidArgument("cuts must be two or more numbers, ascending")
        if self.fanout <= 1:
            raise InvalidArgument(f"fanout must be 2 or more, not {self.fanout}")
        object.__setattr__(self, "cuts", cuts)

    @classmethod
    def equal(cls, lo: Number, hi: Number, *, width: Number, fanout: int = 2) -> Intervals:
        """Intervals of one width from `lo` up to, but not with, `hi`; the last is shorter if it doesn't come out even.

        Raises:
            InvalidArgument: `lo` isn't below `hi`, the width isn't above 0, or there would be over a million intervals.
        """
        start, end, step = (Decimal(str(number)) for number in (lo, hi, width))
        if not (start.is_finite() and end.is_finite() and step.is_finite() and start < end and step > 0):
            raise InvalidArgument("intervals need lo below hi and a width above 0")
        if end - start > step * _MOST_INTERVALS:
            raise InvalidArgument(f"a width of {width} makes over a million intervals from {lo} to {hi}")
        exact = [start + step * place for place in range(ceil((end - start) / step))]
        whole = all(cut == cut.to_integral_value() for cut in (*exact, end))
        return cls(cuts=tuple(int(cut) if whole else cut for cut in (*exact, end)), fanout=fanout)

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column doesn't hold numbers.
        """
        import pyarrow as pa

        values = numbers(column, "only numbers can be cut into intervals")
        places, last = self._places(values), len(self.cuts) - 2
        whole = are_whole(values) and all(cut == int(cut) and -_LONGEST < cut < _LONGEST for cut in self.cuts)
        below, above = bool((places < 0).any()), bool((places > last).any())
        levels, wide = [], 1
        while wide == 1 or last // wide > 0:
            group = places if wide == 1 else np.clip(places, 0, last) // wide
            met, which = np.unique(group, return_inverse=True)
            names = [self._name(place, wide, below=below, above=above, whole=whole) for place in met.tolist()]
            levels.append(pa.array(names, pa.string()).take(which))
            wide *= self.fanout
        return build(column, levels, top=True)

    def _places(self, values: pa.Array) -> Whole:
        """The interval of each value: −1 below the first cut, one more than the last interval from the last cut on."""
        import pyarrow as pa

        if pa.types.is_floating(values.type):
            cuts = np.array([float(cut) for cut in self.cuts])
            return _before(cuts, values)
        exact = [Decimal(str(cut)) for cut in self.cuts]
        if pa.types.is_signed_integer(values.type) and max(map(abs, exact)) < 1 << 62:
            ends = np.array([ceil(cut) for cut in exact], dtype=np.int64)  # a whole number is ≥ x if it is ≥ ⌈x⌉
            return _before(ends, values)
        return np.array([bisect_right(exact, number) - 1 for number in values.to_pylist()], dtype=np.int64)

    def _name(self, place: int, wide: int, *, below: bool, above: bool, whole: bool) -> str:
        """The label of `wide` merged intervals, the `place`-th of those."""
        last = len(self.cuts) - 2
        if place < 0:
            return f"<{_written(self.cuts[0])}"
        if place * wide > last:
            return f"≥{_written(self.cuts[-1])}"
        low, high = self.cuts[place * wide], self.cuts[min((place + 1) * wide, last + 1)]
        if wide > 1 and below and place == 0:
            return f"<{_written(high)}"
        if wide > 1 and above and place == last // wide:
            return f"≥{_written(low)}"
        if not whole:
            return f"[{_written(low)}, {_written(high)})"
        first, final = int(low), int(high) - 1
        return str(first) if first == final else f"{first} to {final}" if first < 0 else f"{first}–{final}"


def _before(cuts: Whole | Reals, values: pa.Array) -> Whole:
    """How many cuts aren't above each value, less one."""
    numbers = values.to_numpy(zero_copy_only=False).astype(cuts.dtype)
    counts: Whole = np.searchsorted(cuts, numbers, side="right").astype(np.int64)
    return counts - 1


def _written(cut: Number) -> str:
    """A cut as people write it: with an exponent where it would have too many zeros."""
    exact = Decimal(str(cut))
    if cut == 0 or _SHORTEST <= abs(exact) < _LONGEST:
        return same_number(str(cut))
    return f"{exact.normalize():E}"
