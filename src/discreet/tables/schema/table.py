"""Tables and columns: what is public about one table, its columns, and its links to others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Self

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.privacy import Bounds, Keys, KeyValue, Limits, Unit
from discreet.tables.schema.node import suggestion
from discreet.tables.schema.source import Source


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


MOST_PLACES = 18
"""Digits behind the point: doubles have no more."""


@taking_known
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
        places: of real numbers that are decimals: how many digits are behind the point, 1 to 18. Sums, quantiles and
            extremes of them are answered as decimals with so many. Values are read as the nearest doubles all the same.
        values: of a public table, all that it holds as admitted, NULL among them if it does. Found, never declared.

    Raises:
        InvalidArgument: both bounds and keys, or either doesn't fit the kind; a time zone that can't be one; places
            of anything but reals.

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
    values: tuple[KeyValue, ...] | None = field(default=None, hash=False, repr=False)

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
            raise InvalidArgument(f"{self._called} has bounds and keys; keys already say what it may hold")
        if self.bounds is not None:
            self._check_bounds(self.bounds)
        if self.time_zone is not None:
            self._check_zone(self.time_zone)
        if self.places is not None and (self.kind is not Kind.REAL or not 0 < self.places <= MOST_PLACES):
            raise InvalidArgument(f"{self._called} is {self.kind}; only reals have places, 1 to {MOST_PLACES}")
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


_A = {"bounds": "Bounds", "keys": "Keys", "time_zone": "a text"}
_AS = {"bounds": "Bounds(0, 100)", "keys": 'Keys(["a", "b"])', "time_zone": '"Europe/Paris", or "UTC"'}
"""How each is declared in code."""

_ONE_ROW = Limits(rows=1)
_NO_ID = frozenset({Kind.REAL, Kind.BOOLEAN})
"""Kinds whose values can't tell one from another: reals are rarely equal, and there are two booleans."""

_SHOWN = 10
"""How many names of columns fit a line."""
_GROUP = re.compile("[a-z0-9_-]{1,64}")

ROW_CEILING = 2**40
"""How many rows a table may have if nothing is declared: generous, so that the safety it buys is kept."""


