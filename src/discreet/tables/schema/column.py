"""Columns: the kind of their values, and what else is public of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Literal, get_args

from discreet.arguments import check_one_of, taking_known
from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.privacy import Bounds, Keys, KeyValue

LONGEST_TEXT = 1_000
"""How many characters of a text are kept. Without a limit, one person's cell could be so long that a question that
joins texts runs out of memory: an exact answer to whether that person is there.
"""

ThousandsMark = Literal[",", ".", " ", "'"]
Epoch = Literal["s", "ms", "us", "days", "excel"]


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
"""The form of names of zones in the IANA database."""

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


MOST_PLACES = 18
"""Digits after the point: doubles have no more."""


@taking_known
@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The public knowledge about one column.

    Args:
        name: as the source spells it; left out where columns are declared by name.
        kind: what its values are read as.
        bounds: the values it may hold; numbers and times only. Enforced when the column is scanned.
        keys: the public list of its values. Enforced when the column is scanned: what isn't listed is NULL.
        nullable: whether NULLs may occur.
        time_zone: in which its times are told, by its name in the IANA database; needed where the source holds points
            in time, which are another day and hour in each zone.
        places: of real numbers that are decimals: how many digits are behind the point, 1 to 18. Sums, quantiles and
            extremes of them are answered as decimals with as many. Values are still read as the nearest doubles.
        max_length: of a text, how many characters are kept when it's admitted, 1 to 1,000. The fewer, the less one
            person can make a question take.
        thousands: the mark between the thousands of numbers that are texts: `,` `.` a space or `'`.
        strip: signs that are no part of a number, such as `$€%`; 45% is 45 then.
        format: of dates and times that are texts in another form than ISO 8601, as `strptime` has it: `%d-%b-%Y`,
            `%m/%d/%Y %I:%M %p`. Names of months are English.
        epoch: what dates and times count that are numbers: `s`, `ms` or `us` since 1970, of timestamps in a time zone;
            `days` since 1970; or `excel`, days as spreadsheets count them.
        values: of a public table, all that it holds as admitted, NULL among them if it does. Found, never declared.
        repeats: of a public table, how many rows have the value that most have. Found, never declared.

    Raises:
        InvalidArgument: both bounds and keys, or either doesn't fit the kind; a time zone that can't be one; places
            of anything but reals, or a greatest length of anything but texts, or one that a key is longer than; a form
            that values of the kind don't have.

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
    places: int | None = None
    max_length: int = LONGEST_TEXT
    thousands: ThousandsMark | None = None
    strip: str = ""
    format: str | None = None
    epoch: Epoch | None = None
    values: tuple[KeyValue, ...] | None = field(default=None, hash=False, repr=False)
    repeats: int | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the declaration is one, and fits the kind."""
        if self.kind not in list(Kind):
            raise InvalidArgument(f"there is no kind {str(self.kind)[:70]!r}", hint=f"one of {', '.join(Kind)}")
        object.__setattr__(self, "kind", Kind(self.kind))
        for name, kind in {"bounds": Bounds, "keys": Keys, "time_zone": str}.items():
            said = getattr(self, name)
            if said is not None and not isinstance(said, kind):
                raise InvalidArgument(
                    f"{name} of {self._called} must be {_A[name]}, not {type(said).__name__}", hint=_AS[name]
                )
        if self.bounds is not None and self.keys is not None:
            raise InvalidArgument(f"{self._called} has both bounds and keys; keys alone say what it may hold")
        if self.bounds is not None:
            self._check_bounds(self.bounds)
        if self.time_zone is not None:
            self._check_zone(self.time_zone)
        if self.places is not None and (self.kind is not Kind.REAL or not 0 < self.places <= MOST_PLACES):
            raise InvalidArgument(f"{self._called} is {self.kind}; only reals have places, 1 to {MOST_PLACES}")
        self._check_length()
        self._check_form()
        if self.keys is not None:
            kinds = {_KEY_KINDS[type(key)] for key in self.keys if key is not None}
            if kinds - {self.kind}:
                raise InvalidArgument(f"the keys of {self._called} aren't {self.kind} values, as the column is")

    @property
    def form(self) -> Mapping[str, str]:
        """The declared options of how its values are written.

        Examples:
            >>> Column(name="paid", kind=Kind.REAL, thousands=",", strip="$").form
            {'thousands': ',', 'strip': '$'}
        """
        said = {"thousands": self.thousands, "strip": self.strip, "format": self.format, "epoch": self.epoch}
        return {name: form for name, form in said.items() if form}

    def _check_form(self) -> None:
        """Refuse a form that values of the kind don't have, or that doesn't say what they are."""
        for name in self.form:
            is_fit = self.kind.is_number if name in ("thousands", "strip") else self.kind.is_time
            if not is_fit:
                raise InvalidArgument(f"{self._called} is {self.kind}, which has no {name}")
        if self.thousands is not None:
            check_one_of("thousands separator", self.thousands, get_args(ThousandsMark))
        if self.epoch is not None:
            check_one_of("epoch", self.epoch, get_args(Epoch))
        if set(self.strip) & set("0123456789+-.,eE\u2212") or not self.strip.isprintable():
            raise InvalidArgument(
                f"{self._called} can't strip signs that numbers are made of", hint=Hint.of("{strip}", strip="$%")
            )
        if self.format is not None and (self.epoch is not None or not _tells_days(self.format, self.kind)):
            raise InvalidArgument(
                f"{self._called} has a format without year, month and day, or with what its kind lacks",
                hint=Hint.of("{format}; without zones, and in dates without hours", format="%d-%b-%Y"),
            )
        is_instant = self.epoch in ("s", "ms", "us")
        if is_instant and (self.kind is not Kind.TIMESTAMP or self.time_zone is None):
            raise InvalidArgument(
                f"{self._called} counts points in time, whose day and hour depend on the time zone",
                hint=Hint.of("declare it as timestamp, with {time_zone}", time_zone="Europe/Paris").in_file(),
            )

    @property
    def _called(self) -> str:
        return f"column {self.name!r}" if self.name else "the column"

    def _check_length(self) -> None:
        """Refuse a greatest length of what is no text, or one that cuts a key off."""
        if type(self.max_length) is not int or not 1 <= self.max_length <= LONGEST_TEXT:
            raise InvalidArgument(f"max_length of {self._called} must be a whole number from 1 to {LONGEST_TEXT:,}")
        if self.max_length != LONGEST_TEXT and self.kind is not Kind.TEXT:
            raise InvalidArgument(f"{self._called} is {self.kind}; only texts have a max_length")
        if any(isinstance(key, str) and len(key) > self.max_length for key in self.keys or ()):
            raise InvalidArgument(
                f"a key of {self._called} is longer than max_length = {self.max_length}, so no row could have it",
                hint=Hint.of("{max_length}, or as long as its longest key", max_length=LONGEST_TEXT).in_file(),
            )

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
            raise InvalidArgument(f"{self._called} is {self.kind}; only timestamps have a time zone")
        if not ZONE_NAME.fullmatch(zone):
            raise InvalidArgument(
                f"{self._called} has an impossible time zone: {zone[:40]!r}",
                hint='"Europe/Paris", or "UTC"',
            )

    def __str__(self) -> str:
        declared = f" in {self.bounds}" if self.bounds else f" of {self.keys}" if self.keys else ""
        return f"{self.name} {self.kind}{declared}"


