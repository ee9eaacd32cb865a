"""The types of PEP 249: what a column of an answer holds, and constructors of dates and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import TypeAlias

from discreet.results import Answer

Description: TypeAlias = tuple[str, str, None, None, int | None, int | None, None]
"""A column, as PEP 249 has it: name, type, sizes, precision, scale, and whether it may be NULL."""

Date = date
"""Python's own; so for those below."""

Time = time
"""A time of day; no column holds one."""

Timestamp = datetime
"""A date with a time, without a time zone."""

Binary = bytes
"""Bytes; no column holds any."""

DateFromTicks = date.fromtimestamp
"""The date, in the machine's zone, so many seconds after 1970."""

TimestampFromTicks = datetime.fromtimestamp
"""The date and time, in the machine's zone, so many seconds after 1970."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 — PEP 249 names it
    """The time of day, in the machine's zone, so many seconds after 1970."""
    return datetime.fromtimestamp(ticks).time()  # noqa: DTZ006 — tables have local times


class TypeObject:
    """A group of types: it equals the type of each column that is of one of them.

    Examples:
        >>> NUMBER == "integer", NUMBER == "decimal(38,2)", STRING == "integer"
        (True, True, False)
    """

    def __init__(self, *kinds: str) -> None:
        self._kinds = frozenset(kinds)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other.partition("(")[0] in self._kinds)

    def __hash__(self) -> int:
        return hash(self._kinds)

    def __repr__(self) -> str:
        return f"TypeObject({', '.join(map(repr, sorted(self._kinds)))})"


STRING = TypeObject("text")
"""Texts."""

NUMBER = TypeObject("integer", "real", "decimal", "boolean")
"""Whole numbers, reals, decimals and truth values."""

DATETIME = TypeObject("date", "timestamp")
"""Dates and timestamps."""

BINARY = TypeObject()
"""Bytes; no column is of this type."""

ROWID = TypeObject()
"""Names of rows; no column is of this type."""


def described(names: Sequence[str], answer: Answer) -> tuple[Description, ...]:
    """The columns of an answer; ends of intervals are of the kind of the column before them.

    Args:
        names: as they are shown, those of ends among them.
        answer: that they are of.
    """
    found, kind = list[Description](), ""
    kinds = {column.name: column.kind for column in answer.columns}
    for name in names:
        kind = kinds.get(name, kind)
        digits = _DECIMAL.fullmatch(kind)
        precision, scale = (None, None) if digits is None else (int(digits[1]), int(digits[2]))
        found.append((name, kind, None, None, precision, scale, None))
    return tuple(found)
