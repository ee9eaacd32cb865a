"""Times: parts of dates and timestamps, the periods they lie in, and the days between them.

Periods of a day or longer begin on a date, so `DATE_TRUNC` to one of them gives a date, whose list of values is public
if the column has bounds. Outside the years 1 to 9999 everything here is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from discreet.errors import TypeMismatch, unforeseen
from discreet.query.ir.expressions import Expr, Function, Type, is_null
from discreet.query.ir.functions.application import (
    Args,
    cast,
    counted,
    nothing,
    of_kind,
    span_of,
    strict,
    taking,
)
from discreet.query.ir.functions.casts import in_calendar, typed
from discreet.query.ir.ordinals import day_of, ordinal
from discreet.query.ir.ranges import subtract
from discreet.tables import Kind

MOST_PERIODS = 10_000
"""A longer list of periods isn't taken for a list of keys."""

_FIRST, _LAST = (ordinal(day) for day in (date.min, date.max))
_Unit: TypeAlias = Literal["year", "quarter", "month", "week", "day"]
"""Periods that begin on a date."""

_DAY = 24 * 60 * 60 * 10**6


def _lost(arg: Expr) -> bool:
    """Whether a value can be outside the calendar, and so become NULL."""
    return not arg.type.is_bounded


def _days(arg: Expr) -> tuple[Fraction, Fraction]:
    """The range of the days on which the argument lies; all of the calendar if it has no bounds."""
    lo, hi = span_of(arg)
    if lo is None or hi is None:
        return _FIRST, _LAST
    return (Fraction(lo // _DAY), Fraction(hi // _DAY)) if arg.type.kind is Kind.TIMESTAMP else (lo, hi)


def _moments(label: str, args: Args, *kinds: Kind) -> Args:
    """Dates or timestamps; the hint says what DATE lacks."""
    if Kind.DATE not in kinds and args[0].type.kind is Kind.DATE:
        raise TypeMismatch(f"{label} takes a timestamp; a date has no time of day")
    return of_kind(label, args, *kinds)


def _part(name: str, least: int, most: int, read: Callable[[Any], int], compute: Callable[[Any], Any]) -> Function:
    """One part of a date or timestamp, as a whole number; `read` in Python, `compute` in Ibis."""
    clock = name in {"hour", "minute", "second"}
    kinds = (Kind.TIMESTAMP,) if clock else (Kind.DATE, Kind.TIMESTAMP)

    def infer(args: Args) -> Type:
        ends = (least, most)
        if name == "year" and not _lost(args[0]):
            lo, hi = _days(args[0])
            ends = day_of(int(lo)).year, day_of(int(hi)).year
        found = counted(*ends, args)
        return replace(found, nullable=found.nullable or _lost(args[0]))

    return Function(
        name,
        infer,
        lambda value: typed(compute(in_calendar(value))).cast("int64"),
        strict(read),
        lambda args: _moments(name.upper(), args, *kinds),
        copies=2,
    )


def _quarter(moment: date) -> int:
    """The quarter of the year, 1 to 4."""
    return (moment.month + 2) // 3


def _number(unit: _Unit, day: date) -> int:
    """Periods counted through: which one a day lies in. 0001-01-01 is a Monday, so weeks count from there."""
    match unit:
        case "year":
            return day.year
        case "quarter":
            return day.year * 4 + _quarter(day) - 1
        case "month":
            return day.year * 12 + day.month - 1
        case "week":
            return (day.toordinal() - 1) // 7
        case "day":
            return day.toordinal()
        case _:
            raise unforeseen(unit)


def _start(unit: _Unit, number: int) -> date:
    """The first day of the period with this number."""
    match unit:
        case "year":
            return date(number, 1, 1)
        case "quarter":
            return date(number // 4, number % 4 * 3 + 1, 1)
        case "month":
            return date(number // 12, number % 12 + 1, 1)
        case "week":
            return date.fromordinal(number * 7 + 1)
        case "day":
            return date.fromordinal(number)
        case _:
            raise unforeseen(unit)


def _truncation(unit: _Unit) -> Function:
    """The first day of the period: a date."""
    name = f"trunc_{unit}"

    def infer(args: Args) -> Type:
        first, last = (_number(unit, day_of(int(end))) for end in _days(args[0]))
        listed = not _lost(args[0]) and last - first < MOST_PERIODS
        values = tuple(_start(unit, number) for number in range(first, last + 1)) if listed else None
        values = () if is_null(args[0]) else values
        ends = ordinal(_start(unit, first)), ordinal(_start(unit, last))
        return Type(Kind.DATE, *ends, nullable=args[0].type.nullable or _lost(args[0]), values=values)

    def evaluate(moment: date) -> date:
        return _start(unit, _number(unit, moment))

    return Function(
        name,
        infer,
        # To a timestamp and back, because engines disagree on what truncating a date gives.
        lambda value: in_calendar(value).cast("timestamp").truncate(unit[0].upper()).cast("date"),
        strict(evaluate),
        taking("DATE_TRUNC", Kind.DATE, Kind.TIMESTAMP),
        copies=2,
    )


def _clock_truncation(unit: str) -> Function:
    """The beginning of the hour, minute or second: a timestamp."""
    length = {"hour": 3600, "minute": 60, "second": 1}[unit] * 10**6

    def infer(args: Args) -> Type:
        lo, hi = (None if end is None else end // length * length for end in span_of(args[0]))
        return Type(
            Kind.TIMESTAMP,
            None if lo is None else Fraction(lo),
            None if hi is None else Fraction(hi),
            nullable=args[0].type.nullable or _lost(args[0]),
            values=nothing(args),
        )

    def evaluate(moment: datetime) -> datetime:
        return moment - timedelta(microseconds=int(ordinal(moment) % length))

    return Function(
        f"trunc_{unit}",
        infer,
        lambda value: in_calendar(value).truncate("m" if unit == "minute" else unit[0]),
        strict(evaluate),
        lambda args: _moments("DATE_TRUNC", args, Kind.TIMESTAMP),
        copies=2,
    )


def _prepare_days(args: Args) -> Args:
    """Two dates."""
    return tuple(cast(arg, Kind.DATE) for arg in of_kind("DATE_DIFF", args, Kind.DATE, Kind.TIMESTAMP))


def _infer_days(args: Args) -> Type:
    """The days from the first date to the second."""
    lo, hi = subtract(_days(args[1]), _days(args[0]))
    return Type(Kind.INTEGER, lo, hi, any(arg.type.nullable or _lost(arg) for arg in args), nothing(args))


def _compile_days(start: Any, end: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The number of midnights between."""
    return typed(in_calendar(end).delta(in_calendar(start), unit="day"))


TIMES = (
    # For a date without bounds: a range too wide to be taken for a list of keys, or each year would be answered.
    _part("year", -9999, 9999, lambda moment: moment.year, lambda value: value.year()),
    _part("quarter", 1, 4, _quarter, lambda value: value.quarter()),
    _part("month", 1, 12, lambda moment: moment.month, lambda value: value.month()),
    _part("week", 1, 53, lambda moment: moment.isocalendar().week, lambda value: value.week_of_year()),
    _part("day", 1, 31, lambda moment: moment.day, lambda value: value.day()),
    _part("day_of_year", 1, 366, lambda moment: moment.timetuple().tm_yday, lambda value: value.day_of_year()),
    _part(
        "day_of_week", 0, 6, lambda moment: moment.isoweekday() % 7, lambda value: (value.day_of_week.index() + 1) % 7
    ),
    _part("iso_day_of_week", 1, 7, lambda moment: moment.isoweekday(), lambda value: value.day_of_week.index() + 1),
    _part("hour", 0, 23, lambda moment: moment.hour, lambda value: value.hour()),
    _part("minute", 0, 59, lambda moment: moment.minute, lambda value: value.minute()),
    _part("second", 0, 59, lambda moment: moment.second, lambda value: value.second()),
    *map(_truncation, get_args(_Unit)),
    *map(_clock_truncation, ("hour", "minute", "second")),
    Function(
        "days_between",
        _infer_days,
        _compile_days,
        strict(lambda start, end: (end - start).days),
        _prepare_days,
        copies=2,
    ),
)
