"""What makes a table safer column by column: names of people are split off, outliers are clipped.

De-identification: the columns that name people are split off, and what is left has no order. Clipping: values beyond
some bounds are moved to them, so that outliers stop giving people away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.hierarchies.texts import is_number, is_time, present
from discreet.anonymity.records import Missing, Records, read
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


# ── De-identification ─────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── Clipping ──────────────────────────────────────────────────────────────────────────────────────────────────────────

Bound = int | float | Decimal | date | datetime
_DIGITS_OF_128_BITS, _MOST_DIGITS = 38, 76
"""How many digits of a decimal number Arrow holds in 128 bits, and at all."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clipped:
    """A table with one column clipped.

    Args:
        records: the table.
        column: which was clipped.
        lo: its least value now, at the lowest.
        hi: its greatest value now, at the highest.
        raised: how many rows were moved up to `lo`.
        lowered: how many rows were moved down to `hi`.
    """

    records: Records
    column: str
    lo: Bound
    hi: Bound
    raised: int
    lowered: int

    @property
    def moved(self) -> int:
        """How many rows were moved."""
        return self.raised + self.lowered

    def __str__(self) -> str:
        rows = self.records.rows
        share = self.moved / rows if rows else 0.0
        return (
            f"{self.column} clipped to {self.lo} … {self.hi}: {self.moved:,} of {rows:,} rows moved ({share:.2%}), "
            f"{self.raised:,} up and {self.lowered:,} down"
        )


def clip(records: Records, column: str, lo: Bound, hi: Bound) -> Clipped:
    """Move the values of a column that are beyond the bounds to the nearer bound; missing values stay missing.

    Bounds should come from knowledge of what the column means. Those read off the data tell about its outliers.

    Args:
        records: the table; it stays as it is.
        column: a name; its values are numbers, dates or timestamps.
        lo: a value of the column's kind; a timestamp has a time zone if the column's have one, and a decimal number no
            more digits after the point than the column's. Digits before it don't matter: the column gets room for them.
        hi: another, not below `lo`.

    Raises:
        SchemaMismatch: the table has no such column, or it holds neither numbers nor times.
        InvalidArgument: the bounds aren't of the column's kind, or `lo` is above `hi`.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = read({"age": [7, 34, 35, 81, None]})
        >>> clipped = clip(people, "age", 10, 60)
        >>> clipped.records.column("age").labels()
        (10, 34, 35, 60, None)
        >>> print(clipped)
        age clipped to 10 … 60: 2 of 5 rows moved (40.00%), 1 up and 1 down
    """
    old = records.column(column)
    if not (is_number(present(old)) or is_time(present(old))):
        raise SchemaMismatch(f"column {column!r} holds neither numbers nor dates, so it can't be clipped")
    stored = old.values  # noqa: PD011 — a field of ours, not of pandas
    roomy = stored.cast(_with_room(stored.type, lo, hi))
    values = roomy[: len(present(old))]
    low, high = _bound(values, column, lo), _bound(values, column, hi)
    if high.as_py() < low.as_py():
        raise InvalidArgument(f"lo must not be above hi: {lo} and {hi}")
    new, places = _moved(roomy, low, high)
    counts = old.counts()
    below, above = _beyond(values, low, high)
    clipped = Coded(name=column, codes=places[old.codes], values=new, has_missing=old.has_missing)
    return Clipped(
        records=replace(records, columns={**records.columns, column: clipped}),
        column=column,
        lo=lo,
        hi=hi,
        raised=int(counts[:below].sum()),
        lowered=int(counts[len(values) - above : len(values)].sum()),
    )


def _with_room(kind: pa.DataType, *bounds: Bound) -> pa.DataType:
    """The type of a column that is to hold some bounds as well.

    How many digits a decimal number may have before the point comes from the values that happen to be in the column:
    of 0.5 alone it is none. So there is room made for more; but not after the point, where digits say how exact a
    column is.
    """
    import pyarrow as pa

    if not pa.types.is_decimal(kind):
        return kind
    exact = [Decimal(bound) for bound in bounds if isinstance(bound, int | Decimal)]
    digits = max([kind.precision, *(kind.scale + bound.adjusted() + 1 for bound in exact if bound.is_finite())])
    if digits > _MOST_DIGITS:  # of a bound that can't be held, as is said when it is tried
        return kind
    wide = digits > _DIGITS_OF_128_BITS or pa.types.is_decimal256(kind)
    return pa.decimal256(digits, kind.scale) if wide else pa.decimal128(digits, kind.scale)


def _bound(values: pa.Array, column: str, bound: Bound) -> pa.Scalar:
    """A bound as the column has its values.

    Raises:
        InvalidArgument: it can't be one of them.
    """
    import pyarrow as pa

    try:
        zero = bound + 0.0 if isinstance(bound, float) else bound  # −0 becomes 0: equal, they must not be told apart
        scalar = pa.scalar(zero, values.type) if _fits(values, bound) else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        scalar = None
    if scalar is None or scalar.as_py() != scalar.as_py() or not _same(scalar.as_py(), bound):
        raise InvalidArgument(f"{bound!r} can't be a value of column {column!r}, which holds {values.type}")
    return scalar


def _fits(values: pa.Array, bound: Bound) -> bool:
    """Whether a bound is of the column's kind. Arrow would take a time without a zone for one in UTC."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return isinstance(bound, datetime) and (bound.tzinfo is None) == (values.type.tz is None)
    if is_time(values):
        return isinstance(bound, date) and not isinstance(bound, datetime)
    return not isinstance(bound, date | bool)


def _same(held: object, bound: Bound) -> bool:
    """Whether a bound means the same in the column's type; a float may have been rounded to it."""
    return held == bound or isinstance(held, float | Decimal) or isinstance(bound, datetime)


def _beyond(values: pa.Array, low: pa.Scalar, high: pa.Scalar) -> tuple[int, int]:
    """How many of the values are below the one bound, and how many above the other."""
    import pyarrow.compute as pc

    below, above = pc.sum(pc.less(values, low)).as_py() or 0, pc.sum(pc.greater(values, high)).as_py() or 0
    return cast("tuple[int, int]", (below, above))


def _moved(values: pa.Array, low: pa.Scalar, high: pa.Scalar) -> tuple[pa.Array, Codes]:
    """The new values, and of each old one its place among them."""
    import pyarrow.compute as pc

    raised = pc.if_else(pc.less(values, low), low, values)  # what is missing stays missing
    moved = pc.if_else(pc.greater(raised, high), high, raised)
    encoded = pc.dictionary_encode(moved, null_encoding="encode")  # in order, as the values were
    return encoded.dictionary, np.asarray(encoded.indices).astype(np.int32)