_DAY_PARTS = ({"%Y", "%y", "%-y"}, {"%m", "%-m", "%b", "%B"}, {"%d", "%-d"})
_CLOCK_PARTS = {"%H", "%-H", "%I", "%-I", "%M", "%-M", "%S", "%-S", "%p", "%f"}
_WORDS = {"%a", "%A", "%%"}


def _tells_days(form: str, kind: Kind) -> bool:
    """Whether a format says year, month and day, once each, and nothing that values of the kind don't have."""
    parts = re.findall("%-?.", form)
    days = [part for part in parts if part not in _CLOCK_PARTS | _WORDS]
    told = sorted(sum(part in names for part in days) for names in _DAY_PARTS)
    return (
        len(days) == len(told) == sum(told)
        and min(told) == 1
        and (kind is Kind.TIMESTAMP or not _CLOCK_PARTS & set(parts))
        and len(form) <= 100  # noqa: PLR2004 — longer than any in use
        and form.count("%") == sum(part.count("%") for part in parts)
    )


_A = {"bounds": "Bounds", "keys": "Keys", "time_zone": "a text"}
_AS = {"bounds": "Bounds(0, 100)", "keys": 'Keys(["a", "b"])', "time_zone": '"Europe/Paris", or "UTC"'}
"""How each is declared in Python."""
