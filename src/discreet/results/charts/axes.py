"""Axes: where a number or a moment stands, and round ticks with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil, floor, isfinite, log10
from typing import TypeAlias

from discreet.results.charts.lettering import typeset

Ends: TypeAlias = tuple[float, float] | None
Tick: TypeAlias = tuple[float, str]

_YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MONTHS = (1, 3, 6)
_DAYS = (1, 2, 7, 14)
_YEAR_DAYS, _MONTH_DAYS = 365, 30
_MINUTES = (1, 5, 15, 30, 60, 180, 360, 720)
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY_MINUTES = 24 * 60
_MOST_TICKS = 50
_LARGE = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"))


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale.

    Args:
        low: the number at the start.
        high: the number at the end, above `low`.
        start: where the axis begins, in pixels.
        end: where it ends.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a number stands; one beyond the ends, at the end."""
        part = (value - self.low) / (self.high - self.low)
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a number is within the ends."""
        return self.low <= value <= self.high


def reach(values: Sequence[float | None], ends: Sequence[Ends], *, zero: bool) -> tuple[float, float]:
    """From where to where an axis goes: all values, and their intervals as far as these leave the values to be seen.

    Args:
        values: those that are known; None is left out.
        ends: of their intervals, which may be infinite.
        zero: whether the axis shows zero.

    Examples:
        >>> reach([3.0, 9.0], [(2.0, 4.0), (-4000.0, 4000.0)], zero=True)
        (-9.0, 18.0)
    """
    shown = [value for value in values if value is not None] + ([0.0] if zero else [])
    if not shown:
        return 0.0, 1.0
    low, high = min(shown), max(shown)
    widths = sorted(each[1] - each[0] for each in ends if each is not None and isfinite(each[1] - each[0]))
    room = max(high - low, widths[(len(widths) - 1) // 2]) if widths else high - low
    least, most = low, high
    for each in ends:
        if each is not None:
            least = min(least, max(each[0], low - room)) if isfinite(each[0]) else least
            most = max(most, min(each[1], high + room)) if isfinite(each[1]) else most
    return (least, most) if most > least else (least, least + (abs(least) or 1.0))


def number_ticks(low: float, high: float, most: int, *, whole: bool = False, grouped: bool = True) -> list[Tick]:
    """Round numbers along an axis.

    Args:
        low: where it begins.
        high: where it ends.
        most: how many there may be.
        whole: whether only whole numbers say something.
        grouped: whether labels have their digits in groups: of years they don't.

    Examples:
        >>> number_ticks(0, 1950, 5)
        [(0.0, '0'), (500.0, '500'), (1000.0, '1,000'), (1500.0, '1,500')]
        >>> number_ticks(-1.2e7, 2e7, 4)[0], number_ticks(0, 0.25, 3)[-1]
        ((-10000000.0, '−10 M'), (0.2, '0.2'))
    """
    power = 10.0 ** floor(log10((high - low) / most))
    if whole:
        power = max(power, 1.0)
    steps = (power * each for each in (1, 2, 5, 10, 20, 50, 100))
    step = next(each for each in steps if floor(high / each + 1e-9) - ceil(low / each - 1e-9) < most)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    greatest = max(abs(low), abs(high))
    large, unit = next(((size, name) for size, name in _LARGE if greatest >= size <= step * 100), (1.0, ""))
    places = max(0, -floor(log10(step / large) + 1e-9))
    found = []
    for number in range(first, last + 1):
        value = round(number * step, 12)
        text = f"{value / large:.{places}f}"
        if places and unit:
            text = text.rstrip("0").rstrip(".")
        text = typeset(text) if grouped else text
        found.append((value, f"{text} {unit}" if unit and value else text))
    return found


def moment(value: date) -> float:
    """A date or a timestamp as a number of days.

    Examples:
        >>> moment(date(1, 1, 2)), moment(datetime(1, 1, 2, 12))
        (2.0, 2.5)
    """
    if isinstance(value, datetime):
        midnight = value.replace(hour=0, minute=0, second=0, microsecond=0)
        return value.toordinal() + (value - midnight) / timedelta(days=1)
    return float(value.toordinal())


def time_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Years, months, days or times of day along an axis, whichever there is room for.

    Args:
        low: where it begins, in days as `moment` counts them.
        high: where it ends.
        most: how many there may be.

    Examples:
        >>> [text for _, text in time_ticks(moment(date(2020, 3, 1)), moment(date(2021, 12, 1)), 8)]
        ['Apr 2020', 'Jul', 'Oct', '2021', 'Apr', 'Jul', 'Oct']
        >>> [text for _, text in time_ticks(moment(date(1900, 1, 1)), moment(date(2000, 1, 1)), 6)]
        ['1900', '1920', '1940', '1960', '1980', '2000']
    """
    low, high = (min(max(end, 1.0), float(date.max.toordinal())) for end in (low, high))  # the calendar ends here
    for found in _times(low, high):
        if len(found) <= most:
            return found
    return [(low, str(date.fromordinal(int(low)))), (high, str(date.fromordinal(int(high))))]


def _times(low: float, high: float) -> Iterator[list[Tick]]:
    """Ticks from the finest to the coarsest that could do."""
    span = high - low
    for minutes in _MINUTES:
        if span * _DAY_MINUTES / minutes < _MOST_TICKS:
            start = ceil(low * _DAY_MINUTES / minutes - 1e-6)
            end = floor(high * _DAY_MINUTES / minutes + 1e-6)
            yield [_clock(number * minutes, dated=number == start) for number in range(start, end + 1)]
    for days in _DAYS:
        if span / days < _MOST_TICKS:
            start = ceil(low)
            yield _dated([date.fromordinal(day) for day in range(start, floor(high) + 1, days)], "day")
    first, last = date.fromordinal(ceil(low)), date.fromordinal(floor(high))
    for months in _MONTHS:
        if span / _MONTH_DAYS / months < _MOST_TICKS:
            numbers = range(_month(first) if first.day == 1 else _month(first) + 1, _month(last) + 1)
            yield _dated([date(each // 12, each % 12 + 1, 1) for each in numbers if each % months == 0], "month")
    for years in _YEARS:
        if span / _YEAR_DAYS / years < _MOST_TICKS:
            year = first.year if first.timetuple().tm_yday == 1 else first.year + 1
            yield [(moment(date(each, 1, 1)), str(each)) for each in range(year, last.year + 1) if each % years == 0]


def _clock(minutes: int, *, dated: bool) -> Tick:
    """A time of day; at midnight, and if it is the first, with its date."""
    day, rest = divmod(minutes, _DAY_MINUTES)
    at = date.fromordinal(day)
    said = [f"{at.day} {_MONTH_NAMES[at.month - 1]}"] if dated or not rest else []
    said += [f"{rest // 60}:{rest % 60:02}"] if rest else []
    return minutes / _DAY_MINUTES, " ".join(said)


def _month(day: date) -> int:
    """Months since the beginning of the calendar."""
    return day.year * 12 + day.month - 1


def _dated(days: Sequence[date], unit: str) -> list[Tick]:
    """Days or months with their names; the year where it begins, and at the first."""
    found = []
    for place, day in enumerate(days):
        name = _MONTH_NAMES[day.month - 1]
        text = name if unit == "month" else f"{day.day} {name}"
        if unit == "month" and day.month == 1:
            text = str(day.year)
        elif place == 0:
            text = f"{text} {day.year}"
        found.append((moment(day), text))
    return found
