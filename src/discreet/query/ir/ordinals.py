"""Ordinals: dates on the line of numbers, as days since 1970-01-01, or microseconds for timestamps."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from fractions import Fraction

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — timestamps in tables carry no time zone
_MICROSECOND = timedelta(microseconds=1)


def ordinal(value: date) -> Fraction:
    """A date as days, or a timestamp as microseconds, since 1970-01-01.

    Examples:
        >>> ordinal(date(1970, 1, 2))
        Fraction(1, 1)
    """
    if isinstance(value, datetime):
        return Fraction((value - _EPOCH) // _MICROSECOND)
    return Fraction((value - _EPOCH.date()).days)


def day_of(days: int) -> date:
    """The date that many days after 1970-01-01."""
    return _EPOCH.date() + timedelta(days=days)


def moment_of(microseconds: int) -> datetime:
    """The timestamp that many microseconds after 1970-01-01."""
    return _EPOCH + microseconds * _MICROSECOND


def midnight(day: date) -> datetime:
    """The start of a day."""
    return datetime.combine(day, time())
