"""Interval texts: how much time a text such as `1 day 02:00:00 ago` says.

The parser's own reading of such a text skips what it doesn't know. So a text is read here, from its first character to
its last, and what isn't understood is refused. All dialects take pairs of a whole number and a unit; DuckDB and
PostgreSQL take a clock, `ago` and short names of units too.

Sources: PostgreSQL 15's manual, 8.5.4 "Interval Input"; DuckDB's page "Interval Type"; Redshift's "Interval literals".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.errors import Unsupported

UNITS: Mapping[str, tuple[str, int]] = {
    "day": ("days", 1),
    "week": ("days", 7),
    "month": ("months", 1),
    "quarter": ("months", 3),
    "year": ("months", 12),
    "hour": ("seconds", 3_600),
    "minute": ("seconds", 60),
    "second": ("seconds", 1),
}
"""Each unit as a number of months, days or seconds."""

_LONG = {name + plural: name for name in UNITS for plural in ("", "s")}

_SHORT = {
    **dict.fromkeys(("y", "yr", "yrs"), "year"),
    **dict.fromkeys(("mon", "mons"), "month"),
    "w": "week",
    "d": "day",
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
    **dict.fromkeys(("m", "min", "mins"), "minute"),
    **dict.fromkeys(("s", "sec", "secs"), "second"),
}

_CLOCK = re.compile(r"([+-]?)(\d{1,6}):([0-5]\d)(?::([0-5]\d))?", re.ASCII)

_PAIR = re.compile(r"([+-]?\d{1,12})\s*([a-z]+)", re.ASCII | re.IGNORECASE)

_BLANKS = re.compile(r"[ \t\n]+")


@dataclass(frozen=True, slots=True)
class IntervalForm:
    """The forms in which a dialect writes an interval as a text.

    Args:
        units: what it calls units, in small letters.
        clock: whether it may end in hours, minutes and seconds, 02:00:00.
        ago: whether a last word `ago` negates all of it; behind a clock, in PostgreSQL alone.
        signed: whether a number may have a plus before it, and a unit not come twice, as in PostgreSQL.
    """

    units: Mapping[str, str]
    clock: bool = False
    ago: bool = False
    signed: bool = False


PLAIN = IntervalForm(_LONG)
_POSTGRES = {name: unit for name, unit in (_LONG | _SHORT).items() if unit != "quarter"}
FORMS: Mapping[str, IntervalForm] = {
    "duckdb": IntervalForm(_LONG | _SHORT, clock=True, ago=True),
    "postgres": IntervalForm(_POSTGRES, clock=True, ago=True, signed=True),
    "redshift": IntervalForm(_LONG | _SHORT),
}
"""Other dialects are known to have only `PLAIN`."""


def amounts_of(text: str, form: IntervalForm) -> dict[str, int]:
    """How many months, days and seconds a text says.

    Args:
        text: of an interval, without a unit behind it.
        form: what it may say.

    Raises:
        Unsupported: it says something else, or nothing.

    Examples:
        >>> amounts_of("1 mon 2 days -02:30 ago", FORMS["postgres"])
        {'months': -1, 'days': -2, 'seconds': 9000}
        >>> amounts_of("1 day", PLAIN)
        {'days': 1}
    """
    words = _BLANKS.sub(" ", text).strip(" ")
    sign = 1
    if form.ago and words.casefold().endswith(" ago"):
        sign, words = -1, words[:-4]
        if ":" in words and not form.signed:
            raise _unread(text)
    if "+" in words and not form.signed:
        raise _unread(text)
    found, seen = dict[str, int](), set[str]()
    for unit, number in _parts(words, form):
        if unit in seen and form.signed:
            raise _unread(text)
        seen.add(unit)
        name, size = UNITS[unit]
        found[name] = found.get(name, 0) + sign * size * number
    if not found:
        raise _unread(text)
    return found


def _parts(words: str, form: IntervalForm) -> Iterator[tuple[str, int]]:
    """The units that a text names, and how many there are of each."""
    at = 0
    while at < len(words):
        clock = _CLOCK.match(words, at) if form.clock else None
        pair = _PAIR.match(words, at)
        if clock is not None:
            sign = -1 if clock[1] == "-" else 1
            yield from zip(
                ("hour", "minute", "second"), (sign * int(each or 0) for each in clock.groups()[1:]), strict=True
            )
        elif pair is not None and pair[2].casefold() in form.units:
            yield form.units[pair[2].casefold()], int(pair[1])
        else:
            raise _unread(words)
        end = (clock or pair).end()  # type: ignore[union-attr]  # one of them was found
        if end < len(words) and (clock or words[end] != " "):
            raise _unread(words)
        at = end + 1


def _unread(text: str) -> Unsupported:
    """The error for a text that isn't understood to its end."""
    return Unsupported(
        f"{text[:40]!r} isn't read as an interval: whole numbers, each with its unit",
        hint="INTERVAL '90' DAY, INTERVAL '3 months'",
    )
