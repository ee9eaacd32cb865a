"""Series: one noisy column of an answer by the keys of its groups, as numbers to be drawn and words beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isfinite, isnan
from typing import Any

from discreet.results.charts.axes import Ends, Scale, Tick, moment, number_ticks, time_ticks
from discreet.results.charts.lettering import line_of, typeset
from discreet.results.columns import AnswerColumn, cell_text, cell_texts, places_of
from discreet.results.columns import Ends as Interval

_FEW = 4
"""Fewer values than this are no line, whatever their order."""

_NEXT = 1.5
"""Keys that are further apart than the least distance times this have others between them: months differ in length."""

_FOUR_DIGITS = 9999

_GREATEST, _LEAST = 1e200, 1e-200
"""Numbers beyond these stand where these do: a scale from end to end of them is still a number, and so is its step."""

_LONG = 80
"""Longer labels are cut where they are read out."""

_PERIOD = re.compile(r"(\d{4})-(?:(\d\d)|Q([1-4])|W(\d\d))(?:-(\d\d))?")


@dataclass(frozen=True)
class Key:
    """The keys of groups in one column, or in several together.

    Args:
        name: of the column.
        codes: one for each row: 0, 1, 2 and so on, as keys come in the answer.
        names: of the keys, by their codes; two keys may look the same.
        places: of the keys on an axis, by their codes, if they have an order; None for NULL.
        is_time: whether places are days.
        whole: whether keys are whole numbers.
    """

    name: str
    codes: tuple[int, ...]
    names: tuple[str, ...]
    places: tuple[float | None, ...] = ()
    is_time: bool = False
    whole: bool = False

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of the key of each row."""
        return tuple(self.names[code] for code in self.codes)

    @cached_property
    def in_order(self) -> tuple[int, ...]:
        """The codes in the order of the keys, NULL last; as they come, if they have none."""
        codes = range(len(self.names))
        if not self.is_ordered:
            return tuple(codes)
        return tuple(sorted(codes, key=lambda code: (self.places[code] is None, self.places[code] or 0.0)))

    def place(self, row: int) -> float | None:
        """Where the key of a row stands on an axis; None if it has no place there."""
        return self.places[self.codes[row]] if self.places else None

    @cached_property
    def known_places(self) -> tuple[float, ...]:
        """The places that are known, each once, in order."""
        return tuple(sorted({place for place in self.places if place is not None}))

    @property
    def is_ordered(self) -> bool:
        """Whether it makes an axis."""
        return len(self.known_places) >= _FEW

    @cached_property
    def step(self) -> float:
        """How far keys that follow each other are apart, at most; 0 if they are too irregular to follow each other."""
        gaps = [after - before for before, after in pairwise(self.known_places)]
        step = min(gaps, default=0.0) * _NEXT
        return step if 2 * sum(gap <= step for gap in gaps) >= len(gaps) else 0.0

    def ticks(self, scale: Scale, most: int) -> list[Tick]:
        """Round places along an axis."""
        if self.is_time:
            return time_ticks(scale.low, scale.high, most)
        grouped = max(abs(scale.low), abs(scale.high)) > _FOUR_DIGITS
        return number_ticks(scale.low, scale.high, most, whole=self.whole, grouped=grouped)


