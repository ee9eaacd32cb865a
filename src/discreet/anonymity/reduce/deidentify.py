"""De-identification: columns that name people are split off, and what is left has no order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Codes, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Missing, Records, read
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def released(columns: Mapping[str, tuple[Codes, Sequence[str] | pa.Array]], *, encoded: bool = False) -> pa.Table:
    """A table of these columns, its rows sorted by all of them, first column first.

    Guarantee: it is a function of the multiset of rows and of the order of the labels. Rows that look alike are alike,
    so nothing of the order they came in is left; there is no index; and a label that no row has is nowhere in it.

    Proof. Rows are sorted by where each label stands first in its list. Rows that tie agree in every cell.

    Args:
        columns: name → a code for each row, and what each code is shown as, in the order to sort by: texts, or an Arrow
            array whose type the column then has. One or more columns, of the same length.
        encoded: whether texts stay dictionary-encoded: 4 bytes a cell, and a category for pandas and Polars.

    Raises:
        InvalidArgument: no column, columns of different lengths, or too few labels.

    Examples:
        >>> table = released({
        ...     "age": (np.array([1, 0, 1], np.int32), ["20–29", "30–39"]),
        ...     "sex": (np.array([1, 0, 0], np.int32), ["F", "M"]),
        ... })
        >>> table.to_pylist()
        [{'age': '20–29', 'sex': 'F'}, {'age': '30–39', 'sex': 'F'}, {'age': '30–39', 'sex': 'M'}]
    """
    return released_in_order(columns, encoded=encoded)[0]


def released_in_order(
    columns: Mapping[str, tuple[Codes, Sequence[str] | pa.Array]], *, encoded: bool = False
) -> tuple[pa.Table, Callable[[], Whole]]:
    """The same, and what says of each row of the table one that it was made from: for making it, not for reading it.

    Raises:
        InvalidArgument: as `released`.
    """
    import pyarrow as pa

    if len({len(codes) for codes, _ in columns.values()}) != 1:
        raise InvalidArgument("a release needs one or more columns, all with the same number of rows")
    merged = [_merged(name, codes, labels) for name, (codes, labels) in columns.items()]
    found = group([codes for codes, _ in merged], [len(labels) for _, labels in merged])
    tuples, row = found.tuples(), np.repeat(np.arange(found.number), found.counts)
    made = {}
    for place, (name, (_, labels)) in enumerate(zip(columns, merged, strict=True)):
        occurs = np.zeros(len(labels), dtype=np.bool_)
        occurs[tuples[:, place]] = True
        shown = labels.take(pa.array(np.flatnonzero(occurs)))
        cells = np.take((np.cumsum(occurs) - 1).astype(np.int32)[tuples[:, place]], row)
        as_codes = encoded and pa.types.is_string(labels.type) and not shown.null_count
        made[name] = pa.DictionaryArray.from_arrays(cells, shown) if as_codes else shown.take(pa.array(cells))
    return pa.table(made), lambda: np.argsort(found.of_row(), kind="stable")


def _merged(name: str, codes: Codes, labels: Sequence[str] | pa.Array) -> tuple[Codes, pa.Array]:
    """The codes and labels of a column, equal labels as one: the first.

    Raises:
        InvalidArgument: a code has no label.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(labels):
        raise InvalidArgument(f"a code of column {name!r} has no label")
    known = labels if isinstance(labels, pa.Array) else pa.array(list(labels), pa.string())
    once = pc.dictionary_encode(known, null_encoding="encode")
    if len(once.dictionary) == len(known):
        return codes, known
    return np.asarray(once.indices).astype(np.int32)[codes], once.dictionary


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Deidentified:
    """A table in two parts that share no row number and no order.

    Leaving names out doesn't make a table anonymous: someone who knows some of a person's other columns may find the
    row. `uniqueness` says for how many that works.

    Args:
        table: the columns that don't identify, sorted by all of them.
        auxiliary: the identifying columns and those that were asked to be kept with them, sorted by all of them: what
            others may know about people, to try a linkage attack with.
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
    return released({name: (column.codes, column.values) for name, column in records.columns.items()})  # noqa: PD011 — a field of ours, not of pandas