@taking_known
@dataclass(frozen=True, slots=True)
class Link:
    """A column whose values name rows of another table: `customer_id → customers.id`.

    Args:
        column: of the table that declares the link.
        table: the other one.
        to: its column, in which a value is meant to occur once.
    """

    column: str
    table: str
    to: str

    @classmethod
    def of(cls, column: str, target: str) -> Self:
        """The link from a column to a target written as `table.column`.

        Raises:
            InvalidArgument: the target isn't two names with one point between them.

        Examples:
            >>> print(Link.of("customer_id", "customers.id"))
            customer_id → customers.id
        """
        table, _, to = target.partition(".")
        if not table or not to or "." in to:
            raise InvalidArgument(f"the link of {column!r} leads to {target!r}, which isn't a table and its column")
        return cls(column, table, to)

    def __str__(self) -> str:
        """The link as an arrow."""
        return f"{self.column} → {self.table}.{self.to}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What is public about one table: of a private one its declaration, of a public one everything.

    Args:
        name: what questions call it.
        source: where it lies.
        columns: every column a question may use.
        unit: whose presence is hidden; None if a link says whose a row is, or the table is public.
        limits: how much a unit may contribute to one question. A unit that is a row contributes one row, so it
            takes no other limit than that; a public table takes none.
        row_ceiling: more rows than the table will ever have, declared in public: it excludes overflow at plan time.
        links: columns whose values name rows of other tables.
        public: whether everybody may know the table as it is. Its rows are joined with, and never protected.
        unique: columns of a public table in which no value occurs twice; checked when the table is read.
        refresh: the refresh group: tables of one are admitted together, and apart from others. Empty for the group of
            all tables that name none.
        rows: of a public table, its different rows as admitted, where these are few. Found, never declared.

    Raises:
        InvalidArgument: no name, no columns, two of one name (names differ in more than case), a key that the
            source can't hold, a ceiling or a group's name out of range; a private table with neither unit nor link, or
            with `unique`; a public one with unit, links or limits; a unit, link or `unique` that names no column, a
            unit or link whose column can't identify; or limits where each row is a unit.
    """

    name: str
    source: Source
    columns: tuple[Column, ...]
    unit: Unit | None
    limits: Limits = _ONE_ROW
    row_ceiling: int = ROW_CEILING
    links: tuple[Link, ...] = ()
    public: bool = False
    unique: tuple[str, ...] = ()
    refresh: str = ""
    rows: tuple[tuple[object, ...], ...] | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Check the declaration as a whole."""
        if not self.name:
            raise InvalidArgument("a table needs a name")
        names = [column.name.casefold() for column in self.columns]
        if not names:
            raise InvalidArgument(f"table {self.name!r} has no columns")
        if "" in names:
            raise InvalidArgument(f"a column of table {self.name!r} has no name")
        if len(set(names)) < len(names):
            twice = next(name for n, name in enumerate(names) if name in names[:n])
            raise InvalidArgument(f"table {self.name!r} has two columns named {twice!r}")
        if type(self.row_ceiling) is not int or not 1 <= self.row_ceiling <= 2**48:
            raise InvalidArgument("row_ceiling must be from 1 to 2⁴⁸, and whole", hint="1_000_000")
        if self.refresh and not _GROUP.fullmatch(self.refresh):
            raise InvalidArgument(
                f"the refresh group of table {self.name!r} can't be called {self.refresh[:70]!r}",
                hint="at most 64 small letters, digits, _ and -, such as daily",
            )
        for column in self.columns:
            self._check_keys(column)
        if self.public:
            self._check_public()
        else:
            self._check_private()

    def _check_keys(self, column: Column) -> None:
        """Refuse keys that no row could have: every row would silently be read as NULL.

        Texts of CSV files and spreadsheets are trimmed of spaces when read, and the empty one is NULL; so are those in
        `missing`.
        """
        trimmed = self.source.kind in {"csv", "xlsx"}
        missing = ("", *self.source.missing) if trimmed else self.source.missing
        for key in column.keys or ():
            if trimmed and isinstance(key, str) and key != key.strip(" "):
                raise InvalidArgument(
                    f"no value of column {column.name!r} can be {key!r}: its texts are trimmed of spaces",
                    hint=f"write {key.strip(' ')!r}",
                )
            if key in missing:
                raise InvalidArgument(
                    f"the key {key!r} of column {column.name!r} is read as NULL",
                    hint=Hint(
                        "make NULL a group of its own by listing it: None",
                        cli="make NULL a group of its own by listing it: { null = true }",
                        file="make NULL a group of its own by listing it: { null = true }",
                    ),
                )

    def _check_public(self) -> None:
        """Refuse what only private tables have."""
        beside = {"a unit": self.unit, "links": self.links, "limits": self.limits != _ONE_ROW}
        for what, declared in beside.items():
            if declared:
                raise InvalidArgument(
                    f"table {self.name!r} is public, so it has no rows to protect, and takes no {what.split()[-1]}",
                    hint=Hint.of(f"leave out {what}, or {{public}} if its rows are about people", public=True),
                )
        for name in self.unique:
            self.column(name)

    def _check_private(self) -> None:
        """Check that each row's unit can be found, in the row or along a link."""
        if self.unit is None and not self.links:
            raise InvalidArgument(
                f"nothing says whose the rows of table {self.name!r} are",
                hint=Hint.of("declare a unit, a link to a table that has one, or {public}", public=True),
            )
        if self.unique:
            raise InvalidArgument(
                f"table {self.name!r} is private, so that what is unique in it can't be checked without giving it away",
                hint="leave unique out: only public tables take it",
            )
        for link in self.links:
            self._check_id(link.column)
        if len({link.column.casefold() for link in self.links}) < len(self.links):
            raise InvalidArgument(f"table {self.name!r} has two links from one column")
        if self.unit is not None:
            self._check_unit(self.unit)

    def _check_unit(self, unit: Unit) -> None:
        """Check that the unit can be found in the rows."""
        if unit.column is None:
            one_row = self.limits in (_ONE_ROW, Limits(groups=1, rows_per_group=1))
            if not one_row:
                raise InvalidArgument(
                    f"each row of table {self.name!r} is a unit of its own, so no limit but one row applies",
                    hint="name an id column as the unit, or leave the limits out",
                )
            return
        self._check_id(unit.column)
        if unit.at is not None and not self.column(unit.at).kind.is_time:
            raise InvalidArgument(f"column {unit.at!r} isn't a date or timestamp, so it can't tell periods")

    def _check_id(self, name: str) -> None:
        """Refuse a column whose values can't tell one from another."""
        if self.column(name).kind in _NO_ID:
            raise InvalidArgument(f"column {name!r} can't identify anyone: it is {self.column(name).kind}")

    def has(self, name: str) -> bool:
        """Whether there is a column of that name; case doesn't matter."""
        return any(column.name.casefold() == name.casefold() for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of that name; case doesn't matter.

        Raises:
            InvalidArgument: there is none.
        """
        for column in self.columns:
            if column.name.casefold() == name.casefold():
                return column
        known = [column.name for column in self.columns]
        close = suggestion(name, known, {})
        there = f"it has {', '.join(known[:_SHOWN])}{f' and {len(known) - _SHOWN} more' if known[_SHOWN:] else ''}"
        raise InvalidArgument(
            f"table {self.name!r} has no column {name!r}", hint=f"did you mean {close!r}?" if close else there
        )
