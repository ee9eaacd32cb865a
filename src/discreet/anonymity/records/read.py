"""Reading a table, from wherever it is."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeAlias

from discreet.anonymity.records.arrow import columns_of
from discreet.anonymity.records.encode import encode
from discreet.anonymity.records.records import Missing, Records, units_of
from discreet.errors import InvalidArgument, SchemaMismatch

Unit: TypeAlias = str | Sequence[str] | None
"""The column, or columns, that say whose a row is; none of them where every row is a unit of its own."""
_THREADS = 2
"""Columns are encoded side by side; more threads would only hold more of the table in memory at once."""


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

    If it lacks them it lists everybody once, so that each of its rows is a unit.

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
        InvalidArgument: it isn't names; one is named twice, or is to be read as another column, too.
    """
    if unit is None:
        return None
    if not isinstance(unit, Sequence):
        raise InvalidArgument("a unit is the name of a column, or a list of them", hint="unit='patient_id'")
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
                f"the column {column.name!r} misses {count:,} of {records.rows:,} values",
                hint="'own value' takes missing values for one more, 'wildcard' for any",
            )


def _coded(table: object, names: Sequence[str] | None, missing: Missing) -> Records:
    """These columns of a table as codes."""
    columns, unread = columns_of(table, names)
    rows = max(map(len, columns.values()), default=0)
    with ThreadPoolExecutor(_THREADS) as pool:
        coded = list(pool.map(encode, columns, columns.values()))
    return Records(columns=dict(zip(columns, coded, strict=True)), rows=rows, missing=missing, unread=unread)
