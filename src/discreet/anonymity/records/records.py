"""A table of records as codes, column by column: what everything in this room computes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records.column import Coded, Codes, Whole
from discreet.anonymity.records.grouping import grouped
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa


class Missing(StrEnum):
    """How a missing value compares with others.

    The choice changes every figure, so it is made once, where a table is read, and said in every report.

    Examples:
        >>> Missing("own value") is Missing.OWN_VALUE
        True
    """

    OWN_VALUE = "own value"
    """Missing equals missing and nothing else: the default. Classes are smallest, so nobody seems to hide better than
    they do. Among sensitive values it is one more, which can make a class look more diverse by one."""
    WILDCARD = "wildcard"
    """Missing may be anything: such a row hides among all that agree with it elsewhere, and they hide beside it."""
    REFUSE = "refuse"
    """A missing value is an error, for tables that must have none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """Whose each row of a table is.

    Args:
        names: the columns that say it, together.
        codes: row → number of its unit, from 0; every number occurs.
        number: how many units there are.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"patient": [7, 9, 7], "ward": ["a", "a", "b"]}, unit="patient")
        >>> visits.units.names, visits.units.codes.tolist(), visits.units.number, visits.names
        (('patient',), [0, 1, 0], 2, ('ward',))
    """

    names: tuple[str, ...]
    codes: Codes
    number: int

    def take(self, rows: Whole) -> Units:
        """Those of these rows, in this order."""
        left, codes = np.unique(self.codes[rows], return_inverse=True)
        return Units(names=self.names, codes=codes.reshape(-1).astype(np.int32), number=len(left))


def units_of(columns: Sequence[Coded]) -> Units:
    """The units that some columns name together.

    Raises:
        InvalidArgument: a row doesn't say whose it is. Taking it for a unit of its own would count too many.
    """
    for column in columns:
        if column.has_missing:
            raise InvalidArgument(
                f"the column {column.name!r} misses {int(column.counts()[-1]):,} of {column.rows:,} values, so that "
                "nobody knows whose these rows are",
                hint="fill it in, or leave these rows out",
            )
    found = grouped(columns)
    codes = found.of_row().astype(np.int32)
    return Units(names=tuple(column.name for column in columns), codes=codes, number=found.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """What a source has beside the records that were read of it.

    Args:
        columns: those that hold what no kind of column is, and weren't asked for by name: their types, by name.
        values: how many couldn't be read and count as missing, by column.
        lines: of a text file, how many were left out because no whole record starts there.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0

    def words(self) -> tuple[str, ...]:
        """The same in words; nothing where everything was read.

        Examples:
            >>> Unread(columns={"photo": "binary"}, lines=2).words()
            ("the column 'photo' was left out: it holds binary", '2 malformed lines were left out')
        """
        were = "s were" if self.lines > 1 else " was"
        return (
            *(f"the column {name!r} was left out: it holds {kind}" for name, kind in self.columns.items()),
            *(f"of {name!r}, {count:,} can't be read, and count as missing" for name, count in self.values.items()),
            *([f"{self.lines:,} malformed line{were} left out"] if self.lines else ()),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Records:
    """A table whose cells are places in lists of values.

    Args:
        columns: by name, in the table's order; all of the same length.
        rows: how many rows.
        missing: what a missing value is taken to be.
        units: whose each row is; None if every row is a unit of its own. The columns that say it aren't among
            `columns`: they name units by themselves, so they are neither known to others nor released.
        unread: what the source has beside them.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"sex": ["F", "M", "F"], "zip": ["12345", "12345", "54321"]})
        >>> table.rows, table.names, table.only(["zip"]).names
        (3, ('sex', 'zip'), ('zip',))
    """

    columns: Mapping[str, Coded]
    rows: int
    missing: Missing = Missing.OWN_VALUE
    units: Units | None = None
    unread: Unread = field(default_factory=Unread)

    def __post_init__(self) -> None:
        """Keep the columns from being changed through the mapping that was handed in."""
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def counted(self) -> int:
        """How many units there are: rows, if each is one of its own."""
        return self.rows if self.units is None else self.units.number

    def column(self, name: str) -> Coded:
        """One column.

        Raises:
            SchemaMismatch: the table has none of that name.
            InvalidArgument: it says whose a row is.
        """
        if self.units is not None and name in self.units.names:
            raise InvalidArgument(f"the column {name!r} says whose a row is, so it has no other role")
        if name not in self.columns:
            raise SchemaMismatch(f"the table has no column {name!r}", hint=f"it has {', '.join(self.names) or 'none'}")
        return self.columns[name]

    def only(self, names: Sequence[str]) -> Records:
        """The table with these columns only, in this order.

        Raises:
            SchemaMismatch: it lacks one of them.
        """
        return replace(self, columns={name: self.column(name) for name in names})

    def without(self, names: Sequence[str]) -> Records:
        """The table without these columns.

        Raises:
            SchemaMismatch: it lacks one of them.
        """
        gone = {self.column(name).name for name in names}
        return self.only([name for name in self.names if name not in gone])

    def take(self, rows: Whole) -> Records:
        """These rows only, in this order."""
        taken = {name: column.take(rows) for name, column in self.columns.items()}
        units = None if self.units is None else self.units.take(rows)
        return replace(self, columns=taken, rows=len(rows), units=units)

    def to_arrow(self) -> pa.Table:
        """The table with its values, as Arrow has them."""
        import pyarrow as pa

        return pa.table({name: column.values.take(column.codes) for name, column in self.columns.items()})
