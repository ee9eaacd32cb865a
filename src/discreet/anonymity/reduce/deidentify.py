"""De-identification: the columns that name people are split off, and what is left has no order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.anonymity.records.column import Coded, Codes
from discreet.anonymity.records.read import read
from discreet.anonymity.records.records import Missing, Records
from discreet.anonymity.reduce.release import released
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Deidentified:
    """A table in two parts that share no row number and no order.

    Leaving names out doesn't make a table anonymous: who knows some of the other columns of a person may find the row.
    `uniqueness` says for how many that works.

    Args:
        table: the columns that don't identify, sorted by all of them.
        auxiliary: the identifying columns and those that were asked to be kept with them, sorted by all of them: what
            somebody may know about people, to try a linkage attack with.
        identifying: the names of the columns that were split off.
    """

    table: pa.Table
    auxiliary: pa.Table
    identifying: tuple[str, ...]

    def to_arrow(self) -> pa.Table:
        """The table without the identifying columns."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The same as pandas has it."""
        return self.table.to_pandas()

    def __str__(self) -> str:
        """What was done."""
        left = ", ".join(self.table.column_names)
        return f"{self.table.num_rows:,} rows of {left}; without {', '.join(self.identifying)}"


def deidentify(
    table: object, *, identifying: Sequence[str], keep: Sequence[str] = (), missing: Missing | str | None = None
) -> Deidentified:
    """Split the identifying columns off.

    Guarantee: each part is a function of the multiset of the rows' values in its columns. An index, row numbers, the
    order of rows, metadata and unused categories of the input are in neither.

    Args:
        table: whatever `read` reads.
        identifying: names of one or more columns, but not of all.
        keep: names of columns that the auxiliary table has too, to link by.
        missing: what `read` is to make of missing values.

    Raises:
        SchemaMismatch: the table lacks one of the columns.
        InvalidArgument: no column is identifying, or all are, or one that is shall be kept too.

    Examples:
        >>> people = {"name": ["Kim", "Ada"], "zip": ["20002", "10001"], "disease": ["flu", "gout"]}
        >>> split = deidentify(people, identifying=["name"], keep=["zip"])
        >>> split.table.to_pylist()
        [{'zip': '10001', 'disease': 'gout'}, {'zip': '20002', 'disease': 'flu'}]
        >>> split.auxiliary.to_pylist()
        [{'name': 'Ada', 'zip': '10001'}, {'name': 'Kim', 'zip': '20002'}]
    """
    for names in (identifying, keep):
        if isinstance(names, str):
            raise InvalidArgument(f"names of columns go into a list: [{names!r}]")
    gone = tuple(dict.fromkeys(identifying))
    both = [name for name in keep if name in gone]
    if both:
        raise InvalidArgument(f"the column {both[0]!r} is identifying, so it can't be kept in the table")
    records = read(table, missing=missing)
    left = records.without(gone)
    if not gone or not left.names:
        raise InvalidArgument("one or more columns must be identifying, and one or more not")
    return Deidentified(
        table=_sorted(left), auxiliary=_sorted(records.only(tuple(dict.fromkeys((*gone, *keep))))), identifying=gone
    )


def _sorted(records: Records) -> pa.Table:
    """All rows, sorted by all columns."""
    return released({name: _parts(column) for name, column in records.columns.items()})


def _parts(column: Coded) -> tuple[Codes, pa.Array]:
    """The codes of a column, and what they stand for."""
    return column.codes, column.values  # noqa: PD011 — a field of ours, not of pandas
