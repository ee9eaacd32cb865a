"""Tables of records as codes, column by column, and how they are read: what all else in this room computes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.anonymity.arrow import Unread, columns_of
from discreet.anonymity.columns import Coded, Codes, Whole
from discreet.anonymity.encode import encode
from discreet.anonymity.grouping import grouped
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.hints import Hint

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
    """The unit of each row of a table.

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
        """The units of these rows, in this order."""
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
                f"the column {column.name!r} lacks {int(column.counts()[-1]):,} of {column.rows:,} values, so "
                "nobody knows whose rows those are",
                hint="fill it in, or leave these rows out",
            )
    found = grouped(columns)
    codes = found.of_row().astype(np.int32)
    return Units(names=tuple(column.name for column in columns), codes=codes, number=found.number)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Records:
    """A table whose cells are places in lists of values.

    Args:
        columns: by name, in the table's order; all of the same length.
        rows: how many rows.
        missing: what a missing value is taken to be.
        units: whose each row is; None if every row is a unit of its own. The columns that say it aren't among
            `columns`: they name units on their own, so they are neither known to others nor released.
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

    def identifying(self, names: Sequence[str]) -> tuple[str, ...]:
        """These columns but the unit's, which identify anyway and were split off."""
        return tuple(name for name in names if self.units is None or name not in self.units.names)

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


Unit: TypeAlias = str | Sequence[str] | None
"""The column, or columns, that say whose a row is; none of them where every row is a unit of its own."""
_THREADS = 2
"""Columns are encoded side by side; more threads would only hold more of the table in memory at once."""
_FEW = 1 << 13
"""So many rows are encoded in less time than it takes to start a thread and to wait for it."""


def read(
    table: object,
    *,
    columns: Sequence[str] | None = None,
    unit: Unit = None,
    missing: Missing | str | None = None,
) -> Records:
    """Read a table of records.

    Neither an index nor the order of rows is read as data: what is computed is the same however they are. Where a file
    has no types, as CSV, kinds of columns are guessed from all their cells, as `discreet init` does. Unless its source
    says what stands for a missing value, the codebook does of a public dataset that is recognised by its columns.

    Args:
        table: the path of a file, or a `Source` that says how it is written; a pandas, Polars (lazy or not), Arrow or
            Ibis table; a mapping from names to lists; or `Records`, which come back as they are.
        columns: which to read; if left out, all that hold single values.
        unit: the column, or columns, that say whose a row is: a person's or a household's number. Rows of one unit are
            counted as one. If left out, every row is a unit of its own, or as it was for `Records`; `()` says so of
            these, too. These columns aren't among those of the result.
        missing: what a missing value is taken to be: its own value if left out, or as it was for `Records`.

    Raises:
        SourceMissing: the file isn't there.
        SourceUnsupported: it isn't a table that can be read.
        SourceMalformed: some of a text file's records aren't whole; the message names their lines.
        SchemaMismatch: it lacks one of the columns.
        InvalidArgument: a value is missing though `missing` refuses it, a row doesn't say whose it is, or an argument
            is wrong.

    Examples:
        >>> read({"age": [34, 71], "sex": ["Female", "Male"]}).names
        ('age', 'sex')
    """
    if missing is None:
        missing = table.missing if isinstance(table, Records) else Missing.OWN_VALUE
    policy = _policy(missing)
    naming = _naming(unit, columns)
    if isinstance(table, Records):
        found = _by_unit(replace(table, missing=policy), naming, columns)
    else:
        wanted = None if columns is None else [*columns, *(naming or ())]
        found = _by_unit(_coded(table, wanted, policy), naming, columns)
    if policy is Missing.REFUSE:
        _refuse(found)
    return found


def population_of(table: object, columns: Sequence[str] | None, records: Records) -> Records:
    """Read a population that records were drawn from, by unit as they are if it has the columns for that.

    If it lacks them it lists everyone once, so each of its rows is a unit.

    Raises:
        SchemaMismatch: it lacks one of `columns`.
    """
    if records.units is not None:
        try:
            return read(table, columns=columns, unit=records.units.names, missing=records.missing)
        except SchemaMismatch:
            pass
    return read(table, columns=columns, missing=records.missing)


def _naming(unit: Unit, columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns that say whose a row is; None if nothing is said of it.

    Raises:
        InvalidArgument: it isn't names; one is named twice, or is read as another column, too.
    """
    if unit is None:
        return None
    if not isinstance(unit, Sequence):
        raise InvalidArgument(
            "a unit is the name of a column, or a list of them", hint=Hint.of("{unit}", unit="patient_id")
        )
    naming = (unit,) if isinstance(unit, str) else tuple(unit)
    for name in naming:
        if naming.count(name) > 1 or name in (columns or ()):
            raise InvalidArgument(
                f"the column {name!r} is named twice", hint="what says whose a row is has no other role"
            )
    return naming


def _by_unit(records: Records, naming: tuple[str, ...] | None, columns: Sequence[str] | None) -> Records:
    """The same with units, and with these columns; what says whose a row is isn't one of them."""
    if naming is not None and not (records.units is not None and records.units.names == naming):
        units = units_of([records.column(name) for name in naming]) if naming else None
        records = replace(records.without(naming), units=units)
    return records if columns is None else records.only(columns)


def _policy(missing: Missing | str) -> Missing:
    """Read the policy.

    Raises:
        InvalidArgument: there is none of that name.
    """
    try:
        return Missing(missing)
    except ValueError:
        raise InvalidArgument(
            f"missing values can't be {missing!r}", hint="one of: " + ", ".join(repr(each.value) for each in Missing)
        ) from None


def _refuse(records: Records) -> None:
    """Let no missing value pass.

    Raises:
        InvalidArgument: there is one.
    """
    for column in records.columns.values():
        if column.has_missing:
            count = int(column.counts()[-1])
            raise InvalidArgument(
                f"the column {column.name!r} lacks {count:,} of {records.rows:,} values",
                hint="'own value' takes missing values for one more, 'wildcard' for any",
            )


def _coded(table: object, names: Sequence[str] | None, missing: Missing) -> Records:
    columns, unread = columns_of(table, names)
    rows = max(map(len, columns.values()), default=0)
    if rows <= _FEW:
        coded = list(map(encode, columns, columns.values()))
    else:
        with ThreadPoolExecutor(_THREADS) as pool:
            coded = list(pool.map(encode, columns, columns.values()))
    return Records(columns=dict(zip(columns, coded, strict=True)), rows=rows, missing=missing, unread=unread)
