"""Shifts: dates and timestamps that are moved by days, months or seconds.

A date moved by whole days or months is a date, as in BigQuery, MySQL and Spark; engines that make a timestamp of it
mean the midnight with which it begins. Outside the years 1 to 9999 everything here is NULL.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from discreet.query.ir.expressions import Function, Type
from discreet.query.ir.functions.application import (
    Args,
    cast,
    constant,
    nothing,
    of_kind,
    span_of,
    strict,
)
from discreet.query.ir.functions.casts import in_calendar
from discreet.query.ir.ordinals import day_of, ordinal
from discreet.tables import Kind

MOST_DAYS = 3_660_000
"""No two dates of the calendar are further apart, and no engine's dates end before that."""

_MOST = {"days": MOST_DAYS, "months": 120_000, "seconds": 86_400 * MOST_DAYS}

_EARLIEST, _LATEST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 — timestamps have no zone

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — the same


def months_later(moment: date, months: int) -> date | None:
    """The same day a number of months later, or the last of the month if it has no such day.

    Examples:
        >>> months_later(date(2024, 1, 31), 1), months_later(date(2024, 3, 31), -13)
        (datetime.date(2024, 2, 29), datetime.date(2023, 2, 28))
    """
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= _LATEST.year:
        return None
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def _shift(unit: str, evaluate: Callable[[Any, int], date | None]) -> Function:
    """The moment a constant number of units later."""

    def number_in(args: Args) -> int:
        return constant(f"the number of {unit}", args[1], -_MOST[unit], _MOST[unit])

    def prepare(args: Args) -> Args:
        number_in(args)
        (moment,) = of_kind("a date plus an interval", args[:1], Kind.DATE, Kind.TIMESTAMP)
        return (cast(moment, Kind.TIMESTAMP) if unit == "seconds" else moment), args[1]

    def infer(args: Args) -> Type:
        kind, (lo, hi) = args[0].type.kind, span_of(args[0])
        if lo is None or hi is None:
            return Type(kind, nullable=True, values=nothing(args))
        least, most = _ends(lo, hi, kind, by_month=unit == "months")
        ends = evaluate(least, number_in(args)), evaluate(most, number_in(args))
        limits = (_EARLIEST, _LATEST) if kind is Kind.TIMESTAMP else (_EARLIEST.date(), _LATEST.date())
        # Later moments stay later, so the ends shifted hold all; what leaves the calendar is NULL.
        first, last = (limit if end is None else end for end, limit in zip(ends, limits, strict=True))
        nullable = args[0].type.nullable or None in ends
        return Type(kind, ordinal(first), ordinal(last), nullable=nullable, values=nothing(args))

    def compile_(value: Any, number: Any) -> Any:  # noqa: ANN401 — Ibis values
        # By way of a timestamp, because engines disagree on what a date plus an interval is.
        moved = in_calendar(value).cast("timestamp") + number.as_interval("s" if unit == "seconds" else unit[0].upper())
        return in_calendar(moved).cast("date") if value.type().is_date() else in_calendar(moved)

    return Function(f"add_{unit}", infer, compile_, strict(evaluate), prepare, copies=4)


def _ends(lo: Fraction, hi: Fraction, kind: Kind, *, by_month: bool) -> tuple[date, date]:
    """The ends of a range as dates or timestamps; by months, of whole days: the 31st at 1 h meets the 30th at 2 h."""
    if kind is Kind.DATE:
        return day_of(int(lo)), day_of(int(hi))
    first, last = (_EPOCH + timedelta(microseconds=int(end)) for end in (lo, hi))
    if by_month:
        return datetime.combine(first, time.min), datetime.combine(last, time.max)
    return first, last


def _later(**unit: int) -> Callable[[Any, int], date | None]:
    """The evaluation of a shift by a fixed length of time."""

    def evaluate(moment: Any, number: int) -> date | None:  # noqa: ANN401 — a date or a datetime
        try:
            later: date = moment + number * timedelta(**unit)
        except OverflowError:
            return None
        return later

    return evaluate


SHIFTS = (
    _shift("days", _later(days=1)),
    _shift("months", months_later),
    _shift("seconds", _later(seconds=1)),
)
