"""Hierarchies of dates: by month, quarter, year and decade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import is_time, present, spelled_dates, times
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.hints import Hint
from discreet.tables.schema.source import DateOrder

if TYPE_CHECKING:
    import pyarrow as pa


def _text(values: pa.Array, digits: int = 0) -> pa.Array:
    """Whole numbers as texts, padded with zeros to a number of digits."""
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
