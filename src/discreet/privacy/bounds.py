"""Bounds: the least and greatest value of a column."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational

BoundValue: TypeAlias = Rationalizable | date
"""A bound: a number, or a date or timestamp (without a time zone)."""


@taking_known
@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and greatest value a column may hold; what lies outside is moved to the nearer end when scanned.

    Bounds must come from knowledge of what the column means (ages reach 125), never from the data: the least and
    greatest value of a table belong to someone.

    Args:
        lo: least value.
        hi: greatest value, at least `lo`; numbers both, or dates both, or timestamps both.

    Raises:
        InvalidArgument: an end isn't finite, the ends are of different kinds, or `lo` exceeds `hi`.

    Examples:
        >>> print(Bounds(0, 110))
        [0, 110]
    """

    lo: BoundValue
    hi: BoundValue

    def __post_init__(self) -> None:
        if isinstance(self.lo, date) or isinstance(self.hi, date):
            self._check_times()
        else:
            object.__setattr__(self, "lo", rational(self.lo, "lo"))
            object.__setattr__(self, "hi", rational(self.hi, "hi"))
        if self.lo > self.hi:  # type: ignore[operator]  # both are of one kind by now
            raise InvalidArgument(f"bounds are in the wrong order: {self.lo} exceeds {self.hi}")

    def _check_times(self) -> None:
        """Refuse a date beside a number or a timestamp, and time zones, which dates in tables don't carry."""
        if type(self.lo) is not type(self.hi):
            raise InvalidArgument("bounds must be two numbers, two dates or two timestamps")
        if self.lo != self.lo or self.hi != self.hi:  # NaT of pandas is a time, and unequal to itself
            raise InvalidArgument("bounds must be two dates or two timestamps, and NaT is no time")
        if any(isinstance(end, datetime) and end.tzinfo is not None for end in (self.lo, self.hi)):
            raise InvalidArgument("bounds must be timestamps without a time zone")

    @property
    def is_time(self) -> bool:
        """Whether the ends are dates or timestamps."""
        return isinstance(self.lo, date)

    def __str__(self) -> str:
        return f"[{self.lo}, {self.hi}]"