@dataclass(frozen=True, kw_only=True)
class Series:
    """One noisy column.

    Args:
        name: of the column.
        keys: of its groups; none where there are no groups.
        values: one for each row; None where nothing is known.
        ends: of their intervals, which may be infinite; None where there is none.
        words: each value with its interval, as the table has it.
        is_time: whether values are days.
        whole: whether they are whole numbers.
        may_be_negative: whether one below zero is more than noise: a count isn't.
        confidence: of the intervals.
    """

    name: str
    keys: tuple[Key, ...]
    values: tuple[float | None, ...]
    ends: tuple[Ends, ...]
    words: tuple[str, ...]
    is_time: bool
    whole: bool
    may_be_negative: bool
    confidence: Fraction

    @property
    def title(self) -> str:
        """What is drawn."""
        if not self.keys:
            return self.name
        first = self.keys[0].name
        return f"{self.name.removeprefix(f'{first} ')} by {' and '.join(key.name for key in self.keys)}"

    @property
    def unknown(self) -> int:
        """How many groups have no value."""
        return self.values.count(None)

    @property
    def from_zero(self) -> bool:
        """Whether an axis of its values begins at zero: not of moments, which have none."""
        return not self.is_time

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any value has one."""
        return any(each is not None for each in self.ends)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A label for each row, of all of its keys."""
        if not self.keys:
            return ("all",) * len(self.values)
        return tuple(" · ".join(parts) for parts in zip(*(key.labels for key in self.keys), strict=True))

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Each value without its interval, in words that fit into a cell."""
        return tuple(
            f"<{text.removeprefix('fewer than ')}" if text.startswith("fewer than") else re.split(r" ± | \(", text)[0]
            for text in self.words
        )

    def ticks(self, scale: Scale, most: int) -> list[Tick]:
        """Round values along an axis."""
        if self.is_time:
            return time_ticks(scale.low, scale.high, most)
        return number_ticks(scale.low, scale.high, most, whole=self.whole)

    @property
    def subtitle(self) -> str:
        """What is drawn beside values, and how many of them aren't known."""
        said = [f"with {float(self.confidence) * 100:.6g} % intervals"] if self.has_intervals else []
        if self.unknown:
            said.append(f"{self.unknown:,} of {len(self.values):,} not known")
        return "; ".join(said)

    @property
    def finding(self) -> str:
        """What it shows, in a few words: the greatest and the least, and what isn't known."""
        known = [(value, row) for row, value in enumerate(self.values) if value is not None]
        if not known:
            return "nothing is known of it."
        if len(self.values) == 1:
            return f"{self.words[0]}."
        greatest = max(known, key=lambda one: (one[0], -one[1]))[1]
        least = min(known, key=lambda one: (one[0], one[1]))[1]
        said = [f"largest {self.said(greatest)}", f"smallest {self.said(least)}"][: len(known)]
        if len(self.keys) == 1 and len(known) > 1 and self.keys[0].is_ordered:
            places = ((self.keys[0].place(row), row) for _, row in known)
            rows = {place: row for place, row in places if place is not None}
            said += [f"{end} {self.said(rows[at])}" for end, at in (("first", min(rows)), ("last", max(rows)))]
        said.append(f"{len(self.values):,} groups" + (f", {self.unknown:,} not known" if self.unknown else ""))
        return f"{'; '.join(said)}."

    def said(self, row: int) -> str:
        """A row in words: its keys, its value and its interval."""
        label = self.labels[row]
        return f"{label if len(label) <= _LONG else f'{label[:_LONG]}…'}: {self.words[row]}"


def series_of(
    columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Interval]], confidence: Fraction
) -> list[Series]:
    """A series for each noisy column whose values can stand on an axis.

    Args:
        columns: of an answer.
        intervals: of each column, at that confidence.
        confidence: of these.
    """
    noisy = [column for column in columns if _is_noisy(column, intervals[column.name])]
    rows = len(columns[0].values)
    keys = tuple(_key(column) for column in columns if column not in noisy and _is_key(column))
    if not rows:
        return []
    return [_series(column, intervals[column.name], keys, confidence) for column in noisy if _can_be_drawn(column)]


def _is_noisy(column: AnswerColumn, intervals: Sequence[Interval]) -> bool:
    """Whether a column was measured: also one that nothing is known of."""
    return any(intervals) or column.declared is not None or column.deviation is not None or bool(column.withheld)


def _is_key(column: AnswerColumn) -> bool:
    """Whether a column tells groups apart: not a list, nor what is the same in all."""
    alike = len(column.values) > 1 and all(value == column.values[0] for value in column.values)
    return not alike and not any(isinstance(value, list) for value in column.values)


def _can_be_drawn(column: AnswerColumn) -> bool:
    """Whether values of its kind have places on an axis."""
    return column.kind in {"integer", "real", "date", "timestamp"} or places_of(column.kind) is not None


