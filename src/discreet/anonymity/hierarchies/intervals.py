"""Hierarchies by intervals: of numbers, which widen level by level; of dates by month, quarter, year and decade."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import ceil, isfinite
from typing import TYPE_CHECKING, get_args

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import are_whole, is_time, numbers, present, same_number, spelled_dates, times
from discreet.errors import Hint, InvalidArgument, SchemaMismatch
from discreet.tables.schema.source import DateOrder

if TYPE_CHECKING:
    import pyarrow as pa


# ── Numbers ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
        """What is shown for `wide` intervals that were merged, the `place`-th of those."""
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


# ── Dates ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _text(values: pa.Array, digits: int = 0) -> pa.Array:
    """Whole numbers as texts of so many digits or more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lpad(pc.cast(values, pa.string()), digits, padding="0")


def _joined(*parts: pa.Array | str) -> pa.Array:
    """Texts, one after the other."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*parts, "")


def _day(values: pa.Array) -> pa.Array:
    """2024-02-29."""
    import pyarrow.compute as pc

    return _joined(_month(values), "-", _text(pc.day(values), 2))


def _week(values: pa.Array) -> pa.Array:
    """2024-W09, by ISO 8601: the week belongs to the year of its Thursday."""
    import pyarrow.compute as pc

    parts = pc.iso_calendar(values)
    return _joined(_text(parts.field("iso_year"), 4), "-W", _text(parts.field("iso_week"), 2))


def _month(values: pa.Array) -> pa.Array:
    """2024-02."""
    import pyarrow.compute as pc

    return _joined(_year(values), "-", _text(pc.month(values), 2))


def _quarter(values: pa.Array) -> pa.Array:
    """2024-Q1."""
    import pyarrow.compute as pc

    return _joined(_year(values), "-Q", _text(pc.quarter(values)))


def _year(values: pa.Array) -> pa.Array:
    """2024."""
    import pyarrow.compute as pc

    return _text(pc.year(values), 4)


def _decade(values: pa.Array) -> pa.Array:
    """2020s."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tens = pc.cast(pc.floor(pc.divide(pc.cast(pc.year(values), pa.float64()), 10.0)), pa.int64())
    return _joined(_text(tens, 3), "0s")


_UNITS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "day": _day,
    "week": _week,
    "month": _month,
    "quarter": _quarter,
    "year": _year,
    "decade": _decade,
}
"""By name, from short to long."""
_WHATEVER_ORDER = {"year", "decade"}
"""The units that don't depend on whether the day or the month stands first."""
_CROSSED = "week"
"""The unit that the ends of months, quarters and years cut through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Each level shows a longer unit of the calendar; the last is `*` for all.

    A date's own day is level 0, so `"day"` adds a level to timestamps only, and to texts that write a day in two ways.
    Timestamps with a time zone are read in it.

    An ISO week may lie in two months and in two years: what is known of a date's week doesn't give its month. So
    `"week"` has no longer unit above it but `*`.

    Args:
        units: one or more of day, week, month, quarter, year and decade, each longer than the one before.
        order: in which day and month stand in texts such as 9/7/1967: "dmy" or "mdy". If left out, a text that can be
            read in one way only settles it for all; where none can, only years and decades are sure.

    Raises:
        InvalidArgument: there is no such unit or order, they don't lengthen, or one is above `"week"`.

    Examples:
        >>> from datetime import date
        >>> from discreet.anonymity import read
        >>> births = read({"born": [date(1984, 2, 29), date(1984, 3, 1), date(1991, 7, 5)]}).column("born")
        >>> for labels in Calendar().ladder(births).labels[1:]:
        ...     print(*labels)
        1984-02 1984-03 1991-07
        1984-Q1 1991-Q3
        1984 1991
        1980s 1990s
        *
        >>> texts = read({"born": ["2/29/1984", "3/1/1984"]}).column("born")
        >>> Calendar(units=("month", "year")).ladder(texts).labels[1:]
        (('1984-02', '1984-03'), ('1984',), ('*',))
    """

    units: Sequence[str] = ("day", "month", "quarter", "year", "decade")
    order: DateOrder | None = None

    def __post_init__(self) -> None:
        units = tuple(self.units)
        for unit in units:
            if unit not in _UNITS:
                raise InvalidArgument(f"{unit!r} is no unit of the calendar", hint=f"there are {', '.join(_UNITS)}")
        order = list(_UNITS)
        if not units or any(order.index(low) >= order.index(high) for low, high in pairwise(units)):
            raise InvalidArgument("a calendar needs one or more units, each longer than the one before")
        if _CROSSED in units[:-1]:
            raise InvalidArgument(
                f"a week can lie in two {units[units.index(_CROSSED) + 1]}s, so it can't be below them",
                hint="take weeks alone, or leave them out",
            )
        if self.order not in {None, *get_args(DateOrder)}:
            raise InvalidArgument(
                f"{self.order!r} is no order of dates", hint=f"one of {', '.join(get_args(DateOrder))}"
            )
        object.__setattr__(self, "units", units)

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column holds neither dates nor timestamps, or a text that is no date; or nothing says
                whether day or month stands first, and a unit depends on it.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self._read(column)
        several = pa.types.is_timestamp(values.type) or pc.count_distinct(values).as_py() < len(values)
        units = [unit for unit in self.units if unit != "day" or several]
        return build(column, [_UNITS[unit](values) for unit in units], top=True)

    def _read(self, column: Coded) -> pa.Array:
        """The dates or timestamps of a column; one without values may be of any kind.

        Raises:
            SchemaMismatch: it holds something else, or dates that can be read in two ways.
        """
        held = present(column)
        found = None if is_time(held) else spelled_dates(held, self.order)
        if found is None:
            return times(column, "every text must be a day of the calendar, such as 9/7/1967; others can be masked")
        if not found.settled and not set(self.units) <= _WHATEVER_ORDER:
            raise SchemaMismatch(
                f"nothing in column {column.name!r} tells whether the day or the month stands first",
                hint=Hint(
                    'order="dmy" or order="mdy"; units of a year or more need neither',
                    cli="--dates dmy or --dates mdy; units of a year or more need neither",
                ),
            )
        return found.days
