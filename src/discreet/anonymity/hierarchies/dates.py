"""Dates by month, quarter, year and decade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import dotted_days, present, times
from discreet.anonymity.records.column import Coded
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa


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
        dotted: whether the column holds texts such as 29.02.1984 or 1.3.1984, with the day first.

    Raises:
        InvalidArgument: there is no such unit, they don't lengthen, or one is above `"week"`.

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
        >>> texts = read({"born": ["29.02.1984", "1.3.1984"]}).column("born")
        >>> Calendar(units=("month", "year"), dotted=True).ladder(texts).labels[1:]
        (('1984-03', '1984-02'), ('1984',), ('*',))
    """

    units: Sequence[str] = ("day", "month", "quarter", "year", "decade")
    dotted: bool = False

    def __post_init__(self) -> None:
        """Check the units."""
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
        object.__setattr__(self, "units", units)

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column holds neither dates nor timestamps; or, with `dotted`, a text that is no date.
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
            SchemaMismatch: it holds something else.
        """
        held = present(column)
        if not self.dotted or not len(held):
            return times(column, "texts can be masked; those such as 29.02.1984 are dates with dotted=True")
        values = dotted_days(held)
        if values is None:
            raise SchemaMismatch(f"column {column.name!r} holds other values than dates such as 29.02.1984")
        return values