def _series(column: AnswerColumn, intervals: Sequence[Interval], keys: tuple[Key, ...], confidence: Fraction) -> Series:
    """One noisy column: what tells nothing has no value."""
    told = [column.is_informative(value, ends) for value, ends in zip(column.values, intervals, strict=True)]
    values = tuple(number_of(value) if one else None for value, one in zip(column.values, told, strict=True))
    is_time = column.kind in {"date", "timestamp"}
    texts = cell_texts(column, intervals)
    words = [text if is_time else typeset(text) for text in texts]
    return Series(
        name=line_of(column.name),
        keys=keys,
        values=values,
        ends=tuple(
            None if value is None or each is None else _ends(each)
            for value, each in zip(values, intervals, strict=True)
        ),
        words=tuple("not known" if word.startswith("not known") else word for word in words),
        is_time=is_time,
        whole=column.kind == "integer",
        may_be_negative=column.declared is None or column.declared[0] < 0,
        confidence=confidence,
    )


def _ends(found: tuple[Any, Any]) -> Ends:
    """The ends of an interval as numbers; None if one can't be."""
    low, high = (moment(end) if isinstance(end, date) else _placed(float(end)) for end in found)
    return None if isnan(low) or isnan(high) else (low, high)


def number_of(value: object) -> float | None:
    """The place of a value on an axis; None if it has none."""
    match value:
        case bool() | None:
            return None
        case int() | float() | Decimal() | Fraction():
            number = float(value)
            return _placed(number) if isfinite(number) else None
        case date():
            return moment(value)
        case _:
            return None


def _placed(number: float) -> float:
    """Where a number stands on an axis."""
    if not isfinite(number):
        return number
    return 0.0 if abs(number) < _LEAST else min(max(number, -_GREATEST), _GREATEST)


def _key(column: AnswerColumn) -> Key:
    """The keys of one column."""
    codes = {value: code for code, value in enumerate(dict.fromkeys(column.values))}
    is_time, is_number = column.kind in {"date", "timestamp"}, column.kind in {"integer", "real"}
    if is_time or is_number or places_of(column.kind) is not None:
        places = [number_of(value) for value in codes]
    else:
        places = [_period(value) for value in codes]
        is_time = all(place is not None or value is None for place, value in zip(places, codes, strict=True))
        places = places if is_time else []
    return Key(
        name=line_of(column.name),
        codes=tuple(codes[value] for value in column.values),
        names=tuple(map(_named, codes)),
        places=tuple(places),
        is_time=is_time,
        whole=column.kind == "integer",
    )


def _named(value: object) -> str:
    """A key as it is written; the text "NULL" in quotes, as it isn't NULL."""
    if value is None or isinstance(value, float):
        short = cell_text(value, None)
        return short if value is None or float(short) == value else str(value)
    return '"NULL"' if value == "NULL" else line_of(str(value))


def _period(value: object) -> float | None:
    """The first day of a month, a quarter, a week or a day that a text names; None if it names none.

    Examples:
        >>> _period("2024-Q3") == moment(date(2024, 7, 1)), _period("2024-13"), _period("ward 3")
        (True, None, None)
    """
    found = _PERIOD.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, quarter, week, day = (None if part is None else int(part) for part in found.groups())
    try:
        if year is not None and week is not None:
            return moment(date.fromisocalendar(year, week, 1) + timedelta(days=(day or 1) - 1))
        return moment(date(year or 0, month or 3 * (quarter or 0) - 2, day or 1))
    except ValueError:
        return None


def together(keys: Sequence[Key]) -> Key:
    """Several keys as one, without an order."""
    if len(keys) == 1:
        return keys[0]
    rows = list(zip(*(key.codes for key in keys), strict=True))
    codes = {each: code for code, each in enumerate(dict.fromkeys(rows))}
    names = tuple(" · ".join(key.names[code] for key, code in zip(keys, each, strict=True)) for each in codes)
    return Key(" and ".join(key.name for key in keys), tuple(codes[each] for each in rows), names)
