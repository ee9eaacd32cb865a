"""Tables: what is public about one table, its links to others, and how the unit of its rows is found."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact.rational import rational
from discreet.hints import Hint
from discreet.privacy import Limits, Unit
from discreet.suggestions import nearest
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source

_ONE_ROW = Limits(rows=1)
_NO_ID = frozenset({Kind.REAL, Kind.BOOLEAN})
"""Kinds whose values can't identify: reals are rarely equal, and there are only two booleans."""
_AS_INTEGER = 'kind = "integer" reads its whole numbers'

_SHOWN = 10
"""How many names of columns fit in a line."""
_GROUP = re.compile("[a-z0-9_-]{1,64}")

_MOST_OF_UNIT = 100_000_000
"""A unit with more rows than that moves the time of any question by seconds, so nothing could be asked."""

ROW_CEILING = 2**40
"""How many rows a table may have if nothing is declared: generous, so that the safety it buys is kept."""
MOST_LEFT_OUT = Fraction(1, 100)
"""The part of a table's records that an admission may leave out if nothing is declared."""


MOST_ROWS_PER_UNIT = 1_000
"""How many rows one unit may have in a table by default: enough that hardly anyone is cut off, and few enough that one
person moves the time of most questions by only thousandths of a second.
"""


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
        return f"{self.column} → {self.table}.{self.to}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The public knowledge about one table: of a private one its declaration, of a public one everything.

    Args:
        name: what questions call it.
        source: where it lies.
        columns: every column a question may use.
        unit: whose presence is hidden; None if a link says whose a row is, or the table is public.
        limits: how much a unit may contribute to one question; None if nobody could say beforehand, so that each
            question says it, or has it chosen. A unit that is a row contributes one row, so it takes no other limit
            than that; a public table takes none.
        row_ceiling: more rows than the table will ever have, declared in public: it excludes overflow at plan time.
        most_rows_per_unit: how many rows of one unit are admitted; a hash of them chooses which. Where each row is a
            unit of its own, that is one.
        most_left_out: the part of its records that an admission may leave out: malformed ones, and those of which it
            can't be read whose they are. From 0 to 1.
        links: columns whose values name rows of other tables.
        public: whether everyone may know the table as it is. Its rows are joined with, and never protected.
        unique: columns of a public table in which no value occurs twice; checked when the table is read.
        refresh: the refresh group: tables of one are admitted together, and apart from others. Empty for the group of
            all tables that name none.
        rows: of a public table, its different rows as admitted, where these are few. Found, never declared.
        size: of a public table, how many rows it has as admitted. Found, never declared.

    Raises:
        InvalidArgument: no name, no columns, two of one name (names differ in more than case), a key that the
            source can't hold, a ceiling, part or group's name out of range; a private table with neither unit nor link,
            or with `unique`; a public one with unit, links or limits; a unit, link or `unique` that names no column, a
            unit or link whose column can't identify; or limits where each row is a unit.
    """

    name: str
    source: Source
    columns: tuple[Column, ...]
    unit: Unit | None
    limits: Limits | None = _ONE_ROW
    row_ceiling: int = ROW_CEILING
    most_rows_per_unit: int = MOST_ROWS_PER_UNIT
    most_left_out: Fraction = MOST_LEFT_OUT
    links: tuple[Link, ...] = ()
    public: bool = False
    unique: tuple[str, ...] = ()
    refresh: str = ""
    rows: tuple[tuple[object, ...], ...] | None = field(default=None, hash=False, repr=False)
    size: int | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
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
        self._check_numbers()
        if self.refresh and not _GROUP.fullmatch(self.refresh):
            raise InvalidArgument(
                f"the refresh group of table {self.name!r} can't be called {self.refresh[:70]!r}",
                hint="at most 64 small letters, digits, _ and -, such as daily",
            )
        for column in self.columns:
            self._check_column(column)
        if self.public:
            self._check_public()
        else:
            self._check_private()

    def _check_numbers(self) -> None:
        """Refuse ceilings and parts that are none."""
        if type(self.row_ceiling) is not int or not 1 <= self.row_ceiling <= 2**48:
            raise InvalidArgument("row_ceiling must be a whole number from 1 to 2⁴⁸", hint="1_000_000")
        if type(self.most_rows_per_unit) is not int or not 1 <= self.most_rows_per_unit <= _MOST_OF_UNIT:
            raise InvalidArgument(
                f"most_rows_per_unit must be a whole number from 1 to {_MOST_OF_UNIT:,}", hint=f"{MOST_ROWS_PER_UNIT:_}"
            )
        object.__setattr__(self, "most_left_out", rational(self.most_left_out, "most_left_out"))
        if not 0 <= self.most_left_out <= 1:
            raise InvalidArgument("most_left_out must be from 0 to 1", hint="0.05")

    def _check_column(self, column: Column) -> None:
        """Refuse a column that its source can't hold."""
        if column.thousands == self.source.decimal:
            raise InvalidArgument(
                f"in column {column.name!r}, {column.thousands!r} can't be both the decimal mark and the "
                "thousands separator",
                hint=Hint.of(
                    "{decimal}, or another thousands separator", decimal="," if column.thousands == "." else "."
                ),
            )
        self._check_keys(column)

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
        beside = {
            "a unit": self.unit,
            "links": self.links,
            "limits": self.limits != _ONE_ROW,
            "most_rows_per_unit": self.most_rows_per_unit != MOST_ROWS_PER_UNIT,
        }
        for what, declared in beside.items():
            if declared:
                raise InvalidArgument(
                    f"table {self.name!r} is public, so it has no rows to protect and takes no {what.split()[-1]}",
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
                f"table {self.name!r} is private, so checking what is unique in it would give something away",
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
            one_row = self.limits in (_ONE_ROW, Limits(groups=1, rows_per_group=1)) and self.most_rows_per_unit in (
                1,
                MOST_ROWS_PER_UNIT,
            )
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
        kind = self.column(name).kind
        if kind in _NO_ID:
            whole = Hint("Column(kind=Kind.INTEGER) reads its whole numbers", cli=_AS_INTEGER, file=_AS_INTEGER)
            raise InvalidArgument(
                f"column {name!r} can't identify anyone: it is {kind}", hint=whole if kind is Kind.REAL else ""
            )

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
        close = nearest(name, known)
        there = f"it has {', '.join(known[:_SHOWN])}{f' and {len(known) - _SHOWN} more' if known[_SHOWN:] else ''}"
        raise InvalidArgument(
            f"table {self.name!r} has no column {name!r}", hint=f"did you mean {close!r}?" if close else there
        )
