"""Columns: what is public about one column of a private table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.privacy import Bounds, Keys


class Kind(StrEnum):
    """The kinds of values discreet computes with; every engine type is read as one of them."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """Whether it can be added up."""
        return self in {Kind.INTEGER, Kind.REAL}

    @property
    def is_time(self) -> bool:
        """Whether it lies on the calendar."""
        return self in {Kind.DATE, Kind.TIMESTAMP}


ZONE_NAME = re.compile("[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
"""What a zone of the IANA database can be called."""
_KEY_KINDS = {str: Kind.TEXT, int: Kind.INTEGER, bool: Kind.BOOLEAN, date: Kind.DATE}


def kind_of(declaration: Bounds | Keys) -> Kind:
    """The kind of values a declaration speaks of; for a source that has no schema of its own.

    Examples:
        >>> kind_of(Keys(["Female", "Male"]))
        <Kind.TEXT: 'text'>
    """
    if isinstance(declaration, Keys):
        return next((_KEY_KINDS[type(key)] for key in declaration if key is not None), Kind.TEXT)
    if isinstance(declaration.lo, date):
        return Kind.TIMESTAMP if isinstance(declaration.lo, datetime) else Kind.DATE
    whole = all(Fraction(end).denominator == 1 for end in (declaration.lo, declaration.hi) if not isinstance(end, date))
    return Kind.INTEGER if whole else Kind.REAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What is public about one column.

    Args:
        name: as the source spells it; left out where columns are declared by name.
        kind: what its values are read as.
        bounds: the values it may hold; numbers and times only. Enforced when the column is scanned.
        keys: the public list of its values. Enforced when the column is scanned: what isn't listed is NULL.
        nullable: whether NULLs may occur.
        time_zone: in which its times are told, by its name in the IANA database; needed where the source holds points
            in time, which are another day and hour in each zone.

    Raises:
        InvalidArgument: both bounds and keys, or either doesn't fit the kind; a time zone that can't be one.

    Examples:
        >>> print(Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110)))
        age integer in [0, 110]
    """

    name: str = ""
    kind: Kind
    bounds: Bounds | None = None
    keys: Keys | None = None
    nullable: bool = True
    time_zone: str | None = None

    def __post_init__(self) -> None:
        """Check that the declaration fits the kind."""
        if self.bounds is not None and self.keys is not None:
            raise InvalidArgument(f"{self._called} has bounds and keys; keys already say what it may hold")
        if self.bounds is not None:
            self._check_bounds(self.bounds)
        if self.time_zone is not None:
            self._check_zone(self.time_zone)
        if self.keys is not None:
            kinds = {_KEY_KINDS[type(key)] for key in self.keys if key is not None}
            if kinds - {self.kind}:
                raise InvalidArgument(f"the keys of {self._called} aren't {self.kind} values, as the column is")

    @property
    def _called(self) -> str:
        """What errors call it."""
        return f"column {self.name!r}" if self.name else "the column"

    def _check_bounds(self, bounds: Bounds) -> None:
        """Refuse bounds of another kind than the column's."""
        if bounds.is_time:
            ends = Kind.TIMESTAMP if isinstance(bounds.lo, datetime) else Kind.DATE
            if ends is not self.kind:
                raise InvalidArgument(f"{self._called} is {self.kind}; its bounds are {ends}s")
        elif not self.kind.is_number:
            raise InvalidArgument(f"{self._called} is {self.kind}; bounds in numbers don't fit it")

    def _check_zone(self, zone: str) -> None:
        """Refuse a zone where there are no times, or what can't be the name of one."""
        if self.kind is not Kind.TIMESTAMP:
            raise InvalidArgument(f"{self._called} is {self.kind}; only timestamps are told in a time zone")
        if not ZONE_NAME.fullmatch(zone):
            raise InvalidArgument(
                f"{self._called} has a time zone that can't be one: {zone[:40]!r}",
                hint='"Europe/Paris", or "UTC"',
            )

    def __str__(self) -> str:
        """The column in words."""
        declared = f" in {self.bounds}" if self.bounds else f" of {self.keys}" if self.keys else ""
        return f"{self.name} {self.kind}{declared}"
